//! Arguments of `evenkeel reproduce`, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::Common;

/// The experiments.
#[derive(Debug, Subcommand)]
pub(crate) enum ReproduceCommand {
    /// Figs 3 and 5: coverage and set size over simulations of a regression with a known shift.
    Regression(RegressionArgs),
}

/// What every experiment takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// Folder for tables, figures, the page and finished cells; a run that was interrupted goes on in it
    /// [default: evenkeel-EXPERIMENT].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel reproduce regression --out regression --simulations 100 --epochs 10,30,100")]
pub(crate) struct RegressionArgs {
    /// Repetitions, each with samples of its own.
    #[arg(long, default_value_t = 500)]
    pub simulations: usize,
    /// Points of each of the four samples.
    #[arg(long, default_value_t = 1000)]
    pub samples: usize,
    /// Epochs of the predictor's training, increasing; all methods are run after each. The paper does not name its
    /// number, and the outcome depends on it.
    #[arg(long, default_value = "30", value_delimiter = ',', value_name = "LIST")]
    pub epochs: Vec<usize>,
    #[command(flatten)]
    pub run: RunArgs,
}

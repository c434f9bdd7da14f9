//! How inputs are read, as typed.

use std::path::PathBuf;

use clap::Args;

use crate::table_args::ColumnArgs;

/// How the matrices are to be read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// Every matrix given holds logits; a softmax is applied.
    #[arg(long)]
    pub logits: bool,
    /// As --logits, also where the rows look like probabilities.
    #[arg(long)]
    pub force_logits: bool,
    /// File with one class name per line, used in every output.
    #[arg(long, value_name = "FILE")]
    pub class_names: Option<PathBuf>,
    #[command(flatten)]
    pub columns: ColumnArgs,
}

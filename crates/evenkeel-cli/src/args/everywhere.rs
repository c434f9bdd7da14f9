//! What every command takes, as typed.

use clap::Args;

use crate::typed_numbers::{number, one_number, whole};

/// How a run goes and what it shows.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct ShowArgs {
    /// Threads to use; results do not depend on it [default: all cores].
    #[arg(long, value_parser = whole::<usize>(0..=u64::MAX))]
    pub threads: Option<usize>,
    /// One JSON document on stdout and nothing else.
    #[arg(long)]
    pub json: bool,
    /// No progress bars and no notes on stderr.
    #[arg(long)]
    pub quiet: bool,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Common {
    /// Miscoverage rate: sets may miss the label this often; several are separated by commas, and the first one leads.
    #[arg(long, default_values_t = [0.1], value_delimiter = ',', value_parser = number)]
    pub alpha: Vec<f64>,
    /// Root of all randomness: the same seed and inputs give the same bytes.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>(0..=u64::MAX))]
    pub seed: u64,
    #[command(flatten)]
    pub show: ShowArgs,
}

/// As [`Common`], where one rate is all that can be asked for.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct OneRate {
    /// Miscoverage rate: sets may miss the label this often.
    #[arg(long, default_value_t = 0.1, value_parser = one_number)]
    pub alpha: f64,
    /// Root of all randomness: the same seed and inputs give the same bytes.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>(0..=u64::MAX))]
    pub seed: u64,
    #[command(flatten)]
    pub show: ShowArgs,
}

/// As [`Common`], where a calibration may bring rate and seed.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct CheckCommon {
    /// Miscoverage rate, or several separated by commas, of which the first one leads [default: the calibration's, or 0.1].
    #[arg(long, value_delimiter = ',', value_parser = number)]
    pub alpha: Vec<f64>,
    /// Root of all randomness [default: the calibration's, or 0].
    #[arg(long, value_parser = whole::<u64>(0..=u64::MAX))]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub show: ShowArgs,
}

/// As [`Common`], with the stored miscoverage rate for a default.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct StoredCommon {
    /// Miscoverage rate, or several separated by commas, of which the first one leads [default: the calibration's].
    #[arg(long, value_delimiter = ',', value_parser = number)]
    pub alpha: Vec<f64>,
    /// Accepted for symmetry; sets take their randomness from the calibration's seed.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>(0..=u64::MAX))]
    pub seed: u64,
    #[command(flatten)]
    pub show: ShowArgs,
}

//! Arguments of `predict`, as typed.

use std::path::PathBuf;

use clap::Args;

use super::beside::PointInputs;
use super::everywhere::StoredCommon;
use super::{Reading, file_parser};
use crate::per_args::GroupsOfPoints;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel predict --calibration cal.json --probs target.npy --out sets.csv

The format follows the name: .npy a bool matrix, .csv and .jsonl lists of labels, .parquet a list column.")]
pub(crate) struct PredictArgs {
    /// A file written by `calibrate`.
    #[arg(long, value_name = "FILE")]
    pub calibration: PathBuf,
    /// Class probabilities to predict sets for.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser())]
    pub probs: String,
    #[command(flatten)]
    pub beside: PointInputs,
    /// Columns of --probs to pass through to --out, separated by commas.
    #[arg(long, value_name = "NAMES")]
    pub id_cols: Option<String>,
    /// File to write the sets to: .npy, .csv, .jsonl or .parquet; - is stdout. With several rates, {alpha} in the name stands for each.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Format of what is written to stdout [default: csv].
    #[arg(long, value_name = "NAME", value_parser = ["csv", "jsonl", "parquet"])]
    pub format: Option<String>,
    #[command(flatten)]
    pub groups: GroupsOfPoints,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: StoredCommon,
}

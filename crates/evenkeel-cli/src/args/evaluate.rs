//! Arguments of `evaluate`, as typed.

use std::path::PathBuf;

use clap::Args;

use super::beside::PointInputs;
use super::everywhere::StoredCommon;
use super::page::PageArgs;
use super::{Reading, file_parser};
use crate::per_args::GroupsOfPoints;
use crate::typed_numbers::number;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel evaluate --calibration cal.json --probs test.npy --labels test_labels.npy")]
pub(crate) struct EvaluateArgs {
    /// A file written by `calibrate`.
    #[arg(long, value_name = "FILE")]
    pub calibration: PathBuf,
    /// Class probabilities of labeled points.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser())]
    pub probs: String,
    /// Their labels [default: the column --label-col of the same table].
    #[arg(
        long,
        value_name = "LABELS",
        value_parser = file_parser(),
        required_unless_present = "label_col"
    )]
    pub labels: Option<String>,
    #[command(flatten)]
    pub beside: PointInputs,
    /// Exit with 1 if the measured coverage is below this.
    #[arg(long, value_name = "COVERAGE", value_parser = number)]
    pub fail_below: Option<f64>,
    #[command(flatten)]
    pub page: PageArgs,
    /// A line for each group of this column of the table; a line for each class is always there.
    #[arg(
        long,
        value_name = "class|COLUMN",
        conflicts_with = "groups",
        help_heading = "Coverage for each class or group"
    )]
    pub per: Option<String>,
    #[command(flatten)]
    pub groups: GroupsOfPoints,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: StoredCommon,
}

//! Arguments of `check`, as typed.

use clap::Args;

use super::calibration_data::ReferenceArgs;
use super::page::PageArgs;
use super::{Assumptions, BoundGrid, CheckCommon, Reading, Scoring, SecondArgs, file_parser};
use crate::per_args::PerArgs;
use crate::typed_numbers::{number, whole};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel check --cal-probs cal.npy --cal-labels labels.npy --unlabeled last_night.parquet:probs \\
    --fail-below 0.85
  evenkeel check --calibration cal.json --unlabeled last_night.npy --html last_night.html
  evenkeel check --calibration cal.json --unlabeled last_night.npy --target-labels fifty_rows.csv

The verdict is ok, watch, loss or unknown. --fail-below compares the estimate of coverage, or with labels the upper end of what \
they show; --fail-below-worst-case the low end of its range; --fail-below-guaranteed what holds whatever the labels are.")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub reference: ReferenceArgs,
    /// Class probabilities of the target points; of several files, the rows of one after those of another.
    #[arg(
        long,
        value_name = "MATRIX",
        value_parser = file_parser(),
        visible_alias = "target",
        num_args = 1..,
        required = true
    )]
    pub unlabeled: Vec<String>,
    /// Labels of some target rows: a sheet with columns row and label, or one label for each row with gaps.
    #[arg(long, value_name = "LABELS", value_parser = file_parser())]
    pub target_labels: Option<String>,
    /// Failure probability of each confidence statement, and level of the shift test.
    #[arg(long, default_value_t = 0.05, value_parser = number)]
    pub delta: f64,
    /// Show the readings, the bounds and what they mean.
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub page: PageArgs,
    /// Exit with 1 if coverage is estimated, or by labels known, to be below this.
    #[arg(long, value_name = "COVERAGE", value_parser = number)]
    pub fail_below: Option<f64>,
    /// Exit with 1 if the low end of the estimate's range is below this.
    #[arg(long, value_name = "COVERAGE", value_parser = number)]
    pub fail_below_worst_case: Option<f64>,
    /// Exit with 1 if the guaranteed coverage may be below this.
    #[arg(long, value_name = "COVERAGE", value_parser = number)]
    pub fail_below_guaranteed: Option<f64>,
    /// Exit with 1 if a shift was detected.
    #[arg(long)]
    pub fail_on_shift: bool,
    #[command(flatten)]
    pub assumptions: Assumptions,
    #[command(flatten)]
    pub second: SecondArgs,
    #[command(flatten)]
    pub bound_grid: BoundGrid,
    /// Relabelings of the shift test [default: 999, or 2 / delta if that is more].
    #[arg(long, value_name = "N", value_parser = whole::<usize>(0..=u64::MAX))]
    pub permutations: Option<usize>,
    #[command(flatten)]
    pub per: PerArgs,
    #[command(flatten)]
    pub scoring: Scoring,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: CheckCommon,
}

//! Arguments of `compare`, as typed.

use std::path::PathBuf;

use clap::Args;

use super::beside::EXTRA_INPUTS;
use super::calibration_data::Labeled;
use super::page::PageArgs;
use super::{BesideArgs, Common, MethodArgs, Reading, Scoring, file_parser};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel compare --cal-probs cal.npy --cal-labels cal_labels.npy --unlabeled target.npy \\
    --test-probs test.npy --test-labels test_labels.npy --html comparison.html")]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub labeled: Labeled,
    /// Class probabilities of the target points, without labels, in one file or several.
    #[arg(
        long,
        value_name = "MATRIX",
        value_parser = file_parser(),
        visible_alias = "target",
        num_args = 1..,
        required = true
    )]
    pub unlabeled: Vec<String>,
    /// Class probabilities of labeled target points.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser())]
    pub test_probs: String,
    /// Their labels [default: the column --label-col of the same table].
    #[arg(
        long,
        value_name = "LABELS",
        value_parser = file_parser(),
        required_unless_present = "label_col"
    )]
    pub test_labels: Option<String>,
    /// Methods, separated by commas, or all.
    #[arg(long, default_value = "all", value_name = "NAMES")]
    pub methods: String,
    /// Refused, in words that say what to do instead.
    #[arg(long, value_name = "class|COLUMN", hide = true)]
    pub per: Option<String>,
    #[command(flatten)]
    pub page: PageArgs,
    /// Write the table.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    pub beside: BesideArgs,
    /// Features of the test points, where calibration points have them.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser(), help_heading = EXTRA_INPUTS)]
    pub test_features: Option<String>,
    /// Known likelihood ratios of the test points.
    #[arg(long, value_name = "VECTOR", value_parser = file_parser(), help_heading = EXTRA_INPUTS)]
    pub test_ratios: Option<String>,
    #[command(flatten)]
    pub settings: MethodArgs,
    #[command(flatten)]
    pub scoring: Scoring,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}

//! Arguments of `label`, as typed.

use std::path::PathBuf;

use clap::Args;

use crate::args::{CheckCommon, Reading, file_parser};
use crate::typed_numbers::{number, whole};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel label --unlabeled target.npy --budget 50 --calibration cal.json --out rows.csv
  evenkeel label --for 5
  evenkeel label --unlabeled target.npy --budget 100 --resume rows.csv --out more_rows.csv

Fill in the column label with the numbers of the classes, or with their names if you give --class-names again, as far as you get. Then \
give the sheet to --target-labels of check, calibrate or compare.")]
pub(crate) struct LabelArgs {
    /// Class probabilities of the target points, of which rows are drawn, in one file or several.
    #[arg(
        long,
        value_name = "MATRIX",
        value_parser = file_parser(),
        num_args = 1..,
        required_unless_present = "half_width",
        requires_all = ["budget", "out"]
    )]
    pub unlabeled: Vec<String>,
    /// Rows to draw.
    #[arg(long, value_name = "N", requires = "unlabeled", value_parser = whole::<u64>(0..=u64::MAX))]
    pub budget: Option<u64>,
    /// How many labels it takes to know coverage to within this many points.
    #[arg(long = "for", value_name = "POINTS", value_parser = number)]
    pub half_width: Option<f64>,
    /// A calibration in use: its sets stand beside the rows, its rate is the default.
    #[arg(long, value_name = "FILE", requires = "unlabeled")]
    pub calibration: Option<PathBuf>,
    /// Show nothing of what the model says, so that nobody is led by it.
    #[arg(long, requires = "unlabeled")]
    pub blind: bool,
    /// A csv file with a header and a line for each target row, whose columns are passed through.
    #[arg(long, value_name = "FILE", requires = "unlabeled")]
    pub ids: Option<PathBuf>,
    /// Columns of it to pass through, separated by commas [default: all].
    #[arg(long, value_name = "NAMES", requires = "ids")]
    pub id_cols: Option<String>,
    /// A sheet written before, filled in to any degree: its lines are kept, and --budget rows are added.
    #[arg(long, value_name = "FILE", requires = "unlabeled")]
    pub resume: Option<PathBuf>,
    /// File to write the sheet to: .csv.
    #[arg(long, value_name = "FILE", requires = "unlabeled")]
    pub out: Option<PathBuf>,
    /// Failure probability of the interval that labels will give.
    #[arg(long, default_value_t = 0.05, value_parser = number)]
    pub delta: f64,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: CheckCommon,
}

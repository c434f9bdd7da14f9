//! Calibration data, as typed: files, or a calibration that keeps them.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::file_parser;
use crate::failure::Failure;
use crate::table_args::{ColumnArgs, LabeledPaths};

/// Probabilities and labels of the calibration points.
// Which of them a command needs, and what may take their place, is a group of each command.
#[derive(Debug, Clone, Args)]
pub(crate) struct CalibrationFiles {
    /// Class probabilities of the calibration points, one row each.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser(), requires = "cal_labels")]
    pub cal_probs: Option<String>,
    /// Their labels: integers from 0, or names of the classes.
    #[arg(long, value_name = "LABELS", value_parser = file_parser(), requires = "cal_probs")]
    pub cal_labels: Option<String>,
    /// One table with both, in place of --cal-probs and --cal-labels; --label-col names its labels.
    #[arg(long, value_name = "TABLE", value_parser = file_parser(), requires = "label_col")]
    pub cal: Option<String>,
}

impl CalibrationFiles {
    /// The files; none where a calibration stands in their place.
    pub(crate) fn paths(&self, columns: &ColumnArgs) -> Result<Option<LabeledPaths>, Failure> {
        let (probs, labels) = (self.cal_probs.as_ref(), self.cal_labels.as_ref());
        LabeledPaths::of(("--cal", self.cal.as_ref()), probs, labels, columns)
    }
}

/// Exactly one of these options.
fn one_of<const N: usize>(options: [&'static str; N]) -> ArgGroup {
    ArgGroup::new("calibration data").args(options).required(true)
}

/// Labeled data of the world the model was calibrated on.
#[derive(Debug, Clone, Args)]
#[command(group(one_of(["cal_probs", "cal"])))]
pub(crate) struct Labeled {
    #[command(flatten)]
    pub files: CalibrationFiles,
}

impl Labeled {
    /// The files.
    pub(crate) fn paths(&self, columns: &ColumnArgs) -> Result<LabeledPaths, Failure> {
        let found = self.files.paths(columns)?;
        found.ok_or_else(|| Failure::Argument("give --cal-probs and --cal-labels, or --cal".into()))
    }
}

/// What a calibration is made of: calibration data, or those that a calibration keeps.
#[derive(Debug, Clone, Args)]
#[command(group(one_of(["cal_probs", "cal", "calibration", "update"])))]
pub(crate) struct MadeOf {
    #[command(flatten)]
    pub files: CalibrationFiles,
    /// A calibration that keeps its calibration data, in place of --cal-probs and --cal-labels; its score is kept too.
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
    /// A calibration by few-labels or auto, in place of the calibration data: the labels it was made with are kept, those of
    /// --target-labels are added.
    #[arg(
        long,
        value_name = "FILE",
        requires = "target_labels",
        conflicts_with_all = [
            "cal_labels", "method", "alpha", "seed", "cal_features", "unlabeled_features", "cal_ratios", "weights_file",
            "second_cal_probs", "second_probs"
        ]
    )]
    pub update: Option<PathBuf>,
}

/// What target data are compared with: calibration data, or a calibration that keeps them.
#[derive(Debug, Clone, Args)]
#[command(group(one_of(["cal_probs", "cal", "calibration"])))]
pub(crate) struct ReferenceArgs {
    #[command(flatten)]
    pub files: CalibrationFiles,
    /// A calibration in use, in place of the calibration data: does it still hold?
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
}

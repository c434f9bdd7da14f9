//! Arguments of `calibrate`, as typed.

use std::path::PathBuf;

use clap::Args;
use evenkeel::method::MethodName;

use super::calibration_data::MadeOf;
use super::{BesideArgs, Common, MethodArgs, Reading, Scoring, file_parser, method_parser};
use crate::per_args::{PerArgs, SmallArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel calibrate --cal-probs p.npy --cal-labels y.npy --unlabeled target.npy --out cal.json
  evenkeel calibrate --update cal.json --unlabeled target.npy --target-labels y.csv --out new.json
  evenkeel calibrate --cal-probs p.npy --cal-labels y.npy --unlabeled target.npy --per class \\
    --out cal.json

--update gives the bytes of a calibration with all labels at once.")]
pub(crate) struct CalibrateArgs {
    #[command(flatten)]
    pub made_of: MadeOf,
    /// Class probabilities of the target points, without labels, in one file or several; uncorrected needs none.
    #[arg(
        long,
        value_name = "MATRIX",
        value_parser = file_parser(),
        visible_alias = "target",
        num_args = 1..
    )]
    pub unlabeled: Vec<String>,
    /// How weights or thresholds are found.
    #[arg(long, value_parser = method_parser(), default_value = MethodName::default().as_str())]
    pub method: MethodName,
    /// File to save the calibration in.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    #[command(flatten)]
    pub beside: BesideArgs,
    #[command(flatten)]
    pub per: PerArgs,
    #[command(flatten)]
    pub small: SmallArgs,
    #[command(flatten)]
    pub settings: MethodArgs,
    #[command(flatten)]
    pub scoring: Scoring,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}

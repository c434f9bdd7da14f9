//! Inputs that some methods take beside the probabilities, as typed.

use clap::Args;
use evenkeel::side_inputs::SideInput;

use super::file_parser;

/// Inputs that some methods take beside the probabilities.
// A heading of its own: most users need none of these, and should not have to read past them.
pub(super) const EXTRA_INPUTS: &str = "Extra inputs, one row per point";

/// What some methods need of calibration and target points beside their probabilities.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = EXTRA_INPUTS)]
pub(crate) struct BesideArgs {
    /// Features of the calibration points, for likelihood-ratio and conditional [default: their scores].
    #[arg(long, value_name = "MATRIX", value_parser = file_parser(), requires = "unlabeled_features")]
    pub cal_features: Option<String>,
    /// Features of the target points.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser(), requires = "cal_features")]
    pub unlabeled_features: Option<String>,
    /// Known likelihood ratios dQ/dP of the calibration points, for likelihood-ratio.
    #[arg(long, value_name = "VECTOR", value_parser = file_parser())]
    pub cal_ratios: Option<String>,
    /// Weights of the calibration points, for fixed.
    #[arg(long, value_name = "VECTOR", value_parser = file_parser())]
    pub weights_file: Option<String>,
    /// Labels of some target rows, for few-labels and auto: a sheet with columns row and label, or one label for each row with gaps.
    #[arg(long, value_name = "LABELS", value_parser = file_parser())]
    pub target_labels: Option<String>,
    #[command(flatten)]
    pub second: SecondArgs,
}

/// What other models say of the same rows.
// A heading for each of the two: one for the struct would be that of whatever follows it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SecondArgs {
    /// Class probabilities of the calibration points by a second model; repeat both for more models.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser(), help_heading = EXTRA_INPUTS)]
    pub second_cal_probs: Vec<String>,
    /// Class probabilities of the target points by the same second model, in the same order.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser(), help_heading = EXTRA_INPUTS)]
    pub second_probs: Vec<String>,
}

impl BesideArgs {
    /// The side inputs given for the calibration points.
    pub(crate) fn given(&self) -> Vec<SideInput> {
        let features = self.cal_features.as_ref().map(|_| SideInput::Features);
        let ratios = self.cal_ratios.as_ref().map(|_| SideInput::Ratios);
        let weights = self.weights_file.as_ref().map(|_| SideInput::Weights);
        let labels = self.target_labels.as_ref().map(|_| SideInput::Labels);
        let second = (!self.second.second_cal_probs.is_empty()).then_some(SideInput::Second);
        [features, ratios, weights, labels, second].into_iter().flatten().collect()
    }
}

/// What points to predict have beside their probabilities.
#[derive(Debug, Clone, Args)]
pub(crate) struct PointInputs {
    /// Features of these points, if the calibration was made with features.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser(), help_heading = EXTRA_INPUTS)]
    pub features: Option<String>,
    /// Known likelihood ratios of these points, if the calibration was made with known ratios.
    #[arg(long, value_name = "VECTOR", value_parser = file_parser(), help_heading = EXTRA_INPUTS)]
    pub ratios: Option<String>,
}

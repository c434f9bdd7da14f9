//! What users of the command line type for what the core's errors speak of.

use evenkeel::error::{Input, Neutral, PointSet, SideInput, Spelling};

/// Flags.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CliSpelling;

impl Spelling for CliSpelling {
    fn spell(&self, input: Input) -> String {
        let flag = match input {
            Input::Option(name) => return format!("--{name}"),
            Input::Logits => "--logits",
            Input::ForcedLogits => "--force-logits",
            Input::Side(SideInput::Features, PointSet::Calibration) => "--cal-features",
            Input::Side(SideInput::Features, PointSet::Target) => "--unlabeled-features",
            Input::Side(SideInput::Features, PointSet::Predicted) => "--features",
            Input::Side(SideInput::Features, PointSet::Test) => "--test-features",
            Input::Side(SideInput::Ratios, PointSet::Calibration) => "--cal-ratios",
            Input::Side(SideInput::Ratios, PointSet::Predicted) => "--ratios",
            Input::Side(SideInput::Ratios, PointSet::Test) => "--test-ratios",
            Input::Side(SideInput::Weights, PointSet::Calibration) => "--weights-file",
            Input::Side(SideInput::Second, PointSet::Calibration) => "--second-cal-probs",
            Input::Side(SideInput::Second, PointSet::Target) => "--second-probs",
            // There is no flag for the rest.
            other => return Neutral.spell(other),
        };
        flag.to_owned()
    }
}

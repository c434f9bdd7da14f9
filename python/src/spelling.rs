//! Options and arguments as they are spelled in Python.

use evenkeel::error::{Input, PointSet, SideInput, Spelling};
use evenkeel::method::{OPTIONS, OptionSpec};
use evenkeel_jobs::grouped::CALIBRATE_PER_CLASS;

/// Keyword arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PythonSpelling;

impl Spelling for PythonSpelling {
    fn spell(&self, input: Input) -> String {
        match input {
            Input::Option(name) => keyword(name),
            Input::Side(side, points) => argument(side, points).to_owned(),
            Input::ForcedLogits => "logits='force'".to_owned(),
            // What is left is the kind of the numbers, which is a flag in Python.
            _ => "logits=True".to_owned(),
        }
    }
}

/// The keyword of an option; a word of Python's own takes an underscore.
pub(crate) fn keyword(name: &str) -> String {
    match name {
        "lambda" => "lambda_".to_owned(),
        _ => name.replace('-', "_"),
    }
}

/// The option of a keyword.
pub(crate) fn option_of(keyword_given: &str) -> Option<&'static OptionSpec> {
    OPTIONS.iter().find(|spec| keyword(spec.name) == keyword_given)
}

/// The argument that holds a side input of some points.
pub(crate) fn argument(side: SideInput, points: PointSet) -> &'static str {
    match (side, points) {
        (SideInput::Features, PointSet::Calibration) => "features_cal",
        (SideInput::Features, PointSet::Target) => "features_target",
        (SideInput::Features, PointSet::Test) => "features_test",
        (SideInput::Features, PointSet::Predicted) => "features",
        (SideInput::Ratios, PointSet::Calibration) => "ratios_cal",
        (SideInput::Ratios, PointSet::Target) => "ratios_target",
        (SideInput::Ratios, PointSet::Test) => "ratios_test",
        (SideInput::Ratios, PointSet::Predicted) => "ratios",
        (SideInput::Weights, PointSet::Calibration) => "weights_cal",
        (SideInput::Weights, PointSet::Target) => "weights_target",
        (SideInput::Weights, PointSet::Test) => "weights_test",
        (SideInput::Weights, PointSet::Predicted) => "weights",
        (SideInput::Labels, _) => "y_target",
        (SideInput::Second, _) => "second",
    }
}

/// A sentence of the jobs, with the argument in place of the command line's flag.
pub(crate) fn in_python(sentence: String) -> String {
    sentence.replace(CALIBRATE_PER_CLASS, "per=\"class\"")
}

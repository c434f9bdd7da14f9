//! How the class shares of the target data are estimated.

use super::EmSettings;

/// How class shares are estimated. BBSE asks for predictions that tell classes apart, EM for
/// calibrated probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum LabelShiftChoice {
    /// By inverting the confusion matrix (BBSE); immune to miscalibration.
    #[default]
    BlackBox,
    /// By maximum likelihood (EM); uses whole rows of probabilities, which must be calibrated.
    ExpectationMaximisation(EmSettings),
}

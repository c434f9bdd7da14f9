//! How the class shares of the target data are estimated.

use super::EmSettings;

/// How class shares are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum LabelShiftChoice {
    /// By inverting the confusion matrix (BBSE).
    #[default]
    BlackBox,
    /// By maximum likelihood (EM).
    ExpectationMaximisation(EmSettings),
}

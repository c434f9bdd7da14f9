//! How the class shares of the target data are estimated.

use super::EmSettings;

/// How class shares are estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LabelShiftChoice {
    /// By inverting the confusion matrix (BBSE).
    BlackBox,
    /// By maximum likelihood (EM).
    ExpectationMaximisation(EmSettings),
}

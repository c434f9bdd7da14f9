//! What a plan is asked beside its weights.

use crate::reading::ReadingName;

/// Where the accuracy of the matched reading comes from.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Accuracy {
    /// The model's outputs alone.
    #[default]
    Estimated,
    /// Delayed feedback, an audit, other models: a share of right predictions on the target data.
    Known(f64),
}

/// What a plan is asked beside its weights.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanQuestion {
    /// The reading whose law the weights aim at.
    pub aim: ReadingName,
    /// The accuracy of the matched reading.
    pub accuracy: Accuracy,
    /// Thresholds, beside the calibration scores, at which coverages must be exact.
    pub thresholds: Vec<f64>,
}

impl Default for PlanQuestion {
    fn default() -> Self {
        Self { aim: ReadingName::ClassShares, accuracy: Accuracy::default(), thresholds: vec![] }
    }
}

//! Where the likelihood ratios of a calibration come from.

use super::RatioEstimator;

/// Where likelihood ratios come from.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RatioChoice {
    /// The user gives them with every point.
    Known,
    /// They are estimated from both worlds' points.
    Estimated(RatioEstimator),
}

impl RatioChoice {
    /// The word for it among the options.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Estimated(RatioEstimator::Logistic) => "logistic",
            Self::Estimated(RatioEstimator::Network(_)) => "network",
            Self::Estimated(RatioEstimator::Telescoping(_)) => "telescoping",
        }
    }
}

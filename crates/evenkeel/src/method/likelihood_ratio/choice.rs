//! Where the likelihood ratios of a calibration come from.

use super::RatioEstimator;

/// Where likelihood ratios come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RatioChoice {
    /// The user gives them with every point.
    Known,
    /// They are estimated from both worlds' points.
    Estimated(RatioEstimator),
}

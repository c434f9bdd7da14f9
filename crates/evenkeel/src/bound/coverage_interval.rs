//! `F_upper(t) <= coverage on Q <= F_lower(t)`: where the coverage on the target data lies at a
//! threshold `t`.
//!
//! ```text
//! low  = F_upper(t) - margin        margin = 0                        of the points at hand
//! high = F_lower(t) + margin               = sqrt(ln(2/d) / (2 m))    of the law behind them
//! ```

use super::dkw::dkw_half_width;
use crate::error::Result;
use crate::level::FailureProbability;
use crate::sandwich::{Order, Sandwich};
use crate::threshold::Threshold;

/// Where the coverage on `Q` lies: `[F_upper(t), F_lower(t)]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoverageInterval {
    /// Lowest coverage, in `[0, 1]`.
    pub low: f64,
    /// Highest coverage, in `[0, 1]`.
    pub high: f64,
    /// Whether the interval holds without assumption, rests on one, or rests on a violated one.
    pub order: Order,
    /// Confidence `1 - d` with which the interval holds for the law behind the unlabeled points, if it was widened for
    /// that. Without it, the interval is about those very points.
    pub confidence: Option<f64>,
}

/// Coverage on the unlabeled points at `threshold`, whatever their labels are (if the order is guaranteed).
///
/// With a failure probability `d` the interval is widened by `sqrt(ln(2/d) / (2 m))` on both sides. It then holds for
/// the law the points came from, at every threshold at once, learned ones included. At an infinite threshold coverage
/// is 1.
///
/// # Errors
/// `OutOfRange` if the sandwich has no points to widen by; never without a failure probability.
pub fn coverage_interval(
    sandwich: &Sandwich,
    threshold: Threshold,
    confidence: Option<FailureProbability>,
) -> Result<CoverageInterval> {
    let order = sandwich.order();
    let level = confidence.map(|d| 1.0 - d.get());
    // Every label is in every set: no law, and no sample size, has a say in it.
    let Threshold::Finite(t) = threshold else {
        return Ok(CoverageInterval { low: 1.0, high: 1.0, order, confidence: level });
    };
    let margin = match confidence {
        Some(d) => dkw_half_width(sandwich.sample_size() as f64, d)?,
        None => 0.0,
    };
    // Where an assumed pair is crossed, the interval spans both readings.
    let (upper, lower) = (sandwich.upper().cdf(t), sandwich.lower().cdf(t));
    // A coverage is a share: what the margin pushes past 0 or 1 is cut off.
    Ok(CoverageInterval {
        low: (upper.min(lower) - margin).max(0.0),
        high: (upper.max(lower) + margin).min(1.0),
        order,
        confidence: level,
    })
}

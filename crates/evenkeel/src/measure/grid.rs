//! `t_k = low + (high - low) k / (K - 1)`: equally spaced points over the range of scores.

use crate::error::{Error, Result};
use crate::interval::Interval;

/// `K` equally spaced points over a score range, both ends included.
///
/// ```text
/// t_k = low + (high - low) k / (K - 1),   integral g(t) dt ~ (high - low) / K * sum_k g(t_k)
/// ```
/// Every point has the same weight, the two ends included: this is the form the paper's objective is learned in,
/// and its answer depends on `K` (see `docs/paper-map.md`), so `K` is recorded in every result.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// What the points cover; the first and last are its ends.
    range: Interval,
    /// Increasing, at least two.
    points: Vec<f64>,
}

/// Largest number of grid points. More than this is likelier a mistake than a wish, and would exhaust memory before it
/// said anything.
const MOST_POINTS: usize = 1 << 24;

impl Grid {
    /// `K` when weights are learned. Found by looking at test coverage, not derived: see `docs/paper-map.md`.
    pub const LEARNING_POINTS: usize = 100;
    /// `K` when bounds are evaluated: on `[0, 1]` a step is then about the smallest bandwidth.
    pub const BOUND_POINTS: usize = 1000;

    /// `count` points over `range`; at least two.
    ///
    /// # Errors
    /// `TooFew` for fewer than two points, `OutOfRange` for more than 2^24.
    pub fn new(range: Interval, count: usize) -> Result<Self> {
        if count < 2 {
            return Err(Error::TooFew { what: "grid points", found: count, least: 2 });
        }
        if count > MOST_POINTS {
            return Err(Error::OutOfRange {
                what: "the number of grid points",
                value: count as f64,
                expected: "at most 16777216",
            });
        }
        let last = (count - 1) as f64;
        let points = (0..count)
            .map(|k| {
                // One division each, so that the points of [0, 1] are exactly the doubles k / (K - 1).
                // The high end itself: the product may miss it by rounding, and a score there would
                // lie beyond every point.
                if k == count - 1 {
                    range.high()
                } else {
                    range.low() + range.width() * (k as f64 / last)
                }
            })
            .collect();
        Ok(Self { range, points })
    }

    /// The range that the points cover, both ends included.
    pub fn range(&self) -> Interval {
        self.range
    }

    /// The points `t_k`, increasing; shape `(K,)`.
    pub fn points(&self) -> &[f64] {
        &self.points
    }

    /// Number of points `K`.
    pub fn count(&self) -> usize {
        self.points.len()
    }

    /// Weight of one point in the integral, `(high - low) / K`.
    pub fn weight(&self) -> f64 {
        self.range.width() / self.count() as f64
    }

    /// Distance between neighbours, `(high - low) / (K - 1)`.
    pub fn spacing(&self) -> f64 {
        self.range.width() / (self.count() - 1) as f64
    }

    /// Indices of the points within `reach` of `centre`, as `start..end`; empty when there are none.
    pub(crate) fn window(&self, centre: f64, reach: f64) -> std::ops::Range<usize> {
        // One point of margin on each side costs nothing and absorbs the rounding of the division.
        let position = |value: f64| (value - self.range.low()) / self.spacing();
        let start = (position(centre - reach) - 1.0).clamp(0.0, self.count() as f64) as usize;
        let end = (position(centre + reach) + 2.0).clamp(0.0, self.count() as f64) as usize;
        start..end.max(start)
    }
}

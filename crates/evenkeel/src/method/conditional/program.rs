//! The quadratic program, without its test point.

use super::kernel::KernelMatrix;

/// Violations of the optimality conditions up to this share of the spread of the scores are none.
const SHARE_OF_SPREAD: f64 = 1e-11;
/// What rounding may move `G` by, in units of the numbers it is a sum of.
pub(super) const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// What stays the same for all test points.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program<'a> {
    pub(super) kernel: &'a KernelMatrix,
    pub(super) scores: &'a [f64],
    /// `-C alpha`.
    pub(super) lower: f64,
    /// `C (1 - alpha)`.
    pub(super) upper: f64,
    /// Absolute rounding of the scores and their spread, as a violation that is none.
    pub(super) tolerance: f64,
}

impl<'a> Program<'a> {
    pub(super) fn new(kernel: &'a KernelMatrix, scores: &'a [f64], lower: f64, upper: f64) -> Self {
        let (low, high) = scores.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |ends, score| {
            (ends.0.min(*score), ends.1.max(*score))
        });
        let tolerance = SHARE_OF_SPREAD * (high - low) + ROUNDING * low.abs().max(high.abs());
        Self { kernel, scores, lower, upper, tolerance }
    }

    pub(super) fn n(&self) -> usize {
        self.scores.len()
    }
}

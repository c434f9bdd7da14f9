//! The quadratic program, without its test point.
//!
//! ```text
//! minimise  1/2 e'Ke - s'e,     lower <= e_i <= upper,     sum_i e_i = 0
//! ```

use super::kernel::KernelMatrix;

/// Violations of the optimality conditions up to this share of the spread of the scores are none.
const SHARE_OF_SPREAD: f64 = 1e-11;
/// What rounding may move `G` by, in units of the numbers it is a sum of.
pub(super) const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// What stays the same for all test points at a rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program<'a> {
    /// `K` among the calibration points.
    pub(super) kernel: &'a KernelMatrix,
    /// `s` in the order of the kernel's rows.
    pub(super) scores: &'a [f64],
    /// `-C alpha`, negative: where a dual stands if its score lies below the fit.
    pub(super) lower: f64,
    /// `C (1 - alpha)`, positive: where a dual stands if its score lies above the fit.
    pub(super) upper: f64,
    /// Absolute rounding of the scores and their spread, as a violation that is none.
    pub(super) tolerance: f64,
}

impl<'a> Program<'a> {
    /// The program over a box, with the tolerance that its scores ask for.
    pub(super) fn new(kernel: &'a KernelMatrix, scores: &'a [f64], lower: f64, upper: f64) -> Self {
        let (low, high) = scores.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |ends, score| {
            (ends.0.min(*score), ends.1.max(*score))
        });
        // Relative to the spread, as the fit is: scores shifted or scaled take the same moves. The
        // second term is for scores that are large and close together, whose differences are mostly
        // rounding.
        let tolerance = SHARE_OF_SPREAD * (high - low) + ROUNDING * low.abs().max(high.abs());
        Self { kernel, scores, lower, upper, tolerance }
    }

    /// Number of calibration points, the length of all vectors here.
    pub(super) fn n(&self) -> usize {
        self.scores.len()
    }
}

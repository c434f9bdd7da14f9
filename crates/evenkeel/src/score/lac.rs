//! `s(x, y) = 1 - p_y`: one minus the probability of the label \[SLW19\], the score of \[CL25\].

use crate::interval::Interval;

/// `s(x, y) = 1 - p_y`, in `[0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lac;

impl Lac {
    /// Every score lies here.
    pub(crate) const RANGE: Interval = Interval::UNIT;

    /// Writes the score of every label of one row; both slices have shape `(C,)`.
    pub(crate) fn score_row(self, probabilities: &[f64], scores: &mut [f64]) {
        for (score, probability) in scores.iter_mut().zip(probabilities) {
            // The very subtraction a user writes, so that their scores and ours have the same bits.
            *score = 1.0 - probability;
        }
    }
}

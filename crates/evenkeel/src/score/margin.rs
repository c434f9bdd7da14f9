//! `s(x, y) = max_{k != y} p_k - p_y`: how far the label trails its best rival.

use crate::interval::Interval;

/// `s(x, y) = max_{k != y} p_k - p_y`, in `[-1, 1]`; with one class `-p_y`.
///
/// ```text
/// p = (0.5, 0.3, 0.2):   s = (-0.2, 0.2, 0.3)
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Margin;

impl Margin {
    /// Every score lies here: -1 for a certain label, 1 for one that a certain rival beats.
    pub(crate) const RANGE: Interval = Interval::between(-1.0, 1.0);

    /// Writes the score of every label of one row; both slices have shape `(C,)`.
    pub(crate) fn score_row(self, probabilities: &[f64], scores: &mut [f64]) {
        // One pass for the two largest instead of a maximum per label, which would be quadratic in the classes. The
        // rival of every label but the best is the best, and the rival of the best is the second.
        let (mut best, mut first, mut second) = (0, f64::NEG_INFINITY, f64::NEG_INFINITY);
        for (label, probability) in probabilities.iter().enumerate() {
            if *probability > first {
                second = first;
                (best, first) = (label, *probability);
            } else if *probability > second {
                second = *probability;
            }
        }
        for (label, (score, probability)) in scores.iter_mut().zip(probabilities).enumerate() {
            // With one class there is no rival, and minus infinity would leave the range of the score.
            let rival = if label == best { second } else { first };
            *score = if rival.is_finite() { rival - probability } else { -probability };
        }
    }
}

//! Does the model believe what the calibration labels show?
//!
//! ```text
//! F_f(t)   = 1/n sum_i sum_y f_i(y) 1{s_iy <= t}         coverage as the model, unsoftened, believes
//! measured = 1/n #{i : s_i <= t}                         coverage of the calibration labels
//! p-value  of n measured under Bin(n, F_f(t)), two-sided and exact; the belief holds where it exceeds delta
//! ```
//! at the threshold `t` of split conformal prediction. A model whose belief fails here, before any shift, is wrong about the
//! target data too: a range that rests on it is not worth reading.

use serde::{Deserialize, Serialize};

use super::binomial::two_sided_p_value;
use crate::error::{Result, require_same_length};
use crate::level::FailureProbability;
use crate::rows::Real;
use crate::score::{Probabilities, RowScratch, Score};
use crate::threshold::Threshold;

/// The model's belief at a threshold, and what the calibration labels say of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Belief {
    /// `F_f`: coverage of the calibration rows at the threshold as the model believes.
    pub at_threshold: f64,
    /// Share of calibration labels there.
    pub measured: f64,
    /// How likely so large a difference is if the belief is true.
    pub p_value: f64,
    /// Whether the p-value exceeds `delta`.
    pub holds: bool,
}

/// Tests the belief of a model in its probabilities `(n, C)` of the calibration rows, whose labels have the `scores` `(n,)`;
/// `score` is the function, with the draws, that gave those scores.
///
/// # Errors
/// If there are not as many scores as rows.
pub fn belief<T: Real>(
    probabilities: &Probabilities<'_, T>,
    score: &Score,
    scores: &[f64],
    threshold: Threshold,
    delta: FailureProbability,
) -> Result<Belief> {
    let mut scratch = RowScratch::default();
    let score_row =
        |key: u64, row: &[f64], out: &mut [f64]| score.score_row(key, row, &mut scratch, out);
    belief_by(probabilities, score_row, scores, threshold, delta)
}

/// The same where something else than a score function writes the scores of a row, given its key and its probabilities.
pub(crate) fn belief_by<T: Real>(
    probabilities: &Probabilities<'_, T>,
    mut score_row: impl FnMut(u64, &[f64], &mut [f64]),
    scores: &[f64],
    threshold: Threshold,
    delta: FailureProbability,
) -> Result<Belief> {
    require_same_length("scores", scores.len(), "probabilities", probabilities.rows())?;
    let classes = probabilities.classes();
    let (mut row, mut candidates) = (vec![0.0; classes], vec![0.0; classes]);
    let mut believed = 0.0;
    for index in 0..probabilities.rows() {
        probabilities.read_row(index, &mut row);
        score_row(index as u64, &row, &mut candidates);
        let inside = row.iter().zip(&candidates).filter(|(_, score)| threshold.admits(**score));
        let (inside, all) = (inside.map(|(f, _)| f).sum::<f64>(), row.iter().sum::<f64>());
        // Rows of probabilities sum to one up to rounding; all labels together must be one exactly.
        believed += inside / all;
    }
    let n = scores.len() as u64;
    let covered = scores.iter().filter(|score| threshold.admits(**score)).count() as u64;
    let at_threshold = (believed / n as f64).clamp(0.0, 1.0);
    let p_value = two_sided_p_value(covered, n, at_threshold);
    Ok(Belief {
        at_threshold,
        measured: covered as f64 / n as f64,
        p_value,
        holds: p_value > delta.get(),
    })
}

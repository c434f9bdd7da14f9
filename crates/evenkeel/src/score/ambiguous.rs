//! `s'(x, lambda) = sum_k lambda_k s(x, k)`: the score of a label that is known only as a plausibility vector `lambda`
//! \[SRMD23\].

use super::candidates::CandidateScores;
use super::probabilities::Probabilities;
use crate::error::{Result, require_same_length};
use crate::rows::Real;

/// `s'(x_i, lambda_i) = sum_k lambda_ik s(x_i, k)`; shape `(n,)`.
///
/// With one-hot `lambda` this is the score of the label.
///
/// # Errors
/// `LengthMismatch` unless `lambda` has a row per candidate row and a column per candidate label.
pub fn ambiguous_scores<T: Real>(
    candidates: &CandidateScores,
    lambda: &Probabilities<'_, T>,
) -> Result<Vec<f64>> {
    require_same_length(
        "label plausibilities",
        lambda.rows(),
        "candidate rows",
        candidates.rows(),
    )?;
    require_same_length(
        "label classes",
        lambda.classes(),
        "candidate labels",
        candidates.labels(),
    )?;
    let mut weights = vec![0.0; lambda.classes()];
    let scores = (0..candidates.rows())
        .map(|row| {
            lambda.read_row(row, &mut weights);
            let pairs = weights.iter().zip(candidates.row(row));
            pairs.map(|(weight, score)| weight * score).sum()
        })
        .collect();
    Ok(scores)
}

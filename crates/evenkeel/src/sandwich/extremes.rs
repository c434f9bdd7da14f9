//! `min-max`: `lower_j = min_y S[j][y]`, `upper_j = max_y S[j][y]` over the labels that row `j` could have (eq 9).

use super::{Construction, Sandwich};
use crate::error::Result;
use crate::measure::WeightedEmpirical;
use crate::score::{CandidateScores, is_allowed};

/// `lower = 1/m sum_j delta(min_y S[j][y])`, `upper = 1/m sum_j delta(max_y S[j][y])` over the possible labels.
///
/// Every row's true score lies between its extremes, so the order is guaranteed for the empirical law.
///
/// # Errors
/// None for a checked table in practice: the errors are those of [`WeightedEmpirical::uniform`].
pub fn min_max(candidates: &CandidateScores) -> Result<Sandwich> {
    let (mut smallest, mut largest) = (Vec::new(), Vec::new());
    for row in 0..candidates.rows() {
        let (low, high) = row_range(candidates.row(row), candidates.mask_row(row));
        smallest.push(low);
        largest.push(high);
    }
    Ok(Sandwich::new(
        WeightedEmpirical::uniform(&smallest)?,
        WeightedEmpirical::uniform(&largest)?,
        Construction::MinMax,
        candidates.rows(),
    ))
}

/// Smallest and largest allowed score of a row; a mask allows at least one.
pub(crate) fn row_range(scores: &[f64], mask: Option<&[bool]>) -> (f64, f64) {
    let allowed = scores.iter().enumerate().filter(|(label, _)| is_allowed(mask, *label));
    // Labels that are not allowed are left out, not given a score: the pair is the tighter for it.
    allowed.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, score)| {
        (low.min(*score), high.max(*score))
    })
}

//! `F_upper <= F_Q <= F_lower` by the user's word: from domain knowledge, a perturbation model,
//! another classifier.
//!
//! The pair is taken as it is. Whether it is ordered is measured as for every other pair.

use super::{Construction, Sandwich};
use crate::error::{Error, Result};
use crate::measure::WeightedEmpirical;

/// A sandwich from two measures. `sample_size` is the number of unlabeled points behind them, for the finite-sample
/// terms.
///
/// # Errors
/// `TooFew` for a sample size of 0.
pub fn custom(
    lower: WeightedEmpirical,
    upper: WeightedEmpirical,
    sample_size: usize,
) -> Result<Sandwich> {
    // Refused here, where it is clear which argument it was: the margins that divide by it come
    // later.
    if sample_size == 0 {
        return Err(Error::TooFew {
            what: "unlabeled points behind a sandwich",
            found: 0,
            least: 1,
        });
    }
    Ok(Sandwich::new(lower, upper, Construction::Custom, sample_size))
}

/// A sandwich from two samples of scores with equal weights.
///
/// # Errors
/// `Empty` if either sample is empty, `NotFinite` for a score that is NaN or infinite.
pub fn custom_from_scores(lower: &[f64], upper: &[f64]) -> Result<Sandwich> {
    // The smaller sample is the one the finite-sample terms must answer for.
    let sample_size = lower.len().min(upper.len());
    custom(WeightedEmpirical::uniform(lower)?, WeightedEmpirical::uniform(upper)?, sample_size)
}

//! `s(x, y) = max(low(x) - y, y - high(x))`: conformalised quantile regression \[RPC19\].

use crate::error::{Result, require_finite, require_same_length, require_some};

/// `s(x, y) = max(low - y, y - high)`, in the units of `y`: negative inside the predicted interval.
///
/// Crossed quantiles (`low > high`) are taken as they are: every `y` then lies outside and scores positive.
pub fn conformalised_quantile_score(low: f64, high: f64, y: f64) -> f64 {
    (low - y).max(y - high)
}

/// `max(low_i - y_i, y_i - high_i)` of labeled points; shape `(n,)`.
///
/// # Errors
/// `Empty` for no points, `LengthMismatch` unless the three slices are equally long, `NotFinite` for a value that is
/// NaN or infinite.
pub fn conformalised_quantile_scores(low: &[f64], high: &[f64], y: &[f64]) -> Result<Vec<f64>> {
    require_some("lower quantiles", low)?;
    require_same_length("upper quantiles", high.len(), "lower quantiles", low.len())?;
    require_same_length("y", y.len(), "lower quantiles", low.len())?;
    // Not folded into the scores: a NaN in `low` would vanish in the maximum.
    require_finite("lower quantiles", low)?;
    require_finite("upper quantiles", high)?;
    require_finite("y", y)?;
    let score =
        |((low, high), y): ((&f64, &f64), &f64)| conformalised_quantile_score(*low, *high, *y);
    Ok(low.iter().zip(high).zip(y).map(score).collect())
}

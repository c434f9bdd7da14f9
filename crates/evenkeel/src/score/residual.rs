//! `s(x, y) = |y - prediction|`: the absolute residual of a point regressor.

use crate::error::{Result, require_finite, require_same_length, require_some};

/// `s(x, y) = |y - prediction|`, in the units of `y`.
pub fn absolute_residual(prediction: f64, y: f64) -> f64 {
    (y - prediction).abs()
}

/// `|y_i - prediction_i|` of labeled points; shape `(n,)`.
///
/// # Errors
/// `Empty` for no points, `LengthMismatch` unless the slices are equally long, `NotFinite` for a value that is NaN or
/// infinite.
pub fn absolute_residuals(predictions: &[f64], y: &[f64]) -> Result<Vec<f64>> {
    require_some("predictions", predictions)?;
    require_same_length("y", y.len(), "predictions", predictions.len())?;
    require_finite("predictions", predictions)?;
    require_finite("y", y)?;
    Ok(predictions.iter().zip(y).map(|(p, y)| absolute_residual(*p, *y)).collect())
}

//! The absolute residual of a point regressor.

use crate::error::{Result, require_finite, require_same_length, require_some};

/// `s(x, y) = |y - prediction|`.
pub fn absolute_residual(prediction: f64, y: f64) -> f64 {
    (y - prediction).abs()
}

/// `|y_i - prediction_i|` of labeled points; shape `(n,)`.
pub fn absolute_residuals(predictions: &[f64], y: &[f64]) -> Result<Vec<f64>> {
    require_some("predictions", predictions)?;
    require_same_length("y", y.len(), "predictions", predictions.len())?;
    require_finite("predictions", predictions)?;
    require_finite("y", y)?;
    Ok(predictions.iter().zip(y).map(|(p, y)| absolute_residual(*p, *y)).collect())
}

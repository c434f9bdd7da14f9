//! `w_i >= 0`, `sum_i w_i = 1`: points on the probability simplex.

use crate::error::{At, Error, Result, require_finite, require_some};
use crate::numeric::softmax;

/// How far from one the sum of normalised weights may be: rounding of many millions of them, no
/// more.
pub(crate) const SIMPLEX_TOLERANCE: f64 = 1e-9;

/// Non-negative weights that sum to one; one per calibration point.
///
/// Having one is the proof: no callee checks or normalises again.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights(Vec<f64>);

impl Weights {
    /// Divides finite, non-negative `raw` weights by their sum.
    ///
    /// # Errors
    /// `Empty` for no weights, `NotFinite` for one that is NaN or infinite, `Negative` for one below zero, `ZeroTotal`
    /// if all are zero.
    pub fn normalised(mut raw: Vec<f64>) -> Result<Self> {
        const WHAT: &str = "weights";
        require_some(WHAT, &raw)?;
        require_finite(WHAT, &raw)?;
        if let Some(index) = raw.iter().position(|weight| *weight < 0.0) {
            return Err(Error::Negative { what: WHAT, at: At::Index(index), value: raw[index] });
        }
        // Scaling by the largest first keeps the sum of huge weights finite and of tiny ones non-zero.
        let largest = raw.iter().fold(0.0_f64, |largest, weight| largest.max(*weight));
        if largest <= 0.0 {
            return Err(Error::ZeroTotal { what: WHAT });
        }
        raw.iter_mut().for_each(|weight| *weight /= largest);
        let total: f64 = raw.iter().sum();
        raw.iter_mut().for_each(|weight| *weight /= total);
        Ok(Self(raw))
    }

    /// Takes weights that sum to one already (within [`SIMPLEX_TOLERANCE`]) and leaves their bits alone.
    ///
    /// # Errors
    /// As for [`normalised`](Self::normalised), and `OutOfRange` unless the sum is one within the tolerance.
    pub(crate) fn already_normalised(weights: Vec<f64>) -> Result<Self> {
        Self::normalised(weights.clone())?;
        let total: f64 = weights.iter().sum();
        if (total - 1.0).abs() <= SIMPLEX_TOLERANCE {
            Ok(Self(weights))
        } else {
            Err(Error::OutOfRange { what: "the sum of the weights", value: total, expected: "1" })
        }
    }

    /// `w_i = 1 / n`, the weights of split conformal prediction.
    ///
    /// # Errors
    /// `Empty` for `n = 0`.
    pub fn uniform(n: usize) -> Result<Self> {
        if n == 0 {
            return Err(Error::Empty { what: "weights" });
        }
        Ok(Self(vec![1.0 / n as f64; n]))
    }

    /// `w = softmax(logits)`: weights from their logarithms, known up to a constant.
    ///
    /// # Errors
    /// `Empty` for no log-weights, `NotFinite` for one that is NaN or infinite.
    pub fn softmax(mut logits: Vec<f64>) -> Result<Self> {
        require_some("log-weights", &logits)?;
        require_finite("log-weights", &logits)?;
        softmax_in_place(&mut logits);
        Ok(Self(logits))
    }

    /// The weights, in the order of the points they belong to.
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }

    /// Number of points, one per weight.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Never true: weights describe at least one point.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Kish effective sample size `n_w = 1 / sum_i w_i^2`, in `[1, n]` \[K65\].
    pub fn effective_sample_size(&self) -> f64 {
        let squares: f64 = self.0.iter().map(|weight| weight * weight).sum();
        // A million roundings can carry the sum past the ends of its range.
        (1.0 / squares).clamp(1.0, self.0.len() as f64)
    }
}

/// `x <- exp(x) / sum exp(x)` for finite `x`, of any size: no entry overflows.
fn softmax_in_place(x: &mut [f64]) {
    let logits = x.to_vec();
    softmax(&logits, x);
}

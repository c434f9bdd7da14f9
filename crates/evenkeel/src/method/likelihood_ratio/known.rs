//! `r_i = dQ/dP(x_i)` that the user knows, up to a common factor.

use crate::error::{At, Error, Result, require_finite, require_some};

/// Likelihood ratios `dQ/dP` given by the user, one per calibration point: finite, zero or
/// positive, not all zero.
///
/// They need not be normalised: thresholds only depend on ratios up to a common factor, which those
/// of test points must share.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownRatios(Vec<f64>);

impl KnownRatios {
    /// Takes ratios of the calibration points, shape `(n,)`.
    ///
    /// # Errors
    /// If a ratio is negative or not finite, all are zero, or there is none.
    pub fn new(ratios: Vec<f64>) -> Result<Self> {
        check("calibration likelihood ratios", &ratios)?;
        // All zero means that no calibration point could be a target point: there is nothing to
        // weigh.
        if ratios.iter().all(|ratio| *ratio <= 0.0) {
            return Err(Error::ZeroTotal { what: "calibration likelihood ratios" });
        }
        Ok(Self(ratios))
    }

    /// The ratios in the order they were given; shape `(n,)`.
    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.0
    }
}

/// An error unless all ratios are finite and not negative.
///
/// # Errors
/// `Empty`, `NotFinite` or `Negative` with the first that is wrong; `what` names the ratios.
pub(super) fn check(what: &'static str, ratios: &[f64]) -> Result<()> {
    require_some(what, ratios)?;
    require_finite(what, ratios)?;
    match ratios.iter().position(|ratio| *ratio < 0.0) {
        None => Ok(()),
        Some(index) => Err(Error::Negative { what, at: At::Index(index), value: ratios[index] }),
    }
}

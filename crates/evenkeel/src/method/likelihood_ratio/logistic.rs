//! One linear logit between calibration and target data.

use serde::{Deserialize, Serialize};

use super::newton::{Design, Solution, dot};
use crate::error::{Result, require_finite, require_same_length};

/// Ridge of the logistic regressions, on standardised features and against the *mean* loss: as if every coefficient had
/// been given 1e-6 of a data set's worth of doubt. It moves a determined coefficient in its sixth digit, and makes the
/// fit finite when calibration and target data separate and unique when features are collinear (probabilities sum to one).
pub(crate) const LOGISTIC_RIDGE: f64 = 1e-6;

/// `log dQ/dP = b'z + b_0 + log(n / m)` in standardised features `z`.
///
/// The regression tells target rows from calibration rows. Its odds are `dQ/dP` times `m / n`, which the last term
/// undoes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LinearLogit {
    /// `b`, one for each standardised feature.
    coefficients: Vec<f64>,
    /// `b_0 + log(n / m)`.
    intercept: f64,
}

impl LinearLogit {
    /// Fits standardised rows of calibration and target data, `features` columns each.
    pub(super) fn fit(labeled: &[f64], target: &[f64], features: usize) -> (Self, Solution) {
        let design = Design::new(target, labeled, features, features, |row, out| {
            out.copy_from_slice(row);
        });
        let mut solution = design.minimise(LOGISTIC_RIDGE);
        // The intercept is the last column of the design.
        let fitted = solution.coefficients.pop().unwrap_or(0.0);
        let intercept = fitted + (labeled.len() as f64 / target.len() as f64).ln();
        (Self { coefficients: solution.coefficients.clone(), intercept }, solution)
    }

    /// An error unless there is a finite coefficient for each feature; the numbers may be from a
    /// file.
    pub(super) fn check(&self, features: usize) -> Result<()> {
        let found = self.coefficients.len();
        require_same_length("ratio coefficients", found, "features", features)?;
        require_finite("ratio coefficients", &self.coefficients)?;
        require_finite("the ratio's intercept", &[self.intercept])
    }

    /// `b'z + b_0 + log(n / m)` at a standardised row.
    pub(super) fn log_ratio(&self, z: &[f64]) -> f64 {
        dot(&self.coefficients, z) + self.intercept
    }
}

//! `sqrt(ln(2/d) / (2 n))`: what samples instead of laws cost, by the Dvoretzky-Kiefer-Wolfowitz inequality (Thm A.6)
//! with Massart's constant \[M90\].

use crate::error::{Error, Result};
use crate::level::FailureProbability;
use crate::sandwich::Sandwich;

/// `sqrt(ln(2/d) / (2 n))`: with probability `1 - d` an empirical CDF of `n` independent points is everywhere within
/// this of the true one. `n` need not be whole: an effective sample size will do.
///
/// # Errors
/// `OutOfRange` unless `n` is positive and finite.
pub fn dkw_half_width(n: f64, d: FailureProbability) -> Result<f64> {
    // ln(2/d) as a difference: 2/d overflows for the smallest d.
    let half_width = ((std::f64::consts::LN_2 - d.get().ln()) / (2.0 * n)).sqrt();
    if n.is_finite() && n > 0.0 && half_width.is_finite() {
        Ok(half_width)
    } else {
        Err(Error::OutOfRange {
            what: "the sample size of a DKW correction",
            value: n,
            expected: "positive and finite",
        })
    }
}

/// `sqrt(ln(2/d) / (2 n)) + sqrt(ln(2/d) / (2 m))`, valid with probability `1 - 2 d`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DkwCorrection {
    /// Half width for the calibration data, in units of coverage.
    pub calibration: f64,
    /// Half width for the target data, in units of coverage.
    pub target: f64,
    /// Failure probability `d` of each of the two.
    pub failure: FailureProbability,
}

impl DkwCorrection {
    /// For `n` calibration points (the effective number, if they are weighted) and `m` target points.
    ///
    /// # Errors
    /// `OutOfRange` unless `n` and `m` are positive and finite.
    pub fn new(n: f64, m: f64, d: FailureProbability) -> Result<Self> {
        Ok(Self { calibration: dkw_half_width(n, d)?, target: dkw_half_width(m, d)?, failure: d })
    }

    /// For `n` calibration points and the unlabeled points behind a sandwich.
    ///
    /// # Errors
    /// `OutOfRange` unless `n` is positive and finite.
    pub fn for_sandwich(n: f64, sandwich: &Sandwich, d: FailureProbability) -> Result<Self> {
        Self::new(n, sandwich.sample_size() as f64, d)
    }

    /// Both half widths together, to be added to a bound.
    pub(crate) fn total(&self) -> f64 {
        self.calibration + self.target
    }

    /// `1 - 2 d`, not below zero: the probability that both half widths hold, by the union bound.
    pub fn confidence(&self) -> f64 {
        // From d = 1/2 on the union bound promises nothing; a negative confidence would be no
        // probability.
        (1.0 - 2.0 * self.failure.get()).max(0.0)
    }
}

//! `h = max(factor sd n^(-1/5), floor)`: how wide the kernels of the score density are \[S92\].

use crate::error::{Error, Result, require_finite, require_some};

/// Factor of the bandwidth rule in classification (the paper's): a tenth of Scott's rule, for
/// scores that crowd at both ends of `[0, 1]`.
pub const BANDWIDTH_FACTOR_CLASSIFICATION: f64 = 0.1;
/// Factor of the bandwidth rule in regression (the paper's).
pub const BANDWIDTH_FACTOR_REGRESSION: f64 = 1.0;
/// Smallest bandwidth the rule gives, in units of the score.
///
/// Tied scores have standard deviation 0, and a density of kernels of width 0 is not a number. 0.001 is a thousandth
/// of the range of `1 - p` and one step of the default bound grid. Scores on another scale should be given a floor
/// on that scale.
pub const BANDWIDTH_FLOOR: f64 = 0.001;

/// Width of a Gaussian kernel: positive and finite.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Bandwidth(f64);

impl Bandwidth {
    /// Checks that the bandwidth is positive and finite, and not so small that `1 / h` overflows.
    ///
    /// # Errors
    /// `OutOfRange` unless `h` and `1 / h` are positive and finite.
    pub fn new(h: f64) -> Result<Self> {
        if h.is_finite() && h > 0.0 && h.recip().is_finite() {
            Ok(Self(h))
        } else {
            Err(Error::OutOfRange {
                what: "the bandwidth",
                value: h,
                expected: "positive and finite, as must be its inverse",
            })
        }
    }

    /// Scott's rule with a factor and a floor, from unweighted scores:
    ///
    /// ```text
    /// h = max(factor * sd * n^(-1/5), floor),   sd with divisor n - 1 (0 if n = 1)
    /// ```
    /// It never depends on the weights, so it stays fixed while they are learned.
    ///
    /// # Errors
    /// `Empty` for no scores, `NotFinite` for a score that is NaN or infinite, `OutOfRange` for a factor that is
    /// negative or not finite, for a floor that is not a bandwidth, and for scores so far apart that their spread
    /// overflows.
    pub fn scott(scores: &[f64], factor: f64, floor: f64) -> Result<Self> {
        require_some("scores", scores)?;
        require_finite("scores", scores)?;
        if !(factor.is_finite() && factor >= 0.0) {
            return Err(Error::OutOfRange {
                what: "the bandwidth factor",
                value: factor,
                expected: "zero or positive, and finite",
            });
        }
        let floor = Self::new(floor)?.0;
        let n = scores.len() as f64;
        // Not `max` alone, which would turn the NaN of scores too far apart for f64 into the floor.
        let scaled = factor * standard_deviation(scores) * n.powf(-0.2);
        Self::new(if scaled < floor { floor } else { scaled })
    }

    /// The bandwidth `h`, in units of the score.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// Standard deviation with divisor `n - 1`; 0 for one value. Not a number where deviations
/// overflow.
fn standard_deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let n = values.len() as f64;
    // Divide before adding: values near 1e308 would overflow their sum.
    let mean: f64 = values.iter().map(|value| value / n).sum();
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max((value - mean).abs()));
    if largest <= 0.0 {
        return 0.0;
    }
    // In units of the largest deviation: squares of 1e200 would overflow, of 1e-200 vanish.
    let squares: f64 = values.iter().map(|value| ((value - mean) / largest).powi(2)).sum();
    largest * (squares / (n - 1.0)).sqrt()
}

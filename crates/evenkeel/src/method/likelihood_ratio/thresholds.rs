//! `w_i = r_i / (sum_k r_k + r)`: a threshold per test point, whose own ratio is `r`.

use super::known::{KnownRatios, check};
use crate::error::{At, Error, Result, require_same_length};
use crate::level::Miscoverage;
use crate::measure::{WeightedEmpirical, Weights};
use crate::threshold::{TestMass, Threshold, conformal_threshold};

/// Weighted split conformal prediction (\[TBC19\], Cor 1), prepared for any number of test points.
///
/// ```text
/// threshold(w, alpha) = smallest s with  sum_{i: s_i <= s} ratio_i / (sum_k ratio_k + w)  >=  1 - alpha
/// ```
/// and all labels where there is none: the test point's own mass sits at infinity. Scores are sorted and ratios summed
/// once, `O(n log n)`; a test point then costs one binary search, because its ratio `w` scales all weights alike.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioThresholds {
    /// Scores under their normalised ratios, without a test point.
    law: WeightedEmpirical,
    /// The largest ratio: sums are taken relative to it, so that ratios of any size add up.
    largest: f64,
    /// `sum_k ratio_k / largest`, in `[1, n]`.
    total: f64,
}

impl RatioThresholds {
    /// From calibration scores and the ratio at each of them.
    ///
    /// # Errors
    /// If scores and ratios differ in number, or a score is not finite.
    pub fn new(scores: &[f64], ratios: &KnownRatios) -> Result<Self> {
        let ratios = ratios.as_slice();
        require_same_length("calibration ratios", ratios.len(), "scores", scores.len())?;
        let law = WeightedEmpirical::new(scores, &Weights::normalised(ratios.to_vec())?)?;
        // Relative to the largest: ratios near 1e308 would overflow their sum, those near 1e-308 lose all digits in it.
        let largest = ratios.iter().copied().fold(0.0, f64::max);
        let total = ratios.iter().map(|ratio| ratio / largest).sum();
        Ok(Self { law, largest, total })
    }

    /// The calibration scores under their ratios, normalised.
    pub fn law(&self) -> &WeightedEmpirical {
        &self.law
    }

    /// Share of the mass that a test point with this ratio takes.
    ///
    /// # Errors
    /// If the ratio is negative or not finite.
    pub(crate) fn test_mass(&self, test_ratio: f64) -> Result<TestMass> {
        check("test likelihood ratios", &[test_ratio])?;
        let relative = test_ratio / self.largest;
        if relative.is_infinite() {
            // More than 1e308 times the largest calibration ratio: all of the mass is the test
            // point's, and its set holds every label.
            return TestMass::new(1.0);
        }
        TestMass::from_unnormalised(relative, self.total)
    }

    /// The threshold at a test point with this ratio.
    ///
    /// # Errors
    /// If the ratio is negative or not finite.
    pub fn threshold(&self, test_ratio: f64, alpha: Miscoverage) -> Result<Threshold> {
        Ok(conformal_threshold(&self.law, self.test_mass(test_ratio)?, alpha))
    }

    /// The thresholds of all test points, `O(log n)` each.
    ///
    /// # Errors
    /// If a ratio is negative or not finite; the error says which.
    pub fn thresholds(&self, test_ratios: &[f64], alpha: Miscoverage) -> Result<Vec<Threshold>> {
        let each = test_ratios.iter().enumerate().map(|(index, ratio)| {
            self.threshold(*ratio, alpha).map_err(|error| at_index(error, index))
        });
        each.collect()
    }
}

/// The error of one test ratio, with its place among all: it was found in a list of one.
fn at_index(error: Error, index: usize) -> Error {
    let at = At::Index(index);
    match error {
        Error::NotFinite { what, value, .. } => Error::NotFinite { what, at, value },
        Error::Negative { what, value, .. } => Error::Negative { what, at, value },
        other => other,
    }
}

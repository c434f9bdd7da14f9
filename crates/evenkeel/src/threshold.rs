//! `t = smallest s with (1 - test mass) F_w(s) >= 1 - alpha`: the conformal threshold.

use crate::error::{Error, Result};
use crate::level::Miscoverage;
use crate::measure::{WeightedEmpirical, quantile_of_sorted};

/// Share of the total mass that belongs to the test point, in `[0, 1]`.
///
/// The test point's score is unknown, so its mass sits at plus infinity.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct TestMass(f64);

impl TestMass {
    /// No test mass: the plain quantile of the calibration law, for weights that allow for it
    /// otherwise.
    pub const NONE: Self = Self(0.0);

    /// A given share of the total mass.
    ///
    /// # Errors
    /// `OutOfRange` unless `0 <= share <= 1`.
    pub fn new(share: f64) -> Result<Self> {
        if (0.0..=1.0).contains(&share) {
            Ok(Self(share))
        } else {
            Err(Error::OutOfRange {
                what: "the test point's share of the mass",
                value: share,
                expected: "between 0 and 1",
            })
        }
    }

    /// `1 / (n + 1)`: the test point is one of `n + 1` exchangeable points (split conformal
    /// prediction).
    ///
    /// This share is what lifts coverage from "about" to "at least" `1 - alpha`.
    pub fn exchangeable(n: usize) -> Self {
        Self(1.0 / (n as f64 + 1.0))
    }

    /// `test / (calibration + test)` from unnormalised weights.
    ///
    /// # Errors
    /// `OutOfRange` for a weight that is negative or not finite, `ZeroTotal` if both are zero.
    pub fn from_unnormalised(test: f64, calibration: f64) -> Result<Self> {
        for value in [test, calibration] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::OutOfRange {
                    what: "an unnormalised weight",
                    value,
                    expected: "zero or positive, and finite",
                });
            }
        }
        let largest = test.max(calibration);
        if largest <= 0.0 {
            return Err(Error::ZeroTotal { what: "calibration and test weights" });
        }
        // Relative to the larger one: a sum beyond 1.8e308 is infinite, and the test point's share of it would be 0.
        let (test, calibration) = (test / largest, calibration / largest);
        Self::new(test / (calibration + test))
    }

    /// The share of the mass at infinity, in `[0, 1]`.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// Where a prediction set is cut: labels with scores at or below it are in the set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// A score, usually that of a calibration point; labels on it are in the set.
    Finite(f64),
    /// Too little calibration mass to reach the level: every label is in the set.
    AllLabels,
}

impl Threshold {
    /// The threshold as a number, infinite for [`AllLabels`](Self::AllLabels).
    pub fn get(self) -> f64 {
        match self {
            Self::Finite(score) => score,
            Self::AllLabels => f64::INFINITY,
        }
    }

    /// Whether a label with this score is in the set: at or below the threshold. A NaN never is.
    pub fn admits(self, score: f64) -> bool {
        score <= self.get()
    }
}

/// [`conformal_threshold`] straight from weights of increasing scores.
///
/// Builds no law: a trace asks for one at every recorded step.
pub(crate) fn threshold_of_sorted(
    sorted_scores: &[f64],
    weights: &[f64],
    test: TestMass,
    alpha: Miscoverage,
) -> Threshold {
    quantile_of_sorted(sorted_scores, weights, 1.0 - test.get(), alpha.level())
        // No score reaches the level without the test point's own mass, which sits at infinity.
        .map_or(Threshold::AllLabels, Threshold::Finite)
}

/// Smallest calibration score `s` with `(1 - test) F_w(s) >= 1 - alpha`.
///
/// With uniform weights and [`TestMass::exchangeable`] this is the `ceil((n + 1)(1 - alpha))`-th smallest score.
/// The comparison has a slack of 1e-12, so that a running sum of equal weights loses no rank.
pub fn conformal_threshold(
    scores: &WeightedEmpirical,
    test: TestMass,
    alpha: Miscoverage,
) -> Threshold {
    scores
        .quantile_of_scaled(1.0 - test.get(), alpha.level())
        .map_or(Threshold::AllLabels, Threshold::Finite)
}

//! One ratio per class, the evidence for it, and the thresholds it gives.
//!
//! ```text
//! w(y) = Q(y) / P(y),    threshold of candidate y: weights w(y_i) / (sum_k w(y_k) + w(y))
//! ```

use serde::{Deserialize, Serialize};

use crate::error::{At, Error, Result, require_finite, require_same_length};
use crate::level::Miscoverage;
use crate::method::likelihood_ratio::{KnownRatios, RatioThresholds};
use crate::score::Labels;
use crate::threshold::Threshold;

/// Largest deviation of class shares from a sum of one: more than rounding, less than a slip of the
/// hand.
const SHARES_TOLERANCE: f64 = 1e-6;

/// Why EM ended; the word stands in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EmStop {
    /// No class share moved by more than the tolerance.
    Converged,
    /// The iterations were used up; the shares of the last one were taken.
    MostIterations,
}

/// How the shares were found, with what tells whether to trust them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LabelShiftMethod {
    /// Inverting the confusion matrix (BBSE).
    BlackBox {
        /// Condition number of the confusion matrix with normalised columns, in the 1-norm: the factor by which errors of
        /// predicted shares enter the class shares.
        condition: f64,
    },
    /// Maximum likelihood by EM; biased where the classifier is miscalibrated.
    ExpectationMaximisation {
        /// EM iterations taken, at most those allowed.
        iterations: usize,
        /// Whether the shares still moved when EM ended.
        stopped: EmStop,
    },
    /// Shares given by the user, taken as exact.
    Given,
}

/// Estimated class shares and where they come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelShiftEvidence {
    /// How the shares were found, and how well.
    pub method: LabelShiftMethod,
    /// `P(y)`: share of each class among the calibration labels, all positive, shape `(C,)`.
    pub calibration_shares: Vec<f64>,
    /// `Q(y)`: estimated share of each class in the target data, shape `(C,)`.
    // The name in version 1 of the file; renaming it would leave stored calibrations unreadable.
    #[serde(rename = "todays_shares")]
    pub target_shares: Vec<f64>,
    /// Classes whose estimated share was negative and set to 0.
    pub clipped: Vec<usize>,
}

impl LabelShiftEvidence {
    /// What a user should know, in words: which classes were too rare to be told apart from none.
    pub(crate) fn warnings(&self) -> Vec<String> {
        if self.clipped.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "the shares of classes {:?} came out negative, which is sampling noise, and were set to 0; collect more labeled \
             points of them",
            self.clipped
        )]
    }
}

/// `w(y) = Q(y) / P(y)` for every class. Reading one back checks it.
/// Stored as the evidence alone: the ratios follow from its shares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "LabelShiftEvidence", into = "LabelShiftEvidence")]
pub struct LabelWeights {
    /// `w(y)`, finite and not negative; shape `(C,)`.
    ratios: Vec<f64>,
    /// The shares that they are quotients of.
    evidence: LabelShiftEvidence,
}

impl From<LabelWeights> for LabelShiftEvidence {
    fn from(weights: LabelWeights) -> Self {
        weights.evidence
    }
}

impl TryFrom<LabelShiftEvidence> for LabelWeights {
    type Error = Error;

    /// Checks the shares and takes their quotients again.
    fn try_from(evidence: LabelShiftEvidence) -> Result<Self> {
        Self::new(evidence)
    }
}

impl LabelWeights {
    /// From class shares of both data sets; checks that they are shares.
    ///
    /// # Errors
    /// If shares are not shares, `P(y)` is 0 for a class, or a quotient overflows.
    pub(super) fn new(evidence: LabelShiftEvidence) -> Result<Self> {
        let LabelShiftEvidence { calibration_shares, target_shares, clipped, .. } = &evidence;
        let classes = calibration_shares.len();
        if classes < 2 {
            return Err(Error::TooFew {
                what: "classes for label shift",
                found: classes,
                least: 2,
            });
        }
        let found = target_shares.len();
        require_same_length("target class shares", found, "classes", classes)?;
        require_shares("calibration class shares", calibration_shares)?;
        require_shares("target class shares", target_shares)?;
        if let Some(class) = calibration_shares.iter().position(|share| *share <= 0.0) {
            return Err(Error::UnseenClass { class });
        }
        if let Some(index) = clipped.iter().position(|class| *class >= classes) {
            let label = clipped[index];
            return Err(Error::LabelOutOfRange { what: "clipped classes", index, label, classes });
        }
        let ratios: Vec<f64> =
            target_shares.iter().zip(calibration_shares).map(|(q, p)| q / p).collect();
        // A share of 1e-320 is positive, and a quotient by it is infinite.
        require_finite("label weights", &ratios)?;
        Ok(Self { ratios, evidence })
    }

    /// From shares the user knows: `Q(y)` and `P(y)`.
    ///
    /// # Errors
    /// If there are fewer than two classes, shares of one data set do not sum to one, a share is negative, or `P(y) = 0` for
    /// a class: no calibration point then speaks for it.
    pub fn given(calibration_shares: Vec<f64>, target_shares: Vec<f64>) -> Result<Self> {
        let (method, clipped) = (LabelShiftMethod::Given, Vec::new());
        Self::new(LabelShiftEvidence { method, calibration_shares, target_shares, clipped })
    }

    /// `w(y)` of every class, finite and not negative; shape `(C,)`.
    pub fn ratios(&self) -> &[f64] {
        &self.ratios
    }

    /// The shares of both data sets and where they come from.
    pub fn evidence(&self) -> &LabelShiftEvidence {
        &self.evidence
    }

    /// Weighs calibration points by their labels; `O(n log n)`.
    ///
    /// # Errors
    /// If scores and labels differ in number, a label is not a class, a score is not finite, or every point weighs nothing.
    pub fn weigh(&self, scores: &[f64], labels: &Labels) -> Result<RatioThresholds> {
        labels.require_below(self.ratios.len())?;
        require_same_length("labels", labels.len(), "scores", scores.len())?;
        let ratios = labels.as_slice().iter().map(|label| self.ratios[*label]).collect();
        RatioThresholds::new(scores, &KnownRatios::new(ratios)?)
    }

    /// The threshold of every candidate label, `O(log n)` each \[PR21\]: the test point weighs
    /// `w(y)` if its label is `y`.
    ///
    /// # Errors
    /// None that these weights can cause: they were checked when they were made.
    pub fn class_thresholds(
        &self,
        weighted: &RatioThresholds,
        alpha: Miscoverage,
    ) -> Result<Vec<Threshold>> {
        weighted.thresholds(&self.ratios, alpha)
    }
}

/// An error unless these are finite, not negative, and sum to one.
fn require_shares(what: &'static str, shares: &[f64]) -> Result<()> {
    require_finite(what, shares)?;
    if let Some(index) = shares.iter().position(|share| *share < 0.0) {
        return Err(Error::Negative { what, at: At::Index(index), value: shares[index] });
    }
    let sum: f64 = shares.iter().sum();
    if (sum - 1.0).abs() <= SHARES_TOLERANCE {
        Ok(())
    } else {
        Err(Error::OutOfRange { what: "the sum of class shares", value: sum, expected: "1" })
    }
}

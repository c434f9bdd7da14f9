//! The result: weights, thresholds for any miscoverage rate, and the evidence.
//!
//! ```text
//! w_i = c_i - c_(i-1),   c_i = (F(s_i) + F(s_(i+1))) / 2,   F the planned law
//! ```

use super::evidence::PlanEvidence;
use super::thresholds::{PlanThreshold, PlanThresholds};
use super::warning::warnings;
use crate::level::Miscoverage;
use crate::measure::Weights;
use crate::sketch::PlannedLaws;
use crate::warning::Warning;

/// Weights on the calibration points, thresholds for any miscoverage rate, and the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelPlan {
    /// Scores, levels and the tail beyond.
    pub(super) thresholds: PlanThresholds,
    /// `order[k]` is the position in the input of the `k`-th smallest score.
    pub(super) order: Vec<usize>,
    /// `w`, in increasing order of the scores.
    pub(super) weights: Weights,
    /// Planned law and both ends of the certificate, at the sorted scores.
    pub(super) laws: PlannedLaws,
    /// What was measured on the way.
    pub(super) evidence: PlanEvidence,
}

impl LabelPlan {
    /// The threshold at a miscoverage rate, and where it comes from.
    pub fn threshold(&self, alpha: Miscoverage) -> PlanThreshold {
        self.thresholds.threshold(alpha)
    }

    /// All that thresholds need, of bounded size; serialises.
    pub fn thresholds(&self) -> &PlanThresholds {
        &self.thresholds
    }

    /// Weights in increasing order of the scores; they sum to one without a test point.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// `order()[k]` is the position in the input of the `k`-th smallest score.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Weights in the order in which the calibration points were given.
    pub fn weights_as_given(&self) -> Vec<f64> {
        let mut given = vec![0.0; self.order.len()];
        for (weight, index) in self.weights.as_slice().iter().zip(&self.order) {
            given[*index] = *weight;
        }
        given
    }

    /// The three laws at the sorted calibration scores; shapes `(n,)`.
    pub fn laws(&self) -> &PlannedLaws {
        &self.laws
    }

    /// What was measured on the way to the weights, as data.
    pub fn evidence(&self) -> &PlanEvidence {
        &self.evidence
    }

    /// What a user should know at a miscoverage rate; the threshold's source depends on it.
    pub fn warnings(&self, alpha: Miscoverage) -> Vec<Warning> {
        warnings(&self.evidence, self.threshold(alpha), alpha)
    }
}

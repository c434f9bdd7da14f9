//! The result: weights, thresholds for any miscoverage rate, the readings at any threshold, and the evidence.

use super::certificate::enclosed_gap;
use super::evidence::PlanEvidence;
use super::thresholds::{PlanThreshold, PlanThresholds};
use super::warning::warnings;
use crate::label_law::LabelLawMap;
use crate::level::Miscoverage;
use crate::measure::Weights;
use crate::reading::{ReadingName, ScoreLaws};
use crate::threshold::{TestMass, Threshold, threshold_of_sorted};
use crate::warning::Warning;

/// Weights on the calibration points, thresholds for any miscoverage rate, and the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelPlan {
    /// The reading whose law the weights and thresholds are made of.
    pub(super) aim: ReadingName,
    /// Scores, levels and the tail beyond.
    pub(super) thresholds: PlanThresholds,
    /// `order[k]` is the position in the input of the `k`-th smallest score.
    pub(super) order: Vec<usize>,
    /// `w`, in increasing order of the scores.
    pub(super) weights: Weights,
    pub(super) laws: ScoreLaws,
    pub(super) evidence: PlanEvidence,
    /// What scores labels under the plan score.
    pub(super) label_law: Option<LabelLawMap>,
    /// The law that the weights aim at.
    pub(super) fitted_law: LabelLawMap,
}

impl LabelPlan {
    /// The reading whose law the weights and thresholds are made of.
    pub fn reading(&self) -> ReadingName {
        self.aim
    }

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

    /// The label law that scored both data sets, under the plan score.
    pub(crate) fn label_law(&self) -> Option<&LabelLawMap> {
        self.label_law.as_ref()
    }

    /// The label law that the weights aim at, whatever the score.
    pub(crate) fn fitted_law(&self) -> &LabelLawMap {
        &self.fitted_law
    }

    /// The laws of target scores under every reading.
    pub fn laws(&self) -> &ScoreLaws {
        &self.laws
    }

    /// What was measured on the way to the weights, as data.
    pub fn evidence(&self) -> &PlanEvidence {
        &self.evidence
    }

    /// The evidence with what the readings say at a miscoverage rate: of the threshold of split conformal prediction, and of
    /// the plan's own.
    pub fn evidence_at(&self, alpha: Miscoverage) -> PlanEvidence {
        let scores = self.thresholds.scores();
        let equal = vec![1.0 / scores.len() as f64; scores.len()];
        let split =
            threshold_of_sorted(scores, &equal, TestMass::exchangeable(scores.len()), alpha);
        let corrected = Threshold::Finite(self.threshold(alpha).score);
        PlanEvidence {
            uncorrected: Some(self.laws.readings_by(self.aim, split, alpha.level())),
            corrected: Some(self.laws.readings_by(self.aim, corrected, alpha.level())),
            ..self.evidence.clone()
        }
    }

    /// What a user should know at a miscoverage rate.
    pub fn warnings(&self, alpha: Miscoverage) -> Vec<Warning> {
        warnings(&self.evidence, self.aim, self.threshold(alpha), alpha)
    }

    /// The total gap of the weights over the hull of some readings, each with its sampling error.
    pub fn enclosed_gap(&self, readings: &[ReadingName]) -> f64 {
        let hulls = self.thresholds.scores().iter().map(|score| self.laws.hull(readings, *score));
        enclosed_gap(hulls, self.thresholds.cumulative())
    }
}

//! What a method hands over: weighted calibration scores, the rule that turns them into thresholds, and how they came
//! about.
//!
//! ```text
//! room -> Concluded { sorted scores, weights w, test mass, rule, how it came about, laws }
//!      -> Calibration   t(alpha) = smallest s with (1 - test mass) F_w(s) >= 1 - alpha
//! ```

use serde::{Deserialize, Serialize};

use super::{Evidence, Rule};
use crate::error::Result;
use crate::label_law::LabelLawMap;
use crate::learning::optimise::{StopReason, Trace};
use crate::measure::Weights;
use crate::numeric::places_in_order;
use crate::sandwich::Sandwich;
use crate::threshold::TestMass;
use crate::warning::Warning;

/// The options in effect when weights were learned, and what was known about the laws they were learned from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedOptions {
    /// How the laws around the target scores were made: `f-u`, `f-u sampled`, `min-max` or
    /// `custom`.
    pub sandwich: String,
    /// `guaranteed`, `assumed` or `violated`: what is known about the target law lying between them.
    pub order: String,
    /// Which bound was minimised: `exact`, `paper-grid` (eq 7 on a grid; `weighted-cdf` in older files) or `wasserstein`
    /// (eq 8).
    pub objective: String,
    /// Failure probability of the finite-sample term, if the objective had one.
    pub finite_sample_delta: Option<f64>,
    /// Miscoverage rates the objective averaged over, if not all.
    pub restriction: Option<[f64; 2]>,
    /// What the weights were made of: `free-form` or `function`.
    pub weights: String,
    /// Step size of Adam, positive; none where no step was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning_rate: Option<f64>,
    /// Most optimiser steps allowed, of which fewer may have been taken; none for the minimiser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<usize>,
    /// Grid points of the objective, if it has a grid; the answer depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning_grid: Option<usize>,
    /// Grid points of the reported bounds, in files of the time when these were taken on a grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_grid: Option<usize>,
    /// Factor of the bandwidth rule, if the objective has kernels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_factor: Option<f64>,
    /// Bandwidth `h` that came out of it, in units of the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<f64>,
}

/// How the weights came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// `L` at uniform weights: a bound on the distance of coverage from the level, averaged over all levels, whatever was
    /// minimised. None if nothing was minimised. Older files hold eq 7 or eq 8 on a grid instead.
    pub bound_before: Option<f64>,
    /// The same at the learned weights.
    pub bound_after: Option<f64>,
    /// The exact bound on the total coverage gap at uniform weights: coverage on both data sets at the same threshold,
    /// averaged over all levels. None if nothing was minimised, and in older files.
    pub total_gap_bound_before: Option<f64>,
    /// The same at the learned weights. Minimising the distance from the level may raise it.
    pub total_gap_bound_after: Option<f64>,
    /// The options in effect, if a bound was minimised.
    pub options: Option<RecordedOptions>,
    /// Optimiser steps taken; 0 if nothing was optimised.
    pub steps: usize,
    /// Why the optimiser ended; `NotIterative` where there was none.
    pub stopped: StopReason,
    /// Objective and effective sample size along the way; empty if nothing was optimised.
    pub trace: Trace,
    /// What a user should know about weights and thresholds; [`Calibration::warnings`](crate::calibration::Calibration::warnings)
    /// adds what the evidence says.
    pub warnings: Vec<Warning>,
    /// What the method measured on its way; none for the methods that measure nothing.
    pub evidence: Option<Evidence>,
}

impl Learned {
    /// Of weights that no optimiser found: no steps, no bound, an empty trace.
    pub(crate) fn not_iterative() -> Self {
        Self {
            bound_before: None,
            bound_after: None,
            total_gap_bound_before: None,
            total_gap_bound_after: None,
            options: None,
            steps: 0,
            stopped: StopReason::NotIterative,
            trace: Trace::default(),
            warnings: Vec::new(),
            evidence: None,
        }
    }
}

/// The calibration scores in increasing order, and where each stood in the input; equal ones keep their order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sorted {
    /// `order[k]` is the input position of the `k`-th smallest score.
    pub order: Vec<usize>,
    /// The scores, increasing; shape `(n,)`.
    pub scores: Vec<f64>,
}

impl Sorted {
    /// Sorts finite scores, shape `(n,)`.
    pub(crate) fn new(scores: &[f64]) -> Self {
        // Equal scores keep their order: stored weights are given back to the rows of the input by it, and must not change places
        // between two runs.
        let order = places_in_order(scores);
        let scores = order.iter().map(|index| scores[*index]).collect();
        Self { order, scores }
    }

    /// Some of the points, by their ranks, in increasing order of the score again.
    pub(crate) fn part(&self, ranks: &[usize]) -> Self {
        let mut ranks = ranks.to_vec();
        // Halves are drawn in random order; everything after this relies on increasing scores.
        ranks.sort_unstable();
        Self {
            order: ranks.iter().map(|rank| self.order[*rank]).collect(),
            scores: ranks.iter().map(|rank| self.scores[*rank]).collect(),
        }
    }

    /// Numbers of the caller's order, one for each point, in the order of the scores.
    pub(crate) fn arrange(&self, values: &[f64]) -> Vec<f64> {
        self.order.iter().map(|index| values[*index]).collect()
    }
}

/// What a method hands over: all that a calibration is made of but its name and settings.
#[derive(Debug, Clone)]
pub(crate) struct Concluded {
    /// Calibration scores and their input positions; a part of them where the rest was used up in fitting.
    pub sorted: Sorted,
    /// Weights in the order of the sorted scores, summing to one without the test point's share.
    pub weights: Weights,
    /// The test point's share of the mass, at infinity; 0 where the rule accounts for it otherwise.
    pub test_mass: TestMass,
    /// How thresholds follow from the weighted scores.
    pub rule: Rule,
    /// How the weights came about.
    pub learned: Learned,
    /// Laws around the target scores, where the method has them: warnings look at them, nothing
    /// else.
    pub sandwich: Option<Sandwich>,
    /// What scored the points under the plan score; none where that is the model's own law.
    pub label_law: Option<LabelLawMap>,
    /// The label law of the target data, whatever scored the points; none where no such law was fitted.
    pub fitted_law: Option<LabelLawMap>,
}

impl Concluded {
    /// Weights that were not learned, and a rule.
    pub(crate) fn given(sorted: Sorted, weights: Weights, test_mass: TestMass, rule: Rule) -> Self {
        let learned = Learned::not_iterative();
        let (sandwich, label_law, fitted_law) = (None, None, None);
        Self { sorted, weights, test_mass, rule, learned, sandwich, label_law, fitted_law }
    }

    /// Equal weights, as in split conformal prediction, and a rule.
    pub(crate) fn split(sorted: Sorted, rule: Rule) -> Result<Self> {
        let n = sorted.scores.len();
        // n + 1 exchangeable points share the mass: this is what makes the threshold the ceil((n +
        // 1)(1 - alpha))-th smallest score and coverage at least 1 - alpha.
        Ok(Self::given(sorted, Weights::uniform(n)?, TestMass::exchangeable(n), rule))
    }

    /// The same with what the method measured.
    pub(crate) fn with_evidence(mut self, evidence: Evidence) -> Self {
        self.learned.evidence = Some(evidence);
        self
    }

    /// The same with the label law that scored the points.
    pub(crate) fn with_label_law(mut self, label_law: Option<LabelLawMap>) -> Self {
        self.label_law = label_law;
        self
    }

    /// The same with the label law that was fitted to the target data.
    pub(crate) fn with_fitted_law(mut self, fitted_law: LabelLawMap) -> Self {
        self.fitted_law = Some(fitted_law);
        self
    }

    /// The same with the laws that warnings are made of.
    pub(crate) fn with_sandwich(mut self, sandwich: Sandwich) -> Self {
        self.sandwich = Some(sandwich);
        self
    }
}

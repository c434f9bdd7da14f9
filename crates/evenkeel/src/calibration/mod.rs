//! What a calibration run leaves behind: weighted scores, from which thresholds and sets follow for any alpha.

mod evidence;
mod file;
mod gap;
mod rule;
mod warning;

pub use evidence::Evidence;
pub use file::{CalibrationFile, CalibrationHeader, FORMAT, ScoreFile, TraceFile, VERSION};
pub(crate) use rule::score_vectors;
pub use rule::{Basis, ConditionalRule, Cutoffs, RatioRule, RatioSource, Rule};
pub use warning::Warning;
pub(crate) use warning::diagnose;

use serde::{Deserialize, Serialize};

use crate::conformal::{LabelSets, predict_rows};
use crate::error::{Result, require_same_length};
use crate::learning::optimise::{StopReason, Trace};
use crate::level::Miscoverage;
use crate::measure::{WeightedEmpirical, Weights};
use crate::method::MethodName;
use crate::method::entropy_scaling::EntropyCut;
use crate::rows::{Real, Rows};
use crate::score::Score;
use crate::seed::Seed;
use crate::side_inputs::SideInputs;
use crate::threshold::{TestMass, Threshold, conformal_threshold};

/// Where a calibration comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Provenance {
    /// Name of the method.
    pub method: MethodName,
    /// What scores labels.
    pub score: Score,
    /// Number of classes (candidate labels).
    pub classes: usize,
    /// Miscoverage rate asked for when none is named later.
    pub alpha: Miscoverage,
    /// Root of all randomness.
    pub seed: Seed,
}

/// The options in effect when weights were learned, and what was known about the laws they were learned from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedOptions {
    /// How the laws around target scores were made.
    pub sandwich: String,
    /// `guaranteed`, `assumed` or `violated`: what is known about target law lying between them.
    pub order: String,
    /// Which bound was minimised.
    pub objective: String,
    /// Failure probability of the finite-sample term, if the objective had one.
    pub finite_sample_delta: Option<f64>,
    /// Miscoverage rates the objective averaged over, if not all.
    pub restriction: Option<[f64; 2]>,
    /// What the weights were made of.
    pub weights: String,
    /// Step size of Adam.
    pub learning_rate: f64,
    /// Steps allowed.
    pub max_steps: usize,
    /// Grid points of the objective.
    pub learning_grid: usize,
    /// Grid points of the reported bounds.
    pub bound_grid: usize,
    /// Factor of the bandwidth rule.
    pub bandwidth_factor: f64,
    /// Bandwidth that came out of it.
    pub bandwidth: f64,
}

/// How the weights came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// Eq 7 or eq 8, whichever was minimised, at uniform weights: over all miscoverage rates, on the bound grid, without the
    /// finite-sample term. None if nothing was minimised.
    pub bound_before: Option<f64>,
    /// The same at the learned weights.
    pub bound_after: Option<f64>,
    /// The options in effect, if a bound was minimised.
    pub options: Option<RecordedOptions>,
    /// Steps taken.
    pub steps: usize,
    /// Why it stopped.
    pub stopped: StopReason,
    /// The way there.
    pub trace: Trace,
    /// What a user should know about weights and thresholds; [`Calibration::warnings`] adds what the evidence says.
    pub warnings: Vec<Warning>,
    /// What the method measured on its way.
    pub evidence: Option<Evidence>,
}

/// Weighted calibration scores: one fit serves every alpha.
///
/// It serialises with serde as a [`CalibrationFile`]; reading one checks everything again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "CalibrationFile", try_from = "CalibrationFile")]
pub struct Calibration {
    provenance: Provenance,
    /// Increasing.
    scores: Vec<f64>,
    weights: Weights,
    test_mass: TestMass,
    law: WeightedEmpirical,
    rule: Rule,
    learned: Learned,
}

impl Calibration {
    /// From increasing scores and their weights.
    pub(crate) fn new(
        provenance: Provenance,
        scores: Vec<f64>,
        weights: Weights,
        test_mass: TestMass,
        rule: Rule,
        learned: Learned,
    ) -> Result<Self> {
        require_same_length("weights", weights.len(), "scores", scores.len())?;
        let classes = provenance.classes;
        rule.check(provenance.method, &scores, weights.as_slice(), classes)?;
        let law = WeightedEmpirical::new(&scores, &weights)?;
        Ok(Self { provenance, scores, weights, test_mass, law, rule, learned })
    }

    /// Where it comes from.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// How its weights came about.
    pub fn learned(&self) -> &Learned {
        &self.learned
    }

    /// Calibration scores, increasing.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Their weights, in the same order; they sum to one without the test point's share.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The test point's share of the mass.
    pub fn test_mass(&self) -> TestMass {
        self.test_mass
    }

    /// The weighted law of calibration scores, without the test point.
    pub fn law(&self) -> &WeightedEmpirical {
        &self.law
    }

    /// `n_w` of the weights.
    pub fn effective_sample_size(&self) -> f64 {
        self.weights.effective_sample_size()
    }

    /// How thresholds follow from the weighted scores.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// The threshold at a miscoverage rate, that of the run if none is given; none where points or labels have their own.
    pub fn threshold(&self, alpha: Option<Miscoverage>) -> Option<Threshold> {
        let alpha = alpha.unwrap_or(self.provenance.alpha);
        let split = || conformal_threshold(&self.law, self.test_mass, alpha);
        match &self.rule {
            Rule::Quantile => Some(split()),
            // Both samples have rows, which is all that can go wrong; no label is left out if they had not.
            Rule::EntropyScaled { scaling } => Some(
                scaling.cut(split(), alpha).map_or(Threshold::AllLabels, EntropyCut::lac_threshold),
            ),
            Rule::Transferred { rule, confidences } => {
                Some(confidences.threshold(*rule, &self.law, alpha).unwrap_or(Threshold::AllLabels))
            }
            Rule::Planned { thresholds } => {
                Some(Threshold::Finite(thresholds.threshold(alpha).score))
            }
            Rule::ByRatio(_) | Rule::Conditional(_) => None,
        }
    }

    /// Whether features must stand beside the points to predict.
    pub fn needs_features(&self) -> bool {
        match &self.rule {
            Rule::ByRatio(rule) => {
                matches!(rule.source(), RatioSource::Model { basis: Basis::Features, .. })
            }
            Rule::Conditional(rule) => rule.basis() == Basis::Features,
            _ => false,
        }
    }

    /// Whether likelihood ratios must stand beside the points to predict.
    pub fn needs_ratios(&self) -> bool {
        matches!(&self.rule, Rule::ByRatio(rule) if *rule.source() == RatioSource::Known)
    }

    /// What a user should know before trusting it, in words.
    pub fn warnings(&self) -> Vec<String> {
        let learned = self.learned.warnings.iter().map(ToString::to_string);
        learned.chain(self.learned.evidence.iter().flat_map(Evidence::warnings)).collect()
    }

    /// What was done and why, for the methods that decide something themselves.
    pub fn account(&self) -> Option<String> {
        self.learned.evidence.as_ref().and_then(Evidence::account)
    }

    /// The thresholds of a block of probability rows; `first_row` is the index of its first row in the whole input.
    pub fn cutoffs<T: Real>(
        &self,
        first_row: usize,
        block: Rows<'_, T>,
        beside: SideInputs<'_>,
        alpha: Option<Miscoverage>,
    ) -> Result<Cutoffs> {
        beside.check(block.rows())?;
        if let Some(threshold) = self.threshold(alpha) {
            return Ok(Cutoffs::Shared(threshold));
        }
        let alpha = alpha.unwrap_or(self.provenance.alpha);
        let score = self.provenance.score.with_draws_for("test");
        let own = self.rule.own_cutoffs(first_row, block, &beside, &score, alpha)?;
        Ok(own.unwrap_or(Cutoffs::Shared(Threshold::AllLabels)))
    }

    /// The sets of a block of probability rows; `first_row` is the index of its first row in the whole input.
    pub fn predict<T: Real>(
        &self,
        first_row: usize,
        block: Rows<'_, T>,
        alpha: Option<Miscoverage>,
    ) -> Result<LabelSets> {
        self.predict_beside(first_row, block, SideInputs::default(), alpha)
    }

    /// The same for methods that take more than probabilities.
    pub fn predict_beside<T: Real>(
        &self,
        first_row: usize,
        block: Rows<'_, T>,
        beside: SideInputs<'_>,
        alpha: Option<Miscoverage>,
    ) -> Result<LabelSets> {
        let classes = self.provenance.classes;
        require_same_length("columns", block.columns(), "the calibration's classes", classes)?;
        let cutoffs = self.cutoffs(first_row, block, beside, alpha)?;
        let score = self.provenance.score.with_draws_for("test");
        predict_rows(first_row, block, &score, cutoffs.as_thresholds())
    }
}

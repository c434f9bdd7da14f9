//! What a calibration run leaves behind: weighted scores, from which thresholds and sets follow for any alpha.

mod diagnosis;
mod file;

pub use diagnosis::Warning;
pub(crate) use diagnosis::diagnose;
pub use file::{CalibrationFile, CalibrationHeader, FORMAT, ScoreFile, TraceFile, VERSION};

use serde::{Deserialize, Serialize};

use crate::conformal::{LabelSets, TestMass, Threshold, conformal_threshold, predict_rows};
use crate::error::{Result, require_same_length};
use crate::level::Miscoverage;
use crate::measure::{WeightedEmpirical, Weights};
use crate::reweighting::optimise::{StopReason, Trace};
use crate::rows::{Real, Rows};
use crate::score::Score;
use crate::seed::Seed;

/// The methods, by the names used on the command line and in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodName {
    /// Split conformal prediction.
    Uncorrected,
    /// The paper's optimal-transport weights.
    Ot,
}

impl MethodName {
    /// The name itself.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uncorrected => "uncorrected",
            Self::Ot => "ot",
        }
    }
}

impl MethodName {
    /// What must hold for the method's coverage to be right, in a few words.
    pub fn assumption(self) -> &'static str {
        match self {
            Self::Uncorrected => "no shift",
            Self::Ot => "laws enclose today's scores",
        }
    }
}

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
    /// How the laws around today's scores were made.
    pub sandwich: String,
    /// `guaranteed`, `assumed` or `violated`: what is known about today's law lying between them.
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
    /// What a user should know.
    pub warnings: Vec<Warning>,
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
    learned: Learned,
}

impl Calibration {
    /// From increasing scores and their weights.
    pub(crate) fn new(
        provenance: Provenance,
        scores: Vec<f64>,
        weights: Weights,
        test_mass: TestMass,
        learned: Learned,
    ) -> Result<Self> {
        require_same_length("weights", weights.len(), "scores", scores.len())?;
        let law = WeightedEmpirical::new(&scores, &weights)?;
        Ok(Self { provenance, scores, weights, test_mass, law, learned })
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

    /// The threshold at a miscoverage rate; that of the run if none is given.
    pub fn threshold(&self, alpha: Option<Miscoverage>) -> Threshold {
        conformal_threshold(&self.law, self.test_mass, alpha.unwrap_or(self.provenance.alpha))
    }

    /// The sets of a block of probability rows; `first_row` is the index of its first row in the whole input.
    pub fn predict<T: Real>(
        &self,
        first_row: usize,
        block: Rows<'_, T>,
        alpha: Option<Miscoverage>,
    ) -> Result<LabelSets> {
        let classes = self.provenance.classes;
        require_same_length("columns", block.columns(), "the calibration's classes", classes)?;
        let score = self.provenance.score.with_draws_for("test");
        predict_rows(first_row, block, &score, self.threshold(alpha))
    }
}

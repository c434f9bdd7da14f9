//! What one pass over target rows keeps for a check.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::interval::Interval;
use crate::measure::Grid;
use crate::rows::{Real, RowKeys, Rows};
use crate::sandwich::{Sandwich, min_max, model_uniform};
use crate::score::{Probabilities, Score};
use crate::seed::Seed;
use crate::shift::{KeptPredictions, Prediction, predictions};
use crate::sketch::Abscissae;
use crate::sketch::{SandwichSketch, SketchedLaws};

/// What a check takes of the target data: both pairs of laws, and a sample of the predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetLaws {
    /// Extremes over the labels.
    pub min_max: Sandwich,
    /// Model and uniform labels.
    pub f_u: Sandwich,
    /// Confidences and predicted classes of all rows, or of a uniform sample of ten thousand, in the order of the rows.
    pub predictions: Vec<Prediction>,
    /// Number of rows.
    pub rows: u64,
}

impl TargetLaws {
    /// The exact laws of a table in memory.
    pub fn of_probabilities<T: Real>(
        probabilities: &Probabilities<'_, T>,
        score: &Score,
        seed: Seed,
    ) -> Result<Self> {
        let candidates = score.candidate_scores(probabilities)?;
        let mut kept = KeptPredictions::new(seed);
        for (row, prediction) in predictions(probabilities).into_iter().enumerate() {
            kept.add_prediction(row as u64, prediction);
        }
        Ok(Self {
            min_max: min_max(&candidates)?,
            f_u: model_uniform(&candidates)?,
            predictions: kept.into_values()?,
            rows: probabilities.rows() as u64,
        })
    }
}

/// Both sandwiches of target rows and a sample of their predictions, from one pass; mergeable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetSketch {
    sandwiches: SandwichSketch,
    predictions: KeptPredictions,
}

impl TargetSketch {
    /// An empty sketch that will know both CDFs exactly on a grid of `points` over `range` and at every calibration score.
    pub fn new(scores: &[f64], range: Interval, points: usize, seed: Seed) -> Result<Self> {
        let abscissae = Abscissae::of_grid_and_points(&Grid::new(range, points)?, scores)?;
        Ok(Self {
            sandwiches: SandwichSketch::new(abscissae, SketchedLaws::Both),
            predictions: KeptPredictions::new(seed),
        })
    }

    /// Adds a block of probability rows.
    pub fn add_probabilities<T: Real>(
        mut self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        score: &Score,
    ) -> Result<Self> {
        self.sandwiches = self.sandwiches.add_probabilities(keys, block, score)?;
        self.predictions = self.predictions.add(keys, block)?;
        Ok(self)
    }

    /// The sketch of both inputs; the order does not matter.
    pub fn merge(mut self, other: Self) -> Result<Self> {
        self.sandwiches = self.sandwiches.merge(&other.sandwiches)?;
        self.predictions.merge(other.predictions)?;
        Ok(self)
    }

    /// Number of rows seen.
    pub fn rows(&self) -> u64 {
        self.sandwiches.rows()
    }

    /// What a check takes: the laws, exact at the grid and the calibration scores and rounded outward between, and the
    /// kept predictions.
    pub fn laws(&self) -> Result<TargetLaws> {
        Ok(TargetLaws {
            min_max: self.sandwiches.min_max()?,
            f_u: self.sandwiches.model_uniform()?,
            predictions: self.predictions.values()?,
            rows: self.rows(),
        })
    }
}

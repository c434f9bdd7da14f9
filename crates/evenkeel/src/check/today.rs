//! What one pass over today's rows keeps for a check.

use super::shift_test::Prediction;
use crate::error::Result;
use crate::measure::{Grid, Interval};
use crate::row_sample::BottomK;
use crate::rows::{Real, Rows};
use crate::sandwich::{Abscissae, Sandwich, SandwichSketch, SketchedLaws, min_max, model_uniform};
use crate::score::{Probabilities, Score, row_extremes};
use crate::seed::Seed;

/// Predictions kept for the shift test; a uniform sample of this many rows when there are more.
const KEPT_PREDICTIONS: usize = 10_000;

/// What a check takes of today: both pairs of laws, and a sample of the predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct TodayLaws {
    /// Extremes over the labels.
    pub min_max: Sandwich,
    /// Model and uniform labels.
    pub f_u: Sandwich,
    /// Confidences and predicted classes of all rows, or of a uniform sample of ten thousand, in the order of the rows.
    pub predictions: Vec<Prediction>,
    /// Number of rows.
    pub rows: u64,
}

impl TodayLaws {
    /// The exact laws of a table in memory.
    pub fn of_probabilities<T: Real>(
        probabilities: &Probabilities<'_, T>,
        score: &Score,
        seed: Seed,
    ) -> Result<Self> {
        let candidates = score.candidate_scores(probabilities)?;
        let mut kept = kept_predictions(seed);
        for (row, prediction) in predictions(probabilities).into_iter().enumerate() {
            kept.add(row as u64, prediction);
        }
        Ok(Self {
            min_max: min_max(&candidates)?,
            f_u: model_uniform(&candidates)?,
            predictions: kept.into_values(),
            rows: probabilities.rows() as u64,
        })
    }
}

/// A uniform sample of the predictions of rows that are read in blocks.
#[derive(Debug, Clone)]
pub(crate) struct KeptPredictions(BottomK<Prediction>);

impl KeptPredictions {
    pub(crate) fn new(seed: Seed) -> Self {
        Self(kept_predictions(seed))
    }

    /// Adds a block of probability rows; `first_row` is the index of its first row in the whole input.
    pub(crate) fn add<T: Real>(mut self, first_row: usize, block: Rows<'_, T>) -> Result<Self> {
        add_predictions(&mut self.0, first_row, block)?;
        Ok(self)
    }

    /// The kept ones, in the order of their rows.
    pub(crate) fn values(&self) -> Vec<Prediction> {
        self.0.values()
    }
}

fn add_predictions<T: Real>(
    kept: &mut BottomK<Prediction>,
    first_row: usize,
    block: Rows<'_, T>,
) -> Result<()> {
    for (offset, values) in block.iter().enumerate() {
        let row = first_row.saturating_add(offset);
        let extremes = row_extremes(values);
        let scale = extremes.scale(block.what(), row, values)?;
        kept.add_with(row as u64, || Prediction {
            confidence: extremes.largest * scale,
            class: first_of(values, extremes.largest),
        });
    }
    Ok(())
}

fn kept_predictions(seed: Seed) -> BottomK<Prediction> {
    BottomK::new(seed.child("kept-confidences", 0).get(), KEPT_PREDICTIONS)
}

/// Both sandwiches of today's rows and a sample of their predictions, from one pass; mergeable.
#[derive(Debug, Clone, PartialEq)]
pub struct TodaySketch {
    sandwiches: SandwichSketch,
    predictions: BottomK<Prediction>,
}

impl TodaySketch {
    /// An empty sketch that will know both CDFs exactly on a grid of `points` over `range` and at every calibration score.
    pub fn new(scores: &[f64], range: Interval, points: usize, seed: Seed) -> Result<Self> {
        let abscissae = Abscissae::of_grid_and_points(&Grid::new(range, points)?, scores)?;
        Ok(Self {
            sandwiches: SandwichSketch::new(abscissae, SketchedLaws::Both),
            predictions: kept_predictions(seed),
        })
    }

    /// Adds a block of probability rows; `first_row` is the index of its first row in the whole input.
    pub fn add_probabilities<T: Real>(
        mut self,
        first_row: usize,
        block: Rows<'_, T>,
        score: &Score,
    ) -> Result<Self> {
        self.sandwiches = self.sandwiches.add_probabilities(first_row, block, score)?;
        add_predictions(&mut self.predictions, first_row, block)?;
        Ok(self)
    }

    /// The sketch of both inputs; the order does not matter.
    pub fn merge(mut self, other: &Self) -> Result<Self> {
        self.sandwiches = self.sandwiches.merge(&other.sandwiches)?;
        self.predictions.merge(&other.predictions);
        Ok(self)
    }

    /// Number of rows seen.
    pub fn rows(&self) -> u64 {
        self.sandwiches.rows()
    }

    /// What a check takes: the laws, exact at the grid and the calibration scores and rounded outward between, and the
    /// kept predictions.
    pub fn laws(&self) -> Result<TodayLaws> {
        Ok(TodayLaws {
            min_max: self.sandwiches.min_max()?,
            f_u: self.sandwiches.model_uniform()?,
            predictions: self.predictions.values(),
            rows: self.rows(),
        })
    }
}

/// The most probable class of every row and its probability; shape `(n,)`.
pub fn predictions<T: Real>(probabilities: &Probabilities<'_, T>) -> Vec<Prediction> {
    let table = probabilities.table();
    let mut row = vec![0.0; probabilities.classes()];
    (0..probabilities.rows())
        .map(|index| {
            probabilities.read_row(index, &mut row);
            let confidence = row.iter().fold(0.0_f64, |largest, value| largest.max(*value));
            // Of the values as given: normalising may round neighbours to a tie.
            let values = table.row(index);
            Prediction { confidence, class: first_of(values, row_extremes(values).largest) }
        })
        .collect()
}

/// Index of the first value that equals the largest.
fn first_of<T: Real>(values: &[T], largest: f64) -> u32 {
    let is_largest = |value: &T| {
        let value: f64 = (*value).into();
        value == largest
    };
    values.iter().position(is_largest).map_or(0, |class| class as u32)
}

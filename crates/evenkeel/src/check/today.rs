//! What one pass over today's rows keeps for a check.

use super::bottom_k::BottomK;
use crate::error::Result;
use crate::measure::{Grid, Interval};
use crate::rows::{Real, Rows};
use crate::sandwich::{Abscissae, SandwichSketch, SketchedLaws};
use crate::score::{Probabilities, Score, row_extremes};
use crate::seed::Seed;

/// Confidences kept for the shift test; a uniform sample of this many rows when there are more.
const KEPT_CONFIDENCES: usize = 10_000;

/// Both sandwiches of today's rows and a sample of their confidences, from one pass; mergeable.
#[derive(Debug, Clone, PartialEq)]
pub struct TodaySketch {
    sandwiches: SandwichSketch,
    confidences: BottomK,
}

impl TodaySketch {
    /// An empty sketch that will know both CDFs exactly on a grid of `points` over `range` and at every calibration score.
    pub fn new(scores: &[f64], range: Interval, points: usize, seed: Seed) -> Result<Self> {
        let abscissae = Abscissae::of_grid_and_points(&Grid::new(range, points)?, scores)?;
        Ok(Self {
            sandwiches: SandwichSketch::new(abscissae, SketchedLaws::Both),
            confidences: BottomK::new(seed.child("kept-confidences", 0).get(), KEPT_CONFIDENCES),
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
        for (offset, values) in block.iter().enumerate() {
            let row = first_row.saturating_add(offset);
            let extremes = row_extremes(values);
            let scale = extremes.scale(block.what(), row, values)?;
            self.confidences.add(row as u64, extremes.largest * scale);
        }
        Ok(self)
    }

    /// The sketch of both inputs; the order does not matter.
    pub fn merge(mut self, other: &Self) -> Result<Self> {
        self.sandwiches = self.sandwiches.merge(&other.sandwiches)?;
        self.confidences.merge(&other.confidences);
        Ok(self)
    }

    /// Number of rows seen.
    pub fn rows(&self) -> u64 {
        self.sandwiches.rows()
    }

    /// Both pairs of laws.
    pub fn sandwiches(&self) -> &SandwichSketch {
        &self.sandwiches
    }

    /// The kept confidences, in the order of their rows.
    pub fn confidences(&self) -> Vec<f64> {
        self.confidences.values()
    }
}

/// The largest probability of every row; shape `(n,)`.
pub fn confidences<T: Real>(probabilities: &Probabilities<'_, T>) -> Vec<f64> {
    let mut row = vec![0.0; probabilities.classes()];
    (0..probabilities.rows())
        .map(|index| {
            probabilities.read_row(index, &mut row);
            row.iter().fold(0.0_f64, |largest, value| largest.max(*value))
        })
        .collect()
}

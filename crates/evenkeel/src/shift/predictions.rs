//! What the model says of each row, and a sample of it.

use super::shift_test::Prediction;
use crate::error::Result;
use crate::rows::{Real, Rows};
use crate::score::{Probabilities, row_extremes};
use crate::seed::Seed;
use crate::sketch::row_sample::BottomK;

/// Predictions kept for the shift test; a uniform sample of this many rows when there are more.
pub const KEPT_PREDICTIONS: usize = 10_000;

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

pub(crate) fn add_predictions<T: Real>(
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

pub(crate) fn kept_predictions(seed: Seed) -> BottomK<Prediction> {
    BottomK::new(seed.child("kept-confidences", 0).get(), KEPT_PREDICTIONS)
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

/// All predictions, or a uniform sample of them.
pub(crate) fn sampled(all: Vec<Prediction>, seed: Seed) -> Vec<Prediction> {
    if all.len() <= KEPT_PREDICTIONS {
        return all;
    }
    // The sample a check keeps of a table of any size.
    let mut kept = BottomK::new(seed.child("kept-confidences", 0).get(), KEPT_PREDICTIONS);
    for (row, prediction) in all.into_iter().enumerate() {
        kept.add(row as u64, prediction);
    }
    kept.into_values()
}

//! What the model says of each row, and a sample of it.
//!
//! ```text
//! confidence_i = max_k p[i][k]        class_i = first k with p[i][k] = confidence_i
//! ```

use serde::{Deserialize, Serialize};

use super::shift_test::Prediction;
use crate::error::{Error, Result};
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{Probabilities, row_extremes};
use crate::seed::Seed;
use crate::sketch::contradiction;
use crate::sketch::row_sample::RowSample;

/// Predictions kept for the shift test; a uniform sample of this many rows when there are more.
///
/// A permutation costs time in proportion to the points of both sides, and ten thousand a side tell
/// a distance of 0.02 from chance.
pub(crate) const KEPT_PREDICTIONS: usize = 10_000;

/// A uniform sample of the predictions of rows that are read in blocks: at most ten thousand of them, 32 bytes each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RowSample<Prediction>")]
pub(crate) struct KeptPredictions(RowSample<Prediction>);

/// Refuses confidences outside `[0, 1]`. Classes may be any number: they are only counted.
impl TryFrom<RowSample<Prediction>> for KeptPredictions {
    type Error = Error;

    fn try_from(sample: RowSample<Prediction>) -> Result<Self> {
        if sample.rows().all(|(_, said)| (0.0..=1.0).contains(&said.confidence)) {
            Ok(Self(sample))
        } else {
            Err(contradiction("a confidence is not between 0 and 1"))
        }
    }
}

impl KeptPredictions {
    /// A sample of nothing yet. The name of the stream is part of the results: it chooses the rows.
    pub(crate) fn new(seed: Seed) -> Self {
        Self(RowSample::new(seed.child("kept-confidences", 0).get(), KEPT_PREDICTIONS))
    }

    /// A sample of the same kind that has seen nothing.
    pub(crate) fn emptied(&self) -> Self {
        Self(self.0.emptied())
    }

    /// The same for one of several parts that will see so many rows together.
    #[must_use]
    pub(crate) fn one_of_many(mut self, rows: u64) -> Self {
        self.0.limit_to_share_of(rows);
        self
    }

    /// Adds a block of probability rows, by value: a row that is refused leaves no half-filled
    /// sample.
    ///
    /// Only rows of the sample are looked at: the pass that this is part of reads and checks them all.
    ///
    /// # Errors
    /// If a row of the sample does not hold probabilities, or there is not one key for each row.
    pub(crate) fn add<T: Real>(mut self, keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<Self> {
        keys.check(block.rows())?;
        for (offset, values) in block.iter().enumerate() {
            let key = keys.key(offset);
            self.0.try_add_with(key, || {
                let extremes = row_extremes(values);
                let scale = extremes.scale(block.what(), key, values)?;
                let class = first_of(values, extremes.largest);
                Ok(Prediction { confidence: extremes.largest * scale, class })
            })?;
        }
        Ok(self)
    }

    /// [`add`](Self::add) by the threads of the current rayon pool; if it fails, nothing was added.
    pub(crate) fn add_block<T: Real>(
        &mut self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
    ) -> Result<()> {
        keys.check(block.rows())?;
        // Each share begins with the bound on hashes reached so far, and keeps only rows that may
        // stay.
        let added = block.add_in_shares(
            keys,
            Self(self.0.emptied()),
            |kept| Self(kept.0.emptied()),
            |kept, share| kept.add(share.keys, share.rows),
            |mut merged, share| merged.merge(share).map(|()| merged),
        )?;
        self.merge(added)
    }

    /// Number of predictions kept, at most ten thousand.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds one prediction of the row with this key; its confidence is in `[0, 1]`.
    pub(crate) fn add_prediction(&mut self, key: u64, prediction: Prediction) {
        self.0.add(key, prediction);
    }

    /// An error unless another one is a sample of the same kind.
    pub(crate) fn require_same(&self, other: &Self) -> Result<()> {
        self.0.require_same(&other.0)
    }

    /// Adds what another one kept.
    ///
    /// # Errors
    /// If it is a sample by another seed.
    pub(crate) fn merge(&mut self, other: Self) -> Result<()> {
        self.0.merge(other.0)
    }

    /// The kept ones, in the order of their keys.
    ///
    /// # Errors
    /// If two of them have one key.
    pub(crate) fn values(&self) -> Result<Vec<Prediction>> {
        self.0.values()
    }

    /// The kept ones whose keys `left` leaves, in the order of their keys.
    ///
    /// # Errors
    /// If two of them have one key.
    pub(crate) fn into_values_of(self, left: impl Fn(u64) -> bool) -> Result<Vec<Prediction>> {
        let rows = self.0.into_rows()?.into_iter();
        Ok(rows.filter(|(key, _)| left(*key)).map(|(_, said)| said).collect())
    }

    /// The same, without a copy.
    pub(crate) fn into_values(self) -> Result<Vec<Prediction>> {
        self.0.into_values()
    }
}

/// The most probable class of every row and its probability; shape `(n,)`.
///
/// Confidences are of the normalised row. The class is the first of the largest values as they were
/// given.
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

/// The same of one row that sums to one.
pub(crate) fn prediction(row: &[f64]) -> Prediction {
    let largest = row_extremes(row).largest;
    Prediction { confidence: largest, class: first_of(row, largest) }
}

/// Index of the first value that equals the largest: of tied classes the first, on both sides of a
/// test.
fn first_of<T: Real>(values: &[T], largest: f64) -> u32 {
    let is_largest = |value: &T| {
        let value: f64 = (*value).into();
        value == largest
    };
    values.iter().position(is_largest).map_or(0, |class| class as u32)
}

/// All predictions, or a uniform sample of ten thousand of them, in their order.
///
/// # Errors
/// None: row numbers are unique.
pub(crate) fn sampled(all: Vec<Prediction>, seed: Seed) -> Result<Vec<Prediction>> {
    if all.len() <= KEPT_PREDICTIONS {
        return Ok(all);
    }
    // The sample a check keeps of a table of any size.
    let mut kept = KeptPredictions::new(seed);
    for (row, prediction) in all.into_iter().enumerate() {
        kept.add_prediction(row as u64, prediction);
    }
    kept.into_values()
}

//! Passes that keep rows as they are: a uniform sample where they are many, or nothing at all.
//!
//! ```text
//! kept = the 2^21 / width rows with the smallest hashes of their keys, or all of them
//! ```
//! A row's key alone says whether it is kept, so blocks, threads and processes choose the same
//! rows.

use serde::{Deserialize, Serialize};

use super::basis::{Basis, score_vectors};
use super::fit::Pass;
use crate::error::{Error, Result, SideInput, require_same_length};
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{Score, row_scale, widen_scaled};
use crate::seed::Seed;
use crate::side_inputs::SideInputs;
use crate::sketch::{MOST_CANDIDATES, RowSample, contradiction};

/// The seed of the sample of target rows; the name is part of the bits of stored calibrations.
///
/// One for all methods that sample: the same rows are chosen whatever the method.
pub(crate) fn sample_seed(seed: Seed) -> u64 {
    seed.child("todays-rows", 0).get()
}

/// What is kept of a row, and so how wide it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum KeptRow {
    /// Its probabilities, summing to one; width `C`.
    Probabilities,
    /// The scores of all its labels; width `C`.
    Scores(Score),
    /// Its features; width of the calibration points' own.
    Features,
}

/// Keeps up to 2^21 numbers of rows, a uniform sample of the rows beyond.
///
/// 16 MB of numbers, and 16 bytes a row for key and hash, however many rows there are; up to twice
/// as much while it grows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(crate) struct SampledRows {
    /// What the numbers of a row are.
    kept: KeptRow,
    /// Columns of the probabilities that are read.
    classes: usize,
    /// Numbers kept of a row, at least 1.
    width: usize,
    /// Chooses the sample; the same in every process.
    seed: u64,
}

/// As it is stored; checked when read back.
#[derive(Deserialize)]
struct Stored {
    kept: KeptRow,
    classes: usize,
    width: usize,
    seed: u64,
}

impl TryFrom<Stored> for SampledRows {
    type Error = Error;

    /// An error for a width that does not fit: chunks of no numbers would panic.
    fn try_from(Stored { kept, classes, width, seed }: Stored) -> Result<Self> {
        let fits = match kept {
            KeptRow::Features => width > 0,
            KeptRow::Probabilities | KeptRow::Scores(_) => width == classes && width > 0,
        };
        if fits {
            Ok(Self { kept, classes, width, seed })
        } else {
            Err(contradiction("the width of its rows does not fit what it keeps of them"))
        }
    }
}

impl SampledRows {
    /// Keeps rows of `classes` probabilities.
    pub(crate) fn probabilities(classes: usize, seed: Seed) -> Self {
        let kept = KeptRow::Probabilities;
        Self { kept, classes, width: classes, seed: sample_seed(seed) }
    }

    /// What describes rows: `width` features, or the scores of the classes.
    ///
    /// The calibration side is described the same way, with draws of its own where scores are
    /// randomised.
    pub(crate) fn described(
        basis: Basis,
        (classes, width): (usize, usize),
        score: &Score,
        seed: Seed,
    ) -> Self {
        let kept = match basis {
            Basis::Features => KeptRow::Features,
            Basis::Scores => KeptRow::Scores(score.with_draws_for("today")),
        };
        Self { kept, classes, width, seed: sample_seed(seed) }
    }

    /// Numbers of each kept row, at least 1.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Rows that 2^21 numbers allow, at least one.
    fn capacity(&self) -> usize {
        (MOST_CANDIDATES / self.width.max(1)).max(1)
    }

    /// The kept numbers, row after row in the order of the keys: sums over them have the same bits
    /// for any cut.
    ///
    /// # Errors
    /// `DuplicateKey` if a key occurs twice.
    pub(crate) fn rows_of(&self, state: RowSample<Box<[f64]>>) -> Result<Vec<f64>> {
        Ok(state.into_values()?.into_iter().flatten().collect())
    }
}

impl Pass for SampledRows {
    type State = RowSample<Box<[f64]>>;

    /// A sample that has seen no row, of this seed and size.
    fn empty(&self) -> Self::State {
        RowSample::new(self.seed, self.capacity())
    }

    /// Adds what is kept of each row of a block, under its key.
    fn add<T: Real>(
        &self,
        mut state: Self::State,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        side: &SideInputs<'_>,
    ) -> Result<Self::State> {
        let values = match (self.kept, side.features) {
            (KeptRow::Probabilities, _) => normalised(keys, block)?,
            (KeptRow::Features, Some(features)) => {
                let columns = features.columns();
                require_same_length(
                    "target features",
                    columns,
                    "calibration features",
                    self.width,
                )?;
                // Not used, but rows that are not valid probabilities are a mistake whatever the method.
                check_rows(keys, block)?;
                features.values().to_vec()
            }
            (KeptRow::Scores(score), None) => score_vectors(keys, block, &score)?,
            (KeptRow::Features, None) | (KeptRow::Scores(_), Some(_)) => {
                // The calibration points were described by the other of the two; a fit would
                // compare features with scores.
                return Err(Error::OneSided { what: SideInput::Features });
            }
        };
        for (offset, row) in values.chunks_exact(self.width).enumerate() {
            // Copied only if it is kept: of a large table almost no row is.
            state.add_with(keys.key(offset), || row.into());
        }
        Ok(state)
    }

    fn merge(&self, mut state: Self::State, other: Self::State) -> Result<Self::State> {
        state.merge(other)?;
        Ok(state)
    }

    /// An error unless it is a sample by this seed and size whose rows have this width.
    fn check(&self, state: &Self::State) -> Result<()> {
        state.require(self.seed, self.capacity())?;
        let wrong = state.rows().map(|(_, row)| row).find(|row| row.len() != self.width);
        match wrong {
            None => Ok(()),
            Some(row) => require_same_length("a kept row", row.len(), "its width", self.width),
        }
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn empty_of(&self, rows: u64) -> Self::State {
        let mut state = self.empty();
        state.limit_to_share_of(rows);
        state
    }
}

/// Looks at rows and keeps nothing: rows that are not valid probabilities are a mistake whatever the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CheckedRows {
    /// Number of classes, the columns of the rows it looks at.
    pub classes: usize,
}

impl Pass for CheckedRows {
    type State = ();

    /// Nothing is kept, so nothing is sent but the number of rows.
    fn empty(&self) {}

    fn add<T: Real>(
        &self,
        (): (),
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        _: &SideInputs<'_>,
    ) -> Result<()> {
        check_rows(keys, block)
    }

    /// Two states that hold nothing are one.
    fn merge(&self, (): (), (): ()) -> Result<()> {
        Ok(())
    }

    /// Nothing can be wrong with nothing.
    fn check(&self, (): &()) -> Result<()> {
        Ok(())
    }

    fn classes(&self) -> usize {
        self.classes
    }
}

/// An error unless every row is a row of probabilities.
///
/// # Errors
/// `NotFinite`, `Negative` or `NotNormalised`, with the row named by its key.
fn check_rows<T: Real>(keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<()> {
    for (offset, row) in block.iter().enumerate() {
        row_scale(block.what(), keys.key(offset), row)?;
    }
    Ok(())
}

/// Rows of probabilities that sum to one, as `f64`; shape of the block.
pub(crate) fn normalised<T: Real>(keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<Vec<f64>> {
    let mut values = vec![0.0; block.values().len()];
    for (offset, place) in values.chunks_exact_mut(block.columns()).enumerate() {
        let row = block.row(offset);
        let scale = row_scale(block.what(), keys.key(offset), row)?;
        widen_scaled(row, scale, place);
    }
    Ok(values)
}

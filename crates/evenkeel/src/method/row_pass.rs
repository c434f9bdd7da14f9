//! Passes that keep rows as they are: a uniform sample where they are many, or nothing at all.

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
pub(crate) fn sample_seed(seed: Seed) -> u64 {
    seed.child("todays-rows", 0).get()
}

/// What is kept of a row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum KeptRow {
    /// Its probabilities, summing to one.
    Probabilities,
    /// The scores of all its labels.
    Scores(Score),
    /// Its features.
    Features,
}

/// Keeps up to 2^21 numbers of rows, a uniform sample of the rows beyond.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(crate) struct SampledRows {
    kept: KeptRow,
    classes: usize,
    width: usize,
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
    /// Rows of probabilities.
    pub(crate) fn probabilities(classes: usize, seed: Seed) -> Self {
        let kept = KeptRow::Probabilities;
        Self { kept, classes, width: classes, seed: sample_seed(seed) }
    }

    /// What describes rows: `width` features, or the scores of the classes.
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

    /// Numbers of each kept row.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    fn capacity(&self) -> usize {
        (MOST_CANDIDATES / self.width.max(1)).max(1)
    }

    /// The kept numbers, row after row in the order of the keys.
    pub(crate) fn rows_of(&self, state: RowSample<Box<[f64]>>) -> Result<Vec<f64>> {
        Ok(state.into_values()?.into_iter().flatten().collect())
    }
}

impl Pass for SampledRows {
    type State = RowSample<Box<[f64]>>;

    fn empty(&self) -> Self::State {
        RowSample::new(self.seed, self.capacity())
    }

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
                return Err(Error::OneSided { what: SideInput::Features });
            }
        };
        for (offset, row) in values.chunks_exact(self.width).enumerate() {
            state.add_with(keys.key(offset), || row.into());
        }
        Ok(state)
    }

    fn merge(&self, mut state: Self::State, other: Self::State) -> Result<Self::State> {
        state.merge(other)?;
        Ok(state)
    }

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
}

/// Looks at rows and keeps nothing: rows that are not valid probabilities are a mistake whatever the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CheckedRows {
    /// Number of classes.
    pub classes: usize,
}

impl Pass for CheckedRows {
    type State = ();

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

    fn merge(&self, (): (), (): ()) -> Result<()> {
        Ok(())
    }

    fn check(&self, (): &()) -> Result<()> {
        Ok(())
    }

    fn classes(&self) -> usize {
        self.classes
    }
}

/// An error unless every row is a row of probabilities.
fn check_rows<T: Real>(keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<()> {
    for (offset, row) in block.iter().enumerate() {
        row_scale(block.what(), keys.key(offset), row)?;
    }
    Ok(())
}

/// Rows of probabilities that sum to one.
pub(crate) fn normalised<T: Real>(keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<Vec<f64>> {
    let mut values = vec![0.0; block.values().len()];
    for (offset, place) in values.chunks_exact_mut(block.columns()).enumerate() {
        let row = block.row(offset);
        let scale = row_scale(block.what(), keys.key(offset), row)?;
        widen_scaled(row, scale, place);
    }
    Ok(values)
}

//! A row of the target data, however it was given: logits and, where asked for, scores.
//!
//! ```text
//! given           logits(y)            scores(y)
//! probabilities   ln max(p_y, floor)   s(p, y), p divided by its sum
//! logits          as given             s(softmax(logits), y)
//! candidates      ln max(f_y, floor)   as given
//! ```

use std::ops::Range;

use rayon::prelude::*;

use super::kept_rows::KeptRow;
use super::labeled_logits::{floored_logs, plausibility, require_logits, widen_logits};
use super::law_map::LabelLawMap;
use crate::error::{Error, Result};
use crate::numeric::simd::in_widest_registers;
use crate::numeric::softmax;
use crate::rows::{Real, RowKeys, Rows, row_number};
use crate::score::{
    CandidateScores, ExtremesOfRows, ROWS_TOGETHER, RowScratch, Score, row_scale, widen_scaled,
};

/// Rows of a table in memory that a thread takes at a time. No result depends on it: what blocks
/// leave behind merges exactly.
const BLOCK_ROWS: usize = 1 << 12;

/// A block of target rows, in one of the three forms a user may have.
#[derive(Debug, Clone, Copy)]
pub enum TargetRows<'a, T> {
    /// Class probabilities `(rows, C)`.
    Probabilities(Rows<'a, T>),
    /// Logits `(rows, C)`.
    Logits(Rows<'a, T>),
    /// The user's own scores with their plausibilities.
    Candidates(&'a CandidateScores),
}

impl<T: Real> TargetRows<'_, T> {
    /// Number of rows of the block, at least one.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Probabilities(rows) | Self::Logits(rows) => rows.rows(),
            Self::Candidates(candidates) => candidates.rows(),
        }
    }

    /// `C`, the number of classes, or of candidate labels.
    pub(crate) fn classes(&self) -> usize {
        match self {
            Self::Probabilities(rows) | Self::Logits(rows) => rows.columns(),
            Self::Candidates(candidates) => candidates.labels(),
        }
    }

    /// An error unless a plan can read these rows of the block, for the first that it cannot.
    pub(super) fn require_rows(&self, offsets: Range<usize>, keys: RowKeys<'_>) -> Result<()> {
        match self {
            Self::Probabilities(rows) => {
                let (columns, mut extremes) = (rows.columns(), ExtremesOfRows::new());
                let values = &rows.values()[offsets.start * columns..offsets.end * columns];
                for (group, values) in values.chunks(ROWS_TOGETHER * columns).enumerate() {
                    let first = offsets.start + group * ROWS_TOGETHER;
                    extremes.read(rows.what(), |row| keys.key(first + row), values, columns)?;
                }
                Ok(())
            }
            Self::Logits(rows) => offsets.into_iter().try_for_each(|offset| {
                require_logits(rows.what(), row_number(keys.key(offset)), rows.row(offset))
            }),
            Self::Candidates(candidates) => offsets
                .into_iter()
                .try_for_each(|offset| plausibility(candidates, offset).map(drop)),
        }
    }
}

/// Buffers for one row, each of shape `(C,)`, reused so that a pass allocates once.
pub(crate) struct RowReader {
    /// Logits of the row read last.
    pub logits: Vec<f64>,
    /// Scores of its labels; stale after `read_logits`, which does not score.
    pub scores: Vec<f64>,
    /// Its probabilities, divided by their sum; unused for candidates.
    probabilities: Vec<f64>,
    scratch: RowScratch,
}

impl RowReader {
    /// Buffers for rows of this many classes, zero until a row is read.
    pub(crate) fn new(classes: usize) -> Self {
        let row = vec![0.0; classes];
        Self {
            logits: row.clone(),
            scores: row.clone(),
            probabilities: row,
            scratch: RowScratch::default(),
        }
    }

    /// Reads the logits of the block's row `offset`, which has the key `row`.
    ///
    /// # Errors
    /// If the row does not hold probabilities or finite logits, or is a candidate row no plan can
    /// use.
    pub(crate) fn read_logits<T: Real>(
        &mut self,
        block: &TargetRows<'_, T>,
        offset: usize,
        row: u64,
    ) -> Result<()> {
        match block {
            TargetRows::Probabilities(rows) => {
                let values = rows.row(offset);
                // Both passes check their rows: they may read different copies of a file.
                let scale = row_scale(rows.what(), row, values)?;
                widen_scaled(values, scale, &mut self.probabilities);
                floored_logs(&self.probabilities, &mut self.logits);
            }
            TargetRows::Logits(rows) => {
                widen_logits(rows.what(), row_number(row), rows.row(offset), &mut self.logits)?;
            }
            TargetRows::Candidates(candidates) => {
                floored_logs(plausibility(candidates, offset)?, &mut self.logits);
            }
        }
        Ok(())
    }

    /// Reads logits and scores of the block's row `offset`; the key `row` addresses its random
    /// draws.
    ///
    /// # Errors
    /// Those of `read_logits`, and a table without scores when `score` is `None`.
    pub(crate) fn read<T: Real>(
        &mut self,
        block: &TargetRows<'_, T>,
        offset: usize,
        row: u64,
        score: Option<&Score>,
    ) -> Result<()> {
        self.read_logits(block, offset, row)?;
        match block {
            TargetRows::Candidates(candidates) => {
                self.scores.copy_from_slice(candidates.row(offset));
                return Ok(());
            }
            TargetRows::Logits(_) => {
                // Scores are those of the raw probabilities, by the softmax that made those of the calibration rows.
                softmax(&self.logits, &mut self.probabilities);
            }
            TargetRows::Probabilities(_) => {}
        }
        let Some(score) = score else {
            return Err(Error::Unsupported {
                what: "a table without scores in a plan for the user's own scores",
                instead: "give candidate scores with plausibilities, or make the planner with a score function",
            });
        };
        score.score_row(row, &self.probabilities, &mut self.scratch, &mut self.scores);
        Ok(())
    }

    /// The row read last, as a pass keeps it.
    pub(super) fn kept_row<T: Real>(&self, block: &TargetRows<'_, T>) -> KeptRow {
        match block {
            TargetRows::Probabilities(_) => KeptRow::Probabilities(self.probabilities[..].into()),
            TargetRows::Logits(_) | TargetRows::Candidates(_) => {
                KeptRow::Logits(self.logits[..].into())
            }
        }
    }

    /// Reads logits and scores of a row that was kept as probabilities: the bits of [`read`](Self::read).
    pub(crate) fn read_kept(&mut self, probabilities: &[f64], row: u64, score: &Score) {
        self.probabilities.copy_from_slice(probabilities);
        floored_logs(&self.probabilities, &mut self.logits);
        score.score_row(row, &self.probabilities, &mut self.scratch, &mut self.scores);
    }

    /// Scores the row read last by a label law instead; `room` is the law's memory.
    pub(crate) fn score_by(&mut self, law: &LabelLawMap, room: &mut Vec<f64>) {
        law.scores(self.probabilities.len(), &self.probabilities, room, &mut self.scores);
    }
}

/// The first class with the largest logit: ties must fall alike in both data sets, or they would
/// count as a shift.
#[inline]
pub(crate) fn predicted(logits: &[f64]) -> usize {
    // Two looks, of which the first has no order and the second seldom goes far: one that keeps the place of the largest so far
    // waits for each entry before the next.
    let largest = largest_of(logits);
    logits.iter().position(|value| *value == largest).unwrap_or(0)
}

in_widest_registers! {
    /// The largest of finite numbers; minus infinity of none.
    fn largest_of[](values: &[f64]) -> f64 {
        let (chunks, rest) = values.as_chunks::<8>();
        let mut lanes = [f64::NEG_INFINITY; 8];
        for chunk in chunks {
            for lane in 0..8 {
                lanes[lane] = if chunk[lane] > lanes[lane] { chunk[lane] } else { lanes[lane] };
            }
        }
        let all = lanes.iter().chain(rest);
        all.fold(f64::NEG_INFINITY, |largest, value| if *value > largest { *value } else { largest })
    }
}

/// Applies `add` to blocks of a table and the number of their first row, in parallel.
///
/// Candidates are one block: they own their scores and cannot be borrowed in parts.
pub(crate) fn in_blocks<'a, T: Real, P: Send + 'a>(
    target: &'a TargetRows<'a, T>,
    add: impl Fn(usize, &TargetRows<'_, T>) -> Result<P> + Sync + Send + 'a,
) -> impl ParallelIterator<Item = Result<P>> + 'a {
    let rows = target.rows();
    let starts: Vec<usize> = match target {
        TargetRows::Candidates(_) => vec![0],
        _ => (0..rows).step_by(BLOCK_ROWS).collect(),
    };
    let part = move |table: &Rows<'a, T>, start: usize| {
        let end = rows.min(start + BLOCK_ROWS);
        let values = &table.values()[start * table.columns()..end * table.columns()];
        Rows::new(table.what(), values, table.columns())
    };
    starts.into_par_iter().map(move |start| match target {
        TargetRows::Probabilities(table) => {
            add(start, &TargetRows::Probabilities(part(table, start)?))
        }
        TargetRows::Logits(table) => add(start, &TargetRows::Logits(part(table, start)?)),
        TargetRows::Candidates(candidates) => add(0, &TargetRows::Candidates(candidates)),
    })
}

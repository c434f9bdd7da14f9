//! `C(x) = {y : s(x, y) <= t}`: prediction sets from blocks of probability rows, scored on the fly.

use super::label_sets::LabelSets;
use super::lac_rows::{RowThresholds, lac_sets};
use super::thresholds::Thresholds;
use crate::error::{Error, Result, require_same_length};
use crate::rows::{Real, Rows};
use crate::score::{RowScratch, Score, row_scale, widen_scaled};

/// `C(x) = {y : s(x, y) <= threshold}` for every row of a block of probabilities, which is read once and not copied.
///
/// Rows must be probability vectors, as for [`Probabilities`](crate::score::Probabilities). `first_row` is the index of
/// the block's first row in the whole input: it addresses random draws and names rows in errors. Any cut of a table
/// into blocks gives the same sets, and memory is that of the block's sets. Thresholds per row are those of the block.
///
/// # Errors
/// `LengthMismatch` unless there are as many thresholds as rows or labels; `NotFinite`, `Negative` or `NotNormalised`
/// for the first row that is not a probability vector, counted from `first_row`.
pub fn predict_rows<'a, T: Real>(
    first_row: usize,
    block: Rows<'_, T>,
    score: &Score,
    thresholds: impl Into<Thresholds<'a>>,
) -> Result<LabelSets> {
    let thresholds = thresholds.into();
    thresholds.require_shape(block.rows(), block.columns())?;
    // lac is the default score, and its sets follow from comparisons: scoring every entry would take many times as
    // long.
    match thresholds {
        Thresholds::Shared(threshold) if *score == Score::Lac => {
            return lac_sets(first_row, block, RowThresholds::Shared(threshold));
        }
        Thresholds::PerRow(each) if *score == Score::Lac => {
            return lac_sets(first_row, block, RowThresholds::PerRow(each));
        }
        _ => {}
    }
    let mut sets = LabelSets::with_capacity(block.rows(), block.columns());
    let mut rows = RowScorer::new(score, block.columns());
    for (offset, values) in block.iter().enumerate() {
        let scores = rows.score(block.what(), first_row.saturating_add(offset), values)?;
        sets.push_row(|label| thresholds.admit(offset, label, scores[label]));
    }
    Ok(sets)
}

/// `s(x_i, y_i)` for a block of labeled probability rows; shape `(rows,)`.
///
/// The block-wise form of [`Score::label_scores`], with `first_row` as in [`predict_rows`].
///
/// # Errors
/// `LengthMismatch` unless there is one label per row; `NotFinite`, `Negative` or `NotNormalised` for a row that is not
/// a probability vector and `LabelOutOfRange` for a label that is not below the number of classes, both counted from
/// `first_row`.
pub fn label_scores_of_rows<T: Real>(
    first_row: usize,
    block: Rows<'_, T>,
    score: &Score,
    labels: &[usize],
) -> Result<Vec<f64>> {
    require_same_length("labels", labels.len(), block.what(), block.rows())?;
    let classes = block.columns();
    let mut rows = RowScorer::new(score, classes);
    let score_of = |(offset, (values, label)): (usize, (&[T], &usize))| {
        let index = first_row.saturating_add(offset);
        let scores = rows.score(block.what(), index, values)?;
        let out_of_range = Error::LabelOutOfRange { what: "labels", index, label: *label, classes };
        scores.get(*label).copied().ok_or(out_of_range)
    };
    block.iter().zip(labels).enumerate().map(score_of).collect()
}

/// Checks, normalises and scores rows, one after the other, in memory for one row.
struct RowScorer<'a> {
    /// With draws for the purpose at hand.
    score: &'a Score,
    /// Memory of the score function.
    scratch: RowScratch,
    /// The row, widened and normalised; shape `(C,)`.
    probabilities: Vec<f64>,
    /// The score of each label; shape `(C,)`.
    scores: Vec<f64>,
}

impl<'a> RowScorer<'a> {
    /// Room for rows of `classes` entries.
    fn new(score: &'a Score, classes: usize) -> Self {
        let (probabilities, scores) = (vec![0.0; classes], vec![0.0; classes]);
        Self { score, scratch: RowScratch::default(), probabilities, scores }
    }

    /// Scores of all labels of a row; `row` addresses its draw and names it in errors.
    ///
    /// # Errors
    /// `NotFinite`, `Negative` or `NotNormalised` unless it is a probability vector.
    fn score<T: Real>(&mut self, what: &'static str, row: usize, values: &[T]) -> Result<&[f64]> {
        let row = row as u64;
        widen_scaled(values, row_scale(what, row, values)?, &mut self.probabilities);
        self.score.score_row(row, &self.probabilities, &mut self.scratch, &mut self.scores);
        Ok(&self.scores)
    }
}

//! `C(x) = {y : s(x, y) <= t}`: prediction sets from blocks of probability rows, scored on the fly.

use super::label_sets::LabelSets;
use super::lac_rows::{RowThresholds, lac_sets};
use super::law_sets::law_sets;
use super::thresholds::Thresholds;
use crate::error::{Error, Result, require_same_length};
use crate::label_law::LabelLawMap;
use crate::rows::{AnyRows, Real, RowKeys, Rows, of_their_type, row_number};
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
    let keys = RowKeys::From(first_row as u64);
    predict_scored(keys, block.any(), Scoring::Function(score), thresholds.into())
}

/// What scores the rows of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scoring<'a> {
    /// A function of the probabilities, with draws for the purpose at hand.
    Function(&'a Score),
    /// `1 - h` of a label law.
    LabelLaw(&'a LabelLawMap),
}

impl Scoring<'_> {
    /// Whether scores are `1 - p`.
    pub(crate) fn is_lac(&self) -> bool {
        matches!(self, Self::Function(Score::Lac | Score::Plan))
    }
}

/// [`predict_rows`] by a score function or a label law.
pub(crate) fn predict_scored(
    keys: RowKeys<'_>,
    block: AnyRows<'_>,
    scoring: Scoring<'_>,
    thresholds: Thresholds<'_>,
) -> Result<LabelSets> {
    of_their_type!(block, rows => predict_typed(keys, rows, scoring, thresholds))
}

fn predict_typed<T: Real>(
    keys: RowKeys<'_>,
    block: Rows<'_, T>,
    scoring: Scoring<'_>,
    thresholds: Thresholds<'_>,
) -> Result<LabelSets> {
    thresholds.require_shape(block.rows(), block.columns())?;
    keys.check(block.rows())?;
    // lac is the default score, and its sets follow from comparisons: scoring every entry would take many times as
    // long.
    match thresholds {
        Thresholds::Shared(threshold) if scoring.is_lac() => {
            return keyed_lac_sets(keys, block, RowThresholds::Shared(threshold));
        }
        Thresholds::PerRow(each) if scoring.is_lac() => {
            return keyed_lac_sets(keys, block, RowThresholds::PerRow(each));
        }
        _ => {}
    }
    if let Scoring::LabelLaw(law) = scoring {
        return law_sets(keys, block, law, thresholds);
    }
    let mut sets = LabelSets::with_capacity(block.rows(), block.columns());
    let mut rows = RowScorer::new(scoring, block.columns());
    for (offset, values) in block.iter().enumerate() {
        let scores = rows.score(block.what(), keys.key(offset), values)?;
        sets.push_row(|label| thresholds.admit(offset, label, scores[label]));
    }
    Ok(sets)
}

/// [`lac_sets`] of rows with any keys, which that path needs for errors only.
fn keyed_lac_sets<T: Real>(
    keys: RowKeys<'_>,
    block: Rows<'_, T>,
    thresholds: RowThresholds<'_>,
) -> Result<LabelSets> {
    let RowKeys::Each(_) = keys else {
        return lac_sets(row_number(keys.key(0)), block, thresholds);
    };
    // The path counts rows from its first; the row that it refuses is found again under its own key.
    let refused = |(offset, values)| row_scale(block.what(), keys.key(offset), values).err();
    lac_sets(0, block, thresholds)
        .map_err(|error| block.iter().enumerate().find_map(refused).unwrap_or(error))
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
    let keys = RowKeys::From(first_row as u64);
    label_scores_by(keys, block.any(), Scoring::Function(score), labels)
}

/// [`label_scores_of_rows`] by a score function or a label law.
pub(crate) fn label_scores_by(
    keys: RowKeys<'_>,
    block: AnyRows<'_>,
    scoring: Scoring<'_>,
    labels: &[usize],
) -> Result<Vec<f64>> {
    of_their_type!(block, rows => label_scores_typed(keys, rows, scoring, labels))
}

fn label_scores_typed<T: Real>(
    keys: RowKeys<'_>,
    block: Rows<'_, T>,
    scoring: Scoring<'_>,
    labels: &[usize],
) -> Result<Vec<f64>> {
    require_same_length("labels", labels.len(), block.what(), block.rows())?;
    keys.check(block.rows())?;
    let classes = block.columns();
    let mut rows = RowScorer::new(scoring, classes);
    let score_of = |(offset, (values, label)): (usize, (&[T], &usize))| {
        let key = keys.key(offset);
        let scores = rows.score(block.what(), key, values)?;
        let index = row_number(key);
        let out_of_range = Error::LabelOutOfRange { what: "labels", index, label: *label, classes };
        scores.get(*label).copied().ok_or(out_of_range)
    };
    block.iter().zip(labels).enumerate().map(score_of).collect()
}

/// Checks, normalises and scores rows, one after the other, in memory for one row.
struct RowScorer<'a> {
    scoring: Scoring<'a>,
    /// Memory of the score function.
    scratch: RowScratch,
    /// The row, widened and normalised; shape `(C,)`.
    probabilities: Vec<f64>,
    /// The score of each label; shape `(C,)`.
    scores: Vec<f64>,
    /// Memory of a label law.
    room: Vec<f64>,
}

impl<'a> RowScorer<'a> {
    /// Room for rows of `classes` entries.
    fn new(scoring: Scoring<'a>, classes: usize) -> Self {
        let row = vec![0.0; classes];
        let scratch = RowScratch::default();
        Self { scoring, scratch, probabilities: row.clone(), scores: row, room: Vec::new() }
    }

    /// Scores of all labels of a row; `row` addresses its draw and names it in errors.
    ///
    /// # Errors
    /// `NotFinite`, `Negative` or `NotNormalised` unless it is a probability vector.
    fn score<T: Real>(&mut self, what: &'static str, row: u64, values: &[T]) -> Result<&[f64]> {
        widen_scaled(values, row_scale(what, row, values)?, &mut self.probabilities);
        match self.scoring {
            Scoring::Function(score) => {
                score.score_row(row, &self.probabilities, &mut self.scratch, &mut self.scores);
            }
            Scoring::LabelLaw(law) => {
                let classes = self.probabilities.len();
                law.scores(classes, &self.probabilities, &mut self.room, &mut self.scores);
            }
        }
        Ok(&self.scores)
    }
}

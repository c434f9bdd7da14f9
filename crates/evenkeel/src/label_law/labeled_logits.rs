//! The labeled side, as the plan takes it: logits, labels and scores.
//!
//! ```text
//! logits_i(y) = the model's own, or ln max(p_i(y), floor) where it gives probabilities
//! score_i     = s(x_i, y_i), of the raw probabilities, never of tempered ones
//! ```

use crate::error::{At, Error, Result, require_finite, require_same_length};
use crate::numeric::floored_ln;
use crate::rows::{Real, Rows};
use crate::score::{CandidateScores, Labels, Probabilities, Score, softmax_rows};

/// Probabilities below this count as this much where logits are made of them: `logit = ln max(p, floor)`.
///
/// It is the smallest positive `f32`, because tables come from `f32` softmaxes: a zero in one says "less than this" and
/// no more. A larger floor would flatten what the table does say, and `ln 0` would not be a number at all.
pub(crate) const PROBABILITY_FLOOR: f64 = 1.401_298_464_324_817e-45;

/// `ln max(p, floor)` of every entry; both slices have one length.
#[inline]
pub(crate) fn floored_logs(probabilities: &[f64], logits: &mut [f64]) {
    floored_ln(probabilities, PROBABILITY_FLOOR, logits);
}

/// The labeled points of the calibration data: logits `(n, C)`, labels `(n,)`, and the scores `(n,)` of the labels.
#[derive(Debug, Clone, PartialEq)]
pub struct LabeledLogits {
    logits: Vec<f64>,
    classes: usize,
    labels: Vec<usize>,
    scores: Vec<f64>,
}

impl LabeledLogits {
    /// From class probabilities; logits are their floored logarithms.
    ///
    /// # Errors
    /// If there are not as many labels as rows, or a label is not one of the classes.
    pub fn of_probabilities<T: Real>(
        probabilities: &Probabilities<'_, T>,
        labels: &Labels,
        score: &Score,
    ) -> Result<Self> {
        // The word is part of the results: another one gives other draws, and so other thresholds.
        let scores = score.with_draws_for("calibration").label_scores(probabilities, labels)?;
        Self::of_scored(probabilities, labels, scores)
    }

    /// The same where the labels were scored already; `scores` are trusted to be those of the
    /// labels.
    pub(crate) fn of_scored<T: Real>(
        probabilities: &Probabilities<'_, T>,
        labels: &Labels,
        scores: Vec<f64>,
    ) -> Result<Self> {
        let classes = probabilities.classes();
        // A probability of exactly zero has no logarithm: floored, so that a temperature above 1 can bring the label back.
        let mut logits = vec![0.0; probabilities.rows() * classes];
        let mut given = vec![0.0; classes];
        for (index, row) in logits.chunks_exact_mut(classes).enumerate() {
            probabilities.read_row(index, &mut given);
            floored_logs(&given, row);
        }
        Ok(Self { logits, classes, labels: labels.as_slice().to_vec(), scores })
    }

    /// From logits; scores are those of their softmax.
    ///
    /// # Errors
    /// If a logit is not finite, there are not as many labels as rows, or a label is not one of the classes.
    pub fn of_logits<T: Real>(logits: Rows<'_, T>, labels: &Labels, score: &Score) -> Result<Self> {
        let classes = logits.columns();
        // Scores are of probabilities, by the softmax that target rows get.
        let probabilities = softmax_rows(logits, 1.0)?;
        let table = Probabilities::new(&probabilities, classes)?;
        let scores = score.with_draws_for("calibration").label_scores(&table, labels)?;
        let logits = logits.values().iter().map(|value| (*value).into()).collect();
        Ok(Self { logits, classes, labels: labels.as_slice().to_vec(), scores })
    }

    /// From the user's own table with a plausibility for every label: rows of a user's score function, or the bins of a
    /// regression with the index of each point's bin as its label. `scores` are those of the true values, shape `(n,)`.
    ///
    /// # Errors
    /// If labels, scores and rows differ in number, a label is not a column, a score is not finite, or the table has no
    /// plausibilities.
    pub fn of_candidates(
        candidates: &CandidateScores,
        labels: &Labels,
        scores: &[f64],
    ) -> Result<Self> {
        let classes = candidates.labels();
        // The scores come from the user and not from a table that was checked, so all is checked
        // here.
        require_same_length("labels", labels.len(), "candidate rows", candidates.rows())?;
        require_same_length("scores", scores.len(), "candidate rows", candidates.rows())?;
        labels.require_below(classes)?;
        require_finite("scores", scores)?;
        let mut logits = vec![0.0; candidates.rows() * classes];
        for (row, logits) in logits.chunks_exact_mut(classes.max(1)).enumerate() {
            floored_logs(plausibility(candidates, row)?, logits);
        }
        let labels = labels.as_slice().to_vec();
        Ok(Self { logits, classes, labels, scores: scores.to_vec() })
    }

    /// The same points with other scores of their labels, in the order of the points.
    pub(crate) fn with_scores(self, scores: Vec<f64>) -> Self {
        Self { scores, ..self }
    }

    /// `n`, the number of labeled points.
    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// `C`, the number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// Logits, row after row; `n C` finite numbers.
    pub(crate) fn logits(&self) -> &[f64] {
        &self.logits
    }

    /// Labels in the order given; `n` numbers below `C`.
    pub(crate) fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Scores of the labels in the order given; `n` finite numbers.
    pub(crate) fn scores(&self) -> &[f64] {
        &self.scores
    }
}

/// The plausibility `(C,)` of a row of candidates the plan can work with.
///
/// # Errors
/// If the row has a mask, or the table no plausibilities.
pub(crate) fn plausibility(candidates: &CandidateScores, row: usize) -> Result<&[f64]> {
    // The plan scales every label's mass, and could bring back one that the mask excludes.
    if candidates.mask_row(row).is_some() {
        return Err(Error::Unsupported {
            what: "the label plan with a label mask",
            instead: "give the possible labels all of the plausibility and leave the mask out, or use the ot method",
        });
    }
    candidates.plausibility_row(row).ok_or(Error::Unsupported {
        what: "the label plan on candidate scores without a plausibility",
        instead: "give one (for a classifier its probabilities), or use the ot method with the min-max sandwich",
    })
}

/// An error for the first logit of a row that is not finite.
pub(crate) fn require_logits<T: Real>(what: &'static str, row: usize, values: &[T]) -> Result<()> {
    for (column, value) in values.iter().enumerate() {
        let value: f64 = (*value).into();
        if !value.is_finite() {
            return Err(Error::NotFinite { what, at: At::Cell { row, column }, value });
        }
    }
    Ok(())
}

/// Widens a row of logits to `f64`, into `out` of the same length.
///
/// # Errors
/// `NotFinite` with row and column of the first logit that is not.
pub(crate) fn widen_logits<T: Real>(
    what: &'static str,
    row: usize,
    values: &[T],
    out: &mut [f64],
) -> Result<()> {
    require_logits(what, row, values)?;
    out.iter_mut().zip(values).for_each(|(slot, value)| *slot = (*value).into());
    Ok(())
}

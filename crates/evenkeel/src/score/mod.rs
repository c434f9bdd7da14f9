//! Stage 1: from a classifier's probabilities (or a regressor's predictions) to nonconformity scores.
//!
//! ```text
//! lac      s(x, y) = 1 - p_y                                                      range [0, 1]
//! aps      s(x, y) = sum of the p_k ranked before y + u p_y                       range [0, 1]
//! raps     s(x, y) = aps + lambda max(0, rank(y) - k_reg)                         range [0, 1 + lambda (C - k_reg)+]
//! margin   s(x, y) = max_{k != y} p_k - p_y                                       range [-1, 1]
//! plan     s(x, y) = 1 - h_y, h a label law fitted to the target data             range [0, 1]
//! residual s(x, y) = |y - prediction|                                             range [0, inf)
//! quantile s(x, y) = max(low - y, y - high)        (CQR)                          the line
//! ```
//! Labels are ranked by decreasing probability, equal ones by index. `u` is 1 when deterministic and uniform on
//! `[0, 1)`, one draw per row, when randomised. The rest of the library only sees scores: a user's own table
//! enters as [`CandidateScores`].

mod ambiguous;
mod aps;
mod candidates;
mod labels;
mod lac;
mod margin;
mod probabilities;
mod quantile;
mod raps;
mod residual;
#[cfg(target_arch = "x86_64")]
mod row_extremes_x86;

pub use ambiguous::ambiguous_scores;
pub use aps::{Aps, Randomisation};
pub(crate) use candidates::is_allowed;
pub use candidates::{CandidateScores, LabelMask};
pub use labels::Labels;
pub use lac::Lac;
pub use margin::Margin;
pub(crate) use probabilities::{
    ExtremesOfRows, ROWS_TOGETHER, row_extremes, row_scale, scaled, widen_scaled,
};
pub use probabilities::{NORMALISATION_TOLERANCE, Probabilities, softmax_rows, softmax_rows_into};
pub use quantile::{conformalised_quantile_score, conformalised_quantile_scores};
pub use raps::Raps;
pub use residual::{absolute_residual, absolute_residuals};

use serde::{Deserialize, Serialize};

use crate::error::{Result, require_same_length};
use crate::interval::Interval;
use crate::rows::{Real, RowKeys, Rows};

/// A score function on rows of class probabilities: the larger, the less the label fits.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Score {
    /// One minus the probability of the label (the paper's).
    #[default]
    Lac,
    /// Adaptive prediction sets: the probability of the labels ranked before, and a share of the label's own.
    Aps(Aps),
    /// `aps` with a penalty on labels of low rank, which keeps sets of many classes small.
    Raps(Raps),
    /// Best rival's probability minus the label's, in `[-1, 1]`.
    Margin,
    /// One minus the label's probability under a label law that the method fits to the target data. A calibration keeps the
    /// law; where no method has fitted one it is the model's own, and the score is that of [`Lac`](Self::Lac).
    Plan,
}

/// Working memory of a score function, reused from row to row so that scoring a table allocates once.
// Hidden: memory that only a caller of the hidden `score_row` owns.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct RowScratch {
    /// Labels of the row scored last, by decreasing probability; left alone by scores that do not
    /// rank.
    order: Vec<usize>,
}

impl RowScratch {
    /// The labels of a row by decreasing probability, equal ones by index.
    fn rank(&mut self, probabilities: &[f64]) -> &[usize] {
        self.order.clear();
        self.order.extend(0..probabilities.len());
        self.order.sort_unstable_by(|a, b| {
            // Not total_cmp, which orders -0.0 below 0.0: a row that holds both would rank its labels by the sign of a
            // zero instead of by index.
            let (a_p, b_p) = (probabilities[*a], probabilities[*b]);
            b_p.partial_cmp(&a_p).unwrap_or(std::cmp::Ordering::Equal).then_with(|| a.cmp(b))
        });
        &self.order
    }
}

impl Score {
    /// Names of those that are functions of the probabilities alone.
    pub(crate) const OF_PROBABILITIES: &[&'static str] = &["lac", "aps", "raps", "margin"];

    /// The name used on the command line and in results.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Lac => "lac",
            Self::Aps(_) => "aps",
            Self::Raps(_) => "raps",
            Self::Margin => "margin",
            Self::Plan => "plan",
        }
    }

    /// The same function with separate random draws for `purpose`.
    ///
    /// Draws are addressed by row, so without this the first calibration point and the first test point would share a
    /// draw.
    pub fn with_draws_for(&self, purpose: &str) -> Self {
        match self {
            Self::Aps(aps) => {
                Self::Aps(Aps { randomisation: aps.randomisation.for_purpose(purpose) })
            }
            Self::Raps(raps) => Self::Raps(raps.with_draws_for(purpose)),
            Self::Lac | Self::Margin | Self::Plan => *self,
        }
    }

    /// The interval that contains every score of a problem with this many classes.
    pub fn range(&self, classes: usize) -> Interval {
        match self {
            Self::Lac | Self::Plan => Lac::RANGE,
            Self::Aps(_) => Aps::RANGE,
            Self::Raps(raps) => raps.range(classes),
            Self::Margin => Margin::RANGE,
        }
    }

    /// Writes `s(x, y)` for every label `y` of one row of probabilities; `row` is its key, which addresses the row's random
    /// draw. `scores` must be as long as `probabilities`. What does not fit into a shorter one is left out.
    // Hidden: our tests compare tables with single rows; users score tables.
    #[doc(hidden)]
    pub fn score_row(
        &self,
        row: u64,
        probabilities: &[f64],
        scratch: &mut RowScratch,
        scores: &mut [f64],
    ) {
        match self {
            Self::Lac | Self::Plan => Lac.score_row(probabilities, scores),
            Self::Aps(aps) => aps.score_row(row, probabilities, scratch, scores),
            Self::Raps(raps) => raps.score_row(row, probabilities, scratch, scores),
            Self::Margin => Margin.score_row(probabilities, scores),
        }
    }

    /// `s(x_i, y_i)` of labeled points; shape `(n,)`.
    ///
    /// # Errors
    /// `LengthMismatch` unless there is one label per row, `LabelOutOfRange` for a label that is not below the number
    /// of classes.
    pub fn label_scores<T: Real>(
        &self,
        probabilities: &Probabilities<'_, T>,
        labels: &Labels,
    ) -> Result<Vec<f64>> {
        require_same_length("labels", labels.len(), "probabilities", probabilities.rows())?;
        // Labels were checked against a number of classes that need not be this table's.
        labels.require_below(probabilities.classes())?;
        let mut scratch = RowScratch::default();
        let mut row = vec![0.0; probabilities.classes()];
        let mut scores = vec![0.0; probabilities.classes()];
        let score_of = |(index, label): (usize, &usize)| {
            probabilities.read_row(index, &mut row);
            // All labels are scored for the one that counts: a rank needs the whole row anyway.
            self.score_row(index as u64, &row, &mut scratch, &mut scores);
            scores[*label]
        };
        Ok(labels.as_slice().iter().enumerate().map(score_of).collect())
    }

    /// `s(x_j, y)` for every row and label, with the probabilities as plausibility; shape `(m, C)`.
    ///
    /// # Errors
    /// None for checked probabilities in practice: the errors are those of [`CandidateScores::new`] and
    /// [`CandidateScores::with_plausibility`].
    pub fn candidate_scores<T: Real>(
        &self,
        probabilities: &Probabilities<'_, T>,
    ) -> Result<CandidateScores> {
        let classes = probabilities.classes();
        let mut values = vec![0.0; probabilities.rows() * classes];
        for (index, row) in values.chunks_exact_mut(classes).enumerate() {
            probabilities.read_row(index, row);
        }
        self.candidate_scores_at(RowKeys::From(0), values, classes)
    }

    /// The same for rows in memory, without a copy of them; `keys` address their random draws.
    ///
    /// # Errors
    /// If there is not one key for each row, or the rows are not whole.
    pub(crate) fn candidate_scores_at(
        &self,
        keys: RowKeys<'_>,
        probabilities: Vec<f64>,
        classes: usize,
    ) -> Result<CandidateScores> {
        let rows = Rows::new("probabilities", &probabilities, classes)?;
        keys.check(rows.rows())?;
        let mut scratch = RowScratch::default();
        let mut scores = vec![0.0; probabilities.len()];
        for (index, scored) in scores.chunks_exact_mut(classes).enumerate() {
            self.score_row(keys.key(index), rows.row(index), &mut scratch, scored);
        }
        CandidateScores::new(scores, classes)?.with_plausibility(probabilities)
    }
}

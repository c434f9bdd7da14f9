//! What a point is described by: the scores of all its labels, or features given with it.
//!
//! ```text
//! scores     x -> (s(x, 1), ..., s(x, C))      shape (rows, C), what every classifier has
//! features   x -> (x_1, ..., x_d)              shape (rows, d), what the user measured
//! ```
//! Methods that compare points with each other work on either. A calibration remembers which, and
//! refuses points that come with the other.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Input, PointSet, Result, SideInput, User};
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{RowScratch, Score, row_scale, widen_scaled};
use crate::side_inputs::SideInputs;

/// What a point is described by; stored with the calibration, in these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Basis {
    /// The scores of all its labels, `C` numbers: the default, as they are always there.
    Scores,
    /// Features given beside its probabilities, as many as the calibration points had.
    Features,
}

impl Basis {
    /// Features where they are given with the calibration points, scores where not.
    pub(crate) fn of(beside: &SideInputs<'_>) -> Self {
        if beside.features.is_some() { Self::Features } else { Self::Scores }
    }

    /// The rows this basis describes a block by; `whose` names the method in errors.
    ///
    /// Returns the values, row after row, and the width of a row.
    ///
    /// # Errors
    /// `Missing` or `NotUsed` where features are given and the calibration works on scores, or the
    /// other way round; what `row_scale` finds wrong with a row of probabilities.
    pub(crate) fn table<T: Real>(
        self,
        whose: &'static str,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        beside: &SideInputs<'_>,
        score: &Score,
    ) -> Result<(Vec<f64>, usize)> {
        match (self, beside.features) {
            (Self::Features, Some(features)) => {
                Ok((features.values().to_vec(), features.columns()))
            }
            (Self::Scores, None) => Ok((score_vectors(keys, block, score)?, block.columns())),
            (Self::Features, None) => Err(Error::Missing {
                what: Input::Side(SideInput::Features, PointSet::Predicted),
                whose: User::Calibration(whose),
            }),
            // Refused, not ignored: who gives features believes that they enter the sets.
            (Self::Scores, Some(_)) => Err(Error::NotUsed {
                what: Input::Side(SideInput::Features, PointSet::Predicted),
                by: User::Calibration(whose),
                owners: Vec::new(),
            }),
        }
    }
}

/// The scores of all labels of every row; shape `(rows, C)`.
///
/// A row's key addresses its random draw, so that randomised scores do not depend on the blocks.
///
/// # Errors
/// If a row does not hold probabilities; the error names it by its key.
pub(crate) fn score_vectors<T: Real>(
    keys: RowKeys<'_>,
    block: Rows<'_, T>,
    score: &Score,
) -> Result<Vec<f64>> {
    let classes = block.columns();
    let mut scores = vec![0.0; block.values().len()];
    let (mut row, mut scratch) = (vec![0.0; classes], RowScratch::default());
    let places = scores.chunks_exact_mut(classes);
    for (offset, (values, scored)) in block.iter().zip(places).enumerate() {
        let key = keys.key(offset);
        widen_scaled(values, row_scale(block.what(), key, values)?, &mut row);
        score.score_row(key, &row, &mut scratch, scored);
    }
    Ok(scores)
}

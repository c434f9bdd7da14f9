//! What a point is described by: the scores of all its labels, or features given with it.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Input, PointSet, Result, SideInput, User};
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{RowScratch, Score, row_scale, widen_scaled};
use crate::side_inputs::SideInputs;

/// What a point is described by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Basis {
    /// The scores of all its labels.
    Scores,
    /// Features given beside its probabilities.
    Features,
}

impl Basis {
    /// The features to work on for those given.
    pub(crate) fn of(beside: &SideInputs<'_>) -> Self {
        if beside.features.is_some() { Self::Features } else { Self::Scores }
    }

    /// The rows this basis describes a block by; `whose` names the method in errors.
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
            (Self::Scores, Some(_)) => Err(Error::NotUsed {
                what: Input::Side(SideInput::Features, PointSet::Predicted),
                by: User::Calibration(whose),
                owners: Vec::new(),
            }),
        }
    }
}

/// The scores of all labels of every row; shape `(rows, C)`.
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

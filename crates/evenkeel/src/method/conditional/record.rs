//! A conditional model as plain data, for any serialisation format.
//!
//! The kernel matrix is not stored: it is `n^2` numbers that follow from `n d` of them.

use serde::{Deserialize, Serialize};

use super::kernel::finite_features;
use super::model::{ConditionalModel, check_scores};
use super::settings::{FlatIntercept, check_gamma, check_lambda};
use crate::error::{Error, Result};
use crate::rows::Rows;

/// What a [`ConditionalModel`] is made of. Reading one back checks everything again: files are user input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConditionalRecord {
    /// Number of features of a point.
    pub columns: usize,
    /// Calibration features, row after row; shape `(n, columns)`.
    pub features: Vec<f64>,
    /// Calibration scores in the order of the features, shape `(n,)`.
    pub scores: Vec<f64>,
    /// `gamma` of the kernel `exp(-gamma distance^2)`, positive.
    pub gamma: f64,
    /// Penalty on the norm of the fit, positive.
    pub lambda: f64,
    /// Which end of an interval of optimal intercepts is taken.
    #[serde(default)]
    pub flat_intercept: FlatIntercept,
}

impl From<&ConditionalModel> for ConditionalRecord {
    /// Copies what the model is made of.
    fn from(model: &ConditionalModel) -> Self {
        Self {
            columns: model.columns(),
            features: model.features(),
            scores: model.scores().to_vec(),
            gamma: model.gamma(),
            lambda: model.lambda(),
            flat_intercept: model.flat_intercept(),
        }
    }
}

impl TryFrom<ConditionalRecord> for ConditionalModel {
    type Error = Error;

    /// Checks ranges, shapes and finiteness, then computes the kernel.
    fn try_from(record: ConditionalRecord) -> Result<Self> {
        let ConditionalRecord { columns, features, scores, gamma, lambda, flat_intercept } = record;
        // The cheap checks first: nothing is computed from numbers of a file before they are looked
        // at.
        check_gamma(gamma)?;
        check_lambda(lambda)?;
        let rows = Rows::new("features", &features, columns)?;
        finite_features(&rows)?;
        check_scores(&scores, rows.rows())?;
        Self::from_parts(&features, columns, scores, (gamma, lambda), flat_intercept)
    }
}

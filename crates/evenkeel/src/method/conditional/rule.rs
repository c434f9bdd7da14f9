//! A conditional model as the rule of a calibration: a threshold for every test point.

use serde::{Deserialize, Serialize};

use super::ladder::nested_cutoffs;
use super::{ConditionalModel, ConditionalRecord};
use crate::conformal::Cutoffs;
use crate::error::{Error, Result, require_same_length};
use crate::level::Miscoverage;
use crate::method::basis::Basis;
use crate::rows::{Real, RowKeys, Rows};
use crate::score::Score;
use crate::side_inputs::SideInputs;

/// A conditional model and what it describes points by.
///
/// The largest of the rules: `n` rows of features in a file, and `8 n^2` bytes of kernel once it is
/// read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredConditionalRule", into = "StoredConditionalRule")]
pub struct ConditionalRule {
    /// Scores or features; points to predict must come with the same.
    basis: Basis,
    /// Features, scores and kernel, from which cutoffs at any rate follow.
    model: ConditionalModel,
}

/// As it is stored; checked when read back. The field names are those of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredConditionalRule {
    basis: Basis,
    model: ConditionalRecord,
}

impl From<ConditionalRule> for StoredConditionalRule {
    /// Drops the kernel matrix, which reading computes again.
    fn from(rule: ConditionalRule) -> Self {
        Self { basis: rule.basis, model: ConditionalRecord::from(&rule.model) }
    }
}

impl TryFrom<StoredConditionalRule> for ConditionalRule {
    type Error = Error;

    /// An error for a model that no fit could have made.
    fn try_from(stored: StoredConditionalRule) -> Result<Self> {
        Ok(Self { basis: stored.basis, model: ConditionalModel::try_from(stored.model)? })
    }
}

impl ConditionalRule {
    /// A fitted model as a rule.
    pub(crate) fn new(basis: Basis, model: ConditionalModel) -> Self {
        Self { basis, model }
    }

    /// What points are described by: their scores or features.
    pub(crate) fn basis(&self) -> Basis {
        self.basis
    }

    /// An error unless it belongs to this many classes; features may be of any number.
    pub(crate) fn check(&self, classes: usize) -> Result<()> {
        match self.basis {
            Basis::Features => Ok(()),
            Basis::Scores => require_same_length(
                "features of the kernel",
                self.model.columns(),
                "the calibration's classes",
                classes,
            ),
        }
    }

    /// A threshold for each row of a block, from quadratic programs for each; it does not grow with alpha.
    ///
    /// # Errors
    /// If features are missing or not used, a row does not hold probabilities, or a program does
    /// not end.
    pub(crate) fn cutoffs<T: Real>(
        &self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        side: &SideInputs<'_>,
        score: &Score,
        alpha: Miscoverage,
    ) -> Result<Cutoffs> {
        let (values, columns) = self.basis.table("conditional", keys, block, side, score)?;
        let rows = Rows::new("features", &values, columns)?;
        // The start without a test point is solved for every block. It takes as long as some tens
        // of test points, which blocks hold many times over.
        Ok(Cutoffs::PerRow(nested_cutoffs(&self.model, rows, alpha)?))
    }
}

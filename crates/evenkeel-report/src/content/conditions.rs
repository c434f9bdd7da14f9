//! Several conditions, days or batches side by side.

use super::answer::{MeanSize, Verdict};
use super::standing::Estimate;

/// A table of conditions, in their order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conditions {
    /// Heading of the section: `Five days`.
    pub title: Option<String>,
    /// A sentence below the table.
    pub note: Option<String>,
    /// How many labels [`ConditionRow::with_labels`] used.
    pub labels: Option<u64>,
    /// One row a condition.
    pub rows: Vec<ConditionRow>,
}

/// What was found under one condition. A column that no row fills is left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConditionRow {
    /// Its name: `fog`, or a day.
    pub condition: String,
    /// Coverage of the sets in use, estimated without labels.
    pub estimated: Option<Estimate>,
    /// The same measured on labeled rows, in `[0, 1]`.
    pub measured: Option<f64>,
    /// Coverage with the repair, in `[0, 1]`.
    pub after_repair: Option<f64>,
    /// Coverage of the repair that uses a few labels, in `[0, 1]`.
    pub with_labels: Option<f64>,
    /// Mean number of labels in a set, before and after the repair.
    pub size: MeanSize,
    /// The verdict, as a coloured word.
    pub verdict: Option<Verdict>,
}

impl ConditionRow {
    /// A row that so far has only its name.
    pub fn new(condition: impl Into<String>) -> Self {
        Self { condition: condition.into(), ..Self::default() }
    }
}

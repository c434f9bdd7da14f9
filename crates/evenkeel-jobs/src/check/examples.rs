//! A few target rows with their sets, for people to look at.

use std::collections::BTreeMap;

use evenkeel::conformal::LabelSets;
use evenkeel::rows::Rows;
use evenkeel::score::Probabilities;
use serde::Serialize;

use crate::any_rows::AnyRows;
use crate::error::Result;

/// Rows at the start of the target data that examples are chosen from.
pub(crate) const LOOKED_AT: usize = 256;
/// Examples that are shown.
const SHOWN: usize = 3;

/// One target row and its prediction sets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExampleRow {
    /// Position in the target data, from 0.
    pub row: usize,
    /// The class with the largest probability.
    pub predicted: usize,
    /// That probability, in `[0, 1]`.
    pub confidence: f64,
    /// Labels at the threshold in question.
    pub before: Vec<usize>,
    /// Labels at the recommended threshold; none where nothing is recommended.
    pub after: Option<Vec<usize>>,
}

/// The first rows of the target data, as they come by: each part under the number of its first row.
#[derive(Debug, Default)]
pub(crate) struct FirstRows(BTreeMap<usize, Vec<f64>>);

impl FirstRows {
    /// Takes what it needs of a block.
    pub(crate) fn add(&mut self, first_row: usize, rows: &AnyRows<'_>) {
        let wanted = LOOKED_AT.saturating_sub(first_row).min(rows.rows());
        if wanted > 0 {
            let widened = rows.part(0..wanted).map(|rows| rows.widened().into_owned());
            // A second pass brings the same rows again.
            self.0.entry(first_row).or_insert_with(|| widened.unwrap_or_default());
        }
    }

    /// Takes what another thread has seen.
    pub(crate) fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Three rows. Those whose sets the repair changes come first: they show what it does.
    pub(super) fn examples(
        &self,
        classes: usize,
        before: impl FnOnce(Rows<'_, f64>) -> evenkeel::Result<LabelSets>,
        after: Option<impl FnOnce(Rows<'_, f64>) -> evenkeel::Result<LabelSets>>,
    ) -> Result<Vec<ExampleRow>> {
        let mut values = Vec::new();
        for (first_row, part) in &self.0 {
            // Rows of a stream that begins elsewhere are not its first ones.
            if first_row * classes == values.len() {
                values.extend_from_slice(part);
            }
        }
        if values.is_empty() {
            return Ok(Vec::new());
        }
        let rows = Rows::new("probabilities", &values, classes)?;
        let (before, after) = (before(rows)?, after.map(|sets| sets(rows)).transpose()?);
        let labels = |sets: &LabelSets, row: usize| sets.labels(row).collect::<Vec<usize>>();
        let changes = |row: &usize| {
            after.as_ref().is_some_and(|after| labels(after, *row) != labels(&before, *row))
        };
        let (changed, same): (Vec<usize>, Vec<usize>) = (0..rows.rows()).partition(changes);
        let probabilities = Probabilities::from_rows(rows)?;
        let mut values = vec![0.0; classes];
        let mut example = |row: usize| {
            probabilities.read_row(row, &mut values);
            let predicted = (0..classes).rev().max_by(|a, b| values[*a].total_cmp(&values[*b]));
            let predicted = predicted.unwrap_or(0);
            ExampleRow {
                row,
                predicted,
                confidence: values[predicted],
                before: labels(&before, row),
                after: after.as_ref().map(|after| labels(after, row)),
            }
        };
        Ok(changed.into_iter().chain(same).take(SHOWN).map(&mut example).collect())
    }
}

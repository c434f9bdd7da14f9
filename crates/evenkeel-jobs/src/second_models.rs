//! What other models say of the same rows: one table for each, put beside each other for the core.

use evenkeel::rows::Rows;
use evenkeel::score::Probabilities;

use crate::any_rows::AnyRows;
use crate::error::{JobError, PerRow, Result, counted_from};
use crate::value_kind::ValueKind;

/// The output of one second model, and what the caller calls it.
#[derive(Debug, Clone, Copy)]
pub struct SecondTable<'a> {
    /// What the caller calls it, for errors.
    pub name: &'a str,
    /// Its numbers.
    pub rows: AnyRows<'a>,
    /// Where its rows begin in the whole input.
    pub first_row: usize,
}

/// Rows that second models speak of.
#[derive(Debug, Clone, Copy)]
pub struct SeenRows<'a> {
    /// What the caller calls the first model's output.
    pub name: &'a str,
    /// Number of rows at hand.
    pub rows: usize,
    /// Number of classes.
    pub classes: usize,
}

/// The probabilities of all second models beside each other, `classes` columns each: what
/// [`SideInputs::second`](evenkeel::side_inputs::SideInputs) takes. Empty without a model.
///
/// # Errors
/// If a model has other classes or another number of rows, or a row that is no row of probabilities; the error names its table.
pub fn beside_each_other(
    tables: &[SecondTable<'_>],
    kind: ValueKind,
    seen: SeenRows<'_>,
) -> Result<Vec<f64>> {
    let SeenRows { name: matrix, rows, classes } = seen;
    let width = classes * tables.len();
    let mut wide = vec![0.0; rows * width];
    let mut softmax = Vec::new();
    for (model, table) in tables.iter().enumerate() {
        let input = || table.name.to_owned();
        let found = table.rows.columns();
        if found != classes {
            return Err(JobError::Classes { input: input(), found, classes });
        }
        let found = table.rows.rows();
        if found != rows {
            let (what, matrix) = (PerRow::Second, matrix.to_owned());
            return Err(JobError::Count { input: input(), what, found, matrix, rows, more: false });
        }
        let named = |error| JobError::found_in(table.name, error);
        let one = kind.probabilities(table.first_row, table.rows, &mut softmax).map_err(named)?;
        let values = one.widened();
        // Here, where the table's name is known; the core checks rows as well, and knows no names.
        Rows::new("probabilities", &values, classes)
            .and_then(Probabilities::from_rows)
            .map_err(|error| named(counted_from(table.first_row, error)))?;
        for (row, out) in values.chunks_exact(classes).zip(wide.chunks_exact_mut(width)) {
            out[model * classes..][..classes].copy_from_slice(row);
        }
    }
    Ok(wide)
}

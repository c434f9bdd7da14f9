//! One row per condition: coverage estimated, measured and repaired, set sizes, verdict.

use super::answer::sizes;
use super::table::{Cell, Column, Layout, table};
use crate::content::{ConditionRow, Conditions, Estimate};
use crate::text::{grouped, percent_about, percent_span, percent_tenths, prose};

pub(super) fn condition_table(conditions: &Conditions) -> String {
    let labels = conditions.labels.map_or_else(|| "a few".to_owned(), grouped);
    let columns = [
        Column::words("condition"),
        Column::number("coverage estimated"),
        Column::number("measured"),
        Column::number("after repair"),
        Column::number(format!("with {labels} labels")),
        Column::number("mean labels in a set"),
        Column::words("verdict"),
    ];
    let rows: Vec<Vec<Cell>> = conditions.rows.iter().map(cells).collect();
    let table = table("Coverage under each condition", Layout::Stacked, &columns, &rows);
    match &conditions.note {
        Some(note) if !table.is_empty() => {
            format!("{table}<p class=\"note\">{}</p>\n", prose(note))
        }
        _ => table,
    }
}

fn cells(row: &ConditionRow) -> Vec<Cell> {
    let share = |value: Option<f64>| Cell::number(value, percent_tenths);
    let size = row.size.after.or(row.size.before);
    vec![
        Cell::words(&row.condition),
        row.estimated.as_ref().map_or(Cell::missing(), estimate),
        share(row.measured),
        share(row.after_repair),
        share(row.with_labels),
        Cell::number(size, |_| sizes(row.size).unwrap_or_default()),
        row.verdict.map_or(Cell::missing(), Cell::verdict),
    ]
}

/// `53 % (46 to 61 %)`, sorted by the number or else the low end.
fn estimate(estimate: &Estimate) -> Cell {
    match (estimate.finite_value(), estimate.finite_range()) {
        (Some(value), Some(range)) => Cell::number(Some(value), |value| {
            format!("{} ({})", percent_about(value), percent_span(range))
        }),
        (Some(value), None) => Cell::number(Some(value), percent_about),
        (None, Some(range)) => Cell::number(Some(range[0]), |_| percent_span(range)),
        (None, None) => Cell::missing(),
    }
}

//! Coverage and set size per class; of very many classes, the worst covered.

use super::fold;
use super::table::{Cell, Column, Layout, table};
use crate::content::{ClassRow, Report};
use crate::text::{decimal, escape, grouped, percent_about, percent_tenths};

/// More classes than this are folded away.
const MOST_OPEN: usize = 12;
/// More classes than this are cut, worst covered first.
const MOST: usize = 200;

pub(super) fn class_table(report: &Report) -> String {
    let columns = [
        Column::words("class"),
        Column::number("rows"),
        Column::number("coverage"),
        Column::number("after repair"),
        Column::number("mean labels in a set"),
    ];
    let mut rows: Vec<&ClassRow> = report.classes.iter().collect();
    let all = rows.len();
    let label = if all > MOST {
        rows.sort_by(|a, b| order(a).total_cmp(&order(b)));
        rows.truncate(MOST);
        format!("The {MOST} classes of {} with the lowest coverage", grouped(all))
    } else {
        "Coverage of each class".to_owned()
    };
    let cells: Vec<Vec<Cell>> = rows.iter().map(|row| cells(row)).collect();
    let table = table(&label, Layout::Sortable, &columns, &cells);
    if all <= MOST_OPEN {
        return table;
    }
    fold("all-classes", &summary(&label, &report.classes), &table)
}

/// Classes without coverage come last.
fn order(row: &ClassRow) -> f64 {
    row.coverage.filter(|share| !share.is_nan()).unwrap_or(f64::INFINITY)
}

/// What a folded table would say first: its worst and its best class.
fn summary(label: &str, classes: &[ClassRow]) -> String {
    let known = || classes.iter().filter(|row| row.coverage.is_some_and(f64::is_finite));
    let least = known().min_by(|a, b| order(a).total_cmp(&order(b)));
    let most = known().max_by(|a, b| order(a).total_cmp(&order(b)));
    let said = |row: &ClassRow| format!("{} ({})", percent_about(order(row)), escape(&row.name));
    match (least, most) {
        (Some(least), Some(most)) => format!("{label}: from {} to {}", said(least), said(most)),
        _ => label.to_owned(),
    }
}

fn cells(row: &ClassRow) -> Vec<Cell> {
    vec![
        Cell::words(&row.name),
        Cell::number(Some(row.points as f64), |_| grouped(row.points)),
        Cell::number(row.coverage, percent_tenths),
        Cell::number(row.after_repair, percent_tenths),
        Cell::number(row.mean_size, |size| decimal(size, 2)),
    ]
}

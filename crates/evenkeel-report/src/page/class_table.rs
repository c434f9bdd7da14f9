//! Coverage and set size per class; of very many classes, the worst covered.

use super::table::{Cell, Column, Sorting, table};
use crate::content::{ClassRow, Report};
use crate::text::{decimal, grouped, percent};

const COLUMNS: [Column; 4] = [
    Column::words("class"),
    Column::number("points"),
    Column::number("coverage"),
    Column::number("mean size"),
];
/// More classes than this are cut, worst covered first.
const MOST: usize = 200;

pub(super) fn class_table(report: &Report) -> String {
    let mut rows: Vec<&ClassRow> = report.classes.iter().collect();
    let label = if rows.len() > MOST {
        let coverage =
            // Classes without a coverage come last: they are no evidence of a bad one.
            |row: &ClassRow| row.coverage.filter(|share| !share.is_nan()).unwrap_or(f64::INFINITY);
        rows.sort_by(|a, b| coverage(a).total_cmp(&coverage(b)));
        let all = grouped(rows.len());
        rows.truncate(MOST);
        format!("The {MOST} classes of {all} with the lowest coverage")
    } else {
        "Coverage of each class".to_owned()
    };
    let rows: Vec<Vec<Cell>> = rows.into_iter().map(cells).collect();
    table(&label, Sorting::ByHeading, &COLUMNS, &rows)
}

fn cells(row: &ClassRow) -> Vec<Cell> {
    vec![
        Cell::words(&row.name),
        Cell::number(Some(row.points as f64), |_| grouped(row.points)),
        Cell::number(row.coverage, |share| percent(share, 1)),
        Cell::number(row.mean_size, |size| decimal(size, 2)),
    ]
}

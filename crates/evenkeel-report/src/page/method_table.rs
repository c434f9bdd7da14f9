//! One row per method: coverage, set size, gap, threshold, `n_w`, seconds.

use super::table::{Cell, Column, Sorting, table};
use crate::content::{MethodRow, MethodThreshold, Report};
use crate::text::{decimal, percent, significant};

const COLUMNS: [Column; 8] = [
    Column::words("method"),
    Column::number("coverage"),
    Column::number("mean size"),
    Column::number("total gap"),
    Column::number("threshold"),
    Column::number("n_w"),
    Column::number("seconds"),
    Column::words("assumption"),
];

pub(super) fn method_table(report: &Report) -> String {
    let rows: Vec<Vec<Cell>> = report.methods.iter().map(cells).collect();
    table("Methods: select a heading to sort", Sorting::ByHeading, &COLUMNS, &rows)
}

fn cells(row: &MethodRow) -> Vec<Cell> {
    vec![
        Cell::words(&row.method),
        Cell::number(row.coverage, |share| percent(share, 1)),
        Cell::number(row.mean_size, |size| decimal(size, 2)),
        Cell::number(row.total_coverage_gap, |gap| decimal(gap, 3)),
        threshold(row.threshold),
        Cell::number(row.effective_sample_size, |size| decimal(size, 1)),
        Cell::number(row.seconds, seconds),
        Cell::words(&row.assumption),
    ]
}

fn threshold(threshold: MethodThreshold) -> Cell {
    match threshold {
        MethodThreshold::One(threshold) => {
            Cell::number(Some(threshold.get()), |value| significant(value, 4))
        }
        // Words have no place among numbers when the column is sorted.
        MethodThreshold::PerPoint => Cell::unsorted("per point"),
    }
}

fn seconds(value: f64) -> String {
    // Clocks are no finer: more digits would differ between runs and mean nothing.
    if value < 0.001 { "< 0.001".to_owned() } else { significant(value, 2) }
}

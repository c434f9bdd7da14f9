//! One row per method: coverage, set size, gap, threshold, `n_w`, seconds.

use super::table::{Cell, Column, Layout, table};
use crate::content::{MethodRow, MethodThreshold, Report};
use crate::text::{decimal, percent_tenths, significant};

pub(super) fn method_table(report: &Report) -> String {
    let columns = [
        Column::words("method"),
        Column::number("coverage"),
        Column::number("mean labels in a set"),
        Column::number("total gap"),
        Column::number("threshold"),
        Column::number("n_w"),
        Column::number("seconds"),
        Column::words("assumption"),
    ];
    let rows: Vec<Vec<Cell>> = report.methods.iter().map(cells).collect();
    let table =
        table("Methods: select a heading to sort", Layout::SortableStacked, &columns, &rows);
    if table.is_empty() { table } else { format!("{table}{NOTE}") }
}

const NOTE: &str = "<p class=\"note\">Total gap: distance of coverage from what was asked for, on average over all levels. \
    Threshold: labels with a score up to it are in the set. \
    n_w: the number of equally weighted points that the weights are worth.</p>\n";

fn cells(row: &MethodRow) -> Vec<Cell> {
    vec![
        Cell::words(&row.method),
        Cell::number(row.coverage, percent_tenths),
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
        MethodThreshold::PerPoint => Cell::words("per point"),
    }
}

fn seconds(value: f64) -> String {
    if value < 0.001 { "< 0.001".to_owned() } else { significant(value, 2) }
}

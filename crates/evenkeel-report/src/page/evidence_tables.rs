//! Bounds on the lost coverage, and whether the laws behind them are ordered.

use evenkeel::sandwich::Order;

use super::table::{Cell, Column, Layout, table};
use crate::content::{BoundRow, DominanceRow, Report};
use crate::text::{decimal, significant};

/// Both tables with a sentence on how to read them.
pub(super) fn both(report: &Report) -> String {
    let mut out = String::new();
    if !report.bounds.is_empty() {
        let heading = "How much coverage can be lost";
        let columns = [
            Column::words("laws"),
            Column::number("total gap"),
            Column::number("distance from the level"),
            Column::number("eq 7 of the paper"),
            Column::number("eq 8 of the paper"),
        ];
        let rows: Vec<Vec<Cell>> = report.bounds.iter().map(bound_cells).collect();
        out.push_str(&card(
            heading,
            &table(heading, Layout::Stacked, &columns, &rows),
            "No more coverage than this is lost on average over all levels, if the laws enclose the target scores. \
             The total gap compares coverage on both data sets at the same threshold. Rows with a confidence are about the \
             populations behind the data: the total gap and the distance for any scores, the paper's forms for scores without \
             ties. Coverage is a share, so a bound of 1 or more says nothing.",
        ));
    }
    if !report.dominance.is_empty() {
        let heading = "Order of the laws";
        let columns = [
            Column::words("laws"),
            Column::words("order"),
            Column::number("violation"),
            Column::number("at score"),
        ];
        let rows: Vec<Vec<Cell>> = report.dominance.iter().map(dominance_cells).collect();
        out.push_str(&card(
            heading,
            &table(heading, Layout::Fixed, &columns, &rows),
            "Bounds and ranges rest on the target scores lying between the lower and the upper law. \
             Laws that cross cannot enclose anything.",
        ));
    }
    if out.is_empty() { out } else { format!("<div class=\"cards wide\">\n{out}</div>\n") }
}

fn card(heading: &str, table: &str, note: &str) -> String {
    format!(
        "<div class=\"card\">\n<div class=\"card-head\"><h4>{heading}</h4></div>\n{table}\
         <p class=\"note\">{note}</p>\n</div>\n"
    )
}

fn bound_cells(row: &BoundRow) -> Vec<Cell> {
    vec![
        Cell::words(&row.label),
        bound(row.exact),
        bound(row.level),
        bound(row.weighted_cdf),
        bound(row.wasserstein),
    ]
}

/// A bound on a share: from 1 on it is no number worth reading.
fn bound(value: Option<f64>) -> Cell {
    match value {
        Some(bound) if bound > 1.0 => {
            Cell::number(value, |_| "above 1: says nothing".into()).void()
        }
        Some(bound) if bound >= 1.0 => Cell::number(value, |_| "1: says nothing".into()).void(),
        // Rounded up, less what rounding of the product adds: a bound must not be said smaller than it is.
        _ => Cell::number(value, |bound| decimal((bound * 1000.0 - 1e-6).ceil() / 1000.0, 3)),
    }
}

fn dominance_cells(row: &DominanceRow) -> Vec<Cell> {
    let (words, largest, at) = match row.order {
        Order::Guaranteed => ("guaranteed", None, None),
        Order::HoldsEmpirically => ("holds on the sample", None, None),
        Order::Violated { largest, at } => ("violated", Some(largest), Some(at)),
    };
    vec![
        Cell::words(&row.pair),
        Cell::words(words),
        Cell::number(largest, |value| significant(value, 2)),
        Cell::number(at, |score| significant(score, 3)),
    ]
}

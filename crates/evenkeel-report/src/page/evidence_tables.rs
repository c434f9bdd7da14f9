//! Bounds on the lost coverage, and whether the laws behind them are ordered.

use evenkeel::sandwich::Order;

use super::table::{Cell, Column, Sorting, table};
use crate::content::{BoundRow, DominanceRow, Report};
use crate::text::{decimal, significant};

const BOUNDS: [Column; 5] = [
    Column::words("laws"),
    Column::number("weighted CDF"),
    Column::number("+ DKW"),
    Column::number("Wasserstein"),
    Column::number("+ DKW"),
];
const DOMINANCE: [Column; 4] = [
    Column::words("laws"),
    Column::words("order"),
    Column::number("violation"),
    Column::number("at score"),
];

/// Both tables with a sentence on how to read them.
pub(super) fn both(report: &Report) -> String {
    let bounds: Vec<Vec<Cell>> = report.bounds.iter().map(bound_cells).collect();
    let dominance: Vec<Vec<Cell>> = report.dominance.iter().map(dominance_cells).collect();
    let mut out = String::new();
    if !bounds.is_empty() {
        out.push_str(&card(
            "Bounds on the total coverage gap",
            &table("Bounds on the total coverage gap", Sorting::Fixed, &BOUNDS, &bounds),
            "No more coverage than this is lost on average over all alpha, if the laws bracket the target scores. \
             The columns + DKW allow for the sample sizes. A bound of 1 or more says nothing.",
        ));
    }
    if !dominance.is_empty() {
        out.push_str(&card(
            "Order of the laws",
            &table("Order of the laws", Sorting::Fixed, &DOMINANCE, &dominance),
            "Bounds and ranges rest on the target scores lying between the lower and the upper law. \
             Laws that cross cannot enclose anything.",
        ));
    }
    out
}

fn card(heading: &str, table: &str, note: &str) -> String {
    format!(
        "<div class=\"card\">\n<div class=\"card-head\"><h3>{heading}</h3></div>\n{table}\
         <p class=\"note\">{note}</p>\n</div>\n"
    )
}

fn bound_cells(row: &BoundRow) -> Vec<Cell> {
    let number = |value: Option<f64>| {
        let cell = Cell::number(value, |bound| {
            if bound < 1.0 { decimal(bound, 3) } else { significant(bound, 3) }
        });
        // Set back, not left out: that a bound says nothing is itself worth knowing.
        if value.is_some_and(|bound| bound >= 1.0) { cell.void() } else { cell }
    };
    vec![
        Cell::words(&row.label),
        number(Some(row.weighted_cdf)),
        number(row.weighted_cdf_dkw),
        number(Some(row.wasserstein)),
        number(row.wasserstein_dkw),
    ]
}

fn dominance_cells(row: &DominanceRow) -> Vec<Cell> {
    let (words, largest, at) = match row.order {
        Order::Guaranteed => ("guaranteed", Some(0.0), None),
        Order::HoldsEmpirically => ("holds on the sample", Some(0.0), None),
        Order::Violated { largest, at } => ("violated", Some(largest), Some(at)),
    };
    vec![
        Cell::words(&row.pair),
        Cell::words(words),
        Cell::number(largest, |value| significant(value, 2)),
        Cell::number(at, |score| significant(score, 3)),
    ]
}

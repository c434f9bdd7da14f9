//! `method -> colour, dash, marker`: a method looks the same in every figure.

use crate::content::Report;
use crate::draw::SeriesStyle;

/// The methods of a report in the order they are first named.
pub(super) struct MethodStyles<'a> {
    names: Vec<&'a str>,
}

impl<'a> MethodStyles<'a> {
    /// Methods of the table first, so that it fixes the order.
    pub(super) fn of(report: &'a Report) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let in_table = report.methods.iter().map(|row| row.method.as_str());
        let in_gaps = report.gap_curves.iter().map(|curve| curve.method.as_str());
        let in_weights = report.weights.iter().map(|weights| weights.method.as_str());
        let in_traces = report.traces.iter().map(|trace| trace.method.as_str());
        for name in in_table.chain(in_gaps).chain(in_weights).chain(in_traces) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Self { names }
    }

    /// The look of a method.
    pub(super) fn get(&self, method: &str) -> SeriesStyle {
        // A method that no list names is drawn like the first: a figure without it would be the
        // worse mistake.
        SeriesStyle::of(self.names.iter().position(|name| *name == method).unwrap_or(0))
    }
}

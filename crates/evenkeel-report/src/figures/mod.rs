//! `Report -> Figure, Figure, ...`: the figures, one file each.

mod coverage_and_size;
mod coverage_gap;
mod method_styles;
mod readings;
mod score_laws;
mod trace;
mod weights;

use crate::content::Report;
use method_styles::MethodStyles;

/// A figure that stands alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// A short name, fit for a file: `score-laws`.
    pub name: &'static str,
    /// Heading above the figure.
    pub title: &'static str,
    /// What it shows and how to read it, as plain text.
    pub caption: String,
    /// The drawing, an SVG document.
    pub svg: String,
}

/// Where on the page a figure belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Coverage under each reading.
    Readings,
    /// Laws of the scores, and weights over them.
    Laws,
    /// Methods side by side, and how their optimisation went.
    Comparison,
}

/// All figures there is data for, in the order of the page.
pub(crate) fn placed(report: &Report) -> Vec<(Place, Figure)> {
    let styles = MethodStyles::of(report);
    let figures = [
        (Place::Readings, readings::draw(report)),
        (Place::Laws, score_laws::draw(report)),
        (Place::Laws, weights::draw(report, &styles)),
        (Place::Comparison, coverage_and_size::draw(report, &styles)),
        (Place::Comparison, coverage_gap::draw(report, &styles)),
        (Place::Comparison, trace::draw(report, &styles)),
    ];
    figures.into_iter().filter_map(|(place, figure)| Some((place, figure?))).collect()
}

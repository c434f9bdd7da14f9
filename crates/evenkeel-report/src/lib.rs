//! `Report -> HTML`: results as one self-contained page: verdict and three tiles first, then examples and tables, and
//! folded below them how we know.
//!
//! The page needs no network: styles, script and figures are inside it, and its policy forbids loading anything. It
//! is readable on a phone, in print, in light and dark mode. Every figure is a separate SVG, with a button to
//! download it; [`figures()`] gives the same drawings to programs.
//!
//! Values in, text out: whoever calls reads the inputs, runs the job and writes the file. The same report gives the
//! same bytes.
//!
//! ```
//! use evenkeel::level::Miscoverage;
//! use evenkeel_report::{Answer, Estimate, Report, Verdict, render};
//!
//! # fn main() -> evenkeel::Result<()> {
//! let headline = "Coverage is probably about 53 % (range 46 to 61 %), asked for 90 %.";
//! let mut report = Report::new(Miscoverage::new(0.1)?, Answer::new(Verdict::Loss, headline));
//! report.answer.now = Some(Estimate::assumed(0.53, [0.46, 0.61]));
//! report.run = Some("garment classifier".into());
//! let page = render(&report);
//! assert!(page.starts_with("<!DOCTYPE html>"));
//! # Ok(())
//! # }
//! ```

#![deny(clippy::disallowed_types, clippy::disallowed_methods, clippy::disallowed_macros)]

mod content;
mod draw;
mod figures;
pub mod job_pages;
mod page;
pub mod study;
mod text;
pub mod trend;

pub use content::{
    Advice, Answer, BoundRow, ClassRow, ConditionRow, Conditions, DataSet, DominanceRow, Estimate,
    ExampleRow, GapCurve, Grounds, Input, MeanSize, MethodRow, MethodThreshold, Provenance,
    Reading, ReadingRange, Repair, Report, SandwichLaws, ScoreLaws, ShiftOutcome, ShiftTest,
    Standing, StepCurve, ThresholdMark, TraceCurve, Verdict, WeightsOverScores,
};
pub use figures::Figure;

/// Renders a report as one HTML document that loads nothing else.
pub fn render(report: &Report) -> String {
    page::page(report)
}

/// The figures there is data for, in the order of the page, each an SVG document in colours for white paper.
pub fn figures(report: &Report) -> Vec<Figure> {
    figures::placed(report).into_iter().map(|(_, figure)| figure).collect()
}

/// A warning as HTML: a sentence that begins large and ends with a full stop, with code where backticks stand. Everything else is escaped.
pub fn warning_html(text: &str) -> String {
    text::prose(&text::sentence(text))
}

/// The colours of figures in light and dark, for whoever shows figures in a page of their own.
pub fn figure_style_sheet() -> String {
    draw::style_sheet()
}

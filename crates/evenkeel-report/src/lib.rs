//! `Report -> HTML`: results as one self-contained page, the answer first, then figures, tables and what is needed to
//! repeat the run.
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
//! use evenkeel_report::{Answer, Report, Verdict, render};
//!
//! # fn main() -> evenkeel::Result<()> {
//! let answer = Answer {
//!     verdict: Verdict::Caution,
//!     headline: "The data shifted and coverage is at risk".into(),
//!     sentences: vec!["Coverage on the target data lies between 61 % and 94 %; the level is 90 %.".into()],
//! };
//! let mut report = Report::new("Nightly check", Miscoverage::new(0.1)?, answer);
//! report.warnings.push("The weights amount to 12 points out of 300.".into());
//! let page = render(&report);
//! assert!(page.starts_with("<!DOCTYPE html>"));
//! # Ok(())
//! # }
//! ```

#![deny(clippy::disallowed_types, clippy::disallowed_methods, clippy::disallowed_macros)]

mod content;
mod draw;
mod figures;
mod page;
pub mod study;
mod text;

pub use content::{
    Answer, BoundRow, ClassRow, CoverageRange, DominanceRow, GapCurve, Input, MethodRow,
    MethodThreshold, Provenance, Report, SandwichLaws, ScoreLaws, StepCurve, ThresholdMark,
    TraceCurve, Verdict, WeightsOverScores,
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

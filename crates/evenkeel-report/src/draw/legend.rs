//! Which mark means what, above the plot and never in it.

use super::WIDTH;
use super::canvas::{Anchor, Canvas, FONT_SIZE, Weight};
use super::ink::{Dash, Ink, Stroke};
use super::marker::Marker;
use crate::text::{shorten, width};

/// Length of the piece of line shown, in user units like the lengths below.
const SWATCH: f64 = 26.0;
/// From the swatch to its words.
const GAP: f64 = 6.0;
/// From one entry to the next.
const BETWEEN: f64 = 16.0;
/// Height of a row.
const ROW: f64 = 19.0;

/// The mark an entry shows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Swatch {
    /// A piece of a curve's line.
    Line(Stroke),
    /// A band between two lines, the upper first.
    Band(Stroke, Stroke),
    /// A marker.
    Point(Marker, Ink),
    /// A bar with an outline and a fill of some opacity.
    Bar(Stroke, f64),
}

/// A mark and its meaning.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The mark as it looks in the plot.
    pub(crate) swatch: Swatch,
    /// Its meaning; shortened if it is wider than the figure.
    pub(crate) label: String,
}

impl Entry {
    /// Pairs a mark with its meaning.
    pub(crate) fn new(swatch: Swatch, label: impl Into<String>) -> Self {
        Self { swatch, label: label.into() }
    }
}

/// Draws entries from `top` on, as many in a row as fit; returns where they end below.
pub(crate) fn draw_legend(canvas: &mut Canvas, entries: &[Entry], top: f64) -> f64 {
    if entries.is_empty() {
        return top;
    }
    let (mut x, mut y) = (2.0, top + ROW / 2.0);
    for entry in entries {
        let label = shorten(&entry.label, FONT_SIZE, WIDTH - SWATCH - GAP - 4.0);
        let taken = SWATCH + GAP + width(&label, FONT_SIZE);
        // Never an empty row: an entry wider than the drawing stands alone in its own.
        if x > 2.0 && x + taken > WIDTH {
            (x, y) = (2.0, y + ROW);
        }
        draw_swatch(canvas, entry.swatch, (x, y));
        let at = (x + SWATCH + GAP, y + 4.2);
        canvas.text(at, &label, Ink::Text, Anchor::Start, Weight::Regular);
        x += taken + BETWEEN;
    }
    y + ROW / 2.0 + 8.0
}

fn draw_swatch(canvas: &mut Canvas, swatch: Swatch, (x, y): (f64, f64)) {
    let end = x + SWATCH;
    match swatch {
        Swatch::Line(stroke) => canvas.line((x, y), (end, y), stroke),
        Swatch::Band(above, below) => {
            let corners = [(x, y - 5.0), (end, y - 5.0), (end, y + 5.0), (x, y + 5.0)];
            canvas.area(&corners, above.ink, 0.14);
            canvas.line(corners[0], corners[1], above);
            canvas.line(corners[3], corners[2], below);
        }
        Swatch::Point(marker, ink) => {
            canvas.marker(marker, (x + SWATCH / 2.0, y), 5.0, ink, "");
        }
        Swatch::Bar(outline, opacity) => {
            canvas.bar((x + 1.0, y - 5.0), (end - 1.0, y + 5.0), outline, opacity);
        }
    }
}

/// The line that marks the level, the same in every figure.
pub(crate) fn level_stroke() -> Stroke {
    Stroke::new(Ink::Text, 1.4, Dash::Dotted)
}

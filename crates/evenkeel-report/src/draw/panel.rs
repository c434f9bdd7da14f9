//! `(x, y) of the data -> (x, y) of the drawing`: a plot with two axes.

use super::canvas::{Anchor, Canvas, FONT_SIZE, Weight};
use super::ink::{Dash, Ink, Stroke};
use super::range::Range;
use super::ticks::{TickText, Ticks};
use super::{Point, WIDTH};
use crate::text::{shorten, width};

/// Room for the vertical axis' title, which stands upright above the plot.
const TITLE_ROOM: f64 = 25.0;
/// Room right of the plot, for half a tick label.
const RIGHT: f64 = 16.0;
/// Ticks of an axis at most.
const MOST_TICKS: usize = 5;

/// One axis of a plot: title, range and the look of its ticks.
#[derive(Debug, Clone)]
pub(crate) struct Axis<'a> {
    /// What it shows; may be empty.
    pub(crate) title: &'a str,
    /// The values at its two ends.
    pub(crate) range: Range,
    /// How its ticks are written.
    pub(crate) text: TickText,
}

impl<'a> Axis<'a> {
    /// An axis over exactly this range.
    pub(crate) fn new(title: &'a str, range: Range, text: TickText) -> Self {
        Self { title, range, text }
    }

    /// The same, ending at round numbers.
    pub(crate) fn rounded(mut self) -> Self {
        self.range = Ticks::extend(self.range, MOST_TICKS);
        self
    }

    fn labels(&self) -> Vec<(f64, String)> {
        if self.text == TickText::Nothing {
            return Vec::new();
        }
        let ticks = Ticks::within(self.range, MOST_TICKS);
        ticks.values.iter().map(|value| (*value, ticks.label(*value, self.text))).collect()
    }
}

/// A plot: where it is and how data maps to it.
#[derive(Debug, Clone)]
pub(crate) struct Panel<'a> {
    x: Axis<'a>,
    y: Axis<'a>,
    left: f64,
    right: f64,
    title_top: f64,
    top: f64,
    bottom: f64,
}

impl<'a> Panel<'a> {
    /// A plot of some height whose vertical title starts at `top`.
    pub(crate) fn new(top: f64, height: f64, x: Axis<'a>, y: Axis<'a>) -> Self {
        // The room on the left follows the labels: "100 %" and "0.00001" need different margins.
        let widest =
            y.labels().iter().map(|(_, label)| width(label, FONT_SIZE)).fold(6.0, f64::max);
        let start = top + if y.title.is_empty() { 8.0 } else { TITLE_ROOM };
        let (left, right, bottom) = (widest + 10.0, WIDTH - RIGHT, start + height);
        Self { left, right, title_top: top, top: start, bottom, x, y }
    }

    /// Keeps the plot right of a column of words that ends at `left`.
    pub(crate) fn right_of(mut self, left: f64) -> Self {
        self.left = left;
        self
    }

    /// Moves the plot, but not its title, down.
    pub(crate) fn make_room(&mut self, height: f64) {
        self.top += height;
        self.bottom += height;
    }

    /// Where a pair of values is drawn; values off the axes are drawn at their ends.
    pub(crate) fn at(&self, x: f64, y: f64) -> Point {
        let across = self.left + self.x.range.share(x) * (self.right() - self.left);
        (across, self.bottom - self.y.range.share(y) * (self.bottom - self.top))
    }

    /// Left edge of the plot, in user units.
    pub(crate) fn left(&self) -> f64 {
        self.left
    }

    /// Right edge of the plot, in user units.
    pub(crate) fn right(&self) -> f64 {
        self.right
    }

    /// Upper edge of the plot, in user units.
    pub(crate) fn top(&self) -> f64 {
        self.top
    }

    /// Lower edge of the plot, in user units.
    pub(crate) fn bottom(&self) -> f64 {
        self.bottom
    }

    /// A horizontal line across the plot.
    pub(crate) fn across(&self, canvas: &mut Canvas, y: f64, stroke: Stroke) {
        let (_, height) = self.at(self.x.range.low(), y);
        canvas.line((self.left, height), (self.right(), height), stroke);
    }

    /// Grid, axis, ticks and titles; returns where they end below.
    pub(crate) fn draw(&self, canvas: &mut Canvas) -> f64 {
        let (grid, axis) =
            (Stroke::new(Ink::Grid, 1.0, Dash::Solid), Stroke::new(Ink::Axis, 1.0, Dash::Solid));

        for (value, label) in self.y.labels() {
            let (_, height) = self.at(self.x.range.low(), value);
            canvas.line((self.left, height), (self.right(), height), grid);
            let at = (self.left - 6.0, height + 4.2);
            canvas.text(at, &label, Ink::Muted, Anchor::End, Weight::Regular);
        }
        canvas.line((self.left, self.bottom), (self.right(), self.bottom), axis);
        for (value, label) in self.x.labels() {
            let (across, _) = self.at(value, self.y.range.low());
            canvas.line((across, self.bottom), (across, self.bottom + 4.0), axis);
            // Without ticks up the side, lines across carry the reading of values.
            if self.y.text == TickText::Nothing {
                canvas.line((across, self.top), (across, self.bottom), grid);
            }
            // A label as wide as the margin would be cut off at the edge of the drawing.
            let half = width(&label, FONT_SIZE) / 2.0;
            let across = across.clamp(half, WIDTH - half);
            let at = (across, self.bottom + 18.0);
            canvas.text(at, &label, Ink::Muted, Anchor::Middle, Weight::Regular);
        }
        if !self.y.title.is_empty() {
            let at = (2.0, self.title_top + 11.0);
            let title = shorten(self.y.title, FONT_SIZE, WIDTH - 4.0);
            canvas.text(at, &title, Ink::Muted, Anchor::Start, Weight::Regular);
        }
        if self.x.title.is_empty() {
            return self.bottom + 24.0;
        }
        let at = (self.right(), self.bottom + 36.0);
        let title = shorten(self.x.title, FONT_SIZE, self.right() - 4.0);
        canvas.text(at, &title, Ink::Muted, Anchor::End, Weight::Regular);
        self.bottom + 44.0
    }
}

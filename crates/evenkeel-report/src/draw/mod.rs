//! A small SVG writer: marks, scales, axes, legends and labels that keep out of each other's way.
//!
//! All figures are [`WIDTH`] units wide, about the width of a phone or of half a desktop page, so that text set in
//! units is readable on both. Colours are written twice: as an attribute, so that a figure stands alone, and as a
//! class, so that the page's style sheet can follow the reader's light or dark mode.

mod canvas;
mod ink;
mod labels;
mod legend;
mod marker;
mod panel;
mod range;
mod strip;
mod thin;
mod ticks;

pub(crate) use canvas::{Anchor, Canvas, FONT_SIZE, Weight};
pub(crate) use ink::{Dash, Ink, SeriesStyle, Stroke, style_sheet};
pub(crate) use labels::{Obstacle, PlacedLabel, place_labels};
pub(crate) use legend::{Entry, Swatch, draw_legend, level_stroke};
pub(crate) use marker::Marker;
pub(crate) use panel::{Axis, Panel};
pub(crate) use range::Range;
pub(crate) use strip::{StripMark, draw_strip};
pub(crate) use thin::{MOST_POINTS, thin_curve, thin_scatter};
pub(crate) use ticks::TickText;

/// Width of every figure in user units.
pub(crate) const WIDTH: f64 = 440.0;

/// A position in user units, `x` to the right and `y` down.
pub(crate) type Point = (f64, f64);

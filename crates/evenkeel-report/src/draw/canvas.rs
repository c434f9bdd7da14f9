//! `marks -> SVG`: marks on a drawing of fixed width.

use std::fmt::Write;

use super::ink::{Ink, Stroke};
use super::marker::Marker;
use super::{Point, WIDTH};
use crate::text::{coordinate, escape};

/// The only address in a page: the name of the SVG vocabulary, which nobody fetches.
const SVG_NAMESPACE: &str = "http://www.w3.org/2000/svg";
/// Font size in user units: 10 pixels on a phone 390 wide, 14 on a desktop.
pub(crate) const FONT_SIZE: f64 = 12.5;
/// Width of the rim in paper colour that lifts a marker or a label off the lines below.
const HALO: f64 = 3.0;

/// Which end of a text stands at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The left end: the text runs to the right.
    Start,
    /// The middle: the text is centred.
    Middle,
    /// The right end: the text runs to the left.
    End,
}

/// How heavy a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The usual weight.
    Regular,
    /// For what is read first.
    Bold,
}

/// A drawing in the making.
#[derive(Debug, Default)]
pub(crate) struct Canvas {
    body: String,
}

impl Canvas {
    /// A drawing without marks.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    /// All marks of another drawing, on top of those so far.
    pub(crate) fn append(&mut self, other: &Self) {
        self.body.push_str(&other.body);
    }

    /// A straight line between two points.
    pub(crate) fn line(&mut self, from: Point, to: Point, stroke: Stroke) {
        self.curve(&[from, to], stroke);
    }

    /// A line through points; nothing if there are fewer than two.
    pub(crate) fn curve(&mut self, points: &[Point], stroke: Stroke) {
        // A path of one move draws nothing but still takes bytes and a place in the order of
        // elements.
        if points.len() < 2 {
            return;
        }
        let (ink, width, dash) = (stroke.ink.as_stroke(), coordinate(stroke.width), dash(stroke));
        let data = path_data(points);
        self.put(format_args!(
            "<path {ink} fill=\"none\" stroke-width=\"{width}\"{dash} stroke-linejoin=\"round\" d=\"{data}\"/>"
        ));
    }

    /// A filled outline; nothing if there are fewer than three points.
    pub(crate) fn area(&mut self, points: &[Point], ink: Ink, opacity: f64) {
        if points.len() < 3 {
            return;
        }
        let (ink, opacity, data) = (ink.as_fill(), coordinate(opacity), path_data(points));
        self.put(format_args!("<path {ink} fill-opacity=\"{opacity}\" d=\"{data}Z\"/>"));
    }

    /// Many small discs in one element.
    pub(crate) fn dots(&mut self, points: &[Point], ink: Ink, diameter: f64) {
        if points.is_empty() {
            return;
        }
        let (ink, diameter) = (ink.as_stroke(), coordinate(diameter));
        // Moves of length 0 with round ends are discs: one element instead of thousands keeps the page small.
        let data: String = points
            .iter()
            .map(|(x, y)| format!("M{} {}h0", coordinate(*x), coordinate(*y)))
            .collect();
        self.put(format_args!(
            "<path {ink} fill=\"none\" stroke-width=\"{diameter}\" stroke-linecap=\"round\" d=\"{data}\"/>"
        ));
    }

    /// A point that says what it is when hovered over.
    pub(crate) fn marker(&mut self, marker: Marker, at: Point, radius: f64, ink: Ink, title: &str) {
        let (fill, rim, data) = (ink.as_fill(), Ink::Paper.on_white(), marker.path(at, radius));
        // The rim follows the style sheet too, or it would stay white in dark mode.
        let fill = fill.replacen("class=\"", "class=\"s-paper ", 1);
        let title = if title.is_empty() {
            String::new()
        } else {
            format!("<title>{}</title>", escape(title))
        };
        self.put(format_args!(
            "<path {fill} stroke=\"{rim}\" stroke-width=\"1.5\" paint-order=\"stroke\" d=\"{data}\">{title}</path>"
        ));
    }

    /// A bar with an outline.
    pub(crate) fn bar(&mut self, from: Point, to: Point, outline: Stroke, opacity: f64) {
        let (class, colour) = (outline.ink.as_fill(), outline.ink.on_white());
        // One class for fill and outline: both must follow the mode, or a bar keeps its light rim
        // in the dark.
        let class = class.replacen("class=\"f-", "class=\"sf-", 1);
        let (dash, line) = (dash(outline), coordinate(outline.width));
        let (x, y) = (coordinate(from.0), coordinate(from.1));
        let (width, height) = (coordinate(to.0 - from.0), coordinate(to.1 - from.1));
        let opacity = coordinate(opacity);
        self.put(format_args!(
            "<rect {class} fill-opacity=\"{opacity}\" stroke=\"{colour}\" stroke-width=\"{line}\"{dash} \
             x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"2\"/>"
        ));
    }

    /// Words on a baseline.
    pub(crate) fn text(
        &mut self,
        at: Point,
        words: &str,
        ink: Ink,
        anchor: Anchor,
        weight: Weight,
    ) {
        let fill = ink.as_fill().replacen("class=\"", "class=\"s-paper ", 1);
        let (rim, size) = (Ink::Paper.on_white(), coordinate(FONT_SIZE));
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if weight == Weight::Bold { " font-weight=\"600\"" } else { "" };
        let (x, y, words) = (coordinate(at.0), coordinate(at.1), escape(words));
        self.put(format_args!(
            "<text {fill} stroke=\"{rim}\" stroke-width=\"{HALO}\" paint-order=\"stroke\" \
             font-size=\"{size}\"{anchor}{weight} x=\"{x}\" y=\"{y}\">{words}</text>"
        ));
    }

    /// The drawing as an SVG element that also stands alone as a file.
    ///
    /// `id` is unique in the page; `title` and `description` are read out in place of the picture.
    pub(crate) fn finish(self, id: &str, title: &str, description: &str, height: f64) -> String {
        let (width, height) = (coordinate(WIDTH), coordinate(height));
        let (id, title, description) = (escape(id), escape(title), escape(description));
        format!(
            "<svg xmlns=\"{SVG_NAMESPACE}\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             role=\"img\" aria-labelledby=\"{id}-title {id}-description\" \
             font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\">\n\
             <title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-description\">{description}</desc>\n{}</svg>",
            self.body
        )
    }
}

fn dash(stroke: Stroke) -> String {
    stroke.dash.pattern().map_or(String::new(), |dashes| format!(" stroke-dasharray=\"{dashes}\""))
}

/// Path data; moves along one axis are written as such, which halves a staircase.
fn path_data(points: &[Point]) -> String {
    let mut out = String::with_capacity(points.len() * 12);
    let mut last: Option<(String, String)> = None;
    for (x, y) in points {
        let (x, y) = (coordinate(*x), coordinate(*y));
        let step = match &last {
            None => format!("M{x} {y}"),
            // Compared as written: points closer than a hundredth of a unit are the same point of
            // the drawing.
            Some((before_x, before_y)) if *before_x == x && *before_y == y => continue,
            Some((before, _)) if *before == x => format!("V{y}"),
            Some((_, before)) if *before == y => format!("H{x}"),
            Some(_) => format!("L{x} {y}"),
        };
        out.push_str(&step);
        last = Some((x, y));
    }
    out
}

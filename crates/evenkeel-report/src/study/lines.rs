//! `(x, y)` of several methods, joined or not.

use super::Drawing;
use crate::draw::{
    Axis, Canvas, Entry, Panel, Point, Range, SeriesStyle, Swatch, TickText, draw_legend,
    level_stroke,
};

const HEIGHT: f64 = 210.0;
const RADIUS: f64 = 4.0;

/// How an axis is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineAxis {
    /// Values as plain numbers.
    Plain,
    /// As numbers, in powers of ten; values that are not positive are left out.
    Logarithmic,
    /// Shares in `[0, 1]`, written as percentages.
    Percent,
}

/// A line to compare with.
#[derive(Debug, Clone, PartialEq)]
pub enum Reference {
    /// A height, and its name.
    Height(f64, String),
    /// Where both quantities are equal, and its name.
    Diagonal(String),
}

/// Whether points of a method are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// By lines, in the order given.
    Lines,
    /// Markers only.
    Points,
}

/// A method and its points.
pub type NamedPoints = (String, Vec<(f64, f64)>);

/// A figure of points over two quantities.
#[derive(Debug, Clone, PartialEq)]
pub struct LinePlot {
    /// Name of the figure, fit for a file.
    pub name: String,
    /// Heading above the figure.
    pub title: String,
    /// How to read it, as plain text.
    pub caption: String,
    /// Title and scale of the horizontal axis.
    pub across: (String, LineAxis),
    /// Title and scale of the vertical axis.
    pub up: (String, LineAxis),
    /// A line to compare the points with.
    pub reference: Option<Reference>,
    /// Whether points are joined.
    pub joined: Joined,
    /// A name and its points for each method.
    pub series: Vec<NamedPoints>,
}

/// Draws the figure; none if there is no finite point.
pub fn line_plot(plot: &LinePlot) -> Option<Drawing> {
    let scaled = |(x, y): &(f64, f64)| (scale(plot.across.1, *x), scale(plot.up.1, *y));
    let series: Vec<Vec<(f64, f64)>> = plot
        .series
        .iter()
        .map(|(_, points)| {
            let points = points.iter().map(scaled);
            points.filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
        })
        .collect();
    let x = Range::around(series.iter().flatten().map(|point| point.0))?.padded(0.04, 0.04);
    let y = Range::around(series.iter().flatten().map(|point| point.1))?;
    let (x, y) = match &plot.reference {
        Some(Reference::Height(height, _)) => (x, y.including(scale(plot.up.1, *height))),
        // Both axes from zero: a diagonal between cut axes would not look like one.
        Some(Reference::Diagonal(_)) => (x.including(0.0), y.including(0.0)),
        None => (x, y),
    };
    let mut canvas = Canvas::new();
    let top = draw_legend(&mut canvas, &entries(plot), 0.0);
    let x_axis = Axis::new(&plot.across.0, x, text(plot.across.1));
    let y_axis = Axis::new(&plot.up.0, y, text(plot.up.1)).rounded();
    let y = y_axis.range;
    let panel = Panel::new(top, HEIGHT, x_axis, y_axis);
    let height = panel.draw(&mut canvas);
    match &plot.reference {
        Some(Reference::Height(at, _)) => {
            panel.across(&mut canvas, scale(plot.up.1, *at), level_stroke());
        }
        Some(Reference::Diagonal(_)) => {
            // Where both axes reach: beyond it the line would run along an edge.
            let (low, high) = (x.low().max(y.low()), x.high().min(y.high()));
            canvas.line(panel.at(low, low), panel.at(high, high), level_stroke());
        }
        None => {}
    }
    for (index, (points, (label, _))) in series.iter().zip(&plot.series).enumerate() {
        let style = SeriesStyle::of(index);
        let points: Vec<Point> = points.iter().map(|(x, y)| panel.at(*x, *y)).collect();
        if plot.joined == Joined::Lines {
            canvas.curve(&points, style.stroke);
        }
        for point in points {
            canvas.marker(style.marker, point, RADIUS, style.stroke.ink, label);
        }
    }
    let svg = canvas.finish(&plot.name, &plot.title, &plot.caption, height);
    let (name, title) = (plot.name.clone(), plot.title.clone());
    Some(Drawing { name, title, caption: plot.caption.clone(), svg })
}

fn entries(plot: &LinePlot) -> Vec<Entry> {
    let of_series = |(index, (label, _)): (usize, &NamedPoints)| {
        let style = SeriesStyle::of(index);
        let swatch = match plot.joined {
            Joined::Lines => Swatch::Line(style.stroke),
            Joined::Points => Swatch::Point(style.marker, style.stroke.ink),
        };
        Entry::new(swatch, label.as_str())
    };
    let reference = plot.reference.as_ref().map(|reference| {
        let (Reference::Height(_, label) | Reference::Diagonal(label)) = reference;
        Entry::new(Swatch::Line(level_stroke()), label.as_str())
    });
    plot.series.iter().enumerate().map(of_series).chain(reference).collect()
}

fn text(axis: LineAxis) -> TickText {
    match axis {
        LineAxis::Plain => TickText::Plain,
        LineAxis::Logarithmic => TickText::PowersOfTen,
        LineAxis::Percent => TickText::Percent,
    }
}

/// Where a value stands on its axis; not finite if nowhere.
fn scale(axis: LineAxis, value: f64) -> f64 {
    if axis == LineAxis::Logarithmic { value.log10() } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(series: Vec<NamedPoints>) -> LinePlot {
        LinePlot {
            name: "gap".into(),
            title: "Gap".into(),
            caption: "By size.".into(),
            across: ("labeled points".into(), LineAxis::Logarithmic),
            up: ("gap".into(), LineAxis::Plain),
            reference: Some(Reference::Height(0.5, "half".into())),
            joined: Joined::Lines,
            series,
        }
    }

    #[test]
    fn methods_and_powers_of_ten_are_named() {
        let points = vec![(10.0, 0.3), (100.0, 0.2), (1000.0, 0.1)];
        let svg = line_plot(&plot(vec![("<one>".into(), points)])).unwrap().svg;
        let document = roxmltree::Document::parse(&svg).unwrap();
        let texts: Vec<&str> =
            document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
        for text in ["<one>", "half", "10", "100", "1000"] {
            assert!(texts.contains(&text), "{text} in {texts:?}");
        }
    }

    #[test]
    fn points_that_stand_nowhere_are_left_out() {
        let odd = vec![(0.0, 0.3), (-1.0, 0.1), (10.0, f64::NAN)];
        assert_eq!(line_plot(&plot(vec![("odd".into(), odd.clone())])), None);
        assert!(
            line_plot(&plot(vec![("odd".into(), odd), ("one".into(), vec![(3.0, 0.2)])])).is_some()
        );
        assert_eq!(line_plot(&plot(Vec::new())), None);
    }
}

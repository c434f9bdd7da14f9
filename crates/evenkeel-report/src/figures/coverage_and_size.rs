//! `(mean set size, coverage)`: what coverage costs, one point per method.

use super::{Figure, MethodStyles};
use crate::content::Report;
use crate::draw::{
    Axis, Canvas, Entry, Ink, Obstacle, Panel, PlacedLabel, Point, Range, Swatch, TickText, Weight,
    draw_legend, level_stroke, place_labels,
};
use crate::text::{decimal, percent, percent_chosen};

const HEIGHT: f64 = 230.0;
const CAPTION: &str = "Each method's coverage and what it costs. On the dotted line or just above it, and far to the left, \
    is best; below it, sets miss the label more often than was asked for.";

/// A method with both coordinates.
struct Spot<'a> {
    method: &'a str,
    size: f64,
    coverage: f64,
}

pub(super) fn draw(report: &Report, styles: &MethodStyles<'_>) -> Option<Figure> {
    let spots: Vec<Spot<'_>> = report
        .methods
        .iter()
        .filter_map(|row| {
            Some(Spot { method: &row.method, size: row.mean_size?, coverage: row.coverage? })
        })
        .filter(|spot| spot.size.is_finite() && spot.coverage.is_finite())
        .collect();
    let sizes = Range::around(spots.iter().map(|spot| spot.size))?.padded(0.12, 0.2);
    let sizes = sizes.within(Range::new(0.0, f64::MAX));
    let coverages = Range::around(spots.iter().map(|spot| spot.coverage))?;
    // The level is always in view: without it a cluster of points says nothing about right or
    // wrong.
    let coverages = coverages.including(report.level()).padded(0.15, 0.15).within(Range::UNIT);
    let axes = (
        Axis::new("mean set size (labels)", sizes, TickText::Plain),
        Axis::new("coverage on labeled points of the target data", coverages, TickText::Percent)
            .rounded(),
    );
    let level = Entry::new(
        Swatch::Line(level_stroke()),
        format!("level {}", percent_chosen(report.level())),
    );
    // With names at the points the legend needs the level only. Where names do not fit, it lists all.
    let mut entries = vec![level];
    let mut canvas = Canvas::new();
    let mut panel = Panel::new(legend_end(&entries), HEIGHT, axes.0.clone(), axes.1.clone());
    if labels(report, &panel, &spots).iter().any(Option::is_none) {
        entries.extend(spots.iter().map(|spot| {
            let style = styles.get(spot.method);
            Entry::new(Swatch::Point(style.marker, style.stroke.ink), spot.method)
        }));
        panel = Panel::new(legend_end(&entries), HEIGHT, axes.0, axes.1);
    }
    draw_legend(&mut canvas, &entries, 0.0);
    let height = panel.draw(&mut canvas);
    panel.across(&mut canvas, report.level(), level_stroke());
    let placed = labels(report, &panel, &spots);
    for (spot, label) in spots.iter().zip(&placed) {
        let (style, at) = (styles.get(spot.method), panel.at(spot.size, spot.coverage));
        let title = format!(
            "{}: coverage {}, mean size {}",
            spot.method,
            percent(spot.coverage, 1),
            decimal(spot.size, 2)
        );
        canvas.marker(style.marker, at, 6.0, style.stroke.ink, &title);
        if let Some(label) = label {
            canvas.text(label.at, &label.text, Ink::Text, label.anchor, Weight::Regular);
        }
    }
    let caption = CAPTION.to_owned();
    let (name, title) = ("coverage-and-size", "Coverage against set size");
    Some(Figure { name, title, svg: canvas.finish(name, title, &caption, height), caption })
}

/// Where a legend would end.
fn legend_end(entries: &[Entry]) -> f64 {
    draw_legend(&mut Canvas::new(), entries, 0.0)
}

fn labels(report: &Report, panel: &Panel<'_>, spots: &[Spot<'_>]) -> Vec<Option<PlacedLabel>> {
    let points: Vec<(Point, &str)> =
        spots.iter().map(|spot| (panel.at(spot.size, spot.coverage), spot.method)).collect();
    let (_, level) = panel.at(0.0, report.level());
    place_labels(panel, &points, &[Obstacle::line(panel, level)])
}

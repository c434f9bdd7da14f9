//! `[F_up(t), F_lo(t)]`: where coverage lies at a threshold, as horizontal ranges.

use super::Figure;
use crate::content::{CoverageRange, Report};
use crate::draw::{
    Anchor, Axis, Canvas, Dash, Entry, FONT_SIZE, Ink, Marker, Panel, Range, Stroke, Swatch,
    TickText, Weight, draw_legend, level_stroke,
};
use crate::text::{percent, percent_range, shorten, width};
use evenkeel::sandwich::Order;

/// Height of a range with its name.
const ROW: f64 = 46.0;
/// From the upper edge of a row to its bar.
const BAR_TOP: f64 = 21.0;
/// Height of its bar.
const BAR: f64 = 14.0;

/// Outline and opacity: the less is known, the paler.
fn look(order: Order) -> (Stroke, f64) {
    match order {
        Order::Guaranteed => (Stroke::new(Ink::Series(0), 1.4, Dash::Solid), 0.6),
        Order::HoldsEmpirically => (Stroke::new(Ink::Series(2), 1.6, Dash::Solid), 0.28),
        Order::Violated { .. } => (Stroke::new(Ink::Series(7), 1.6, Dash::Dashed), 0.08),
    }
}

/// The kinds of order, in the order of the legend.
fn kinds(rows: &[&CoverageRange]) -> Vec<(Order, &'static str)> {
    let kind = |order: &Order| match order {
        Order::Guaranteed => (0, "guaranteed"),
        Order::HoldsEmpirically => (1, "assumed"),
        Order::Violated { .. } => (2, "assumption violated"),
    };
    let mut found: Vec<(u8, &'static str, Order)> = Vec::new();
    for order in rows.iter().map(|row| row.interval.order) {
        let (rank, name) = kind(&order);
        if !found.iter().any(|(other, ..)| *other == rank) {
            found.push((rank, name, order));
        }
    }
    found.sort_by_key(|(rank, ..)| *rank);
    found.into_iter().map(|(_, name, order)| (order, name)).collect()
}

pub(super) fn draw(report: &Report) -> Option<Figure> {
    let rows: Vec<&CoverageRange> = report
        .coverage_ranges
        .iter()
        .filter(|row| row.interval.low.is_finite() && row.interval.high.is_finite())
        .collect();
    let ends = rows.iter().flat_map(|row| [row.interval.low, row.interval.high]);
    let measured = rows.iter().filter_map(|row| row.measured);
    let range = Range::around(ends.chain(measured))?.including(report.level());
    let range = range.padded(0.04, 0.04).within(Range::UNIT).including(1.0);
    let mut canvas = Canvas::new();
    let top = draw_legend(&mut canvas, &legend(report, &rows), 0.0);
    let panel = Panel::new(
        top,
        ROW * rows.len() as f64,
        Axis::new("coverage", range, TickText::Percent).rounded(),
        // No ticks of its own: the rows carry their names.
        Axis::new("", Range::UNIT, TickText::Nothing),
    );
    let height = panel.draw(&mut canvas);
    for (row, y) in rows.iter().zip(tops(&panel)) {
        draw_bar(&mut canvas, &panel, row, y);
    }
    // Over the bars and under the words, whose rims keep it off them.
    let (level, _) = panel.at(report.level(), 0.0);
    canvas.line((level, panel.top()), (level, panel.bottom()), level_stroke());
    for (row, y) in rows.iter().zip(tops(&panel)) {
        draw_words(&mut canvas, &panel, row, y);
    }
    let caption = caption(&rows);
    let (name, title) = ("coverage-ranges", "Where coverage lies");
    Some(Figure { name, title, svg: canvas.finish(name, title, &caption, height), caption })
}

/// Upper edges of the rows.
fn tops(panel: &Panel<'_>) -> impl Iterator<Item = f64> {
    let top = panel.top();
    (0..).map(move |index: u32| top + ROW * f64::from(index))
}

fn draw_bar(canvas: &mut Canvas, panel: &Panel<'_>, row: &CoverageRange, y: f64) {
    let (low, _) = panel.at(row.interval.low, 0.0);
    let (high, _) = panel.at(row.interval.high, 0.0);
    let (outline, opacity) = look(row.interval.order);
    let top = y + BAR_TOP;
    // A range of one point is still to be seen.
    canvas.bar((low, top), (high.max(low + 2.0), top + BAR), outline, opacity);
}

/// Name, numbers and the measured coverage.
fn draw_words(canvas: &mut Canvas, panel: &Panel<'_>, row: &CoverageRange, y: f64) {
    let numbers = percent_range(row.interval.low, row.interval.high);
    let room = panel.right() - panel.left() - 8.0 - width(&numbers, FONT_SIZE) * 1.1;
    let name = shorten(&row.label, FONT_SIZE, room);
    let baseline = y + 15.0;
    canvas.text((panel.left(), baseline), &name, Ink::Text, Anchor::Start, Weight::Regular);
    canvas.text((panel.right(), baseline), &numbers, Ink::Text, Anchor::End, Weight::Bold);
    if let Some(measured) = row.measured.filter(|measured| measured.is_finite()) {
        let (x, _) = panel.at(measured, 0.0);
        let title = format!("measured: {}", percent(measured, 1));
        let at = (x, y + BAR_TOP + BAR / 2.0);
        canvas.marker(Marker::Diamond, at, 6.0, Ink::Text, &title);
    }
}

fn legend(report: &Report, rows: &[&CoverageRange]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = kinds(rows)
        .into_iter()
        .map(|(order, name)| {
            let (outline, opacity) = look(order);
            Entry::new(Swatch::Bar(outline, opacity), name)
        })
        .collect();
    if rows.iter().any(|row| row.measured.is_some()) {
        entries.push(Entry::new(Swatch::Point(Marker::Diamond, Ink::Text), "measured"));
    }
    let level = format!("level {}", percent(report.level(), 0));
    entries.push(Entry::new(Swatch::Line(level_stroke()), level));
    entries
}

fn caption(rows: &[&CoverageRange]) -> String {
    let mut words = String::from(
        "Coverage on the target data at a threshold, from unlabeled points alone: it lies in the bar.",
    );
    for (order, _) in kinds(rows) {
        words.push_str(match order {
            Order::Guaranteed => " Guaranteed ranges hold whatever the labels are.",
            Order::HoldsEmpirically => {
                " Assumed ranges hold if the target scores lie between the two laws, which no unlabeled data can verify."
            }
            Order::Violated { .. } => {
                " Where the two laws cross, the assumption is violated and the range does not hold."
            }
        });
    }
    let levels: Vec<f64> = rows.iter().filter_map(|row| row.interval.confidence).collect();
    // Only where all rows share one confidence; a caption cannot speak for some of them.
    if let Some(level) = levels.first()
        && levels.len() == rows.len()
        && levels.iter().all(|other| (other - level).abs() < 1e-12)
    {
        words.push_str(&format!(
            " They speak of the world the points came from, at {} confidence.",
            percent(*level, 0)
        ));
    }
    words
}

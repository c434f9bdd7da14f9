//! The two figures of a trend: coverage, and the evidence of the alarm.

use super::Trend;
use crate::draw::{
    Axis, Canvas, Dash, Entry, Ink, Marker, Panel, Point, Range, Stroke, Swatch, TickText,
    draw_legend, level_stroke,
};
use crate::study::Drawing;

const HEIGHT: f64 = 200.0;
const ESTIMATE: Ink = Ink::Series(0);
const MEASURED: Ink = Ink::Series(2);
const ALARM: Ink = Ink::Series(1);
const DECISION: Ink = Ink::Series(6);
/// Evidence is drawn up to this many times what sets off the alarm.
const MOST_EVIDENCE: f64 = 2.0;

/// Where the batches stand, with room for marks before the first and after the last.
fn across(trend: &Trend) -> Option<Axis<'static>> {
    let numbers = trend.points.iter().map(|point| point.batch as f64);
    let range = Range::around(numbers)?;
    let range = Range::new(range.low() - 0.7, range.high() + 0.7);
    Some(Axis::new("batch", range, TickText::Plain))
}

/// Decisions as upright lines with their letter; alarms as triangles at the top.
fn marks(canvas: &mut Canvas, panel: &Panel<'_>, trend: &Trend) {
    for mark in &trend.marks {
        let (x, _) = panel.at(mark.after as f64 + 0.5, 0.0);
        let stroke = Stroke::new(DECISION, 1.6, Dash::Dashed);
        canvas.line((x, panel.top()), (x, panel.bottom()), stroke);
        canvas.marker(Marker::Diamond, (x, panel.top()), 5.0, DECISION, &mark.what);
    }
    for point in trend.points.iter().filter(|point| !point.alarms.is_empty()) {
        let (x, _) = panel.at(point.batch as f64, 0.0);
        let stroke = Stroke::new(ALARM, 1.2, Dash::Dotted);
        canvas.line((x, panel.top()), (x, panel.bottom()), stroke);
        let title = format!("batch {}: {}", point.batch, point.alarms.join("; "));
        canvas.marker(Marker::Down, (x, panel.top() - 2.0), 6.0, ALARM, &title);
    }
}

fn mark_entries(trend: &Trend) -> Vec<Entry> {
    let mut entries = Vec::new();
    if trend.points.iter().any(|point| !point.alarms.is_empty()) {
        entries.push(Entry::new(Swatch::Point(Marker::Down, ALARM), "alarm"));
    }
    if !trend.marks.is_empty() {
        entries.push(Entry::new(Swatch::Point(Marker::Diamond, DECISION), "decision"));
    }
    entries
}

/// Coverage estimated, with its range, and counted on labels.
pub(super) fn coverage(trend: &Trend) -> Option<Drawing> {
    let x = across(trend)?;
    let lows = trend.points.iter().flat_map(|point| {
        let measured = point.measured.map_or(point.range[0], |found| found[1]);
        [point.range[0], point.estimate, measured]
    });
    let y = Range::around(lows)?.including(1.0).including(trend.level).within(Range::UNIT);
    let line = Stroke::new(ESTIMATE, 2.0, Dash::Solid);
    let rim = Stroke::new(ESTIMATE, 0.8, Dash::Solid);
    let mut entries = vec![
        Entry::new(Swatch::Line(line), "estimate"),
        Entry::new(Swatch::Band(rim, rim), "its range"),
    ];
    let any_measured = trend.points.iter().any(|point| point.measured.is_some());
    if any_measured {
        entries.push(Entry::new(Swatch::Point(Marker::Square, MEASURED), "counted on labels"));
    }
    entries.push(Entry::new(Swatch::Line(level_stroke()), "level"));
    entries.extend(mark_entries(trend));
    let mut canvas = Canvas::new();
    let top = draw_legend(&mut canvas, &entries, 0.0);
    let panel = Panel::new(top, HEIGHT, x, Axis::new("coverage", y, TickText::Percent).rounded());
    let height = panel.draw(&mut canvas);
    // A calibration that changed is another line: what was estimated before a decision was estimated of other sets.
    for part in between_decisions(trend) {
        let at = |value: fn(&super::TrendPoint) -> f64| -> Vec<Point> {
            part.iter().map(|point| panel.at(point.batch as f64, value(point))).collect()
        };
        let (upper, mut lower) = (at(|point| point.range[1]), at(|point| point.range[0]));
        lower.reverse();
        canvas.area(&[upper, lower].concat(), ESTIMATE, 0.16);
        canvas.curve(&at(|point| point.estimate), line);
        for point in part {
            let title = format!(
                "batch {}, {}: about {:.0} %",
                point.batch,
                point.time,
                100.0 * point.estimate
            );
            let at = panel.at(point.batch as f64, point.estimate);
            canvas.marker(Marker::Circle, at, 3.0, ESTIMATE, &title);
        }
    }
    panel.across(&mut canvas, trend.level, level_stroke());
    for point in &trend.points {
        let Some([value, low, high]) = point.measured else { continue };
        let at = |value: f64| panel.at(point.batch as f64, value);
        canvas.line(at(low), at(high), Stroke::new(MEASURED, 1.4, Dash::Solid));
        let title =
            format!("batch {}: {:.0} % of {} labels", point.batch, 100.0 * value, point.labels);
        canvas.marker(Marker::Square, at(value), 4.0, MEASURED, &title);
    }
    marks(&mut canvas, &panel, trend);
    let caption = "Each point is a batch. The line is estimated without labels, the band is its range; squares are counted on labels that \
                   came later, with their interval. Triangles are alarms, diamonds are decisions of people.";
    Some(drawing("coverage-over-time", "Coverage over time", caption, canvas, height))
}

/// Evidence against "nothing changed", as a share of what sets off the alarm.
pub(super) fn evidence(trend: &Trend) -> Option<Drawing> {
    let x = across(trend)?;
    let shown =
        |evidence: f64| if evidence.is_finite() { evidence.clamp(0.0, MOST_EVIDENCE) } else { 0.0 };
    let most = trend.points.iter().map(|point| shown(point.evidence)).fold(1.2, f64::max);
    let stroke = Stroke::new(Ink::Series(3), 2.0, Dash::Solid);
    let mut entries = vec![
        Entry::new(Swatch::Line(stroke), "evidence of a change"),
        Entry::new(Swatch::Line(level_stroke()), "alarm goes off"),
    ];
    entries.extend(mark_entries(trend));
    let mut canvas = Canvas::new();
    let top = draw_legend(&mut canvas, &entries, 0.0);
    let of_what = match most >= MOST_EVIDENCE {
        true => "share of what sets off the alarm, cut at twice that",
        false => "share of what sets off the alarm",
    };
    let y = Axis::new(of_what, Range::new(0.0, most), TickText::Percent);
    let panel = Panel::new(top, 0.7 * HEIGHT, x, y);
    let height = panel.draw(&mut canvas);
    for part in between_decisions(trend) {
        let points: Vec<Point> =
            part.iter().map(|point| panel.at(point.batch as f64, shown(point.evidence))).collect();
        canvas.curve(&points, stroke);
        for (point, at) in part.iter().zip(points) {
            let title = format!("batch {}: {:.0} %", point.batch, 100.0 * point.evidence);
            canvas.marker(Marker::Circle, at, 3.0, Ink::Series(3), &title);
        }
    }
    panel.across(&mut canvas, 1.0, level_stroke());
    marks(&mut canvas, &panel, trend);
    let caption = "How much speaks against \u{201c}these rows are like those of the reference\u{201d}: the largest of all tests made after the \
                   batch, on a logarithmic scale, as a share of what sets off the alarm. The chance of any false alarm over the life of a \
                   reference is bounded.";
    Some(drawing("evidence-over-time", "Evidence of a change", caption, canvas, height))
}

/// Runs of batches without a decision between them.
fn between_decisions(trend: &Trend) -> Vec<Vec<&super::TrendPoint>> {
    let mut parts: Vec<Vec<&super::TrendPoint>> = vec![Vec::new()];
    for point in &trend.points {
        let decided = trend.marks.iter().any(|mark| mark.after + 1 == point.batch);
        if decided {
            parts.push(Vec::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push(point);
        }
    }
    parts
}

fn drawing(name: &str, title: &str, caption: &str, canvas: Canvas, height: f64) -> Drawing {
    let svg = canvas.finish(name, title, caption, height);
    Drawing { name: name.to_owned(), title: title.to_owned(), caption: caption.to_owned(), svg }
}

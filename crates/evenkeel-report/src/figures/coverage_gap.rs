//! `|coverage - (1 - alpha)|` over alpha: Fig 2 of the paper.

use super::{Figure, MethodStyles};
use crate::content::Report;
use crate::draw::{
    Axis, Canvas, Dash, Entry, Ink, MOST_POINTS, Panel, Point, Range, StripMark, Stroke, Swatch,
    TickText, draw_legend, draw_strip, thin_curve,
};
use crate::text::decimal;

const HEIGHT: f64 = 210.0;
const CAPTION: &str = "How far coverage is from what was asked for, |coverage \u{2212} (1 \u{2212} alpha)|, at every alpha: \
    lower is better.";
const NUMBERS: &str =
    " A number in the legend is the average over all alpha, the total coverage gap.";

pub(super) fn draw(report: &Report, styles: &MethodStyles<'_>) -> Option<Figure> {
    let finite = |point: &&(f64, f64)| point.0.is_finite() && point.1.is_finite();
    let all = || report.gap_curves.iter().flat_map(|curve| &curve.points).filter(finite);
    let gaps = Range::around(all().map(|point| point.1))?.including(0.0);
    let alphas = Range::around(all().map(|point| point.0))?;
    let alphas =
        // The whole unit interval where most of it is used, so that figures of different runs can
        // be compared.
        if alphas.low() >= 0.0 && alphas.high() <= 1.0 && alphas.high() - alphas.low() > 0.5 {
            Range::UNIT
        } else {
            alphas
        };
    let mut canvas = Canvas::new();
    let entries: Vec<Entry> = report
        .gap_curves
        .iter()
        .map(|curve| {
            Entry::new(Swatch::Line(styles.get(&curve.method).stroke), label(report, &curve.method))
        })
        .collect();
    let top = draw_legend(&mut canvas, &entries, 0.0);
    let mut panel = Panel::new(
        top,
        HEIGHT,
        Axis::new("alpha (allowed share of misses)", alphas, TickText::Plain),
        Axis::new("coverage gap", gaps, TickText::Percent).rounded(),
    );
    let mut lines = Canvas::new();
    let alpha = report.alpha.get();
    let mark = StripMark {
        x: alpha,
        label: format!("alpha {alpha}"),
        stroke: Stroke::new(Ink::Text, 1.3, Dash::Dashed),
    };
    draw_strip(&mut lines, &mut panel, &[mark]);
    let height = panel.draw(&mut canvas);
    canvas.append(&lines);
    for curve in &report.gap_curves {
        let points: Vec<Point> =
            curve.points.iter().filter(finite).map(|(alpha, gap)| panel.at(*alpha, *gap)).collect();
        let style = styles.get(&curve.method);
        // A curve of one point has no line; without a marker it would be invisible.
        if let [point] = points[..] {
            canvas.marker(style.marker, point, 5.0, style.stroke.ink, &curve.method);
        }
        canvas.curve(&thin_curve(&points, MOST_POINTS), style.stroke);
    }
    let mut caption = CAPTION.to_owned();
    if report.gap_curves.iter().any(|curve| total_gap(report, &curve.method).is_some()) {
        caption.push_str(NUMBERS);
    }
    let (name, title) = ("coverage-gap", "Coverage gap at every level");
    Some(Figure { name, title, svg: canvas.finish(name, title, &caption, height), caption })
}

/// The method and its total gap, if the table has it.
fn label(report: &Report, method: &str) -> String {
    match total_gap(report, method) {
        Some(gap) => format!("{method} {}", decimal(gap, 3)),
        None => method.to_owned(),
    }
}

fn total_gap(report: &Report, method: &str) -> Option<f64> {
    let row = report.methods.iter().find(|row| row.method == method)?;
    row.total_coverage_gap.filter(|gap| gap.is_finite())
}

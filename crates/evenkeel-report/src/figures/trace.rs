//! `L` and `n_w` over steps: how the optimisation went.

use super::{Figure, MethodStyles};
use crate::content::{Report, TraceCurve};
use crate::draw::{
    Axis, Canvas, Entry, MOST_POINTS, Panel, Point, Range, Swatch, TickText, draw_legend,
    thin_curve,
};
use crate::text::{grouped, plain, significant};

const HEIGHT: f64 = 96.0;

/// One of the quantities a run records.
type Quantity = fn(&evenkeel::learning::optimise::TracePoint) -> f64;

pub(super) fn draw(report: &Report, styles: &MethodStyles<'_>) -> Option<Figure> {
    let traces: Vec<&TraceCurve> =
        report.traces.iter().filter(|trace| !trace.points.is_empty()).collect();
    let steps = traces.iter().flat_map(|trace| &trace.points).map(|point| point.step as f64);
    let steps = Range::around(steps)?;
    let mut canvas = Canvas::new();
    let entries: Vec<Entry> = traces
        .iter()
        .map(|trace| Entry::new(Swatch::Line(styles.get(&trace.method).stroke), &trace.method))
        .collect();
    let mut bottom = draw_legend(&mut canvas, &entries, 0.0);
    let quantities: [(&str, &str, Quantity); 2] = [
        ("bound that is minimised", "", |point| point.objective),
        ("effective sample size n_w", "step", |point| point.effective_sample_size),
    ];
    for (title, below, quantity) in quantities {
        let values = traces.iter().flat_map(|trace| &trace.points).map(quantity);
        // A run that diverged from its first step has no finite value to draw.
        let Some(range) = Range::around(values) else { continue };
        let panel = Panel::new(
            bottom,
            HEIGHT,
            Axis::new(below, steps, TickText::Plain),
            Axis::new(title, range, TickText::Plain).rounded(),
        );
        bottom = panel.draw(&mut canvas) + 2.0;
        for trace in &traces {
            let points: Vec<Point> = trace
                .points
                .iter()
                .filter(|point| quantity(point).is_finite())
                .map(|point| panel.at(point.step as f64, quantity(point)))
                .collect();
            let style = styles.get(&trace.method);
            // The end is marked: where a run stopped is what readers ask of it.
            if let Some(last) = points.last() {
                canvas.marker(style.marker, *last, 4.0, style.stroke.ink, &trace.method);
            }
            canvas.curve(&thin_curve(&points, MOST_POINTS), style.stroke);
        }
    }
    let caption = traces.iter().map(|trace| sentence(trace)).collect::<Vec<String>>().join(" ");
    let (name, title) = ("trace", "The optimisation");
    Some(Figure { name, title, svg: canvas.finish(name, title, &caption, bottom), caption })
}

/// What a run came to.
fn sentence(trace: &TraceCurve) -> String {
    let (Some(first), Some(last)) = (trace.points.first(), trace.points.last()) else {
        return String::new();
    };
    let reason = if trace.stopped.is_empty() {
        String::new()
    } else {
        format!(" ({})", plain(&trace.stopped))
    };
    format!(
        "{}: from {} to {} in {} steps{reason}.",
        trace.method,
        significant(first.objective, 3),
        significant(last.objective, 3),
        grouped(last.step),
    )
}

//! `w_i` over `s_i`: the learned weights over the scores they belong to.

use super::{Figure, MethodStyles};
use crate::content::Report;
use crate::draw::{
    Axis, Canvas, Dash, Entry, Ink, Marker, Panel, Point, Range, Stroke, Swatch, TickText,
    draw_legend, thin_scatter,
};
use crate::text::{decimal, grouped};

const HEIGHT: f64 = 190.0;
/// Up to this many points stand on stems.
const MOST_STEMS: usize = 120;
/// At most this many points are drawn.
const MOST_DOTS: usize = 2000;

pub(super) fn draw(report: &Report, styles: &MethodStyles<'_>) -> Option<Figure> {
    let weights = report.weights.as_ref()?;
    let n = weights.scores.len().min(weights.weights.len());
    let pairs: Vec<(f64, f64)> = weights
        .scores
        .iter()
        .zip(&weights.weights)
        // Times n, so that 1 means "as without a shift" for any number of points.
        .map(|(score, weight)| (*score, weight * n as f64))
        .filter(|(score, weight)| score.is_finite() && weight.is_finite())
        .collect();
    let scores = Range::around(pairs.iter().map(|pair| pair.0))?;
    let scores =
        if scores.low() >= 0.0 && scores.high() <= 1.0 && scores.high() - scores.low() > 0.5 {
            Range::UNIT
        } else {
            scores.padded(0.02, 0.02)
        };
    // Always past 1, the line of equal weights, or weights that are all small could not be compared with it.
    let heights = Range::around(pairs.iter().map(|pair| pair.1))?.including(0.0).including(1.2);
    let (ink, mut canvas) = (styles.get(&weights.method).stroke.ink, Canvas::new());
    let even = Stroke::new(Ink::Text, 1.4, Dash::Dashed);
    let entries = [
        Entry::new(Swatch::Point(Marker::Circle, ink), format!("weights of {}", weights.method)),
        Entry::new(Swatch::Line(even), "equal weights"),
    ];
    let top = draw_legend(&mut canvas, &entries, 0.0);
    let panel = Panel::new(
        top,
        HEIGHT,
        Axis::new("score", scores, TickText::Plain),
        Axis::new("weight \u{d7} n", heights, TickText::Plain).rounded(),
    );
    let height = panel.draw(&mut canvas);
    let points: Vec<Point> =
        pairs.iter().map(|(score, weight)| panel.at(*score, *weight)).collect();
    // Stems show weights near zero, which dots on the axis do not; too many make a solid block.
    if points.len() <= MOST_STEMS {
        for (x, y) in &points {
            canvas.line((*x, panel.bottom()), (*x, *y), Stroke::new(ink, 1.0, Dash::Solid));
        }
    }
    panel.across(&mut canvas, 1.0, even);
    canvas.dots(
        &thin_scatter(&points, MOST_DOTS),
        ink,
        if points.len() <= 400 { 4.0 } else { 3.0 },
    );
    let effective = decimal(weights.effective_sample_size, 1);
    let caption = format!(
        "What each of the {} calibration points counts, at its score; 1 is what it would count without a shift. \
         Together they are worth n_w\u{a0}=\u{a0}{effective} equally weighted points.",
        grouped(n)
    );
    let (name, title) = ("weights", "Weights over scores");
    Some(Figure { name, title, svg: canvas.finish(name, title, &caption, height), caption })
}

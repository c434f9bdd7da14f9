//! `F(t)` of the scores: Fig 1 of the paper, empirical CDFs.

use super::Figure;
use crate::content::{Report, ScoreLaws, StepCurve};
use crate::draw::{
    Axis, Canvas, Dash, Entry, FONT_SIZE, Ink, MOST_POINTS, Panel, Point, Range, StripMark, Stroke,
    Swatch, TickText, draw_legend, draw_strip, level_stroke, thin_curve,
};
use crate::text::{percent_chosen, shorten, significant};

const HEIGHT: f64 = 245.0;
/// Series numbers of the pairs of laws, then again from the start.
const PAIRS: [usize; 2] = [1, 2];

/// Strokes of the smaller and of the larger law of a pair.
fn pair_strokes(index: usize) -> (Stroke, Stroke) {
    let ink = Ink::Series(PAIRS[index % PAIRS.len()]);
    (Stroke::new(ink, 1.6, Dash::Dashed), Stroke::new(ink, 1.6, Dash::Mixed))
}

fn calibration_stroke() -> Stroke {
    Stroke::new(Ink::Series(0), 2.2, Dash::Solid)
}

fn reweighted_stroke() -> Stroke {
    Stroke::new(Ink::Series(3), 2.2, Dash::Long)
}

fn test_stroke() -> Stroke {
    Stroke::new(Ink::Text, 2.2, Dash::Solid)
}

pub(super) fn draw(report: &Report) -> Option<Figure> {
    let laws = report.score_laws.as_ref()?;
    let range = score_range(laws)?;
    let mut canvas = Canvas::new();
    let top = draw_legend(&mut canvas, &legend(report, laws), 0.0);
    let title = format!("score ({})", laws.score);
    let title = if laws.score.is_empty() { "score" } else { &title };
    let mut panel = Panel::new(
        top,
        HEIGHT,
        Axis::new(title, range, TickText::Plain),
        Axis::new("share of scores at or below", Range::UNIT, TickText::Percent),
    );
    // The strip makes room first: the axes are drawn where the plot ends up.
    let mut lines = Canvas::new();
    draw_strip(&mut lines, &mut panel, &threshold_marks(laws, range));
    let height = panel.draw(&mut canvas);
    for (index, pair) in laws.sandwiches.iter().enumerate() {
        let (lower, upper) = (path(&pair.lower, &panel, range), path(&pair.upper, &panel, range));
        let outline: Vec<Point> =
            // There along one law and back along the other: the outline of the band.
            lower.iter().copied().chain(upper.iter().rev().copied()).collect();
        let (lower_stroke, upper_stroke) = pair_strokes(index);
        canvas.area(&outline, lower_stroke.ink, 0.14);
        canvas.curve(&lower, lower_stroke);
        canvas.curve(&upper, upper_stroke);
    }
    panel.across(&mut canvas, report.level(), level_stroke());
    canvas.append(&lines);
    canvas.curve(&path(&laws.calibration, &panel, range), calibration_stroke());
    if let Some(curve) = &laws.reweighted {
        canvas.curve(&path(curve, &panel, range), reweighted_stroke());
    }
    if let Some(curve) = &laws.test {
        canvas.curve(&path(curve, &panel, range), test_stroke());
    }
    let caption = caption(report, laws);
    let (name, title) = ("score-laws", "Scores then and now");
    Some(Figure { name, title, svg: canvas.finish(name, title, &caption, height), caption })
}

fn curves(laws: &ScoreLaws) -> impl Iterator<Item = &StepCurve> {
    let pairs = laws.sandwiches.iter().flat_map(|pair| [&pair.lower, &pair.upper]);
    [&laws.calibration].into_iter().chain(&laws.reweighted).chain(&laws.test).chain(pairs)
}

/// From the smallest to the largest atom and threshold; all of `[0, 1]` if they lie in it and take up half of it.
fn score_range(laws: &ScoreLaws) -> Option<Range> {
    let atoms = curves(laws).flat_map(|curve| curve.atoms.iter().copied());
    let thresholds = laws.thresholds.iter().map(|mark| mark.threshold.get());
    let range = Range::around(atoms.chain(thresholds))?;
    let in_unit = range.low() >= 0.0 && range.high() <= 1.0 && range.high() - range.low() >= 0.5;
    Some(if in_unit { Range::UNIT } else { range.padded(0.02, 0.02) })
}

/// The staircase of a CDF from one end of the axis to the other.
fn path(curve: &StepCurve, panel: &Panel<'_>, range: Range) -> Vec<Point> {
    let steps = || {
        let pairs = curve.atoms.iter().zip(&curve.cumulative);
        pairs.filter(|(atom, value)| atom.is_finite() && value.is_finite())
    };
    if steps().next().is_none() {
        return Vec::new();
    }
    let mut points = vec![panel.at(range.low(), 0.0)];
    let mut value = 0.0;
    for (atom, next) in steps() {
        points.push(panel.at(*atom, value));
        value = *next;
        points.push(panel.at(*atom, value));
    }
    points.push(panel.at(range.high(), value));
    thin_curve(&points, MOST_POINTS)
}

/// An infinite threshold is marked at the end of the axis.
fn threshold_marks(laws: &ScoreLaws, range: Range) -> Vec<StripMark> {
    laws.thresholds
        .iter()
        .map(|mark| {
            let at = mark.threshold.get();
            let (x, value) = if at.is_finite() {
                (at, significant(at, 3))
            } else {
                (range.high(), "∞ →".to_owned())
            };
            // Shortened here, so that a long name does not cost its number.
            let name = shorten(&mark.label, FONT_SIZE, 220.0);
            let stroke = Stroke::new(Ink::Text, 1.3, Dash::Dashed);
            StripMark { x, label: format!("{name} {value}"), stroke }
        })
        .collect()
}

fn legend(report: &Report, laws: &ScoreLaws) -> Vec<Entry> {
    let mut entries = vec![Entry::new(Swatch::Line(calibration_stroke()), "calibration")];
    if laws.reweighted.is_some() {
        entries.push(Entry::new(Swatch::Line(reweighted_stroke()), "calibration, reweighted"));
    }
    if laws.test.is_some() {
        entries.push(Entry::new(Swatch::Line(test_stroke()), "the target data (labels)"));
    }
    for (index, pair) in laws.sandwiches.iter().enumerate() {
        let (lower, upper) = pair_strokes(index);
        entries.push(Entry::new(Swatch::Band(lower, upper), format!("{} band", pair.name)));
    }
    let level = format!("level {}", percent_chosen(report.level()));
    entries.push(Entry::new(Swatch::Line(level_stroke()), level));
    entries
}

fn caption(report: &Report, laws: &ScoreLaws) -> String {
    let mut words = String::from("Empirical distribution of the scores.");
    if !laws.sandwiches.is_empty() {
        words.push_str(
            " Each band runs from the lower law (its upper edge) to the upper law (its lower edge): the target curve, \
             unknown without labels, is taken to lie in it.",
        );
    }
    if !laws.thresholds.is_empty() {
        let level = percent_chosen(report.level());
        words.push_str(&format!(
            " Coverage on the target data is the height of the target curve at a threshold (vertical lines); the level is {level}."
        ));
    }
    if laws.thresholds.iter().any(|mark| mark.threshold.get().is_infinite()) {
        words.push_str(" An infinite threshold admits every label.");
    }
    words
}

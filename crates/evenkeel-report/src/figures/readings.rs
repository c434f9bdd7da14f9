//! `F_h(t)` for every reading `h`: coverage as dots with ranges on one axis.

use super::Figure;
use crate::content::{Estimate, ReadingRange, Report, Standing};
use crate::draw::{
    Anchor, Axis, Canvas, Dash, Entry, FONT_SIZE, Ink, Marker, Panel, Range, StripMark, Stroke,
    Swatch, TickText, Weight, draw_legend, draw_strip, level_stroke,
};
use crate::text::{percent_about, percent_chosen, percent_span, plain, shorten, width};

/// Height of a reading: its name, and its numbers below.
const ROW: f64 = 40.0;
/// The column of names is at least and at most this wide.
const NAMES: (f64, f64) = (90.0, 165.0);
/// Half the height of a range.
const HALF: f64 = 6.0;

/// Colour and marker of a standing, and its word in the legend.
fn look(standing: Standing) -> (Ink, Marker, &'static str) {
    match standing {
        Standing::Assumed | Standing::Expected { .. } => {
            (Ink::Series(0), Marker::Circle, "assumed")
        }
        Standing::Guaranteed => (Ink::Series(2), Marker::Square, "guaranteed"),
        Standing::Measured { .. } => (Ink::Series(1), Marker::Diamond, "measured"),
    }
}

pub(super) fn draw(report: &Report) -> Option<Figure> {
    let rows: Vec<&ReadingRange> = report
        .readings
        .iter()
        .filter(|row| {
            row.coverage.finite_value().is_some() || row.coverage.finite_range().is_some()
        })
        .collect();
    let values = rows.iter().filter_map(|row| row.coverage.finite_value());
    let ends = rows.iter().filter_map(|row| row.coverage.finite_range()).flatten();
    let range = Range::around(values.chain(ends))?.including(report.level());
    let range = range.padded(0.04, 0.04).within(Range::UNIT).including(1.0);
    let mut canvas = Canvas::new();
    let top = draw_legend(&mut canvas, &legend(&rows), 0.0);
    let names = rows.iter().flat_map(|row| [name(row), numbers(&row.coverage)]);
    let names = names.map(|text| width(&text, FONT_SIZE)).fold(NAMES.0, f64::max).min(NAMES.1);
    let mut panel = Panel::new(
        top,
        ROW * rows.len() as f64,
        Axis::new("coverage", range, TickText::Percent).rounded(),
        // No ticks of its own: the rows carry their names.
        Axis::new("", Range::UNIT, TickText::Nothing),
    )
    .right_of(names + 16.0);
    // The names stand left of the plot and the level's above it: its line meets no word.
    let mut level = Canvas::new();
    let label = format!("level {}", percent_chosen(report.level()));
    let mark = StripMark { x: report.level(), label, stroke: level_stroke() };
    draw_strip(&mut level, &mut panel, &[mark]);
    let height = panel.draw(&mut canvas);
    canvas.append(&level);
    for (index, row) in (0_u32..).zip(&rows) {
        draw_row(&mut canvas, &panel, row, panel.top() + ROW * f64::from(index));
    }
    let caption = "Coverage of the sets in use, under each reading: the dot is its number, the bar its range. \
                   The dotted line is the level, the coverage asked for."
        .to_owned();
    let (name, title) = ("readings", "Coverage under each reading");
    Some(Figure { name, title, svg: canvas.finish(name, title, &caption, height), caption })
}

fn name(row: &ReadingRange) -> String {
    plain(row.reading.name())
}

/// The number and its range as words.
fn numbers(coverage: &Estimate) -> String {
    match (coverage.finite_value(), coverage.finite_range()) {
        (Some(value), Some(range)) => {
            format!("{} ({})", percent_about(value), percent_span(range))
        }
        (Some(value), None) => percent_about(value),
        (None, Some(range)) => percent_span(range),
        (None, None) => String::new(),
    }
}

fn draw_row(canvas: &mut Canvas, panel: &Panel<'_>, row: &ReadingRange, top: f64) {
    let (ink, marker, _) = look(row.coverage.standing);
    let middle = top + ROW / 2.0;
    if let Some([low, high]) = row.coverage.finite_range() {
        let ((low, _), (high, _)) = (panel.at(low, 0.0), panel.at(high, 0.0));
        let (from, to) = ((low, middle - HALF), (high.max(low + 2.0), middle + HALF));
        // A range of one point is still to be seen.
        canvas.bar(from, to, Stroke::new(ink, 1.2, Dash::Solid), 0.3);
    }
    if let Some(value) = row.coverage.finite_value() {
        let (x, _) = panel.at(value, 0.0);
        let title = format!("{}: {}", name(row), numbers(&row.coverage));
        canvas.marker(marker, (x, middle), 4.0, ink, &title);
    }
    let room = panel.left() - 14.0;
    let words = [
        (name(row), Ink::Text, Weight::Bold),
        (numbers(&row.coverage), Ink::Muted, Weight::Regular),
    ];
    for (text, baseline) in words.into_iter().zip([middle - 3.0, middle + 12.0]) {
        let (text, ink, weight) = text;
        let text = shorten(&text, FONT_SIZE, room);
        canvas.text((2.0, baseline), &text, ink, Anchor::Start, weight);
    }
}

/// The standings there are, in the order they are first met.
fn legend(rows: &[&ReadingRange]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for row in rows {
        let (ink, marker, word) = look(row.coverage.standing);
        if !entries.iter().any(|entry| entry.label == word) {
            let swatch = match row.coverage.finite_value() {
                Some(_) => Swatch::Point(marker, ink),
                None => Swatch::Bar(Stroke::new(ink, 1.2, Dash::Solid), 0.3),
            };
            entries.push(Entry::new(swatch, word));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use evenkeel::level::Miscoverage;

    use super::*;
    use crate::content::{Answer, Reading};

    /// The dotted line of the level meets no word, wherever the level stands and however long the names are.
    #[test]
    fn the_level_runs_through_no_words() {
        for alpha in [0.01, 0.1, 0.5, 0.9, 0.99] {
            let mut report = Report::new(Miscoverage::new(alpha).unwrap(), Answer::default());
            let name = "a very long name of a reading that nobody would give".to_owned();
            let other = Reading::Other { name, explanation: String::new() };
            report.readings = vec![
                ReadingRange::assumed(other, 0.53, [0.46, 0.61]),
                ReadingRange::range(Reading::Guaranteed, [0.0, 1.0], Standing::Guaranteed),
            ];
            let svg = draw(&report).unwrap().svg;
            let document = roxmltree::Document::parse(&svg).unwrap();
            let dotted = document
                .descendants()
                .find(|node| node.attribute("stroke-dasharray") == Some("1.5 3.5"));
            // `Mx yVy`: a vertical line.
            let data = dotted.unwrap().attribute("d").unwrap();
            let numbers: Vec<f64> =
                data.split(['M', ' ', 'V']).filter_map(|text| text.parse().ok()).collect();
            let [x, top, bottom] = numbers[..] else { panic!("{data}") };
            for node in document.descendants().filter(|node| {
                node.has_tag_name((document.root_element().tag_name().namespace().unwrap(), "text"))
            }) {
                let number = |name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
                let (at, baseline) = (number("x"), number("y"));
                let long = width(node.text().unwrap(), FONT_SIZE);
                let start = match node.attribute("text-anchor") {
                    Some("end") => at - long,
                    Some(_) => at - long / 2.0,
                    None => at,
                };
                let beside = x < start || x > start + long;
                let apart = baseline < top || baseline - FONT_SIZE > bottom;
                assert!(beside || apart, "alpha {alpha}: {:?}", node.text());
            }
        }
    }
}

//! Named vertical lines, with their names in rows above the plot.

use super::canvas::{Anchor, Canvas, FONT_SIZE, Weight};
use super::ink::{Ink, Stroke};
use super::panel::Panel;
use crate::text::{shorten, width};

/// Height of a row of names.
const ROW: f64 = 16.0;
/// Least space between two names in a row.
const BETWEEN: f64 = 10.0;

/// How far a name may slide along its line, as the share of it left of the line, in order of preference.
const SLIDES: [f64; 9] = [0.5, 0.4, 0.6, 0.25, 0.75, 0.1, 0.9, 0.02, 0.98];

/// A value on the horizontal axis and its name.
#[derive(Debug, Clone)]
pub(crate) struct StripMark {
    /// Where the line stands, in the units of the data.
    pub(crate) x: f64,
    /// Name shown above the plot.
    pub(crate) label: String,
    /// How the line is drawn.
    pub(crate) stroke: Stroke,
}

/// Makes room above the plot, draws the names there and the lines through the plot.
///
/// Names share a row where they can, and slide along their lines to keep off each other and off other lines.
pub(crate) fn draw_strip(canvas: &mut Canvas, panel: &mut Panel<'_>, marks: &[StripMark]) {
    if marks.is_empty() {
        return;
    }
    let mut order: Vec<usize> = (0..marks.len()).collect();
    order.sort_by(|a, b| marks[*a].x.total_cmp(&marks[*b].x));
    let lines: Vec<f64> = marks.iter().map(|mark| panel.at(mark.x, 0.0).0).collect();
    let mut row_ends: Vec<f64> = Vec::new();
    let mut placed = Vec::new();
    for index in order {
        let (mark, across) = (&marks[index], lines[index]);
        let label = shorten(&mark.label, FONT_SIZE, panel.right() - panel.left());
        let taken = width(&label, FONT_SIZE);
        // Further left it would meet the uppermost tick.
        let bounds = (panel.left() - 3.0, panel.right() + 8.0 - taken);
        let free = |start: f64| {
            let crossed =
                |line: &f64| (line - across).abs() > 1.0 && *line > start && *line < start + taken;
            (bounds.0..=bounds.1).contains(&start) && !lines.iter().any(crossed)
        };
        let starts = || SLIDES.into_iter().map(|slide| across - slide * taken);
        let found = row_ends.iter().enumerate().find_map(|(row, end)| {
            starts().find(|start| free(*start) && end + BETWEEN <= *start).map(|start| (row, start))
        });
        let (row, start) = found.unwrap_or_else(|| {
            row_ends.push(0.0);
            let middle = (across - taken / 2.0).min(bounds.1).max(bounds.0);
            (row_ends.len() - 1, starts().find(|start| free(*start)).unwrap_or(middle))
        });
        row_ends[row] = start + taken;
        placed.push((across, start, row, label, mark.stroke));
    }
    panel.make_room(ROW * row_ends.len() as f64 + 2.0);
    let baseline = |row: usize| panel.top() - 5.0 - ROW * row as f64;
    // All lines first: where a name has to cross a line, its rim lifts it off.
    for (across, _, row, _, stroke) in &placed {
        canvas.line((*across, baseline(*row) + 3.0), (*across, panel.bottom()), *stroke);
    }
    for (_, start, row, label, _) in &placed {
        let at = (*start, baseline(*row));
        canvas.text(at, label, Ink::Text, Anchor::Start, Weight::Regular);
    }
}

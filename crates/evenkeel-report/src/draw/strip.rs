//! Named vertical lines, with their names in rows above the plot.

use super::canvas::{Anchor, Canvas, FONT_SIZE, Weight};
use super::ink::{Ink, Stroke};
use super::panel::Panel;
use crate::text::{shorten, width};

/// Height of a row of names.
const ROW: f64 = 16.0;
/// Least space between two names in a row.
const BETWEEN: f64 = 10.0;

/// A value on the horizontal axis and its name.
#[derive(Debug, Clone)]
pub(crate) struct StripMark {
    /// Where the line stands.
    pub(crate) x: f64,
    /// Its name.
    pub(crate) label: String,
    /// Its look.
    pub(crate) stroke: Stroke,
}

/// Makes room above the plot, draws the names there and the lines through the plot.
pub(crate) fn draw_strip(canvas: &mut Canvas, panel: &mut Panel<'_>, marks: &[StripMark]) {
    if marks.is_empty() {
        return;
    }
    let mut order: Vec<usize> = (0..marks.len()).collect();
    order.sort_by(|a, b| marks[*a].x.total_cmp(&marks[*b].x));
    // Each name goes to the lowest row whose last name ends before it starts.
    let mut row_ends: Vec<f64> = Vec::new();
    let mut placed = Vec::new();
    for index in order {
        let mark = &marks[index];
        let label = shorten(&mark.label, FONT_SIZE, panel.right());
        let taken = width(&label, FONT_SIZE);
        let (across, _) = panel.at(mark.x, 0.0);
        let start = (across - taken / 2.0).min(panel.right() + 8.0 - taken).max(2.0);
        let row = row_ends.iter().position(|end| end + BETWEEN <= start).unwrap_or_else(|| {
            row_ends.push(0.0);
            row_ends.len() - 1
        });
        row_ends[row] = start + taken;
        placed.push((across, start, row, label, mark.stroke));
    }
    panel.make_room(ROW * row_ends.len() as f64 + 2.0);
    let baseline = |row: usize| panel.top() - 5.0 - ROW * row as f64;
    // All lines first: a name in an upper row is crossed by none that its rim does not lift it off.
    for (across, _, row, _, stroke) in &placed {
        canvas.line((*across, baseline(*row) + 3.0), (*across, panel.bottom()), *stroke);
    }
    for (_, start, row, label, _) in &placed {
        let at = (*start, baseline(*row));
        canvas.text(at, label, Ink::Text, Anchor::Start, Weight::Regular);
    }
}

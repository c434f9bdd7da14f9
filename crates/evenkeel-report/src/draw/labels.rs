//! `points, obstacles -> label positions`: names next to points, where there is room.

use super::canvas::{Anchor, FONT_SIZE};
use super::panel::Panel;
use super::{Point, WIDTH};
use crate::text::{shorten, width};

/// A rectangle that labels keep out of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Obstacle {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Obstacle {
    /// A square about a marker.
    pub(crate) fn around((x, y): Point, radius: f64) -> Self {
        Self { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius }
    }

    /// A horizontal line across a plot.
    pub(crate) fn line(panel: &Panel<'_>, height: f64) -> Self {
        Self { left: panel.left(), top: height - 2.0, right: panel.right(), bottom: height + 2.0 }
    }

    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// A name and where it goes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlacedLabel {
    /// The name, shortened if it is very long.
    pub(crate) text: String,
    /// Position of its baseline.
    pub(crate) at: Point,
    /// Which end stands there.
    pub(crate) anchor: Anchor,
}

/// Places a name next to each point, in turn: beside it, above, below or at a corner; none where nothing is free.
pub(crate) fn place_labels(
    panel: &Panel<'_>,
    points: &[(Point, &str)],
    lines: &[Obstacle],
) -> Vec<Option<PlacedLabel>> {
    let mut taken: Vec<Obstacle> =
        points.iter().map(|(point, _)| Obstacle::around(*point, 7.0)).collect();
    // Every marker is an obstacle before the first name is placed: a name must not cover a point that comes later.
    taken.extend_from_slice(lines);
    points
        .iter()
        .map(|(point, name)| {
            // Half the drawing: a longer name would find no free place at all.
            let text = shorten(name, FONT_SIZE, 150.0);
            let found = candidates(*point, &text).find(|(_, box_)| {
                inside(panel, box_) && !taken.iter().any(|other| other.meets(box_))
            });
            found.map(|(label, box_)| {
                taken.push(box_);
                label
            })
        })
        .collect()
}

/// Labels must not leave the plot, but may use the margin on the right.
fn inside(panel: &Panel<'_>, label: &Obstacle) -> bool {
    label.left >= panel.left() + 2.0
        && label.right <= WIDTH - 2.0
        && label.top >= panel.top() - 4.0
        && label.bottom <= panel.bottom() - 2.0
}

/// Directions in order of preference: right, left, above, below, then the corners.
const DIRECTIONS: [(f64, f64); 8] = [
    (1.0, 0.0),
    (-1.0, 0.0),
    (0.0, -1.0),
    (0.0, 1.0),
    (0.8, -0.8),
    (0.8, 0.8),
    (-0.8, -0.8),
    (-0.8, 0.8),
];

fn candidates((x, y): Point, text: &str) -> impl Iterator<Item = (PlacedLabel, Obstacle)> {
    let (wide, text) = (width(text, FONT_SIZE), text.to_owned());
    // Near first: a name far from its point is taken for another's.
    [10.0, 16.0].into_iter().flat_map(move |radius| {
        let text = text.clone();
        DIRECTIONS.into_iter().map(move |(dx, dy)| {
            // The middle of the name's near edge; beside a point it is level with it.
            let (edge_x, edge_y) = (x + dx * radius, y + dy * (radius + 3.0));
            let (anchor, left) = if dx > 0.0 {
                (Anchor::Start, edge_x)
            } else if dx < 0.0 {
                (Anchor::End, edge_x - wide)
            } else {
                (Anchor::Middle, edge_x - wide / 2.0)
            };
            let box_ = Obstacle {
                left: left - 2.0,
                top: edge_y - 8.0,
                right: left + wide + 2.0,
                bottom: edge_y + 7.0,
            };
            (PlacedLabel { text: text.clone(), at: (edge_x, edge_y + 4.2), anchor }, box_)
        })
    })
}

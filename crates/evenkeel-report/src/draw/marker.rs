//! `shape -> path data`: shapes of points.

use crate::text::coordinate;

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    /// A filled circle.
    Circle,
    /// A square on its side.
    Square,
    /// A triangle, point up.
    Up,
    /// A square on its corner.
    Diamond,
    /// A triangle, point down.
    Down,
    /// A plus sign with thick arms.
    Plus,
    /// A plus turned by 45 degrees.
    Cross,
    /// A regular hexagon, corners left and right.
    Hexagon,
}

impl Marker {
    /// The `index`-th shape; numbers wrap around.
    pub(crate) fn of(index: usize) -> Self {
        const ALL: [Marker; 8] = [
            Marker::Circle,
            Marker::Square,
            Marker::Up,
            Marker::Diamond,
            Marker::Down,
            Marker::Plus,
            Marker::Cross,
            Marker::Hexagon,
        ];
        ALL[index % ALL.len()]
    }

    /// The outline around a centre, as path data; about `radius` to each side.
    pub(super) fn path(self, (x, y): (f64, f64), radius: f64) -> String {
        let corner = |dx: f64, dy: f64| {
            format!("{} {}", coordinate(x + dx * radius), coordinate(y + dy * radius))
        };
        let polygon = |corners: &[(f64, f64)]| {
            let corners: Vec<String> = corners.iter().map(|(dx, dy)| corner(*dx, *dy)).collect();
            format!("M{}Z", corners.join("L"))
        };
        match self {
            Self::Circle => {
                // Two half circles: an arc that ends where it began is drawn as nothing.
                let r = coordinate(radius);
                format!(
                    "M{}A{r} {r} 0 1 1 {}A{r} {r} 0 1 1 {}Z",
                    corner(-1.0, 0.0),
                    corner(1.0, 0.0),
                    corner(-1.0, 0.0)
                )
            }
            // Sizes differ so that shapes of one radius look equally large.
            Self::Square => polygon(&[(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)]),
            Self::Up => polygon(&[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)]),
            Self::Down => polygon(&[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)]),
            Self::Diamond => polygon(&[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)]),
            Self::Plus => polygon(&PLUS),
            Self::Cross => {
                let turn = std::f64::consts::FRAC_1_SQRT_2;
                polygon(&PLUS.map(|(dx, dy)| ((dx - dy) * turn, (dx + dy) * turn)))
            }
            Self::Hexagon => polygon(&[
                (1.1, 0.0),
                (0.55, 0.95),
                (-0.55, 0.95),
                (-1.1, 0.0),
                (-0.55, -0.95),
                (0.55, -0.95),
            ]),
        }
    }
}

const PLUS: [(f64, f64); 12] = [
    (-0.35, -1.15),
    (0.35, -1.15),
    (0.35, -0.35),
    (1.15, -0.35),
    (1.15, 0.35),
    (0.35, 0.35),
    (0.35, 1.15),
    (-0.35, 1.15),
    (-0.35, 0.35),
    (-1.15, 0.35),
    (-1.15, -0.35),
    (-0.35, -0.35),
];

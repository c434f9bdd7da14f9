//! A point whose dual moves.

/// Where a calibration dual is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Lower,
    Upper,
    Free,
}

/// A point on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'a> {
    /// Kernel between it and the calibration points.
    pub(super) kernel: &'a [f64],
    /// `1` if its dual grows, `-1` if it falls.
    pub(super) sign: f64,
    /// How far its dual may go.
    pub(super) room: f64,
    /// How far `G - b` is on the wrong side; infinite for the test point.
    pub(super) violation: f64,
    /// The calibration point, or none for the test point.
    pub(super) index: Option<usize>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The conditions hold with the point strictly inside.
    Joins,
    /// The point reached the end of its room.
    Arrives,
    /// No dual is left that could make up for the point's.
    Stuck,
}

/// What ended a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// The free point at this position met its bound.
    Free(usize),
    /// The running point used up its room.
    Room,
}

//! A point whose dual moves.

/// Where a calibration dual is in its box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// At `-C alpha`: its score lies below the fit.
    Lower,
    /// At `C (1 - alpha)`: its score lies above the fit.
    Upper,
    /// Strictly inside, or meant to be: its score lies on the fit.
    Free,
}

/// A point on its way: the one whose dual moves of its own, while the free ones follow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'a> {
    /// Kernel between it and the calibration points; shape `(n,)`.
    pub(super) kernel: &'a [f64],
    /// `1` if its dual grows, `-1` if it falls.
    pub(super) sign: f64,
    /// How far its dual may go before it meets its bound, at least 0.
    pub(super) room: f64,
    /// How far `G - b` is on the wrong side; infinite for the test point.
    pub(super) violation: f64,
    /// The calibration point, or none for the test point.
    pub(super) index: Option<usize>,
}

/// How a run ended, and so where its point now belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The conditions hold with the point strictly inside.
    Joins,
    /// The point reached the end of its room.
    Arrives,
    /// No dual is left that could make up for the point's.
    Stuck,
}

/// What ended a step before the violation was gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// The free point at this position met its bound.
    Free(usize),
    /// The running point used up its room.
    Room,
}

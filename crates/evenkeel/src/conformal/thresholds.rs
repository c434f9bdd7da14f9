//! `t`, `t_i` or `t_y`: one threshold for all rows, one per row, or one per label.
//!
//! ```text
//! C(x_i) = {y : s(x_i, y) <= t}        or t_i, or t_y
//! ```

use crate::error::{Result, require_same_length};
use crate::threshold::Threshold;

/// The thresholds of a block of rows. Functions that cut sets take either form: a [`Threshold`], or a slice of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Thresholds<'a> {
    /// The same for every row.
    Shared(Threshold),
    /// One per row of the block, for methods that calibrate at every test point.
    PerRow(&'a [Threshold]),
    /// One per label, for methods that weight calibration points by their label.
    PerLabel(&'a [Threshold]),
}

impl Thresholds<'_> {
    /// An error unless there is a threshold for each row, or each label, of a block of this shape.
    /// Checked once a block, so that [`admit`](Self::admit) may index without asking.
    pub(crate) fn require_shape(&self, rows: usize, labels: usize) -> Result<()> {
        match self {
            Self::Shared(_) => Ok(()),
            Self::PerRow(each) => require_same_length("thresholds", each.len(), "rows", rows),
            Self::PerLabel(each) => require_same_length("thresholds", each.len(), "labels", labels),
        }
    }

    /// Whether a label with this score is in the set of the block's row `row`.
    pub(crate) fn admit(&self, row: usize, label: usize, score: f64) -> bool {
        match self {
            Self::Shared(threshold) => threshold.admits(score),
            Self::PerRow(each) => each[row].admits(score),
            Self::PerLabel(each) => each[label].admits(score),
        }
    }
}

impl From<Threshold> for Thresholds<'_> {
    /// One threshold for all rows and labels.
    fn from(threshold: Threshold) -> Self {
        Self::Shared(threshold)
    }
}

impl<'a> From<&'a [Threshold]> for Thresholds<'a> {
    /// A slice is one for each row; thresholds for each label must be said to be so.
    fn from(each: &'a [Threshold]) -> Self {
        Self::PerRow(each)
    }
}

impl<'a> From<&'a Vec<Threshold>> for Thresholds<'a> {
    /// The same for a vector, which would not turn into a slice by itself here.
    fn from(each: &'a Vec<Threshold>) -> Self {
        Self::PerRow(each)
    }
}

/// The thresholds of a block of rows, owned: what a calibration gives for a block.
#[derive(Debug, Clone, PartialEq)]
pub enum Cutoffs {
    /// The same for every row and label.
    Shared(Threshold),
    /// One for each row of the block.
    PerRow(Vec<Threshold>),
    /// One for each label, the same for all rows.
    PerLabel(Vec<Threshold>),
}

impl Cutoffs {
    /// As the functions that cut sets take them, borrowed.
    pub fn as_thresholds(&self) -> Thresholds<'_> {
        match self {
            Self::Shared(threshold) => Thresholds::Shared(*threshold),
            Self::PerRow(each) => Thresholds::PerRow(each),
            Self::PerLabel(each) => Thresholds::PerLabel(each),
        }
    }
}

/// What the thresholds of a calibration differ by: decides whether it can be shown as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThresholdsDifferBy {
    /// There is one for all points and labels, at every level.
    Nothing,
    /// Every label has its own, the same for all points.
    Label,
    /// Every point has its own, the same for all its labels.
    Point,
}

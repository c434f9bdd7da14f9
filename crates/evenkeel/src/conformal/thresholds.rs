//! One threshold for all rows, or one for each.

use super::threshold::Threshold;
use crate::error::{Result, require_same_length};

/// The thresholds of a block of rows. Functions that cut sets take either form: a [`Threshold`], or a slice of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Thresholds<'a> {
    /// The same for every row.
    Shared(Threshold),
    /// One for each row of the block, for methods that calibrate at every test point.
    PerRow(&'a [Threshold]),
}

impl Thresholds<'_> {
    /// An error unless there is a threshold for each of `rows` rows.
    pub(crate) fn require_rows(&self, rows: usize) -> Result<()> {
        match self {
            Self::Shared(_) => Ok(()),
            Self::PerRow(each) => require_same_length("thresholds", each.len(), "rows", rows),
        }
    }

    /// The threshold of the block's row `index`.
    pub(crate) fn of(&self, index: usize) -> Threshold {
        match self {
            Self::Shared(threshold) => *threshold,
            Self::PerRow(each) => each[index],
        }
    }
}

impl From<Threshold> for Thresholds<'_> {
    fn from(threshold: Threshold) -> Self {
        Self::Shared(threshold)
    }
}

impl<'a> From<&'a [Threshold]> for Thresholds<'a> {
    fn from(each: &'a [Threshold]) -> Self {
        Self::PerRow(each)
    }
}

impl<'a> From<&'a Vec<Threshold>> for Thresholds<'a> {
    fn from(each: &'a Vec<Threshold>) -> Self {
        Self::PerRow(each)
    }
}

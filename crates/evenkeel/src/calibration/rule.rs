//! From weighted calibration scores to thresholds: one for all points, one for each, or one for each label.

use crate::conformal::{Threshold, Thresholds};

/// How thresholds follow from the weighted calibration scores.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Rule {
    /// The quantile of the weighted scores, with the test point's share of the mass at infinity.
    #[default]
    Quantile,
}

/// The thresholds of a block of rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Cutoffs {
    /// The same for every row and label.
    Shared(Threshold),
    /// One for each row.
    PerRow(Vec<Threshold>),
    /// One for each label.
    PerLabel(Vec<Threshold>),
}

impl Cutoffs {
    /// As the functions that cut sets take them.
    pub fn as_thresholds(&self) -> Thresholds<'_> {
        match self {
            Self::Shared(threshold) => Thresholds::Shared(*threshold),
            Self::PerRow(each) => Thresholds::PerRow(each),
            Self::PerLabel(each) => Thresholds::PerLabel(each),
        }
    }
}

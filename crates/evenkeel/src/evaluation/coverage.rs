//! `1/n sum_i [y_i in C(x_i)]`: how often the label is in the set, over all points, by class, and by set size.

use serde::{Deserialize, Serialize};

use super::summary::EvaluationCounts;
use crate::conformal::LabelSets;
use crate::error::Result;
use crate::score::Labels;

/// Points, and those among them whose label is in their set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Hits {
    /// All points counted, covered or not.
    pub(super) points: u64,
    /// Those whose label is in their set, at most `points`.
    pub(super) covered: u64,
}

impl Hits {
    /// Counts one more point; `covered` is 1 if its label is in its set, else 0.
    pub(super) fn count(&mut self, covered: u64) {
        self.points += 1;
        self.covered += covered;
    }

    /// Adds the points of another part; whole numbers, so the order does not matter.
    pub(super) fn merge(&mut self, other: Self) {
        self.points += other.points;
        self.covered += other.covered;
    }

    /// `covered / points`; none without points.
    pub(super) fn share(self) -> Option<f64> {
        // None, not 0: a class that never occurs was not missed.
        (self.points > 0).then(|| self.covered as f64 / self.points as f64)
    }
}

/// Coverage of the points of one class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassCoverage {
    /// The class, from 0.
    pub label: usize,
    /// Number of points with this label.
    pub n: u64,
    /// Share of them whose set contains it, in `[0, 1]`.
    pub coverage: f64,
}

/// Coverage of the points whose sets have one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeCoverage {
    /// Number of labels in the set, from 0.
    pub size: usize,
    /// Number of points with a set of this size.
    pub n: u64,
    /// Share of them whose label is in their set.
    pub coverage: f64,
}

/// Share of the points whose label is in their set.
///
/// # Errors
/// `LengthMismatch` unless there is one label per set, `LabelOutOfRange` for a label that is not below the number of
/// classes; `Empty` for no sets.
pub fn coverage(sets: &LabelSets, labels: &Labels) -> Result<f64> {
    EvaluationCounts::of(sets, labels)?.coverage()
}

/// Coverage of every class that occurs among the labels, by increasing label.
///
/// # Errors
/// `LengthMismatch` unless there is one label per set, `LabelOutOfRange` for a label that is not below the number of
/// classes.
pub fn coverage_by_class(sets: &LabelSets, labels: &Labels) -> Result<Vec<ClassCoverage>> {
    Ok(EvaluationCounts::of(sets, labels)?.by_class())
}

/// Coverage of every set size that occurs, by increasing size.
///
/// # Errors
/// `LengthMismatch` unless there is one label per set, `LabelOutOfRange` for a label that is not below the number of
/// classes.
pub fn coverage_by_size(sets: &LabelSets, labels: &Labels) -> Result<Vec<SizeCoverage>> {
    Ok(EvaluationCounts::of(sets, labels)?.by_size())
}

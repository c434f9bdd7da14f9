//! `|C(x)|`: mean, median and extremes of the set sizes.

use crate::conformal::LabelSets;
use crate::error::{Error, Result};

/// How large the prediction sets of a table are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetSizes {
    /// Mean number of labels in a set.
    pub mean: f64,
    /// Median size: of an even number of sets, the average of the middle two.
    pub median: f64,
    /// Number of sets without any label.
    pub empty: u64,
    /// Number of sets with every label.
    pub full: u64,
}

impl SetSizes {
    /// From the number of sets of each size, `0..=classes`.
    ///
    /// # Errors
    /// `Empty` if every count is 0.
    pub(super) fn from_counts(counts: &[u64]) -> Result<Self> {
        let sets: u64 = counts.iter().sum();
        if sets == 0 {
            return Err(Error::Empty { what: "the evaluated sets" });
        }
        // In whole numbers: a mean of sizes summed as floats would depend on the order of the
        // blocks.
        let labels: u64 = (0..).zip(counts).map(|(size, count): (u64, &u64)| size * count).sum();
        // The sets in order of size, from 0: the middle two are the same one if their number is odd.
        let middle = [(sets - 1) / 2, sets / 2].map(|position| size_at(counts, position));
        Ok(Self {
            mean: labels as f64 / sets as f64,
            median: (middle[0] + middle[1]) as f64 / 2.0,
            empty: counts.first().copied().unwrap_or(0),
            full: counts.last().copied().unwrap_or(0),
        })
    }
}

/// Size of the set at `position`, from 0, when all are ordered by size.
fn size_at(counts: &[u64], position: u64) -> usize {
    let mut up_to = 0;
    let is_reached = |count: &u64| {
        up_to += count;
        position < up_to
    };
    counts.iter().position(is_reached).unwrap_or(0)
}

/// Measures the sizes of the sets.
///
/// # Errors
/// `Empty` for no sets.
pub fn set_sizes(sets: &LabelSets) -> Result<SetSizes> {
    let mut counts = vec![0; sets.classes() + 1];
    for labels in sets.iter() {
        counts[labels.len()] += 1;
    }
    SetSizes::from_counts(&counts)
}

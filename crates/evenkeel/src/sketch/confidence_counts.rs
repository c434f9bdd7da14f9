//! Target confidences, bounded in memory and the same however they arrived.
//!
//! ```text
//! ks(F, w)  = max_t |F_w(t) - F_target(t)|          F_w: weights w on the calibration confidences
//! mean      = 1/m sum_j confidence_j
//! ```
//!
//! Kept: up to `2^20` confidences, 8 MB, or 262 145 counts, 2 MB. Merging is exact because which of the two it is depends on
//! how many there are and on nothing else, kept ones are sorted before they are summed or written, and counts are whole.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, Serializer};

use super::log_bins::{CELLS, cell_of, smallest_distance};
use super::row_count::{contradiction, sum_of_counts};
use crate::error::{Error, Result, require_same_length};

/// Confidences kept one by one, 8 MB of them; more are counted in the cells of `log_bins`.
const MOST_KEPT: usize = 1 << 20;

/// The multiset of target confidences: exact up to a million, counts in cells that are finer the nearer to 1 beyond.
///
/// Which of the two it ends up as depends on how many there are and on nothing else, and so do its bits.
///
/// ```text
/// m <= 2^20   Kept      distances and means are exact
/// m >  2^20   Counted   cells 1/4096 of the distance from 1 wide
/// ```
/// Kept ones may stand in any order: whoever sums or writes them sorts them first.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Stored<'_>")]
pub(crate) enum ConfidenceCounts {
    /// Every one, in the order of arrival.
    Kept(Vec<f64>),
    /// How many fell into each cell; shape `(CELLS,)`.
    Counted(Vec<u64>),
}

/// As they are stored, kept ones in increasing order.
#[derive(Serialize, Deserialize)]
enum Stored<'a> {
    Kept(Cow<'a, [f64]>),
    Counted(Cow<'a, [u64]>),
}

/// Bytes depend on the confidences alone, not on the order in which they came.
impl Serialize for ConfidenceCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Kept(values) => {
                // Sorted before they are written: the order of arrival depends on threads and
                // blocks.
                let mut sorted = values.clone();
                sorted.sort_unstable_by(f64::total_cmp);
                Stored::Kept(Cow::Owned(sorted)).serialize(serializer)
            }
            Self::Counted(counts) => Stored::Counted(Cow::Borrowed(counts)).serialize(serializer),
        }
    }
}

/// Refuses what no pass could have left: values outside `[0, 1]`, the wrong form for their number,
/// or counts of another number of cells. Few in counted form are refused in the end, by [`ConfidenceCounts::require_form`].
impl TryFrom<Stored<'_>> for ConfidenceCounts {
    type Error = Error;

    fn try_from(stored: Stored<'_>) -> Result<Self> {
        match stored {
            Stored::Kept(values) => {
                // A longer list is none that a pass left: it would have been counted.
                if values.len() > MOST_KEPT
                    || !values.iter().all(|value| (0.0..=1.0).contains(value))
                {
                    return Err(contradiction("its confidences are too many or not in [0, 1]"));
                }
                Ok(Self::Kept(values.into_owned()))
            }
            Stored::Counted(counts) => {
                require_same_length("counts of confidences", counts.len(), "cells", CELLS)?;
                // A part may count fewer than are kept, where it was told that all parts have more; whether they have is
                // asked in the end.
                sum_of_counts(counts.iter().copied())?;
                Ok(Self::Counted(counts.into_owned()))
            }
        }
    }
}

impl ConfidenceCounts {
    /// No confidences yet.
    pub(crate) fn new() -> Self {
        Self::Kept(Vec::new())
    }

    /// None, in the form of these.
    pub(crate) fn emptied(&self) -> Self {
        match self {
            Self::Kept(_) => Self::new(),
            Self::Counted(_) => Self::Counted(vec![0; CELLS]),
        }
    }

    /// Told that this and what it will be merged with are so many together, it counts from the start what will be counted in the
    /// end: a part of many rows then takes no more room than all of them.
    pub(crate) fn expect(&mut self, together: u64) {
        if together > MOST_KEPT as u64 {
            self.count();
        }
    }

    /// An error for confidences that were counted although they are few enough to be kept: other bits than the same ones kept.
    pub(crate) fn require_form(&self) -> Result<()> {
        match self {
            Self::Counted(_) if self.len() <= MOST_KEPT as u64 => {
                Err(contradiction("its confidences are too few to be counted"))
            }
            _ => Ok(()),
        }
    }

    /// Adds one confidence in `[0, 1]`.
    #[inline]
    pub(crate) fn add(&mut self, confidence: f64) {
        match self {
            Self::Kept(values) if values.len() < MOST_KEPT => values.push(confidence),
            Self::Kept(_) => {
                self.count();
                self.add(confidence);
            }
            Self::Counted(counts) => counts[cell(confidence)] += 1,
        }
    }

    /// How many there are; `m` after a whole pass.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Kept(values) => values.len() as u64,
            Self::Counted(counts) => counts.iter().sum(),
        }
    }

    /// Adds what another one counted; that both together are not too many is for the caller to know.
    pub(crate) fn merge(&mut self, other: &Self) {
        match other {
            Self::Kept(values) => values.iter().for_each(|value| self.add(*value)),
            Self::Counted(theirs) => {
                self.count();
                if let Self::Counted(counts) = self {
                    counts.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
                }
            }
        }
    }

    /// Turns kept confidences into counts; counts stay as they are.
    fn count(&mut self) {
        if let Self::Kept(values) = self {
            let mut counts = vec![0; CELLS];
            values.iter().for_each(|value| counts[cell(*value)] += 1);
            *self = Self::Counted(counts);
        }
    }

    /// Mean confidence, in `[0, 1]`; counted ones stand in the middle of their cell, off by at most
    /// half of it. Not a number if there are none.
    pub(crate) fn mean(&self) -> f64 {
        match self {
            Self::Kept(values) => {
                let mut sorted = values.clone();
                // In increasing order, so that the sum does not depend on how the values arrived.
                sorted.sort_unstable_by(f64::total_cmp);
                sorted.iter().sum::<f64>() / sorted.len() as f64
            }
            Self::Counted(counts) => {
                let total: u64 = counts.iter().sum();
                let middles =
                    counts.iter().enumerate().map(|(cell, count)| *count as f64 * middle(cell));
                middles.sum::<f64>() / total as f64
            }
        }
    }

    /// `max_t |F(t) - F_target(t)|`, where `F` puts masses proportional to `weights` on `confidences`. On the grid the CDFs
    /// are compared at the edges of cells only, which can miss no more than the mass of one cell.
    ///
    /// `confidences` and `weights` have shape `(n,)`; weights are not negative and need not sum to
    /// one. The result lies in `[0, 1]`.
    pub(crate) fn kolmogorov_smirnov(&self, confidences: &[f64], weights: &[f64]) -> f64 {
        let total: f64 = weights.iter().sum();
        let mut atoms: Vec<(f64, f64)> =
            confidences.iter().copied().zip(weights.iter().copied()).collect();
        // Stable: weights of tied confidences are added in the order given, hence to the same bits.
        atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
        match self {
            Self::Kept(values) => {
                let mut target = values.clone();
                target.sort_unstable_by(f64::total_cmp);
                exact_distance(&atoms, total, &target)
            }
            Self::Counted(counts) => {
                let m: u64 = counts.iter().sum();
                let (mut next, mut mass, mut count, mut largest) = (0, 0.0, 0, 0.0_f64);
                for (index, in_cell) in counts.iter().enumerate() {
                    count += in_cell;
                    while atoms.get(next).is_some_and(|(value, _)| cell(*value) <= index) {
                        mass += atoms[next].1;
                        next += 1;
                    }
                    largest = largest.max((mass / total - count as f64 / m as f64).abs());
                }
                largest
            }
        }
    }
}

/// `max_t |F(t) - F_target(t)|` of sorted atoms `(value, mass)` of mass `total` and sorted
/// `target`, by one merge. CDFs are compared after each run of equal values: inside a run neither
/// is reached yet.
fn exact_distance(atoms: &[(f64, f64)], total: f64, target: &[f64]) -> f64 {
    let (mut i, mut j, mut mass, mut largest) = (0, 0, 0.0, 0.0_f64);
    while i < atoms.len() || j < target.len() {
        let at = match (atoms.get(i), target.get(j)) {
            (Some((a, _)), Some(b)) => a.min(*b),
            (Some((a, _)), None) => *a,
            (None, Some(b)) => *b,
            (None, None) => break,
        };
        while atoms.get(i).is_some_and(|(value, _)| *value <= at) {
            mass += atoms[i].1;
            i += 1;
        }
        while target.get(j).is_some_and(|value| *value <= at) {
            j += 1;
        }
        largest = largest.max((mass / total - j as f64 / target.len() as f64).abs());
    }
    largest
}

/// The cell of a confidence, increasing with it, by its distance from 1.
#[inline]
fn cell(confidence: f64) -> usize {
    cell_of(1.0 - confidence)
}

/// The confidence in the middle of a cell, in `[0, 1]`.
fn middle(cell: usize) -> f64 {
    let (near, far) = (smallest_distance(cell), smallest_distance(cell.saturating_sub(1)));
    1.0 - f64::midpoint(near, far)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{WeightedEmpirical, Weights};
    use crate::seed::Seed;

    #[test]
    fn the_distance_is_the_largest_difference_of_the_cdfs() {
        let mut stream = Seed::new(1).stream("ks");
        for _ in 0..50 {
            let labeled: Vec<f64> = (0..20).map(|_| stream.below(30) as f64 / 30.0).collect();
            let weights: Vec<f64> = (0..20).map(|_| stream.uniform() + 0.1).collect();
            let target: Vec<f64> = (0..25).map(|_| stream.below(30) as f64 / 30.0).collect();
            let law = Weights::normalised(weights.clone()).unwrap();
            let p = WeightedEmpirical::new(&labeled, &law).unwrap();
            let q = WeightedEmpirical::uniform(&target).unwrap();
            let both = labeled.iter().chain(&target);
            let expected = both.map(|t| (p.cdf(*t) - q.cdf(*t)).abs()).fold(0.0, f64::max);
            let mut sketch = ConfidenceCounts::new();
            target.iter().for_each(|value| sketch.add(*value));
            assert!((sketch.kolmogorov_smirnov(&labeled, &weights) - expected).abs() < 1e-12);
            sketch.count();
            // Values 1/30 apart never share a cell.
            assert!((sketch.kolmogorov_smirnov(&labeled, &weights) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn counting_starts_with_the_same_number_in_any_order() {
        let mut whole = ConfidenceCounts::new();
        let value = |index: usize| (index % 1013) as f64 / 1013.0;
        (0..MOST_KEPT + 10).for_each(|index| whole.add(value(index)));
        let (mut front, mut back) = (ConfidenceCounts::new(), ConfidenceCounts::new());
        (0..1000).for_each(|index| front.add(value(index)));
        (1000..MOST_KEPT + 10).for_each(|index| back.add(value(index)));
        front.merge(&back);
        match (whole, front) {
            (ConfidenceCounts::Counted(a), ConfidenceCounts::Counted(b)) => assert_eq!(a, b),
            other => panic!("{other:?} should be counted"),
        }
    }
}

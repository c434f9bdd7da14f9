//! A sample of numbers from a known interval, in bounded memory.
//!
//! ```text
//! quantile(q)     = min { v : #{values <= v} / n >= q }
//! share_below(t)  = #{values < t} / n
//! cell k          = [low + k w, low + (k + 1) w),   w = (high - low) / 2^16
//! ```
//!
//! Kept: up to `2^16` numbers, 512 kB, or as many counts. Merging is exact because which of the two it is depends on how many
//! numbers there are and on nothing else, kept ones are sorted, and counts are whole.

use serde::{Deserialize, Serialize};

use super::row_count::{rows_of_both, sum_of_counts};
use crate::error::{At, Error, Result, require_finite};
use crate::interval::Interval;
use crate::level::Level;
use crate::measure::QUANTILE_TOLERANCE;
use crate::rows::{RowKeys, row_number};

/// Values kept one by one, 512 kB of them; more are counted in as many cells.
pub const MOST_EXACT_VALUES: usize = 1 << 16;
/// Cells of a counted sample: no more memory than the values it replaces.
const CELLS: usize = 1 << 16;

/// How an answer between two cell ends is rounded once values are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// To the lower end of a cell.
    Down,
    /// To its upper end.
    Up,
}

/// Values of an interval `[low, high]`: exact up to [`MOST_EXACT_VALUES`] of them, then counts in `2^16` equal cells.
///
/// A counted quantile is off by at most `(high - low) / 2^16`, in the direction asked for. Counts add up to the same in
/// any order, so blocks, merges and threads do not change a bit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub(crate) struct QuantileCounts {
    /// What values may be; fixed when the sample begins, because cells cannot move later.
    range: Interval,
    /// Values or counts; which of the two depends on how many there are.
    values: Values,
}

/// The two forms of a sample. Their names stand in stored states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Values {
    /// Increasing, at most `MOST_EXACT_VALUES`.
    Exact(Vec<f64>),
    /// `counts[k]` values in cell `k`, and how many there are.
    Counted { counts: Vec<u64>, total: u64 },
}

/// As it is stored; checked when read back, because a state may come from another machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stored {
    low: f64,
    high: f64,
    values: Values,
}

impl From<QuantileCounts> for Stored {
    fn from(sample: QuantileCounts) -> Self {
        Self { low: sample.range.low(), high: sample.range.high(), values: sample.values }
    }
}

/// Refuses values outside the interval, and counts that do not add up to their total.
impl TryFrom<Stored> for QuantileCounts {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let mut sample = Self::new(Interval::new(stored.low, stored.high)?);
        match stored.values {
            // Through `add`, which checks the interval, sorts, and counts what is too much to keep.
            Values::Exact(values) => sample.add(RowKeys::From(0), &values)?,
            Values::Counted { counts, total } => {
                crate::error::require_same_length("sample counts", counts.len(), "cells", CELLS)?;
                if sum_of_counts(counts.iter().copied())? != total || total == 0 {
                    return Err(Error::OutOfRange {
                        what: "the total of a counted sample",
                        value: total as f64,
                        expected: "the sum of its counts, and positive",
                    });
                }
                sample.values = Values::Counted { counts, total };
            }
        }
        Ok(sample)
    }
}

impl QuantileCounts {
    /// An empty sample of values of `range`.
    pub(crate) fn new(range: Interval) -> Self {
        Self { range, values: Values::Exact(Vec::new()) }
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> u64 {
        match &self.values {
            Values::Exact(values) => values.len() as u64,
            Values::Counted { total, .. } => *total,
        }
    }

    /// Adds values of the interval, one for each row; keys name rows in errors. All or none.
    ///
    /// # Errors
    /// If a value is not finite or outside the interval.
    pub(crate) fn add(&mut self, keys: RowKeys<'_>, new: &[f64]) -> Result<()> {
        require_finite("values of a sample", new)?;
        let (low, high) = (self.range.low(), self.range.high());
        if let Some(index) = new.iter().position(|value| !(low..=high).contains(value)) {
            let (what, at) = ("values of a sample", At::Index(row_number(keys.key(index))));
            return Err(Error::OutsideRange { what, at, value: new[index], low, high });
        }
        if let Values::Exact(values) = &mut self.values
            && values.len() + new.len() <= MOST_EXACT_VALUES
        {
            values.extend_from_slice(new);
            // Sorted at every block: the form on the wire must not depend on how rows were cut.
            values.sort_by(f64::total_cmp);
            return Ok(());
        }
        self.count(new);
        Ok(())
    }

    /// Adds another sample of the same interval.
    ///
    /// # Errors
    /// If it is of another interval, or both together have too many values to count.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<()> {
        if self.range != other.range {
            return Err(Error::IncompatibleSketches { what: "intervals" });
        }
        match &other.values {
            Values::Exact(values) => self.add(RowKeys::From(0), values),
            Values::Counted { counts: new, total: more } => {
                let rows = rows_of_both(self.len(), *more)?;
                self.count(&[]);
                if let Values::Counted { counts, total } = &mut self.values {
                    counts.iter_mut().zip(new).for_each(|(count, new)| *count += new);
                    *total = rows;
                }
                Ok(())
            }
        }
    }

    /// Counts values, those kept so far included. From then on the sample stays counted: there is
    /// no way back from counts to values.
    fn count(&mut self, new: &[f64]) {
        if let Values::Exact(kept) = &mut self.values {
            let kept = std::mem::take(kept);
            self.values = Values::Counted { counts: vec![0; CELLS], total: 0 };
            self.count(&kept);
        }
        let range = self.range;
        if let Values::Counted { counts, total } = &mut self.values {
            for value in new {
                counts[cell_of(range, *value)] += 1;
            }
            *total += new.len() as u64;
        }
    }

    /// Smallest value `v` with a share of at least `level` at or below it, up to [`QUANTILE_TOLERANCE`]; none of an empty
    /// sample. Counted values are rounded to an end of their cell.
    ///
    /// ```text
    /// values 1 2 2 5     level 0.5 -> 2     level 0.75 -> 2     level 0.76 -> 5
    /// ```
    pub(crate) fn quantile(&self, level: Level, rounding: Rounding) -> Option<f64> {
        // Ranks are whole numbers: a level times a count would round across a rank.
        let rank = rank_of(level, self.len())?;
        match &self.values {
            Values::Exact(values) => values.get(usize::try_from(rank - 1).ok()?).copied(),
            Values::Counted { counts, .. } => {
                let mut below = 0;
                let cell = counts.iter().position(|count| {
                    below += count;
                    below >= rank
                })?;
                Some(match rounding {
                    Rounding::Down => self.end_of_cell(cell),
                    Rounding::Up => self.end_of_cell(cell + 1),
                })
            }
        }
    }

    /// Share of the values strictly below `point`. Counted values of the point's own cell are below it when rounding up.
    ///
    /// In `[0, 1]`; 0 of an empty sample. Of kept values it is exact, and rounding has no say.
    pub(crate) fn share_below(&self, point: f64, rounding: Rounding) -> f64 {
        let below = match &self.values {
            Values::Exact(values) => values.partition_point(|value| *value < point) as u64,
            Values::Counted { counts, .. } => {
                let cell = |end: usize| self.end_of_cell(end);
                // By the same ends as `cell_of`: a division could put the point into a neighbouring
                // cell.
                let whole = (0..CELLS).take_while(|k| cell(k + 1) <= point).count();
                let cells = match rounding {
                    Rounding::Down => whole,
                    Rounding::Up if whole < CELLS && cell(whole) < point => whole + 1,
                    Rounding::Up => whole,
                };
                counts[..cells].iter().sum()
            }
        };
        if self.len() == 0 { 0.0 } else { below as f64 / self.len() as f64 }
    }

    /// Lower end of a cell of this sample's interval.
    fn end_of_cell(&self, cell: usize) -> f64 {
        end_of_cell(self.range, cell)
    }
}

/// Lower end of a cell; the upper end of the last one for `CELLS`.
fn end_of_cell(range: Interval, cell: usize) -> f64 {
    // The high end itself: the sum below may miss it by rounding.
    if cell >= CELLS {
        return range.high();
    }
    range.low() + cell as f64 / CELLS as f64 * range.width()
}

/// The cell between whose ends a value lies, ends as [`end_of_cell`] rounds them; the last one holds its upper end too.
///
/// Found by a division, then corrected by the ends themselves, as quantiles and shares read them: a
/// value on an end must be counted where they look for it.
fn cell_of(range: Interval, value: f64) -> usize {
    let near = ((value - range.low()) / range.width() * CELLS as f64) as usize;
    let near = near.min(CELLS - 1);
    if end_of_cell(range, near) > value {
        near.saturating_sub(1)
    } else if near + 1 < CELLS && end_of_cell(range, near + 1) <= value {
        near + 1
    } else {
        near
    }
}

/// Smallest `k` in `1..=count` with `k / count >= level - tolerance`; none if `count` is 0.
fn rank_of(level: Level, count: u64) -> Option<u64> {
    let reached = level.get() - QUANTILE_TOLERANCE;
    let reaches = |rank: u64| rank as f64 / count as f64 >= reached;
    let near = (reached * count as f64) as u64;
    // The product may be off by one unit in the last place, so its neighbours are asked.
    (near.saturating_sub(2).max(1)..=near.saturating_add(2).min(count)).find(|rank| reaches(*rank))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn draws(count: usize) -> Vec<f64> {
        let mut stream = Seed::new(9).stream("sample");
        (0..count).map(|_| 2.0 * stream.uniform()).collect()
    }

    fn sample(values: &[f64], block: usize) -> QuantileCounts {
        let mut sample = QuantileCounts::new(Interval::new(0.0, 2.0).unwrap());
        for block in values.chunks(block) {
            sample.add(RowKeys::From(0), block).unwrap();
        }
        sample
    }

    #[test]
    fn ranks_are_exact() {
        for (level, count, rank) in
            [(0.9, 300, 270), (0.9, 10, 9), (0.9, 9, 9), (0.0, 5, 1), (1.0, 5, 5), (0.95, 5, 5)]
        {
            assert_eq!(
                rank_of(Level::new(level).unwrap(), count),
                Some(rank),
                "{level} of {count}"
            );
        }
        assert_eq!(rank_of(Level::new(0.5).unwrap(), 0), None);
    }

    #[test]
    fn counted_quantiles_enclose_the_exact_ones_within_a_cell() {
        let values = draws(MOST_EXACT_VALUES + 1000);
        let counted = sample(&values, 1000);
        assert!(matches!(counted.values, Values::Counted { .. }));
        let mut sorted = values;
        sorted.sort_by(f64::total_cmp);
        let width = 2.0 / CELLS as f64;
        for level in [0.0, 0.01, 0.5, 0.9, 0.99, 1.0] {
            let level = Level::new(level).unwrap();
            let exact = sorted[rank_of(level, sorted.len() as u64).unwrap() as usize - 1];
            let low = counted.quantile(level, Rounding::Down).unwrap();
            let high = counted.quantile(level, Rounding::Up).unwrap();
            assert!(low <= exact && exact <= high && high - low <= width * 1.000_001);
            let share = sorted.partition_point(|value| *value < exact) as f64 / sorted.len() as f64;
            assert!(counted.share_below(exact, Rounding::Down) <= share);
            assert!(counted.share_below(exact, Rounding::Up) >= share);
        }
    }

    #[test]
    fn blocks_and_merges_do_not_matter() {
        for count in [100, MOST_EXACT_VALUES + 5] {
            let values = draws(count);
            let whole = sample(&values, count);
            assert_eq!(whole, sample(&values, 777));
            let (left, right) = values.split_at(count / 3);
            let (mut left, right) = (sample(left, 50), sample(right, 10_000));
            left.merge(&right).unwrap();
            assert_eq!(whole, left);
            let text = serde_json::to_string(&whole).unwrap();
            assert_eq!(serde_json::from_str::<QuantileCounts>(&text).unwrap(), whole);
        }
    }

    #[test]
    fn values_outside_and_broken_files_are_refused() {
        let mut sample = sample(&[0.5], 1);
        assert!(sample.add(RowKeys::From(0), &[2.5]).is_err());
        assert!(sample.add(RowKeys::From(0), &[f64::NAN]).is_err());
        for text in [
            r#"{"low":0.0,"high":1.0,"values":{"exact":[2.0]}}"#,
            r#"{"low":1.0,"high":0.0,"values":{"exact":[]}}"#,
            r#"{"low":0.0,"high":1.0,"values":{"counted":{"counts":[1],"total":1}}}"#,
        ] {
            assert!(serde_json::from_str::<QuantileCounts>(text).is_err(), "{text}");
        }
    }
}

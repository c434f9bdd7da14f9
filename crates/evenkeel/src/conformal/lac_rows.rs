//! The fast path for `s(x, y) = 1 - p_y`: rows are checked, and their sets written, in one pass over the memory.
//!
//! The definition adds a row up in double precision, in a fixed order, and then scores every entry, which takes many
//! times as long as reading the row. Almost every row can be decided for less. Its sum, in its own precision and in any
//! order, is known up to a small share of it, so the smallest entry that passes is known to lie in a narrow [`Band`].
//! Unless an entry falls into the band, comparisons settle the set. Otherwise, and whenever a row is not clearly a
//! probability vector, the row is done again by the definition, which so has the last word on every bit and error.

use std::any::TypeId;
use std::ops::Range;

use super::label_sets::{LabelSets, WORD};
use super::lac_bands::{Band, Bands, Lane, Settle, Stretch, settle, settle_in_widest_registers};
#[cfg(target_arch = "x86_64")]
use super::{lac_bands_avx2, lac_bands_avx2_f64};
use crate::error::Result;
use crate::rows::{Real, Rows};
use crate::score::{NORMALISATION_TOLERANCE, row_scale};
use crate::threshold::Threshold;

/// The band that rows share is for sums within this of one, as a softmax in single precision gives them, until a row's
/// sum is farther off.
pub(super) const USUAL_DEVIATION: f64 = 5e-6;

/// Entries in a stretch of rows: few enough for its sets and bands to stay in the nearest cache while they are written.
const STRETCH: usize = 1 << 14;

/// The thresholds this path can work with.
#[derive(Clone, Copy)]
pub(super) enum RowThresholds<'a> {
    /// The same for every row.
    Shared(Threshold),
    /// One for each row of the block.
    PerRow(&'a [Threshold]),
}

impl RowThresholds<'_> {
    /// The threshold of the block's row `row`.
    fn of(&self, row: usize) -> Threshold {
        match self {
            Self::Shared(threshold) => *threshold,
            Self::PerRow(each) => each[row],
        }
    }
}

/// The sets of a block of probability rows under the `lac` score.
///
/// # Errors
/// What the definition finds wrong with the first row that is not a probability vector.
pub(super) fn lac_sets<T: Real>(
    first_row: usize,
    block: Rows<'_, T>,
    thresholds: RowThresholds<'_>,
) -> Result<LabelSets> {
    let pass = LacPass { first_row, block, thresholds };
    // Known when compiling. Only `f32` and `f64` exist here, so what is not the one is the other.
    if TypeId::of::<T>() != TypeId::of::<f32>() {
        #[cfg(target_arch = "x86_64")]
        if let Some(settle) = lac_bands_avx2_f64::if_faster(block.columns()) {
            return pass.sets::<f64>(settle);
        }
        return pass.sets::<f64>(settle_in_widest_registers);
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(settle) = lac_bands_avx2::if_available() {
        return pass.sets::<f32>(settle);
    }
    pass.sets::<f32>(settle)
}

/// A block of rows on its way into sets.
struct LacPass<'a, T> {
    /// Number of the block's first row in the whole input, for errors.
    first_row: usize,
    /// Rows as they were given, neither checked nor normalised.
    block: Rows<'a, T>,
    /// One for all rows, or one for each.
    thresholds: RowThresholds<'a>,
}

impl<T: Real> LacPass<'_, T> {
    /// The sets of the block, one stretch after the other.
    ///
    /// # Errors
    /// As [`lac_sets`].
    fn sets<F: Lane>(&self, settle: Settle<T, F>) -> Result<LabelSets> {
        let (rows, columns) = (self.block.rows(), self.block.columns());
        let rounding = F::sum_rounding(columns);
        // Beyond this, rounding could hide a sum that the definition refuses.
        let widest = NORMALISATION_TOLERANCE - 3.0 * rounding;
        let mut deviation = USUAL_DEVIATION.min(widest);
        let mut sets = LabelSets::with_capacity(rows, columns);
        let height = STRETCH.div_ceil(columns);
        for first in (0..rows).step_by(height) {
            let stretch = first..rows.min(first + height);
            let farthest =
                self.fill(stretch.clone(), deviation, settle, sets.extend(stretch.len()))?;
            // Where rows were rounded once, more will be: a wide band decides most of them at first sight.
            if farthest > deviation {
                deviation = widest;
            }
        }
        Ok(sets)
    }

    /// Settles what can be settled at first sight, with a band for sums within `deviation` of one, and does the rows
    /// between one by one. Gives the largest deviation that stopped it.
    ///
    /// # Errors
    /// As [`lac_sets`].
    fn fill<F: Lane>(
        &self,
        rows: Range<usize>,
        deviation: f64,
        settle: Settle<T, F>,
        words: &mut [u64],
    ) -> Result<f64> {
        let columns = self.block.columns();
        let words_per_row = columns.div_ceil(WORD);
        let rounding = F::sum_rounding(columns);
        let sums = (F::nearest(1.0 - deviation), F::nearest(1.0 + deviation));
        let near = |threshold: &Threshold| Band::new(*threshold, 1.0, deviation + rounding);
        let (shared, each) = match self.thresholds {
            RowThresholds::Shared(threshold) => (Some(near(&threshold)), Vec::new()),
            RowThresholds::PerRow(each) => (None, each[rows.clone()].iter().map(near).collect()),
        };
        let mut farthest = 0.0_f64;
        let mut done = 0;
        while done < rows.len() {
            let onward = &self.block.values()[(rows.start + done) * columns..];
            let bands = shared.map_or_else(|| Bands::PerRow(&each[done..]), Bands::Shared);
            let stretch = Stretch { onward, columns, bands, sums };
            let stop = settle(&stretch, &mut words[done * words_per_row..]);
            done += stop.rows;
            if done < rows.len() {
                let sum = stop.sum.into();
                let words = &mut words[done * words_per_row..][..words_per_row];
                self.one_row(rows.start + done, sum, settle, words)?;
                // `max` forgets a NaN: a row whose sum was not found says nothing of the others.
                farthest = farthest.max((sum - 1.0).abs());
                done += 1;
            }
        }
        Ok(farthest)
    }

    /// A row that stopped a stretch: by a band of its own if its sum is fair, and else by the
    /// definition.
    ///
    /// Its own band is narrower, as its sum is known: an entry that was in doubt under the shared
    /// band is mostly not any more.
    ///
    /// # Errors
    /// As [`lac_sets`].
    #[cold]
    fn one_row<F: Lane>(
        &self,
        row: usize,
        sum: f64,
        settle: Settle<T, F>,
        words: &mut [u64],
    ) -> Result<()> {
        let columns = self.block.columns();
        let rounding = F::sum_rounding(columns);
        if (sum - 1.0).abs() < NORMALISATION_TOLERANCE - 2.0 * rounding {
            let bands = Bands::Shared(Band::new(self.thresholds.of(row), sum, rounding));
            let onward = &self.block.values()[row * columns..];
            // Any sum: it is known to be fair, and the band was made for it.
            let sums = (F::nearest(0.0), F::nearest(2.0));
            if settle(&Stretch { onward, columns, bands, sums }, words).rows == 1 {
                return Ok(());
            }
        }
        self.define(row, words)
    }

    /// The row by the definition: sum, scale, score, compare, all in double precision.
    ///
    /// # Errors
    /// `NotFinite`, `Negative` or `NotNormalised`, with the row's number.
    fn define(&self, row: usize, words: &mut [u64]) -> Result<()> {
        let values = self.block.row(row);
        let number = self.first_row.saturating_add(row) as u64;
        let scale = row_scale(self.block.what(), number, values)?;
        let threshold = self.thresholds.of(row);
        for (chunk, word) in values.chunks(WORD).zip(words) {
            *word = 0;
            for (label, value) in chunk.iter().enumerate() {
                let value: f64 = (*value).into();
                *word |= u64::from(threshold.admits(1.0 - value * scale)) << label;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Rows in single precision whose sums miss one by up to `deviation`.
    fn table(rows: usize, classes: usize, deviation: f64) -> Vec<f32> {
        let mut stream = Seed::new(3).stream("table");
        let mut values = Vec::new();
        for _ in 0..rows {
            let raw: Vec<f64> = (0..classes).map(|_| (8.0 * stream.uniform()).exp()).collect();
            let total =
                raw.iter().sum::<f64>() / (1.0 + deviation * (2.0 * stream.uniform() - 1.0));
            values.extend(raw.iter().map(|value| (value / total) as f32));
        }
        values
    }

    #[test]
    fn every_way_of_settling_gives_the_sets_of_the_definition() {
        for classes in [1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 100, 128, 200] {
            for deviation in [0.0, 1e-6, 1e-4, 9e-4] {
                let values = table(41, classes, deviation);
                let block = Rows::new("probabilities", &values, classes).unwrap();
                // Every fifth threshold is the score of an entry, where one rounding more would move a label.
                for (k, value) in values.iter().enumerate().step_by(5).take(60) {
                    let row = k / classes;
                    let scale = row_scale("probabilities", row as u64, block.row(row)).unwrap();
                    let score = 1.0 - f64::from(*value) * scale;
                    for t in [score, score.next_up(), score.next_down()] {
                        let threshold = Threshold::Finite(t);
                        let pass = LacPass {
                            first_row: 0,
                            block,
                            thresholds: RowThresholds::Shared(threshold),
                        };
                        let mut defined = LabelSets::with_capacity(41, classes);
                        for row in 0..41 {
                            pass.define(row, defined.extend(1)).unwrap();
                        }
                        assert_eq!(pass.sets::<f32>(settle).unwrap(), defined);
                        assert_eq!(
                            lac_sets(0, block, RowThresholds::Shared(threshold)).unwrap(),
                            defined
                        );
                    }
                }
            }
        }
    }

    /// Double precision goes by the same loop in wider registers; thresholds at scores, beside them, and one for each row.
    #[test]
    fn double_precision_has_the_sets_of_the_definition() {
        for classes in [1, 2, 3, 4, 5, 8, 10, 13, 16, 17, 64, 65, 100, 130] {
            for deviation in [0.0, 9e-4] {
                let values: Vec<f64> =
                    table(23, classes, deviation).iter().map(|value| f64::from(*value)).collect();
                let block = Rows::new("probabilities", &values, classes).unwrap();
                for (k, value) in values.iter().enumerate().step_by(5).take(30) {
                    let row = k / classes;
                    let scale = row_scale("probabilities", row as u64, block.row(row)).unwrap();
                    let score = 1.0 - value * scale;
                    for t in [score, score.next_up(), score.next_down()] {
                        let each = vec![Threshold::Finite(t); 23];
                        for thresholds in
                            [RowThresholds::Shared(each[0]), RowThresholds::PerRow(&each)]
                        {
                            let pass = LacPass { first_row: 0, block, thresholds };
                            let mut defined = LabelSets::with_capacity(23, classes);
                            for row in 0..23 {
                                pass.define(row, defined.extend(1)).unwrap();
                            }
                            assert_eq!(lac_sets(0, block, thresholds).unwrap(), defined);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn almost_all_rows_are_settled_without_their_exact_sum() {
        for classes in [10, 100, 1000] {
            let values = table(1000, classes, 0.0);
            let threshold = Threshold::Finite(1.0 - 2.0 / classes as f64);
            let rounding = <f32 as Lane>::sum_rounding(classes);
            let band = Band::new(threshold, 1.0, USUAL_DEVIATION + rounding);
            let inside = |value: &&f32| **value >= band.low && **value < band.high;
            assert!(values.iter().filter(inside).count() < 50, "{classes} classes");
        }
    }
}

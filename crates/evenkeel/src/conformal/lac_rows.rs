//! The fast path for `s(x, y) = 1 - p_y`: rows are checked, and their sets written, in one pass over the memory.
//!
//! The definition adds a row up in double precision, in a fixed order, and then scores every entry, which takes many
//! times as long as reading the row. Almost every row can be decided for less. Its sum, in its own precision and in any
//! order, is known up to a small share of it, so the smallest entry that passes is known to lie in a narrow [`Band`].
//! Unless an entry falls into the band, comparisons settle the set. Otherwise, and whenever a row is not clearly a
//! probability vector, the row is done again by the definition, which so has the last word on every bit and error.

use std::any::TypeId;

use super::label_sets::{LabelSets, WORD};
use super::lac_settle::{Band, Bands, Lane, Settle, Stretch, settle};
#[cfg(target_arch = "x86_64")]
use super::lac_settle_avx2;
use super::threshold::Threshold;
use super::thresholds::Thresholds;
use crate::error::Result;
use crate::rows::{Real, Rows};
use crate::score::{NORMALISATION_TOLERANCE, row_scale};

/// Rows that sum to one up to this share a band, which saves a second look; softmax rows in single precision do.
const USUAL_DEVIATION: f64 = 5e-6;

/// Entries in a stretch of rows: few enough for its sets and bands to stay in the nearest cache while they are written.
const STRETCH: usize = 1 << 14;

/// The sets of a block of probability rows under the `lac` score.
pub(super) fn lac_sets<T: Real>(
    first_row: usize,
    block: Rows<'_, T>,
    thresholds: Thresholds<'_>,
) -> Result<LabelSets> {
    let pass = LacPass { first_row, block, thresholds };
    if TypeId::of::<T>() != TypeId::of::<f32>() {
        return pass.sets::<f64>(settle);
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(settle) = lac_settle_avx2::if_available() {
        return pass.sets::<f32>(settle);
    }
    pass.sets::<f32>(settle)
}

/// A block of rows on its way into sets.
struct LacPass<'a, T> {
    first_row: usize,
    block: Rows<'a, T>,
    thresholds: Thresholds<'a>,
}

impl<T: Real> LacPass<'_, T> {
    /// Settles what can be settled in stretches, and does the rows between them one by one.
    fn sets<F: Lane>(&self, settle: Settle<T, F>) -> Result<LabelSets> {
        let (rows, columns) = (self.block.rows(), self.block.columns());
        let rounding = F::sum_rounding(columns);
        let near = |threshold: &Threshold| Band::new(*threshold, 1.0, USUAL_DEVIATION + rounding);
        let mut each: Vec<Band<F>> = Vec::new();
        let mut sets = LabelSets::with_capacity(rows, columns);
        while sets.rows() < rows {
            let row = sets.rows();
            let until = rows.min(row + STRETCH.div_ceil(columns));
            let bands = match &self.thresholds {
                Thresholds::Shared(threshold) => Bands::Shared(near(threshold)),
                Thresholds::PerRow(thresholds) => {
                    each.clear();
                    each.extend(thresholds[row..until].iter().map(near));
                    Bands::PerRow(&each)
                }
            };
            let onward = &self.block.values()[row * columns..];
            let stretch = Stretch { onward, columns, bands, sums: usual_sums(rounding) };
            let stop = settle(&stretch, sets.extend(until - row));
            if row + stop.rows < until {
                sets.truncate(row + stop.rows);
                let words = sets.extend(1);
                self.one_row(row + stop.rows, stop.sum.into(), rounding, settle, words)?;
            }
        }
        Ok(sets)
    }

    /// A row that stopped a stretch: by a band of its own if its sum is fair, and else by the definition.
    #[cold]
    fn one_row<F: Lane>(
        &self,
        row: usize,
        sum: f64,
        rounding: f64,
        settle: Settle<T, F>,
        words: &mut [u64],
    ) -> Result<()> {
        let columns = self.block.columns();
        if (sum - 1.0).abs() < NORMALISATION_TOLERANCE - 2.0 * rounding {
            let bands = Bands::Shared(Band::new(self.thresholds.of(row), sum, rounding));
            let onward = &self.block.values()[row * columns..];
            let sums = (F::nearest(0.0), F::nearest(2.0));
            if settle(&Stretch { onward, columns, bands, sums }, words).rows == 1 {
                return Ok(());
            }
        }
        let values = self.block.row(row);
        let scale = row_scale(self.block.what(), self.first_row + row, values)?;
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

/// Sums within [`USUAL_DEVIATION`] of one; none where rounding could hide a sum beyond the tolerance (a row of a hundred
/// thousand single-precision entries).
fn usual_sums<F: Lane>(rounding: f64) -> (F, F) {
    let deviation = if USUAL_DEVIATION + 2.0 * rounding < NORMALISATION_TOLERANCE {
        USUAL_DEVIATION
    } else {
        f64::NAN
    };
    (F::nearest(1.0 - deviation), F::nearest(1.0 + deviation))
}

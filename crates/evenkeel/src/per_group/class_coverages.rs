//! What a label law says of the coverage of each class at one threshold, in one pass over the target rows.

use rayon::prelude::*;

use super::class_pass::SHARE_ROWS;
use super::class_sums::{ClassReading, rows_of, share};
use crate::error::Result;
use crate::rows::{Real, RowKeys, Rows};

/// `F_y(t)` of every class at one threshold: what a label law says of coverage, class by class. One pass.
#[derive(Debug, Clone)]
pub struct ClassCoverages {
    reading: ClassReading,
    threshold: f64,
    /// Mass of each class at or below the threshold, and in all.
    masses: Vec<(u128, u128)>,
}

impl ClassCoverages {
    pub(super) fn new(reading: ClassReading, threshold: f64) -> Self {
        let masses = vec![(0, 0); reading.classes];
        Self { reading, threshold, masses }
    }

    /// Adds target rows.
    ///
    /// # Errors
    /// If the block has other classes, or a row does not hold probabilities.
    pub fn add<T: Real>(mut self, keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<Self> {
        keys.check(block.rows())?;
        let Self { reading, threshold, .. } = &self;
        let of_share = |(keys, part): (RowKeys<'_>, Rows<'_, T>)| {
            let mut masses = vec![(0_u128, 0_u128); reading.classes];
            reading.each_row(keys, part, |row| {
                for (label, (below, all)) in masses.iter_mut().enumerate() {
                    let mass = u128::from(row.masses[label]);
                    *all += mass;
                    if row.scores[label] <= *threshold {
                        *below += mass;
                    }
                }
            })?;
            Ok(masses)
        };
        let nothing = || vec![(0, 0); reading.classes];
        let merge = |mut mine: Vec<(u128, u128)>, theirs: Vec<(u128, u128)>| {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine = (mine.0 + theirs.0, mine.1 + theirs.1);
            }
            Ok(mine)
        };
        let added = block.shares(keys, SHARE_ROWS).map(of_share).try_reduce(nothing, merge)?;
        self.masses = merge(self.masses, added)?;
        Ok(self)
    }

    /// Expected rows of each class, and the share of them that the threshold covers.
    pub fn finish(&self) -> Vec<(f64, f64)> {
        self.masses.iter().map(|(below, all)| (rows_of(*all), share(*below, *all))).collect()
    }
}

//! Which rows to label: drawn at random, the same for the same seed, whatever order the rows come in.
//!
//! ```text
//! rows to label = the rows with the smallest hash(seed, key), in the order of their hashes
//! ```
//! Every set of rows is as likely as any other, and so is every order: neither says anything about the rows. A larger budget keeps
//! the rows of a smaller one and goes on after them.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::seed::Seed;
use crate::sketch::RowSample;

/// Draws rows to label as their keys come by.
#[derive(Debug, Clone)]
pub struct RowDraw {
    sample: RowSample<()>,
    budget: u64,
    taken: BTreeSet<u64>,
    taken_seen: u64,
    seen: u64,
}

impl RowDraw {
    /// A draw of `budget` rows, none of them among `taken`.
    ///
    /// # Errors
    /// If no row is asked for, or more than can be counted.
    pub fn new(budget: u64, taken: impl IntoIterator<Item = u64>, seed: Seed) -> Result<Self> {
        if budget == 0 {
            return Err(Error::TooFew { what: "rows to label", found: 0, least: 1 });
        }
        let capacity = usize::try_from(budget).ok().filter(|budget| *budget <= MOST_ROWS_TO_LABEL);
        let capacity = capacity.ok_or(Error::TooMany {
            what: "rows to label",
            found: usize::try_from(budget).unwrap_or(usize::MAX),
            most: MOST_ROWS_TO_LABEL,
            instead: "ask for fewer",
        })?;
        // The name is part of the results: it chooses the rows.
        let sample = RowSample::new(seed.child("rows-to-label", 0).get(), capacity);
        let taken = taken.into_iter().collect();
        Ok(Self { sample, budget, taken, taken_seen: 0, seen: 0 })
    }

    /// Looks at `count` rows with the keys `first`, `first + 1`, and so on.
    pub fn add(&mut self, first: u64, count: u64) {
        for key in first..first.saturating_add(count) {
            if self.taken.contains(&key) {
                self.taken_seen += 1;
            } else {
                self.sample.add(key, ());
            }
        }
        self.seen = self.seen.saturating_add(count);
    }

    /// Keys of the drawn rows, in the order in which they were drawn.
    ///
    /// # Errors
    /// If fewer rows were left to draw from, or a row that was taken before was not seen.
    pub fn rows(self) -> Result<Vec<u64>> {
        let left = self.seen - self.taken_seen;
        if self.taken_seen < self.taken.len() as u64 {
            let key = self.taken.last().copied().unwrap_or(0);
            return Err(Error::LabelWithoutRow {
                key,
                missing: self.taken.len() - self.taken_seen as usize,
            });
        }
        if self.budget > left {
            return Err(Error::TooMany {
                what: "rows to label",
                found: usize::try_from(self.budget).unwrap_or(usize::MAX),
                most: usize::try_from(left).unwrap_or(usize::MAX),
                instead: "ask for at most as many as there are rows without one",
            });
        }
        let mut drawn = self.sample.into_hashed_rows()?;
        drawn.sort_unstable_by_key(|(hash, _)| *hash);
        Ok(drawn.into_iter().map(|(_, key)| key).collect())
    }
}

/// Nobody labels more; a larger number is a slip, and would be allocated.
const MOST_ROWS_TO_LABEL: usize = 100_000_000;
/// Some minutes.
const MOST_ROWS_LOOKED_AT: u64 = 20_000_000_000;

/// `budget` of the rows `0..rows`, in the order in which they were drawn.
///
/// # Errors
/// If no row is asked for, or more than there are.
pub fn rows_to_label(rows: u64, budget: u64, seed: Seed) -> Result<Vec<u64>> {
    let mut draw = RowDraw::new(budget, [], seed)?;
    // Each is looked at: beyond this a slip would keep a program busy for hours.
    if rows > MOST_ROWS_LOOKED_AT {
        return Err(Error::TooMany {
            what: "rows to draw from",
            found: usize::try_from(rows).unwrap_or(usize::MAX),
            most: MOST_ROWS_LOOKED_AT as usize,
            instead: "draw from a part of them that was taken at random",
        });
    }
    draw.add(0, rows);
    draw.rows()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_budget_goes_on_where_a_smaller_one_ended() {
        let seed = Seed::new(5);
        let all = rows_to_label(1000, 1000, seed).unwrap();
        let mut sorted = all.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..1000));
        assert!(!all.is_sorted());
        assert_eq!(rows_to_label(1000, 40, seed).unwrap(), all[..40]);
        let mut more = RowDraw::new(25, all[..40].iter().copied(), seed).unwrap();
        more.add(0, 700);
        more.add(700, 300);
        assert_eq!(more.rows().unwrap(), all[40..65]);
        assert_ne!(rows_to_label(1000, 40, Seed::new(6)).unwrap(), all[..40]);
    }

    /// Guards the promise that a seed gives the same rows in every release, here and in Python.
    #[test]
    fn the_first_rows_are_frozen() {
        assert_eq!(rows_to_label(2000, 5, Seed::new(0)).unwrap(), FROZEN);
    }

    const FROZEN: [u64; 5] = [174, 367, 861, 716, 926];

    #[test]
    fn every_row_is_as_likely_and_so_is_every_place() {
        let (rows, budget, draws) = (20, 5, 8000);
        let (mut drawn, mut first) = ([0_u32; 20], [0_u32; 20]);
        for seed in 0..draws {
            let found = rows_to_label(rows, budget, Seed::new(seed)).unwrap();
            first[found[0] as usize] += 1;
            found.iter().for_each(|row| drawn[*row as usize] += 1);
        }
        // Standard deviations: 39 of the first counts, 20 of the second.
        assert!(drawn.iter().all(|count| count.abs_diff(2000) < 195), "{drawn:?}");
        assert!(first.iter().all(|count| count.abs_diff(400) < 100), "{first:?}");
    }

    #[test]
    fn budgets_that_cannot_be_met_are_refused() {
        let seed = Seed::new(0);
        assert!(matches!(rows_to_label(10, 0, seed), Err(Error::TooFew { .. })));
        assert!(matches!(rows_to_label(10, 11, seed), Err(Error::TooMany { most: 10, .. })));
        assert!(matches!(rows_to_label(10, u64::MAX, seed), Err(Error::TooMany { .. })));
        let mut other = RowDraw::new(3, [2, 10], seed).unwrap();
        other.add(0, 10);
        assert!(matches!(other.rows(), Err(Error::LabelWithoutRow { key: 10, missing: 1 })));
        let mut full = RowDraw::new(9, [2, 7], seed).unwrap();
        full.add(0, 10);
        assert!(matches!(full.rows(), Err(Error::TooMany { found: 9, most: 8, .. })));
    }
}

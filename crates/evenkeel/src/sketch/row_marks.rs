//! Which rows a pass saw, in sixteen bytes: whether two passes saw the same ones, and whether a row changed in between.
//!
//! ```text
//! marks = sum over rows of hash(key, values), modulo 2^128       the order does not matter, and states merge by adding
//! ```
//! Values are hashed as the f64 they are read as. A row that is there twice, that is missing, that has another key or another
//! number gives other marks; that two sets of rows agree by chance has a probability of about 2^-64.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::row_sample::hash_of_key;
use crate::error::Result;
use crate::numeric::simd::in_widest_registers;
use crate::rows::{Real, RowKeys, Rows};

/// Rows of a share that a thread takes at a time; sums do not depend on it.
const SHARE_ROWS: usize = 1 << 14;

/// The sum of hashes of some rows: two passes over the same rows have the same marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RowMarks(u128);

impl RowMarks {
    /// Of rows by their keys and values.
    ///
    /// # Errors
    /// If there is not a key for each row.
    pub fn of_rows<T: Real>(keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<Self> {
        keys.check(block.rows())?;
        Ok(marks_of_rows(keys, block))
    }

    /// Of rows by their keys alone.
    ///
    /// # Errors
    /// As [`of_rows`](Self::of_rows).
    pub fn of_keys(keys: RowKeys<'_>, rows: usize) -> Result<Self> {
        keys.check(rows)?;
        Ok(marks_of_keys(keys, rows))
    }

    /// The marks of these rows and others.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}

/// Marks of rows by their keys alone, for passes that are made once. There must be a key for each.
pub(crate) fn marks_of_keys(keys: RowKeys<'_>, rows: usize) -> RowMarks {
    // Hashes, not keys: sums of plain row numbers of two different sets of rows often agree.
    let hashes = (0..rows).map(|row| u128::from(hash_of_key(keys.key(row))));
    RowMarks(hashes.fold(0, u128::wrapping_add))
}

/// Marks of rows by their keys and values, by the threads of the current rayon pool. There must be a key for each.
pub(crate) fn marks_of_rows<T: Real>(keys: RowKeys<'_>, block: Rows<'_, T>) -> RowMarks {
    let salts = Salts::new(block.columns());
    let of_share = |(keys, rows)| RowMarks(marks_of_share(keys, rows, &salts));
    block.shares(keys, SHARE_ROWS).map(of_share).reduce(RowMarks::default, RowMarks::and)
}

/// A number of 32 bits for each half of each place, and for one place more.
struct Salts([Vec<u64>; 2]);

impl Salts {
    fn new(columns: usize) -> Self {
        let of = |half: u64| {
            (0..=columns as u64).map(|place| hash_of_key(2 * place + half) >> 32).collect()
        };
        Self([of(0), of(1)])
    }
}

in_widest_registers! {
    fn marks_of_share[T: Real](keys: RowKeys<'_>, rows: Rows<'_, T>, salts: &Salts) -> u128 {
        let mut sum = 0_u128;
        for (row, values) in rows.iter().enumerate() {
            sum = sum.wrapping_add(mark(keys.key(row), values, salts));
        }
        sum
    }
}

/// The hash of one row.
///
/// ```text
/// sum_i (low_i + a_i mod 2^32) (high_i + b_i mod 2^32)  mod 2^64      low_i, high_i  the halves of number i
/// ```
/// Twice, the second time with the salts of the place after. The products do not wait for each other, as a hash that walks along
/// the row would, and a vector register holds four. Two rows that differ agree in each sum with a probability of `2^-32` (NH of UMAC,
/// Black et al. 1999).
#[inline(always)]
fn mark<T: Real>(key: u64, values: &[T], Salts([a, b]): &Salts) -> u128 {
    let count = values.len();
    let (here, after) = ([&a[..count], &b[..count]], [&a[1..=count], &b[1..=count]]);
    let mut sums = [0_u64; 2];
    for place in 0..count {
        let wide: f64 = values[place].into();
        let bits = wide.to_bits();
        // In 64 bits, of which the products take the lower half: no register has to be narrowed and widened.
        let product = |[a, b]: [&[u64]; 2]| {
            let (low, high) = (bits.wrapping_add(a[place]), (bits >> 32).wrapping_add(b[place]));
            (low & HALF) * (high & HALF)
        };
        sums[0] = sums[0].wrapping_add(product(here));
        sums[1] = sums[1].wrapping_add(product(after));
    }
    let low = hash_of_key(hash_of_key(key) ^ sums[0]);
    let high = hash_of_key(low ^ sums[1]);
    u128::from(high) << 64 | u128::from(low)
}

/// The lower half of a word.
const HALF: u64 = u32::MAX as u64;

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(keys: &[u64], values: &[f64], columns: usize) -> RowMarks {
        marks_of_rows(RowKeys::Each(keys), Rows::new("rows", values, columns).unwrap())
    }

    #[test]
    fn the_order_and_the_cut_do_not_matter() {
        let (keys, values) = ([3, 1, 2], [0.1, 0.9, 0.0, 0.2, 0.8, 0.0, 0.3, 0.3, 0.4]);
        let whole = marks(&keys, &values, 3);
        let turned = [values[6..].to_vec(), values[..6].to_vec()].concat();
        assert_eq!(marks(&[2, 3, 1], &turned, 3), whole);
        assert_eq!(
            marks(&keys[..1], &values[..3], 3).and(marks(&keys[1..], &values[3..], 3)),
            whole
        );
        let single: Vec<f32> = vec![0.5, 0.25, 0.25];
        let rows = Rows::new("rows", &single, 3).unwrap();
        assert_eq!(marks_of_rows(RowKeys::From(7), rows), marks(&[7], &[0.5, 0.25, 0.25], 3));
    }

    #[test]
    fn any_other_row_has_other_marks() {
        for columns in [1, 2, 3, 10, 11] {
            let values: Vec<f64> = (0..4 * columns).map(|index| index as f64 / 97.0).collect();
            let keys = [5, 6, 7, 8];
            let whole = marks(&keys, &values, columns);
            for place in 0..values.len() {
                let mut changed = values.clone();
                changed[place] = changed[place].next_up();
                assert_ne!(marks(&keys, &changed, columns), whole, "{columns} columns, {place}");
            }
            assert_ne!(marks(&[5, 6, 7, 9], &values, columns), whole);
            assert_ne!(marks(&[6, 5, 7, 8], &values, columns), whole, "rows swapped");
            let twice = [values.clone(), values.clone()].concat();
            assert_ne!(marks(&[5, 6, 7, 8, 5, 6, 7, 8], &twice, columns), whole);
            if columns > 1 {
                let mut moved = values.clone();
                moved.swap(0, 1);
                assert_ne!(marks(&keys, &moved, columns), whole, "numbers swapped");
            }
        }
    }
}

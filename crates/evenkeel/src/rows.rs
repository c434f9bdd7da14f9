//! `values[row * columns + column]`: a borrowed row-major matrix, so that no table is copied on its way in, and the keys that
//! tell its rows apart.

use std::ops::Range;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result, require_same_length};

// Sealed: the vector code is written for these two types; a third would miss it without a word.
mod sealed {
    use super::{AnyRows, Rows};

    pub trait Sealed: Sized {
        fn any(rows: Rows<'_, Self>) -> AnyRows<'_>;
        #[cfg(target_arch = "x86_64")]
        fn single(values: &[Self]) -> Option<&[f32]>;
    }
    impl Sealed for f32 {
        fn any(rows: Rows<'_, Self>) -> AnyRows<'_> {
            AnyRows::Single(rows)
        }
        #[cfg(target_arch = "x86_64")]
        #[inline]
        fn single(values: &[Self]) -> Option<&[f32]> {
            Some(values)
        }
    }
    impl Sealed for f64 {
        fn any(rows: Rows<'_, Self>) -> AnyRows<'_> {
            AnyRows::Double(rows)
        }
        #[cfg(target_arch = "x86_64")]
        #[inline]
        fn single(_: &[Self]) -> Option<&[f32]> {
            None
        }
    }
}

/// Rows with their type as a value, for functions that are not generic.
///
/// The loops over rows are behind such functions, so that they are compiled here, once for each type, as the core is; a generic
/// function is compiled again in every crate that calls it, as that crate is.
#[derive(Debug, Clone, Copy)]
pub enum AnyRows<'a> {
    /// Single precision.
    Single(Rows<'a, f32>),
    /// Double precision.
    Double(Rows<'a, f64>),
}

/// `$work` with `$rows` as rows of their own type.
macro_rules! of_their_type {
    ($any:expr, $rows:ident => $work:expr) => {
        match $any {
            $crate::rows::AnyRows::Single($rows) => $work,
            $crate::rows::AnyRows::Double($rows) => $work,
        }
    };
}
pub(crate) use of_their_type;

/// The number types a table may hold. Everything is widened to `f64` as it is read.
pub trait Real: Copy + PartialOrd + Into<f64> + Send + Sync + sealed::Sealed + 'static {}
impl Real for f32 {}
impl Real for f64 {}

/// Numbers as single precision, if that is what they are.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn as_single<T: Real>(values: &[T]) -> Option<&[f32]> {
    T::single(values)
}

/// A row-major matrix of `f32` or `f64` borrowed from the caller; shape `(rows, columns)`.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a, T> {
    /// What error messages call the matrix.
    what: &'static str,
    /// Row after row, a whole number of rows, at least one.
    values: &'a [T],
    /// Entries of a row, at least one.
    columns: usize,
}

impl<'a, T: Real> Rows<'a, T> {
    /// Views `values` as rows of `columns` entries; `what` names the matrix in error messages.
    ///
    /// # Errors
    /// `TooFew` for no columns, `Empty` for no values, `Ragged` unless the values fill whole rows.
    pub fn new(what: &'static str, values: &'a [T], columns: usize) -> Result<Self> {
        if columns == 0 {
            return Err(Error::TooFew { what: "columns of a matrix", found: 0, least: 1 });
        }
        if values.is_empty() {
            return Err(Error::Empty { what });
        }
        // Cutting the rest off would shift labels and side inputs against the rows without a word.
        if !values.len().is_multiple_of(columns) {
            return Err(Error::Ragged { what, values: values.len(), columns });
        }
        Ok(Self { what, values, columns })
    }

    /// The same rows with their type as a value.
    pub(crate) fn any(self) -> AnyRows<'a> {
        T::any(self)
    }

    /// What error messages call the matrix.
    pub fn what(&self) -> &'static str {
        self.what
    }

    /// Number of rows, at least one.
    pub fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    /// Number of columns, at least one.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The whole buffer, row after row.
    pub fn values(&self) -> &'a [T] {
        self.values
    }

    /// Row `index`; shape `(columns,)`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, index: usize) -> &'a [T] {
        &self.values[index * self.columns..][..self.columns]
    }

    /// Adds the block to a state: as it is where the pool has one thread or the block is no larger than a share, else in shares, whose
    /// states begin as `emptied` says and are merged. Only for states that are the same for any cut and tree of merges.
    ///
    /// # Errors
    /// Those of `add` and `merge`.
    ///
    /// # Panics
    /// If keys were given one by one and there are not as many as rows.
    pub(crate) fn add_in_shares<S: Send + Sync>(
        self,
        keys: RowKeys<'a>,
        state: S,
        emptied: impl Fn(&S) -> S + Sync,
        add: impl Fn(S, Share<'a, T>) -> Result<S> + Sync,
        merge: impl Fn(S, S) -> Result<S> + Sync,
    ) -> Result<S> {
        let threads = rayon::current_num_threads();
        let rows = (SHARE_CELLS / self.columns).max(1);
        // Small blocks come from threads that read a source in turns, and are busy already.
        if threads == 1 || self.rows() <= rows {
            return add(state, Share { first: 0, keys, rows: self });
        }
        let shares = self.shares(keys, rows).enumerate();
        // A state may be large beside what a share adds to it: each serves several shares, and there are still enough to keep
        // the threads busy when one is held up.
        let together = shares.len().div_ceil(2 * threads).max(1);
        let added = shares
            .with_min_len(together)
            .try_fold(
                || emptied(&state),
                |filled, (index, (keys, part))| {
                    add(filled, Share { first: index * rows, keys, rows: part })
                },
            )
            .try_reduce(|| emptied(&state), &merge)?;
        merge(state, added)
    }

    /// The block and its keys cut into shares of at most `rows` rows, for the threads of the current rayon pool.
    ///
    /// # Panics
    /// If keys were given one by one and there are not as many as rows.
    pub(crate) fn shares(
        self,
        keys: RowKeys<'a>,
        rows: usize,
    ) -> impl IndexedParallelIterator<Item = (RowKeys<'a>, Rows<'a, T>)> {
        // Cut by rows, not by threads: shares are the same on any machine, and what is summed over
        // them too.
        let Self { what, columns, .. } = self;
        self.values.par_chunks(rows * columns).enumerate().map(move |(index, values)| {
            let share = Rows { what, values, columns };
            let first = index * rows;
            (keys.part(first..first + share.rows()), share)
        })
    }

    /// The rows in order, each of shape `(columns,)`.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [T]> + use<'a, T> {
        self.values.chunks_exact(self.columns)
    }
}

/// Cells of a share that a thread takes at a time; no result depends on it. A block of no more is not cut.
pub const SHARE_CELLS: usize = 1 << 18;

/// A part of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share<'a, T> {
    /// Place of its first row in the block.
    pub first: usize,
    pub keys: RowKeys<'a>,
    pub rows: Rows<'a, T>,
}

/// The keys of the rows of a block: unique numbers that say which row is which, wherever and in whatever order rows are read.
///
/// A row's key chooses whether it is in a sample, addresses its random draws, and orders the rows that are kept. The row
/// number serves for files and arrays, an id elsewhere. A hash of a row's content does not: equal rows would share it, and
/// all be in a sample or all be out.
#[derive(Debug, Clone, Copy)]
pub enum RowKeys<'a> {
    /// Consecutive keys, the first of them given: row numbers.
    From(u64),
    /// One key for each row.
    Each(&'a [u64]),
}

impl<'a> RowKeys<'a> {
    /// The key of the block's row `offset`.
    ///
    /// # Panics
    /// If keys were given one by one and there is none for this row; [`check`](Self::check) finds that out.
    #[inline]
    pub(crate) fn key(&self, offset: usize) -> u64 {
        match self {
            // Wrapping: keys near the end of the numbers stay distinct.
            Self::From(first) => first.wrapping_add(offset as u64),
            Self::Each(keys) => keys[offset],
        }
    }

    /// The keys of some of the rows; those of rows that are not there are left out.
    #[must_use]
    pub fn of_rows(&self, rows: Range<usize>) -> RowKeys<'a> {
        match self {
            Self::From(_) => self.part(rows),
            Self::Each(keys) => Self::Each(keys.get(rows).unwrap_or_default()),
        }
    }

    /// The keys of some of the rows.
    ///
    /// # Panics
    /// If keys were given one by one and there are not as many.
    #[must_use]
    pub(crate) fn part(&self, rows: Range<usize>) -> RowKeys<'a> {
        match self {
            Self::From(_) => Self::From(self.key(rows.start)),
            Self::Each(keys) => Self::Each(&keys[rows]),
        }
    }

    /// Checks that there is a key for each of `rows` rows.
    ///
    /// # Errors
    /// If keys were given one by one and there are more or fewer of them.
    pub fn check(&self, rows: usize) -> Result<()> {
        match self {
            Self::From(_) => Ok(()),
            Self::Each(keys) => require_same_length("row keys", keys.len(), "rows", rows),
        }
    }
}

/// The key of a row whose id is a text: the first eight bytes of the SHA-256 of its UTF-8 form, low byte first. Two of a billion
/// texts have the same key with a probability of 3 %; where both are kept, that is found out as a key given twice.
pub fn key_of_text(text: &[u8]) -> u64 {
    let digest = Sha256::digest(text);
    digest.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// A key as the row number of an error.
/// Keys beyond the numbers of this machine are shown as its largest: an error must not panic.
pub(crate) fn row_number(key: u64) -> usize {
    usize::try_from(key).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_parts_are_the_keys_of_their_rows() {
        let given: Vec<u64> = (0..9).map(|index| 100 - index * 7).collect();
        for keys in [RowKeys::From(5), RowKeys::From(u64::MAX - 3), RowKeys::Each(&given)] {
            let part = keys.part(2..7);
            assert!((0..5).all(|offset| part.key(offset) == keys.key(offset + 2)));
        }
        assert!(RowKeys::Each(&given).check(9).is_ok());
        assert!(RowKeys::Each(&given).check(8).is_err());
        assert!(RowKeys::From(u64::MAX).check(8).is_ok());
    }
}

//! How many rows a state may hold: so many that every sum over them fits its whole number.
//!
//! ```text
//! rows <= 2^62        masses of 2^-62:  2^62 rows of 2^62 units < 2^128
//! ```

use crate::error::{Error, Result};

/// Most rows of one state. Counts of them have room for one more block after every merge, and masses of `2^-62` too.
pub(crate) const MOST_ROWS: u64 = 1 << 62;

/// What adding up too many rows is refused with.
pub(crate) const TOO_MANY_ROWS: Error =
    Error::IncompatibleSketches { what: "row counts, which add up to too many," };

/// The rows of two states together.
///
/// # Errors
/// If they are more than a state may hold. Only made-up states have so many.
pub(crate) fn rows_of_both(mine: u64, theirs: u64) -> Result<u64> {
    // Checked although no machine reads so many rows: the numbers may stand in forged bytes.
    mine.checked_add(theirs).filter(|rows| *rows <= MOST_ROWS).ok_or(TOO_MANY_ROWS)
}

/// The sum of counts, if it is a number of rows that a state may hold.
pub(crate) fn sum_of_counts(counts: impl IntoIterator<Item = u64>) -> Result<u64> {
    counts.into_iter().try_fold(0, rows_of_both)
}

/// The error for a state read from bytes that contradicts itself; `why` says in what.
#[cold]
pub(crate) fn contradiction(why: &'static str) -> Error {
    Error::Damaged { what: "the state", why }
}

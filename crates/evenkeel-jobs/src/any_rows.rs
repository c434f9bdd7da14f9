//! Rows in the precision they came in.

use std::borrow::Cow;

use evenkeel::Result;
use evenkeel::rows::Rows;

/// Borrowed rows of single or double precision: nothing is copied to bring both to one type.
#[derive(Debug, Clone, Copy)]
pub enum AnyRows<'a> {
    /// Rows as 32-bit floats; widened number by number where they are used, never copied as a table.
    F32(Rows<'a, f32>),
    /// Rows as 64-bit floats.
    F64(Rows<'a, f64>),
}

/// The same expression for rows of either precision: `with_rows!(any, |rows| rows.rows())`.
macro_rules! with_rows {
    ($any:expr, |$rows:ident| $body:expr) => {
        match $any {
            $crate::AnyRows::F32($rows) => $body,
            $crate::AnyRows::F64($rows) => $body,
        }
    };
}
pub(crate) use with_rows;

impl<'a> AnyRows<'a> {
    /// Probabilities of single precision.
    ///
    /// # Errors
    /// If there are none, or they do not fill whole rows.
    pub fn f32(values: &'a [f32], columns: usize) -> Result<Self> {
        Ok(Self::F32(Rows::new("probabilities", values, columns)?))
    }

    /// Probabilities of double precision.
    ///
    /// # Errors
    /// If there are none, or they do not fill whole rows.
    pub fn f64(values: &'a [f64], columns: usize) -> Result<Self> {
        Ok(Self::F64(Rows::new("probabilities", values, columns)?))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        with_rows!(self, |rows| rows.rows())
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        with_rows!(self, |rows| rows.columns())
    }

    /// Bytes of one number.
    pub fn number_bytes(&self) -> usize {
        match self {
            Self::F32(_) => size_of::<f32>(),
            Self::F64(_) => size_of::<f64>(),
        }
    }

    /// These of the rows.
    ///
    /// # Errors
    /// If there are none of them.
    pub fn part(&self, rows: std::ops::Range<usize>) -> Result<Self> {
        let cells = |columns: usize, len: usize| {
            // Clamped: a range past the end is an empty table and an error, not a panic.
            (rows.start * columns).min(len)..(rows.end * columns).min(len)
        };
        match self {
            Self::F32(all) => {
                let values = &all.values()[cells(all.columns(), all.values().len())];
                Ok(Self::F32(Rows::new(all.what(), values, all.columns())?))
            }
            Self::F64(all) => {
                let values = &all.values()[cells(all.columns(), all.values().len())];
                Ok(Self::F64(Rows::new(all.what(), values, all.columns())?))
            }
        }
    }

    /// The numbers as `f64`, row after row; borrowed where they are `f64` already.
    pub fn widened(&self) -> Cow<'a, [f64]> {
        match self {
            Self::F32(rows) => rows.values().iter().copied().map(f64::from).collect(),
            Self::F64(rows) => Cow::Borrowed(rows.values()),
        }
    }
}

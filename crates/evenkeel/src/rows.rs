//! `values[row * columns + column]`: a borrowed row-major matrix, so that no table is copied on its way in.

use crate::error::{Error, Result};

// Sealed: the vector code is written for these two types; a third would miss it without a word.
mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The number types a table may hold. Everything is widened to `f64` as it is read.
pub trait Real: Copy + PartialOrd + Into<f64> + Send + Sync + sealed::Sealed + 'static {}
impl Real for f32 {}
impl Real for f64 {}

/// A row-major matrix of `f32` or `f64` borrowed from the caller; shape `(rows, columns)`.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a, T> {
    what: &'static str,
    values: &'a [T],
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
        if !values.len().is_multiple_of(columns) {
            return Err(Error::Ragged { what, values: values.len(), columns });
        }
        Ok(Self { what, values, columns })
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

    /// The rows in order, each of shape `(columns,)`.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [T]> + use<'a, T> {
        self.values.chunks_exact(self.columns)
    }
}

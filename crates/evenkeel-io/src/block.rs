//! `values[row * columns + column]`: a block of consecutive rows of a file, in single or double precision.

use crate::error::{IoError, Result};
use evenkeel::rows::Rows;
use evenkeel_jobs::{AnyRows, ValueKind};
use std::collections::TryReserveError;
use std::sync::Arc;

/// Row-major numbers in the precision they are worked with.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Files of float16 and float32.
    F32(Vec<f32>),
    /// Files of float64, integers, booleans and text.
    F64(Vec<f64>),
}

impl Values {
    /// No values yet, of the given precision.
    pub(crate) fn none(precision: Precision) -> Self {
        match precision {
            Precision::Single => Self::F32(Vec::new()),
            Precision::Double => Self::F64(Vec::new()),
        }
    }

    /// No values any more, of the given precision; the memory is kept where it can be.
    pub(crate) fn restart(&mut self, precision: Precision) {
        match (&mut *self, precision) {
            (Self::F32(values), Precision::Single) => values.clear(),
            (Self::F64(values), Precision::Double) => values.clear(),
            (other, precision) => *other = Self::none(precision),
        }
    }

    /// How many numbers there are: rows times columns.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers as f64, copied.
    pub fn to_f64(&self) -> Vec<f64> {
        match self {
            Self::F32(values) => values.iter().copied().map(f64::from).collect(),
            Self::F64(values) => values.clone(),
        }
    }

    /// The numbers as f64, without a copy where they are.
    pub(crate) fn into_f64(self) -> Vec<f64> {
        match self {
            Self::F32(values) => values.into_iter().map(f64::from).collect(),
            Self::F64(values) => values,
        }
    }

    /// Bytes of the numbers.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::F32(values) => size_of_val(&values[..]) as u64,
            Self::F64(values) => size_of_val(&values[..]) as u64,
        }
    }

    /// Room for so many more numbers, and for hardly any beyond: what grows by doubling holds twice what it needs.
    pub(crate) fn try_reserve_close(&mut self, more: usize) -> Result<(), TryReserveError> {
        // A quarter at least: many small parts of a block must not each copy all that came before.
        let more = more.max(self.len() / 4);
        match self {
            Self::F32(values) => values.try_reserve_exact(more),
            Self::F64(values) => values.try_reserve_exact(more),
        }
    }

    /// Adds zeros, to be filled in, with hardly any room beyond them.
    pub(crate) fn extend_zeros(&mut self, more: usize) {
        let (length, room) = (self.len() + more, more.max(self.len() / 4));
        match self {
            Self::F32(values) => {
                values.reserve_exact(room);
                values.resize(length, 0.0);
            }
            Self::F64(values) => {
                values.reserve_exact(room);
                values.resize(length, 0.0);
            }
        }
    }

    /// Adds the numbers of a block of the same precision; an error if there is no room for them.
    pub(crate) fn try_extend(&mut self, later: &Self) -> Result<(), TryReserveError> {
        match (self, later) {
            (Self::F32(values), Self::F32(later)) => {
                values.try_reserve(later.len())?;
                values.extend_from_slice(later);
            }
            (Self::F64(values), Self::F64(later)) => {
                values.try_reserve(later.len())?;
                values.extend_from_slice(later);
            }
            (Self::F64(values), Self::F32(later)) => {
                values.try_reserve(later.len())?;
                values.extend(later.iter().copied().map(f64::from));
            }
            // A reader keeps its precision; narrowing here would lose digits silently.
            (values @ Self::F32(_), later @ Self::F64(_)) => {
                *values = Self::F64(values.to_f64());
                values.try_extend(later)?;
            }
        }
        Ok(())
    }
}

/// The precision of a file's numbers once they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// `f32`: nothing is lost from float16 and float32 files, at half the memory.
    Single,
    /// `f64`: for everything that `f32` could round.
    Double,
}

impl Precision {
    /// Bytes of one number.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Single => size_of::<f32>(),
            Self::Double => size_of::<f64>(),
        }
    }
}

/// Consecutive rows of a file: at least one, all of the same width. The buffer is reused from block to block.
#[derive(Debug, Clone)]
pub struct Block {
    pub(crate) origin: Arc<str>,
    pub(crate) first_row: usize,
    pub(crate) columns: usize,
    pub(crate) values: Values,
}

impl Block {
    /// The input as the user typed it.
    pub fn origin(&self) -> &Arc<str> {
        &self.origin
    }

    /// Index in the file of the block's first row.
    pub fn first_row(&self) -> usize {
        self.first_row
    }

    /// Number of columns, at least one.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of rows, at least one in a block that was read.
    pub fn row_count(&self) -> usize {
        self.values.len() / self.columns
    }

    /// The numbers, row after row.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Takes the numbers out of the block.
    pub fn into_values(self) -> Values {
        self.values
    }

    /// The rows as the core takes them; `what` names them in errors ("probabilities").
    ///
    /// # Errors
    /// [`IoError::Core`] for a block without rows (from [`empty_block`](crate::MatrixReader::empty_block) and not yet
    /// filled).
    pub fn rows(&self, what: &'static str) -> Result<AnyRows<'_>> {
        let rows = match &self.values {
            Values::F32(values) => Rows::new(what, values, self.columns).map(AnyRows::F32),
            Values::F64(values) => Rows::new(what, values, self.columns).map(AnyRows::F64),
        };
        // Errors count rows from the start of the block; the user looks for them in the file.
        rows.map_err(|error| self.error(error))
    }

    /// The rows as rows of probabilities, not yet checked: the core does that as it reads them.
    ///
    /// Probabilities are handed through; the softmax of logits is written to `softmax`, which is reused from block to
    /// block. A logit that is not finite is an error.
    pub fn probabilities<'a>(
        &'a self,
        kind: ValueKind,
        softmax: &'a mut Vec<f64>,
    ) -> Result<AnyRows<'a>> {
        let rows = self.rows("probabilities")?;
        kind.probabilities(self.first_row, rows, softmax)
            .map_err(|error| IoError::from_core(&self.origin, 0, error))
    }

    /// An error of the core about these rows, with the file's name and rows counted in the file.
    ///
    /// For functions that count rows from the start of the block; those that were told `first_row` count in the file
    /// already: [`IoError::from_core`] with 0 fits them.
    pub fn error(&self, error: evenkeel::Error) -> IoError {
        IoError::from_core(&self.origin, self.first_row, error)
    }
}

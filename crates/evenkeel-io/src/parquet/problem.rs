//! What can be wrong in a parquet file.

use crate::error::some_of;
use ::parquet::errors::ParquetError;

/// What was found in a parquet file, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParquetProblem {
    /// The file does not start and end like one.
    #[error("this is not a parquet file, or it was cut off; copy it again")]
    Magic,
    /// The footer, a page or a count contradicts the rest of the file.
    #[error("the file is damaged ({what}); copy it again or write it anew")]
    Damaged {
        /// Which part contradicts the rest.
        what: &'static str,
    },
    /// The decoder gave up.
    #[error(
        "the file cannot be decoded ({reason}); copy it again, or write it with snappy, zstd, gzip, lz4, brotli or no compression"
    )]
    Undecodable {
        /// What the decoder said.
        reason: String,
    },
    /// A column that is not there.
    #[error("there is no column {column:?}; the table has {}", some_of(columns))]
    NoSuchColumn {
        /// The column asked for.
        column: String,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// A column that is neither numbers nor a list of numbers.
    #[error("column {column:?} holds {found}, not numbers or lists of numbers; choose another")]
    NotNumeric {
        /// Name of the column.
        column: String,
        /// What the column holds, in words.
        found: String,
    },
    /// A column whose cells have no plain text.
    #[error("column {column:?} holds {found}, which cannot be written as text; choose another")]
    NotText {
        /// Name of the column.
        column: String,
        /// What the column holds, in words.
        found: String,
    },
    /// A cell longer than a label or an id is.
    #[error(
        "column {column:?} has a cell of more than {limit} bytes; choose a column of labels or ids"
    )]
    LongCell {
        /// Name of the column.
        column: String,
        /// Bytes that are read at most.
        limit: usize,
    },
    /// A table without numbers.
    #[error("the table has no numeric column; it has {}", some_of(columns))]
    NoNumericColumn {
        /// The columns there are.
        columns: Vec<String>,
    },
    /// Several list columns and no choice.
    #[error(
        "the table has several columns of lists; choose one with file.parquet:column, one of {}",
        some_of(columns)
    )]
    SeveralLists {
        /// Names of the list columns.
        columns: Vec<String>,
    },
    /// A value or list that is missing.
    #[error("row {row} of column {column:?} is null or empty; fill the gap or remove the row")]
    Null {
        /// The row, counted in the file.
        row: u64,
        /// Name of the column.
        column: String,
    },
    /// A list of another length than the first.
    #[error(
        "row {row} of column {column:?} lists {found} numbers where row 0 lists {expected}; give every row the same length"
    )]
    Ragged {
        /// The row, counted in the file.
        row: u64,
        /// Name of the column.
        column: String,
        /// Length of the list.
        found: usize,
        /// Length of the first list.
        expected: usize,
    },
}

impl From<ParquetError> for ParquetProblem {
    fn from(error: ParquetError) -> Self {
        let reason = match error {
            ParquetError::General(reason) | ParquetError::NYI(reason) => reason,
            ParquetError::EOF(_) => return Self::Damaged { what: "it ends early" },
            other => other.to_string(),
        };
        Self::Undecodable { reason }
    }
}

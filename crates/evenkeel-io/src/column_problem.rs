//! What can be wrong with a column of a table, whatever its format.

use crate::error::some_of;

/// What was found in a column, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnProblem {
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
    /// A cell that is no text.
    #[error(
        "column {column:?} has a cell that is no text in UTF-8; choose a column of labels or ids, or write it as text"
    )]
    NotUtf8 {
        /// Name of the column.
        column: String,
    },
    /// A table without numbers.
    #[error("the table has no numeric column; it has {}", some_of(columns))]
    NoNumericColumn {
        /// The columns there are.
        columns: Vec<String>,
    },
    /// Several list columns and no choice.
    #[error(
        "the table has several columns of lists; choose one with file:column, one of {}",
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
        found: u64,
        /// Length of the first list.
        expected: usize,
    },
    /// The name of a folder where a number is needed.
    #[error("the folder says {column}={found}, which is not a number")]
    WordOfFolder {
        /// Name of the column.
        column: String,
        /// What stands after the equals sign.
        found: String,
    },
}

impl ColumnProblem {
    /// Row and column, as far as there are any.
    pub(crate) fn place(&self) -> (Option<u64>, Option<&str>) {
        match self {
            Self::Null { row, column } | Self::Ragged { row, column, .. } => {
                (Some(*row), Some(column))
            }
            Self::NoSuchColumn { column, .. }
            | Self::NotNumeric { column, .. }
            | Self::NotText { column, .. }
            | Self::LongCell { column, .. }
            | Self::NotUtf8 { column }
            | Self::WordOfFolder { column, .. } => (None, Some(column)),
            Self::NoNumericColumn { .. } | Self::SeveralLists { .. } => (None, None),
        }
    }

    /// Whether words stand where numbers were looked for.
    pub(crate) fn is_about_words(&self) -> bool {
        matches!(
            self,
            Self::NotNumeric { .. } | Self::NoNumericColumn { .. } | Self::WordOfFolder { .. }
        )
    }
}

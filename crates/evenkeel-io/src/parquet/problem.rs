//! What can be wrong in a parquet file.

use crate::column_problem::ColumnProblem;
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
    /// Something is wrong with a column, as in any format.
    #[error("{0}")]
    Column(#[from] ColumnProblem),
}

impl From<ParquetError> for ParquetProblem {
    fn from(error: ParquetError) -> Self {
        let reason = match error {
            ParquetError::General(reason) | ParquetError::NYI(reason) => reason,
            ParquetError::EOF(_) => return Self::Damaged { what: "it ends early" },
            // What the guards found in a header.
            ParquetError::External(reason) => reason.to_string(),
            other => other.to_string(),
        };
        Self::Undecodable { reason }
    }
}

//! Whether the first line of a file holds names or numbers.

use super::CsvProblem;
use super::dialect::{are_numbered, may_be_header};
use super::records::Records;
use crate::error::{IoError, Result};
use crate::input::open_text;
use crate::reader::are_numbers;
use std::path::Path;
use std::sync::Arc;

/// What the first line of a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FirstLine {
    /// There is none.
    Missing,
    /// Words.
    Names(Vec<String>),
    /// Whole numbers, no two alike, over a row with decimals: names of classes that are called by numbers.
    Numbers(Vec<String>),
    /// Whole numbers, no two alike, over nothing or over whole numbers.
    NumbersOrRow(Vec<String>),
    /// A row.
    Row,
}

impl FirstLine {
    /// Looks at the first two lines of a file.
    pub(super) fn of(path: &Path, origin: &Arc<str>) -> Result<Self> {
        let mut records = Records::new(open_text(path)?, origin)?;
        let Some(line) = records.next()? else { return Ok(Self::Missing) };
        if may_be_header(records.cells()) {
            return Ok(Self::Names(names(&records, line, origin)?));
        }
        if !are_numbered(records.cells()) {
            return Ok(Self::Row);
        }
        let first = names(&records, line, origin)?;
        let is_over_decimals =
            records.next()?.is_some() && records.cells().any(|cell| cell.contains(&b'.'));
        Ok(if is_over_decimals { Self::Numbers(first) } else { Self::NumbersOrRow(first) })
    }

    /// Whether these numbers may be a row of probabilities all the same: `1,0`, of which other programs leave the decimals out.
    /// `0,1` is what programs write over two columns without names.
    pub(super) fn may_be_row(numbers: &[String]) -> bool {
        numbers.len() == 2
            && !are_numbers(numbers)
            && numbers.iter().any(|number| number == "0")
            && numbers.iter().any(|number| number == "1")
    }
}

/// The cells of the current record, which stands on this line, as names.
pub(crate) fn names(records: &Records, line: u64, origin: &Arc<str>) -> Result<Vec<String>> {
    records.cells().map(|cell| Ok(text(cell, line, origin)?.trim().to_owned())).collect()
}

/// A cell as text. In another encoding two names could become one.
pub(crate) fn text<'a>(cell: &'a [u8], line: u64, origin: &Arc<str>) -> Result<&'a str> {
    std::str::from_utf8(cell).map_err(|_| {
        let (origin, problem) = (Arc::clone(origin), CsvProblem::NotText);
        IoError::Csv { origin, line, problem }
    })
}

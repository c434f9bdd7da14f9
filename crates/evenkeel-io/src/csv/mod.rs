//! `0.7,0.2,0.1`: numbers as text, one row per line, cells between `,` `;` or tabs, with or without a header.

mod dialect;
mod header;
mod records;

pub use records::MAX_RECORD_BYTES;

use crate::block::{Precision, Values};
use crate::column_choice::ColumnChoice;
use crate::error::{IoError, Result};
use crate::input::open_text;
use crate::reader::{RowStream, are_numbers, check_columns};
use dialect::number;
use header::FirstLine;
pub(crate) use header::{names as header_names, text as cell_text};
pub(crate) use records::Records;
use std::path::Path;
use std::sync::Arc;

/// What was found in a line of a csv file, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CsvProblem {
    /// A line with more or fewer cells than the first.
    #[error("{found} cells where the first line has {expected}; give every row the same columns")]
    Ragged {
        /// Number of cells in the line.
        found: usize,
        /// Number of cells in the first line.
        expected: usize,
    },
    /// A cell that is not a number.
    #[error("column {column} is {found:?}, not a number; {}", hint(found))]
    NotANumber {
        /// The column, counted from 0.
        column: usize,
        /// The start of what the cell holds.
        found: String,
    },
    /// A line that does not end.
    #[error("the row is longer than {limit} bytes; look for a quote that is not closed")]
    RowTooLong {
        /// Bytes that are read at most.
        limit: usize,
    },
    /// A line of more cells than a row may have.
    #[error(
        "the row has more than {limit} cells, the most that can be read; is the matrix transposed?"
    )]
    TooManyCells {
        /// Cells that are read at most.
        limit: usize,
    },
    /// Bytes that are not text.
    #[error("this is not text; save the table as plain CSV in UTF-8")]
    NotText,
}

/// The likely mistake behind a cell that is not a number.
fn hint(found: &str) -> &'static str {
    let gaps = ["NA", "N/A", "NULL", "None", "null", "#N/A"];
    if found.is_empty() || gaps.contains(&found) {
        "fill the empty cell or remove the row"
    } else if found.contains(',') {
        "write decimals with a point"
    } else if found.ends_with('%') {
        "write shares as numbers from 0 to 1"
    } else if found.contains(' ') {
        "separate cells by ',' ';' or tab"
    } else {
        "only numbers are read; remove columns of text"
    }
}

/// Opens a csv file: finds delimiter, header and width from its first lines.
pub(crate) fn open(
    path: &Path,
    choice: &ColumnChoice,
    origin: &Arc<str>,
) -> Result<Box<dyn RowStream>> {
    let names = names_under(FirstLine::of(path, origin)?, choice, origin)?;
    let mut records = Records::new(open_text(path)?, origin)?;
    let Some(line) = records.next()? else {
        return Err(IoError::NoRows { origin: Arc::clone(origin) });
    };
    let width = check_columns(origin, records.cell_count() as u64)?;
    let places = match &names {
        Some(names) => choice.places(origin, names, |_| true)?,
        None => (0..width).collect(),
    };
    let columns = check_columns(origin, places.len() as u64)?;
    let is_named = names.is_some();
    let chosen = |names: Vec<String>| places.iter().map(|place| names[*place].clone()).collect();
    let (names, origin) = (names.map(chosen), Arc::clone(origin));
    let mut rows = CsvRows { records, width, places, columns, names, ahead: Vec::new(), origin };
    // A row is read ahead, so that a file without any is told here.
    let first = if is_named { rows.records.next()? } else { Some(line) };
    let Some(line) = first else { return Err(IoError::NoRows { origin: rows.origin }) };
    let mut ahead = Vec::new();
    rows.push_row(line, &mut ahead)?;
    rows.ahead = ahead;
    Ok(Box::new(rows))
}

/// Names of the columns, where the first line holds names as far as this choice is concerned.
fn names_under(
    first: FirstLine,
    choice: &ColumnChoice,
    origin: &Arc<str>,
) -> Result<Option<Vec<String>>> {
    match first {
        // Said by whoever finds no row.
        FirstLine::Missing => Ok(None),
        FirstLine::Names(names) => Ok(Some(names)),
        FirstLine::Numbers(numbers) | FirstLine::NumbersOrRow(numbers) if choice.needs_names() => {
            Ok(Some(numbers))
        }
        // Of what is no table of classes nothing says that its columns are called by numbers.
        FirstLine::Numbers(numbers)
            if FirstLine::may_be_row(&numbers)
                || (*choice == ColumnChoice::All && !are_numbers(&numbers)) =>
        {
            Err(IoError::NamesOrRow { origin: Arc::clone(origin), line: numbers.join(",") })
        }
        FirstLine::Numbers(numbers) => Ok(Some(numbers)),
        _ if choice.needs_names() => Err(IoError::NoNames { origin: Arc::clone(origin) }),
        FirstLine::NumbersOrRow(_) | FirstLine::Row => Ok(None),
    }
}

/// Names of the columns of a csv file, if its first line holds names.
pub(crate) fn column_names(path: &Path, origin: &Arc<str>) -> Result<Option<Vec<String>>> {
    match FirstLine::of(path, origin)? {
        FirstLine::Numbers(numbers) if FirstLine::may_be_row(&numbers) => Ok(None),
        FirstLine::Names(names) | FirstLine::Numbers(names) => Ok(Some(names)),
        _ => Ok(None),
    }
}

/// Rows of a csv file.
struct CsvRows {
    records: Records,
    /// Cells of a line, and those of them that are read.
    width: usize,
    places: Vec<usize>,
    columns: usize,
    names: Option<Vec<String>>,
    /// Rows already read to understand the file.
    ahead: Vec<f64>,
    origin: Arc<str>,
}

impl CsvRows {
    /// Adds the numbers of the current record.
    fn push_row(&self, line: u64, values: &mut Vec<f64>) -> Result<()> {
        let fail = |problem| IoError::Csv { origin: Arc::clone(&self.origin), line, problem };
        let (found, expected) = (self.records.cell_count(), self.width);
        if found != expected {
            return Err(fail(CsvProblem::Ragged { found, expected }));
        }
        for column in self.places.iter().copied() {
            let cell = self.records.cell(column);
            let value = number(cell).ok_or_else(|| {
                let text = String::from_utf8_lossy(cell.trim_ascii());
                // The start of it: a cell of megabytes would fill the terminal.
                let found = text.chars().take(30).collect();
                fail(CsvProblem::NotANumber { column, found })
            })?;
            values.push(value);
        }
        Ok(())
    }
}

impl RowStream for CsvRows {
    fn columns(&self) -> usize {
        self.columns
    }

    fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    // Lines are not rows: quotes may hold line feeds, and counting means reading it all.
    fn rows(&self) -> Option<u64> {
        None
    }

    fn precision(&self) -> Precision {
        Precision::Double
    }

    fn fill(&mut self, rows: usize, values: &mut Values) -> Result<usize> {
        let mut buffer = match values {
            Values::F64(values) => std::mem::take(values),
            // Text is always read in double precision, so that no digit that was written is lost.
            Values::F32(_) => Vec::new(),
        };
        buffer.clear();
        let ahead = rows.min(self.ahead.len() / self.columns);
        buffer.extend(self.ahead.drain(..ahead * self.columns));
        let mut filled = ahead;
        while filled < rows
            && let Some(line) = self.records.next()?
        {
            self.push_row(line, &mut buffer)?;
            filled += 1;
        }
        *values = Values::F64(buffer);
        Ok(filled)
    }
}

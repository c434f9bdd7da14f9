//! Row `i` of one file beside row `i` of another, whatever blocks their formats give.

use std::sync::Arc;

use crate::error::Result;
use crate::reader::MatrixReader;
use crate::source::MatrixSource;
use crate::table_reading::TableReading;
use crate::vectors::{labels_of, open_column};

/// Reads exactly as many rows at a time as another file's blocks have: labels, features or ratios beside probabilities.
#[derive(Debug)]
pub struct RowAligned {
    reader: MatrixReader,
    /// Rows read and not yet taken, and those taken last.
    values: Vec<f64>,
    /// How many of `values` were taken last; they stand first.
    taken: usize,
    next_row: usize,
}

impl RowAligned {
    /// Opens a matrix of any width.
    ///
    /// # Errors
    /// As for [`MatrixReader::open`].
    pub fn open(source: &MatrixSource) -> Result<Self> {
        Ok(Self { reader: MatrixReader::open(source)?, values: Vec::new(), taken: 0, next_row: 0 })
    }

    /// The same with a reading of the columns.
    ///
    /// # Errors
    /// As [`open`](Self::open), and if columns are not the ones expected.
    pub fn open_table(source: &MatrixSource, reading: &TableReading) -> Result<Self> {
        Ok(Self { reader: reading.open(source)?, values: Vec::new(), taken: 0, next_row: 0 })
    }

    /// Opens a file with one number per row; `what` names the numbers in errors.
    ///
    /// # Errors
    /// [`IoError::NotOneColumn`](crate::IoError::NotOneColumn) for a wider file, and the errors of [`open`](Self::open).
    pub fn open_column(source: &MatrixSource, what: &'static str) -> Result<Self> {
        Ok(Self { reader: open_column(source, what)?, values: Vec::new(), taken: 0, next_row: 0 })
    }

    /// The input as the user typed it.
    pub fn origin(&self) -> &Arc<str> {
        self.reader.origin()
    }

    /// Number of columns, the numbers per row.
    pub fn columns(&self) -> usize {
        self.reader.columns()
    }

    /// Number of rows in the file, where the format tells.
    pub fn rows(&self) -> Option<u64> {
        self.reader.rows()
    }

    /// The next `rows` rows, row after row; fewer only at the end of the file.
    ///
    /// # Errors
    /// As for [`MatrixReader::next_block`]. A file that ends early is not an error: fewer rows are returned.
    pub fn next_rows(&mut self, rows: usize) -> Result<&[f64]> {
        let columns = self.columns();
        // Only now, not when they were given out: the caller holds a borrow of them until this call.
        self.values.drain(..self.taken);
        let wanted = rows * columns;
        while self.values.len() < wanted {
            // A format may give fewer rows than asked for, such as the rest of a row group.
            let missing = (wanted - self.values.len()) / columns;
            let Some(block) = self.reader.next_block(missing.max(1))? else { break };
            match block.values() {
                crate::Values::F32(values) => {
                    self.values.extend(values.iter().copied().map(f64::from));
                }
                crate::Values::F64(values) => self.values.extend_from_slice(values),
            }
        }
        self.taken = wanted.min(self.values.len());
        self.next_row += self.taken / columns;
        Ok(&self.values[..self.taken])
    }

    /// The rows that [`next_rows`](Self::next_rows) gave last.
    pub fn last_rows(&self) -> &[f64] {
        &self.values[..self.taken]
    }

    /// The next `rows` rows as labels.
    ///
    /// # Errors
    /// [`IoError::NotALabel`](crate::IoError::NotALabel) for the first value that is not a whole number from 0 to 2^53, and the errors of
    /// [`next_rows`](Self::next_rows).
    pub fn next_labels(&mut self, rows: usize) -> Result<Vec<usize>> {
        let first_row = self.next_row;
        let origin = Arc::clone(self.origin());
        labels_of(&origin, first_row, self.next_rows(rows)?)
    }

    /// The number of rows of the whole file: as the format tells, or by reading on to the end.
    ///
    /// # Errors
    /// As for [`next_rows`](Self::next_rows).
    pub fn count_rows(&mut self) -> Result<usize> {
        // A few compressed bytes can hold a billion rows; they are not inflated to be counted.
        if let Some(rows) = self.rows() {
            return Ok(usize::try_from(rows).unwrap_or(usize::MAX));
        }
        // In pieces: a companion that goes on for gigabytes is counted in the memory of one.
        const AT_A_TIME: usize = 1 << 16;
        while !self.next_rows((AT_A_TIME / self.columns()).max(1))?.is_empty() {}
        Ok(self.next_row)
    }
}

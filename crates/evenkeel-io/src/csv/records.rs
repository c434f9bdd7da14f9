//! Records of a csv file in bounded memory.
//!
//! On `csv-core` rather than `csv`: with the buffers in our hands, a file that is one endless line or one unclosed
//! quote ends in an error after [`MAX_RECORD_BYTES`], not in the file's size of memory.

use super::CsvProblem;
use super::dialect::delimiter;
use crate::error::{IoError, Result};
use crate::reader::MAX_COLUMNS;
use csv_core::ReadRecordResult;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

/// Longest row that is read, in bytes: a quote that is never closed makes one row of the rest of the file.
pub const MAX_RECORD_BYTES: usize = 64 << 20;

const INPUT_BYTES: usize = 1 << 18;

/// Reads records one after the other; blank lines do not count.
pub(crate) struct Records {
    input: BufReader<Box<dyn Read + Send>>,
    parser: csv_core::Reader,
    /// Bytes of the current record's cells.
    bytes: Vec<u8>,
    /// Where each cell ends in `bytes`.
    ends: Vec<usize>,
    cells: usize,
    newlines: u64,
    origin: Arc<str>,
}

impl Records {
    pub(crate) fn new(text: Box<dyn Read + Send>, origin: &Arc<str>) -> Result<Self> {
        let mut input = BufReader::with_capacity(INPUT_BYTES, text);
        let origin = Arc::clone(origin);
        let start = match input.fill_buf() {
            Ok(start) => start,
            Err(error) => return Err(IoError::Read { origin, error }),
        };
        // Also catches UTF-16, which spreadsheets like to write.
        if start.contains(&0) {
            return Err(IoError::Csv { origin, line: 1, problem: CsvProblem::NotText });
        }
        // From the first buffer: a delimiter stands early in the first line, however long that is.
        let parser = csv_core::ReaderBuilder::new().delimiter(delimiter(start)).build();
        let (bytes, ends) = (vec![0; 1 << 12], vec![0; 1 << 8]);
        Ok(Self { input, parser, bytes, ends, cells: 0, newlines: 0, origin })
    }

    /// Moves to the next record and gives the line it stands on; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<u64>> {
        let (mut written, mut cells) = (0, 0);
        let mut last = 0_u8;
        loop {
            let input = match self.input.fill_buf() {
                Ok(input) => input,
                Err(error) => {
                    return Err(IoError::Read { origin: Arc::clone(&self.origin), error });
                }
            };
            let (result, read, wrote, ended) =
                self.parser.read_record(input, &mut self.bytes[written..], &mut self.ends[cells..]);
            let consumed = &input[..read];
            self.newlines += consumed.iter().filter(|byte| **byte == b'\n').count() as u64;
            last = consumed.last().copied().unwrap_or(last);
            self.input.consume(read);
            (written, cells) = (written + wrote, cells + ended);
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => grow(&mut self.bytes),
                ReadRecordResult::OutputEndsFull => grow(&mut self.ends),
                ReadRecordResult::Record => {
                    self.cells = cells;
                    // A record ends after its line feed, or before the one that follows a carriage return.
                    return Ok(Some(self.newlines + u64::from(last != b'\n')));
                }
                ReadRecordResult::End => return Ok(None),
            }
            // After growing: the buffers double, so that at most twice the limit is ever held. Both are asked: cells
            // without bytes (`,,,,`) fill the ends alone.
            let problem = if self.bytes.len() > MAX_RECORD_BYTES {
                CsvProblem::RowTooLong { limit: MAX_RECORD_BYTES }
            } else if cells > MAX_COLUMNS {
                CsvProblem::TooManyCells { limit: MAX_COLUMNS }
            } else {
                continue;
            };
            let line = self.newlines + 1;
            return Err(IoError::Csv { origin: Arc::clone(&self.origin), line, problem });
        }
    }

    /// Cells of the current record.
    pub(crate) fn cell_count(&self) -> usize {
        self.cells
    }

    /// One cell of the current record, unquoted; empty beyond the last.
    pub(crate) fn cell(&self, place: usize) -> &[u8] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        if place < self.cells { &self.bytes[start..self.ends[place]] } else { &[] }
    }

    /// The cells of the current record, unquoted.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends[..self.cells]).map(|(start, end)| &self.bytes[*start..*end])
    }
}

/// Doubles a buffer, so that a long row is copied a logarithmic number of times.
fn grow<T: Clone + Default>(buffer: &mut Vec<T>) {
    buffer.resize(buffer.len() * 2, T::default());
}

#[cfg(test)]
mod tests {
    use super::super::dialect::{are_numbered, may_be_header};
    use super::*;

    fn cells(text: &str) -> impl Iterator<Item = &[u8]> + Clone {
        text.split(',').map(str::as_bytes)
    }

    #[test]
    fn delimiters_are_found_outside_quotes() {
        assert_eq!(delimiter(b"1,2\n3;4"), b',');
        assert_eq!(delimiter(b"0,1;0,9"), b';');
        assert_eq!(delimiter(b"0,1\t0;9"), b'\t');
        assert_eq!(delimiter(b"\"a;b\",\"c\td\""), b',');
        assert_eq!(delimiter(b""), b',');
    }

    #[test]
    fn headers_are_told_from_rows() {
        assert!(may_be_header(cells("a,b,c")));
        assert!(may_be_header(cells(",0,1,2")));
        assert!(!may_be_header(cells("0.1,0.9")));
        assert!(!may_be_header(cells("0.1,oops,0.7")));
        assert!(are_numbered(cells("0,1,2")) && are_numbered(cells("7,1,3")));
        assert!(!are_numbered(cells("0,1,1")) && !are_numbered(cells("0,-1")));
        assert!(!are_numbered(cells("0")) && !are_numbered(cells("1.0,2.0")));
    }
}

//! `element (i, j) at (j rows + i) bytes`: arrays that lie column after column, read in strips of rows with one seek
//! per column.

use super::element::ElementReader;
use super::header::Header;
use super::read_error;
use crate::block::{Precision, Values};
use crate::error::Result;
use crate::reader::RowStream;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

/// Memory of a strip: long enough for pieces of columns that are worth a seek, whatever the caller's blocks.
const STRIP_BYTES: usize = 16 << 20;

/// Columns transposed at a time: a row takes a whole cache line of them. One column at a time would load a line for
/// each value.
const TILE: usize = 16;

/// Rows of an array in Fortran order, by way of strips that are transposed in memory.
pub(crate) struct FortranRows<R> {
    input: R,
    /// Offset of the first element.
    start: u64,
    header: Header,
    elements: ElementReader,
    /// Row-major rows from `strip_first` on.
    strip: Values,
    strip_first: u64,
    strip_rows: u64,
    next_row: u64,
    /// Pieces of a few columns.
    pieces: Values,
    origin: Arc<str>,
}

impl<R: Read + Seek + Send> FortranRows<R> {
    pub(crate) fn new(input: R, start: u64, header: Header, origin: &Arc<str>) -> Self {
        let precision = header.element.precision();
        Self {
            input,
            start,
            header,
            elements: ElementReader::new(header.element),
            strip: Values::none(precision),
            strip_first: 0,
            strip_rows: 0,
            next_row: 0,
            pieces: Values::none(precision),
            origin: Arc::clone(origin),
        }
    }

    /// Reads the strip that starts at the next row.
    fn load_strip(&mut self) -> io::Result<()> {
        let columns = self.header.columns;
        // At least one row, however wide: a strip of none would never end.
        let fitting = STRIP_BYTES / (columns * self.precision().bytes());
        let rows = (fitting.max(1) as u64).min(self.header.rows - self.next_row);
        let count = usize::try_from(rows).map_err(io::Error::other)?;
        match &mut self.strip {
            Values::F32(strip) => strip.resize(count * columns, 0.0),
            Values::F64(strip) => strip.resize(count * columns, 0.0),
        }
        // Column by column on disk, tile by tile in memory: each order suits its medium.
        for first in (0..columns).step_by(TILE) {
            let tile = TILE.min(columns - first);
            match (&mut self.pieces, &mut self.strip) {
                (Values::F32(pieces), Values::F32(strip)) => {
                    pieces.resize(tile * count, 0.0);
                    for (column, piece) in (first..).zip(pieces.chunks_exact_mut(count)) {
                        seek(&mut self.input, self.start, &self.header, column, self.next_row)?;
                        self.elements.read_f32(&mut self.input, piece)?;
                    }
                    transpose(pieces, strip, columns, first);
                }
                (Values::F64(pieces), Values::F64(strip)) => {
                    pieces.resize(tile * count, 0.0);
                    for (column, piece) in (first..).zip(pieces.chunks_exact_mut(count)) {
                        seek(&mut self.input, self.start, &self.header, column, self.next_row)?;
                        self.elements.read_f64(&mut self.input, piece)?;
                    }
                    transpose(pieces, strip, columns, first);
                }
                _ => return Err(io::Error::other("strip and pieces differ in precision")),
            }
        }
        (self.strip_first, self.strip_rows) = (self.next_row, rows);
        Ok(())
    }
}

/// Moves to row `row` of a column.
fn seek(
    input: &mut impl Seek,
    start: u64,
    header: &Header,
    column: usize,
    row: u64,
) -> io::Result<()> {
    let element = column as u64 * header.rows + row;
    input.seek(SeekFrom::Start(start + element * header.element.bytes() as u64)).map(drop)
}

/// Writes pieces of consecutive columns, one after the other in `pieces`, into their places from column `first` on.
fn transpose<T: Copy>(pieces: &[T], rows: &mut [T], columns: usize, first: usize) {
    let count = rows.len() / columns;
    for (index, row) in rows.chunks_exact_mut(columns).enumerate() {
        for (slot, value) in row[first..].iter_mut().zip(pieces[index..].iter().step_by(count)) {
            *slot = *value;
        }
    }
}

impl<R: Read + Seek + Send> RowStream for FortranRows<R> {
    fn columns(&self) -> usize {
        self.header.columns
    }

    fn rows(&self) -> Option<u64> {
        Some(self.header.rows)
    }

    fn precision(&self) -> Precision {
        self.header.element.precision()
    }

    fn fill(&mut self, rows: usize, values: &mut Values) -> Result<usize> {
        let columns = self.header.columns;
        let left = self.header.rows - self.next_row;
        let wanted = usize::try_from(left).map_or(rows, |left| left.min(rows));
        let mut filled = 0;
        clear(values);
        while filled < wanted {
            // A strip outlives a block: rows of small blocks would otherwise read every column again.
            if self.next_row >= self.strip_first + self.strip_rows {
                self.load_strip().map_err(|error| read_error(&self.origin, error))?;
            }
            // Both lie within the strip, which is in memory.
            let skip = (self.next_row - self.strip_first) as usize;
            let take = (wanted - filled).min(self.strip_rows as usize - skip);
            match (&mut *values, &self.strip) {
                (Values::F32(values), Values::F32(strip)) => {
                    values.extend_from_slice(&strip[skip * columns..][..take * columns]);
                }
                (Values::F64(values), Values::F64(strip)) => {
                    values.extend_from_slice(&strip[skip * columns..][..take * columns]);
                }
                _ => {
                    let error = io::Error::other("block and strip differ in precision");
                    return Err(read_error(&self.origin, error));
                }
            }
            self.next_row += take as u64;
            filled += take;
        }
        Ok(filled)
    }
}

fn clear(values: &mut Values) {
    match values {
        Values::F32(values) => values.clear(),
        Values::F64(values) => values.clear(),
    }
}

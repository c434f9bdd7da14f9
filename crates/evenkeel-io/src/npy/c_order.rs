//! `element (i, j) at (i columns + j) bytes`: arrays that lie row after row, where a block is the next bytes.

use super::element::ElementReader;
use super::header::Header;
use super::read_error;
use crate::block::{Precision, Values};
use crate::error::Result;
use crate::reader::RowStream;
use std::io::Read;
use std::sync::Arc;

/// Rows of an array in C order; the input stands at its first element.
pub(crate) struct CRows<R> {
    input: R,
    header: Header,
    elements: ElementReader,
    left: u64,
    origin: Arc<str>,
}

impl<R: Read + Send> CRows<R> {
    pub(crate) fn new(input: R, header: Header, origin: &Arc<str>) -> Self {
        let elements = ElementReader::new(header.element);
        Self { input, header, elements, left: header.rows, origin: Arc::clone(origin) }
    }
}

impl<R: Read + Send> RowStream for CRows<R> {
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
        let rows = usize::try_from(self.left).map_or(rows, |left| left.min(rows));
        let count = rows * self.header.columns;
        let read = match values {
            Values::F32(values) => {
                // Room for a block only: the header's row count was checked, but it may be the
                // whole disk.
                values.resize(count, 0.0);
                self.elements.read_f32(&mut self.input, values)
            }
            Values::F64(values) => {
                values.resize(count, 0.0);
                self.elements.read_f64(&mut self.input, values)
            }
        };
        read.map_err(|error| read_error(&self.origin, error))?;
        self.left -= rows as u64;
        Ok(rows)
    }
}

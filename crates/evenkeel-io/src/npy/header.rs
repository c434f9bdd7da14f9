//! The npy header: a Python dictionary in text, taken as a claim and checked against the bytes that follow.
//!
//! ```text
//! \x93NUMPY  major minor  length (u16 for version 1, u32 for 2 and 3)  {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
//! ```
//! Parsed by hand: the crates for it allocate the header length a file claims, up to 4 GB.

use super::element::ElementType;
use super::problem::NpyProblem;
use super::read_error;
use crate::error::{IoError, Result};
use crate::reader::check_columns;
use std::io::Read;
use std::sync::Arc;

/// Longest header that is read. NumPy's own limit for untrusted files is 10 000.
pub const MAX_HEADER_BYTES: usize = 1 << 16;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Order of the elements in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Row after row, NumPy's default.
    C,
    /// Column after column, as of a transposed array.
    Fortran,
}

/// A checked header: the data it describes are there, byte for byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    pub element: ElementType,
    pub order: Order,
    pub rows: u64,
    pub columns: usize,
    /// Bytes of magic, version and header; the data follow.
    pub bytes: u64,
}

impl Header {
    /// Reads the header of an array that occupies `length` bytes, header included.
    pub(crate) fn read(input: &mut impl Read, length: u64, origin: &Arc<str>) -> Result<Self> {
        let fail = |problem| IoError::Npy { origin: Arc::clone(origin), problem };
        let (text, bytes) = read_text(input, length, origin)?;
        let claims = Parser { text: &text, at: 0 }.header().map_err(fail)?;
        let element = ElementType::parse(&claims.descr).map_err(fail)?;
        let (rows, columns) = match claims.shape[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => return Err(fail(NpyProblem::Dimensions { shape: shape_text(&claims.shape) })),
        };
        // Checked products: a shape may claim 2^32 by 2^32, which wraps around to an empty array.
        let expected = rows
            .checked_mul(columns)
            .and_then(|elements| elements.checked_mul(element.bytes() as u64))
            .ok_or_else(|| fail(NpyProblem::Overflow))?;
        let found = length.saturating_sub(bytes);
        // Exactly as many: bytes left over mean that shape or type is wrong, and every row would
        // be.
        if expected != found {
            let (shape, descr) = (shape_text(&claims.shape), claims.descr);
            return Err(fail(NpyProblem::Size { shape, descr, expected, found }));
        }
        if rows == 0 {
            return Err(IoError::NoRows { origin: Arc::clone(origin) });
        }
        let columns = check_columns(origin, columns)?;
        // One row or one column lies the same way in both orders.
        let order = if rows == 1 || columns == 1 { Order::C } else { claims.order };
        Ok(Self { element, order, rows, columns, bytes })
    }
}

/// The header's text, and the bytes up to its end.
fn read_text(input: &mut impl Read, length: u64, origin: &Arc<str>) -> Result<(Vec<u8>, u64)> {
    let fail = |problem| IoError::Npy { origin: Arc::clone(origin), problem };
    let mut start = [0_u8; 8];
    let mut read = |bytes: &mut [u8]| input.read_exact(bytes).map_err(|e| read_error(origin, e));
    if length < start.len() as u64 {
        return Err(fail(if length == 0 { NpyProblem::EndsEarly } else { NpyProblem::Magic }));
    }
    read(&mut start)?;
    if &start[..6] != MAGIC {
        return Err(fail(NpyProblem::Magic));
    }
    let (claimed, prefix) = match start[6] {
        1 => {
            let mut bytes = [0_u8; 2];
            read(&mut bytes)?;
            (u64::from(u16::from_le_bytes(bytes)), 10)
        }
        2 | 3 => {
            let mut bytes = [0_u8; 4];
            read(&mut bytes)?;
            (u64::from(u32::from_le_bytes(bytes)), 12)
        }
        major => return Err(fail(NpyProblem::Version { major })),
    };
    // Before anything is allocated: the length is a claim of up to 4 GB.
    if claimed > length.saturating_sub(prefix) {
        return Err(fail(NpyProblem::EndsEarly));
    }
    let text_length = usize::try_from(claimed).unwrap_or(usize::MAX);
    if text_length > MAX_HEADER_BYTES {
        return Err(fail(NpyProblem::HeaderTooLong { claimed, limit: MAX_HEADER_BYTES }));
    }
    let mut text = vec![0; text_length];
    read(&mut text)?;
    Ok((text, prefix + claimed))
}

/// `(3, 4)`, as NumPy writes it.
fn shape_text(shape: &[u64]) -> String {
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    format!("({}{comma})", sizes.join(", "))
}

/// What the header says, unchecked.
struct Claims {
    descr: String,
    order: Order,
    shape: Vec<u64>,
}

/// Reads the dictionary literal, left to right.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn header(mut self) -> Result<Claims, NpyProblem> {
        let (mut descr, mut order, mut shape) = (None, None, None);
        self.expect(b'{', "'{'")?;
        while self.peek() != Some(b'}') {
            let key = self.string()?;
            self.expect(b':', "':'")?;
            match key.as_str() {
                "descr" if self.peek() == Some(b'[') => return Err(NpyProblem::Records),
                "descr" => descr = Some(self.string()?),
                "fortran_order" => order = Some(self.order()?),
                "shape" => shape = Some(self.shape()?),
                // A key we do not know could change what the bytes mean.
                _ => return Err(self.syntax("'descr', 'fortran_order' or 'shape'")),
            }
            if self.peek() != Some(b'}') {
                self.expect(b',', "',' or '}'")?;
            }
        }
        self.expect(b'}', "'}'")?;
        if self.peek().is_some() {
            return Err(self.syntax("nothing after '}'"));
        }
        match (descr, order, shape) {
            (Some(descr), Some(order), Some(shape)) => Ok(Claims { descr, order, shape }),
            _ => Err(self.syntax("'descr', 'fortran_order' and 'shape'")),
        }
    }

    /// The next byte that is not white space, left in place.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), NpyProblem> {
        if self.peek() != Some(byte) {
            return Err(self.syntax(expected));
        }
        self.at += 1;
        Ok(())
    }

    fn syntax(&self, expected: &'static str) -> NpyProblem {
        NpyProblem::HeaderSyntax { at: self.at, expected }
    }

    /// A quoted string without escapes, which is all NumPy writes here.
    fn string(&mut self) -> Result<String, NpyProblem> {
        let quote = match self.peek() {
            Some(quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.syntax("a quoted string")),
        };
        self.at += 1;
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|byte| *byte == quote);
        let length = length.ok_or_else(|| self.syntax("a closing quote"))?;
        self.at += length + 1;
        // Lossy will do: the text is compared with known words or shown in an error.
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    fn order(&mut self) -> Result<Order, NpyProblem> {
        self.peek();
        for (word, order) in [(&b"False"[..], Order::C), (b"True", Order::Fortran)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(order);
            }
        }
        Err(self.syntax("True or False"))
    }

    fn shape(&mut self) -> Result<Vec<u64>, NpyProblem> {
        let mut sizes = Vec::new();
        self.expect(b'(', "'('")?;
        while self.peek() != Some(b')') {
            sizes.push(self.size()?);
            if self.peek() != Some(b')') {
                self.expect(b',', "',' or ')'")?;
            }
        }
        self.at += 1;
        Ok(sizes)
    }

    fn size(&mut self) -> Result<u64, NpyProblem> {
        if self.peek() == Some(b'-') {
            return Err(NpyProblem::NegativeSize);
        }
        let start = self.at;
        let mut size = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.text.get(self.at) {
            size = size
                .checked_mul(10)
                .and_then(|size| size.checked_add(u64::from(digit - b'0')))
                .ok_or(NpyProblem::Overflow)?;
            self.at += 1;
        }
        if self.at == start {
            return Err(self.syntax("a size"));
        }
        // Python 2 marked long integers.
        if self.text.get(self.at) == Some(&b'L') {
            self.at += 1;
        }
        Ok(size)
    }
}

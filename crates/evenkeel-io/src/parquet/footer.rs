//! Counts in the footer against its bytes: a look at the footer before the decoder sees it.
//!
//! The decoder reserves room for as many children as a schema element claims, up to 16 GB. This walk over the thrift
//! bytes checks every count against the bytes that are left, and every number of children against the schema.

use super::problem::ParquetProblem;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

const MAGIC: &[u8; 4] = b"PAR1";
/// Deeper nesting than any footer has: the walk recurses, and a hostile footer must not overflow the stack.
const MAX_DEPTH: usize = 24;
/// Field of `FileMetaData` that holds the schema, and of its elements that counts their children.
const SCHEMA_FIELD: i16 = 2;
const CHILDREN_FIELD: i16 = 5;

const CUT_OFF: ParquetProblem = ParquetProblem::Damaged { what: "its footer is cut off" };
const CONTRADICTION: ParquetProblem =
    ParquetProblem::Damaged { what: "its footer contradicts itself" };

/// Checks magic, footer length and the counts in the footer.
pub(super) fn check(mut file: &File, length: u64) -> Result<(), ParquetProblem> {
    let mut read = |at: u64, bytes: &mut [u8]| {
        file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(bytes)).map_err(|_| CUT_OFF)
    };
    // Magic at both ends and the footer's length between them: nothing shorter can be one.
    if length < 12 {
        return Err(ParquetProblem::Magic);
    }
    let (mut start, mut end) = ([0; 4], [0; 8]);
    read(0, &mut start)?;
    read(length - 8, &mut end)?;
    if &start != MAGIC || &end[4..] != MAGIC {
        return Err(ParquetProblem::Magic);
    }
    let claimed = u32::from_le_bytes([end[0], end[1], end[2], end[3]]);
    if u64::from(claimed) > length - 12 {
        return Err(CUT_OFF);
    }
    // Compared with the file first: the claim may be 4 GB.
    let mut footer = vec![0; claimed as usize];
    read(length - 8 - u64::from(claimed), &mut footer)?;
    Walk { bytes: &footer, schema_elements: 0 }.structure(0, Place::File)
}

/// Where in the footer a structure stands, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    File,
    SchemaElement,
    Elsewhere,
}

/// A walk over the compact protocol of thrift.
struct Walk<'a> {
    bytes: &'a [u8],
    schema_elements: u64,
}

impl Walk<'_> {
    fn structure(&mut self, depth: usize, place: Place) -> Result<(), ParquetProblem> {
        if depth > MAX_DEPTH {
            return Err(CONTRADICTION);
        }
        let mut field = 0_i16;
        loop {
            let head = self.byte()?;
            if head & 0x0f == 0 {
                return Ok(());
            }
            field = match head >> 4 {
                0 => i16::try_from(self.zigzag()?).map_err(|_| CONTRADICTION)?,
                step => field.wrapping_add(i16::from(step)),
            };
            let kind = head & 0x0f;
            match (place, field) {
                (Place::SchemaElement, CHILDREN_FIELD) if kind == 5 => {
                    let children = self.zigzag()?;
                    // A schema is a list of elements, so that none can have more children than
                    // there are others.
                    if u64::try_from(children).is_ok_and(|count| count >= self.schema_elements) {
                        return Err(CONTRADICTION);
                    }
                }
                (Place::File, SCHEMA_FIELD) => self.value(kind, depth, Place::SchemaElement)?,
                // In a field, true and false are types of their own without a byte of value.
                _ if kind == 1 || kind == 2 => {}
                _ => self.value(kind, depth, Place::Elsewhere)?,
            }
        }
    }

    /// One value; `inside` is the place of the structures in it.
    fn value(&mut self, kind: u8, depth: usize, inside: Place) -> Result<(), ParquetProblem> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.zigzag().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => self.list(depth, inside),
            12 => self.structure(depth + 1, inside),
            // Maps (11) never stand in a footer.
            _ => Err(CONTRADICTION),
        }
    }

    fn list(&mut self, depth: usize, inside: Place) -> Result<(), ParquetProblem> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        // Every element takes at least a byte.
        if count > self.bytes.len() as u64 || depth > MAX_DEPTH {
            return Err(CONTRADICTION);
        }
        if inside == Place::SchemaElement {
            self.schema_elements = count;
        }
        (0..count).try_for_each(|_| self.value(head & 0x0f, depth + 1, inside))
    }

    fn byte(&mut self) -> Result<u8, ParquetProblem> {
        let (first, rest) = self.bytes.split_first().ok_or(CUT_OFF)?;
        self.bytes = rest;
        Ok(*first)
    }

    fn skip(&mut self, count: u64) -> Result<(), ParquetProblem> {
        let count = usize::try_from(count).map_err(|_| CUT_OFF)?;
        self.bytes = self.bytes.get(count..).ok_or(CUT_OFF)?;
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, ParquetProblem> {
        let bytes = &mut || self.byte();
        super::number::varint(bytes)?.ok_or(CONTRADICTION)
    }

    fn zigzag(&mut self) -> Result<i64, ParquetProblem> {
        self.varint().map(super::number::from_zigzag)
    }
}

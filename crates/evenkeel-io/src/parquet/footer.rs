//! Counts in the footer against its bytes: a look at the footer before the decoder sees it.
//!
//! The decoder reserves room for as many children as a schema element claims, up to 16 GB. This walk over the thrift
//! bytes checks every count against the bytes that are left, and every number of children against the schema. It also recurses once for
//! every level of columns in columns, and keeps the whole path of each: both are bounded here.

use super::problem::ParquetProblem;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

const MAGIC: &[u8; 4] = b"PAR1";
/// Deeper nesting than any footer has: the walk recurses, and a hostile footer must not overflow the stack.
const MAX_DEPTH: usize = 24;
/// Columns in columns; tables have a few. At two thousand the decoder, which recurses, overflowed the stack of an optimised build.
const MAX_LEVELS: usize = 64;
/// Names in the paths of all columns together, of which the decoder keeps each by itself.
const MAX_PATH_NAMES: usize = 1 << 22;
/// Field of `FileMetaData` that holds the schema, and of its elements that counts their children.
const SCHEMA_FIELD: i16 = 2;
const CHILDREN_FIELD: i16 = 5;

const CUT_OFF: ParquetProblem = ParquetProblem::Damaged { what: "its footer is cut off" };
const CONTRADICTION: ParquetProblem =
    ParquetProblem::Damaged { what: "its footer contradicts itself" };
const TOO_DEEP: ParquetProblem =
    ParquetProblem::Damaged { what: "its columns are nested more than 64 levels deep" };
const TOO_LONG: ParquetProblem =
    ParquetProblem::Damaged { what: "the paths of its columns have over four million names" };

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
    Walk::over(&footer).structure(0, Place::File)
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
    /// Of the schema element at hand.
    children: u64,
    /// Elements yet to come in each group of the schema that is open, from the outermost.
    open: Vec<u64>,
    /// In the paths of the columns so far.
    names: usize,
}

impl<'a> Walk<'a> {
    fn over(bytes: &'a [u8]) -> Self {
        Self { bytes, schema_elements: 0, children: 0, open: Vec::new(), names: 0 }
    }

    /// An element of the schema, which lists every group before what is in it.
    fn schema_element(&mut self, kind: u8, depth: usize) -> Result<(), ParquetProblem> {
        self.children = 0;
        self.value(kind, depth, Place::SchemaElement)?;
        while self.open.last() == Some(&0) {
            self.open.pop();
        }
        if let Some(left) = self.open.last_mut() {
            *left -= 1;
        }
        if self.children > 0 {
            self.open.push(self.children);
        } else {
            self.names = self.names.saturating_add(self.open.len());
        }
        if self.open.len() > MAX_LEVELS {
            return Err(TOO_DEEP);
        }
        if self.names > MAX_PATH_NAMES {
            return Err(TOO_LONG);
        }
        Ok(())
    }

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
                    self.children = u64::try_from(children).unwrap_or(0);
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
            (self.schema_elements, self.names) = (count, 0);
            self.open.clear();
            return (0..count).try_for_each(|_| self.schema_element(head & 0x0f, depth + 1));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer whose schema has elements with so many children, one after the other.
    fn walked(children: &[u32]) -> Result<(), ParquetProblem> {
        // A list (9) of structures (12) in field 2, with a count of its own.
        let mut footer = vec![0x29, 0xfc];
        varint(&mut footer, children.len() as u32);
        for count in children {
            // A number (5) in field 5, and the end of the structure.
            footer.push(0x55);
            varint(&mut footer, 2 * count);
            footer.push(0);
        }
        footer.push(0);
        Walk::over(&footer).structure(0, Place::File)
    }

    fn varint(bytes: &mut Vec<u8>, mut value: u32) {
        while value > 0x7f {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
    }

    #[test]
    fn columns_nest_as_deep_as_tables_do_and_no_deeper() {
        let nested = |levels: usize| -> Vec<u32> {
            let mut children = vec![1; levels];
            children.push(0);
            children
        };
        assert_eq!(walked(&nested(1)), Ok(()));
        assert_eq!(walked(&nested(MAX_LEVELS)), Ok(()));
        assert_eq!(walked(&nested(MAX_LEVELS + 1)), Err(TOO_DEEP));
        assert_eq!(walked(&nested(100_000)), Err(TOO_DEEP));
        // Groups beside each other are not inside each other.
        let mut lists = vec![1000];
        lists.extend([1, 1, 0].repeat(1000));
        assert_eq!(walked(&lists), Ok(()));
    }

    #[test]
    fn paths_of_columns_are_bounded_together() {
        let wide = |columns: u32| -> Vec<u32> {
            let mut children = vec![1; MAX_LEVELS - 1];
            children.push(columns);
            children.extend(vec![0; columns as usize]);
            children
        };
        let most = (MAX_PATH_NAMES / MAX_LEVELS) as u32;
        assert_eq!(walked(&wide(most)), Ok(()));
        assert_eq!(walked(&wide(most + 1)), Err(TOO_LONG));
    }
}

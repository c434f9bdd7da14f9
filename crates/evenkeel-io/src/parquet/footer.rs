//! Counts in the footer against its bytes: a look at the footer before the decoder sees it.
//!
//! The decoder reserves room for as many children as a schema element claims, up to 16 GB. This walk over the thrift
//! bytes checks every count against the bytes that are left, and every number of children against the schema. It also recurses once for
//! every level of columns in columns, and keeps the whole path of each: both are bounded here. It asks no field of the schema for its
//! type and cuts numbers off at 32 bits, so that the walk has to insist on both: else the two would see other schemas.

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
const LOGICAL_TYPE_FIELD: i16 = 10;
/// Field of a time that holds its unit.
const UNIT_FIELD: i16 = 2;

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

/// Where in the footer a structure stands, as far as it matters: up to the end of the schema, of which the decoder takes the first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    File,
    SchemaElement,
    /// One field of several possible ones, each a structure: a logical type, or the unit of one.
    Union,
    /// The parameters of the logical type with this number.
    LogicalType(i16),
    Elsewhere,
}

/// Kinds of values in thrift's compact protocol; in a field, true and false are kinds of their own.
const BYTE: u8 = 3;
const I32: u8 = 5;
const TEXT: u8 = 8;
const LIST: u8 = 9;
const STRUCTURE: u8 = 12;

impl Place {
    /// Whether the decoder passes the bytes that a field of this kind has.
    fn allows(self, field: i16, kind: u8) -> bool {
        match (self, field) {
            (Self::Elsewhere, _) => true,
            (Self::File, 1) => kind == I32,
            (Self::File, SCHEMA_FIELD) => kind == LIST,
            // Nothing else stands before the schema.
            (Self::File, _) => false,
            (Self::SchemaElement, 4) => kind == TEXT,
            (Self::SchemaElement, LOGICAL_TYPE_FIELD) => kind == STRUCTURE,
            (Self::SchemaElement, 1..10) => kind == I32,
            (Self::Union, _) => kind == STRUCTURE,
            // Decimals.
            (Self::LogicalType(5), 1 | 2) => kind == I32,
            // Times of day and instants: a flag and a unit.
            (Self::LogicalType(7 | 8), 1) => kind < BYTE,
            (Self::LogicalType(7 | 8), UNIT_FIELD) => kind == STRUCTURE,
            // Whole numbers: their width and a flag; the version of a variant.
            (Self::LogicalType(10 | 16), 1) => kind == BYTE,
            (Self::LogicalType(10), 2) => kind < BYTE,
            // Places: a system of coordinates, and how edges run.
            (Self::LogicalType(17 | 18), 1) => kind == TEXT,
            (Self::LogicalType(18), 2) => kind == I32,
            // Skipped by its kind; in lists the decoder takes flags to have no bytes.
            _ => kind <= TEXT || kind == STRUCTURE,
        }
    }

    /// The place of the structures in a field.
    fn inside(self, field: i16) -> Self {
        match (self, field) {
            (Self::File, SCHEMA_FIELD) => Self::SchemaElement,
            (Self::SchemaElement, LOGICAL_TYPE_FIELD) | (Self::LogicalType(7 | 8), UNIT_FIELD) => {
                Self::Union
            }
            (Self::Union, _) => Self::LogicalType(field),
            (Self::SchemaElement | Self::LogicalType(_), _) => Self::LogicalType(0),
            _ => Self::Elsewhere,
        }
    }
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

    fn structure(&mut self, depth: usize, mut place: Place) -> Result<(), ParquetProblem> {
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
            if !place.allows(field, kind) {
                return Err(CONTRADICTION);
            }
            match (place, field) {
                (Place::SchemaElement, CHILDREN_FIELD) => {
                    let children = i32::try_from(self.zigzag()?).map_err(|_| CONTRADICTION)?;
                    // A schema is a list of elements, so that none can have more children than
                    // there are others.
                    if u64::try_from(children).is_ok_and(|count| count >= self.schema_elements) {
                        return Err(CONTRADICTION);
                    }
                    self.children = u64::try_from(children).unwrap_or(0);
                }
                // In a field, true and false are types of their own without a byte of value.
                _ if kind == 1 || kind == 2 => {}
                _ => self.value(kind, depth, place.inside(field))?,
            }
            if (place, field) == (Place::File, SCHEMA_FIELD) {
                // What follows changes no schema.
                place = Place::Elsewhere;
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

    /// A footer with one element, behind what stands before the schema.
    fn walked_element(before: &[u8], element: &[u8]) -> Result<(), ParquetProblem> {
        let field = if before.is_empty() { 0x29 } else { 0x19 };
        let footer = [before, &[field, 0x1c], element, &[0, 0]].concat();
        Walk::over(&footer).structure(0, Place::File)
    }

    /// Fields of other kinds, which the decoder would read as what they should be, and so see another schema.
    #[test]
    fn fields_of_the_schema_have_their_kinds() {
        let version = [0x15, 0x02];
        for (element, is_sound) in [
            (&[0x15, 0x0c, 0x25, 0x02, 0x18, 0x01, b'p'][..], true),
            // No children, and as many as -2^32 and one, of which the decoder would take the one.
            (&[0x55, 0x00], true),
            (&[0x55, 0x01], true),
            (&[0x55, 0xfd, 0xff, 0xff, 0xff, 0x1f], false),
            // Of 64 bits; a name that is a number; a type that is a structure.
            (&[0x56, 0x00], false),
            (&[0x45, 0x00], false),
            (&[0x1c, 0x00], false),
            // Text; a decimal; an instant in milliseconds; 16 bits with a sign; a kind that is not known.
            (&[0xac, 0x1c, 0x00, 0x00], true),
            (&[0xac, 0x5c, 0x15, 0x04, 0x15, 0x12, 0x00, 0x00], true),
            (&[0xac, 0x8c, 0x11, 0x1c, 0x1c, 0x00, 0x00, 0x00, 0x00], true),
            (&[0xac, 0xac, 0x13, 0x10, 0x11, 0x00, 0x00], true),
            (&[0xac, 0x0c, 0x50, 0x1c, 0x15, 0x00, 0x00, 0x00, 0x00], true),
            // The scale of the decimal as text, its precision in a list; the unit as eight bytes; the width as text.
            (&[0xac, 0x5c, 0x18, 0x00, 0x15, 0x12, 0x00, 0x00], false),
            (&[0xac, 0x5c, 0x15, 0x04, 0x19, 0x01, 0x00, 0x00, 0x00], false),
            (&[0xac, 0x8c, 0x11, 0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x00], false),
            (&[0xac, 0x8c, 0x11, 0x1c, 0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x00, 0x00], false),
            (&[0xac, 0xac, 0x18, 0x00, 0x11, 0x00, 0x00], false),
            // A list of flags, which the decoder takes to have no bytes.
            (&[0xb9, 0x11, 0x01], false),
        ] {
            for before in [&[][..], &version] {
                let expected = if is_sound { Ok(()) } else { Err(CONTRADICTION) };
                assert_eq!(walked_element(before, element), expected, "{element:02x?}");
            }
        }
        // A version that is a structure, and a field that no footer has there.
        assert_eq!(walked_element(&[0x1c, 0x00], &[0x55, 0x00]), Err(CONTRADICTION));
        let behind = [0x05, 0x50, 0x00, 0x05, 0x02, 0x00];
        assert_eq!(walked_element(&behind, &[0x55, 0x00]), Err(CONTRADICTION));
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

//! A page header, walked through before the decoder reads it.
//!
//! ```text
//! 1 type  2 uncompressed size  3 compressed size  [4 checksum]  5 data page | 6 index | 7 dictionary | 8 data page v2  end
//! ```
//! The decoder takes that order for granted, and of a field that is there twice the last. It also takes the type of a field for granted,
//! so that a walk which did not insist on it would see other fields than the decoder. Whatever differs is refused.

use super::number::{from_zigzag, varint};
use std::io::{self, BufRead};

/// What a header says, and its own length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageHeader {
    /// Bytes of the page as it lies in the file.
    pub(super) packed: u64,
    /// Bytes that it claims to hold.
    pub(super) unpacked: u64,
    /// Values that it claims to hold; an index has none.
    pub(super) values: Option<u64>,
    /// Bytes of the header.
    pub(super) length: u64,
}

impl PageHeader {
    /// Reads the header that begins here, to its end.
    ///
    /// # Errors
    /// If it is not in the order above, or cut off.
    pub(super) fn read(input: &mut dyn BufRead) -> io::Result<Self> {
        let mut walk = Walk { input, length: 0 };
        let [kind, unpacked, packed] = [walk.size()?, walk.size()?, walk.size()?];
        let (mut field, mut head) = (3, walk.byte()?);
        if head == NEXT_I32 {
            walk.varint()?;
            (field, head) = (4, walk.byte()?);
        }
        // The decoder would take the structure of another type for the page's own, and rely on what it lacks.
        if head & 0x0f != STRUCTURE || u64::from(field + (head >> 4)) != kind + 5 {
            return Err(damaged());
        }
        let values = walk.own_structure(kind)?;
        // Nothing follows it: neither a structure of another type nor, once more, a size.
        match walk.byte()? & 0x0f {
            0 => Ok(Self { packed, unpacked, values, length: walk.length }),
            _ => Err(damaged()),
        }
    }
}

/// Kinds of values in thrift's compact protocol.
const I32: u8 = 5;
const STRUCTURE: u8 = 12;
/// A number in the field after the last.
const NEXT_I32: u8 = 0x15;
/// Deeper than any header nests what the decoder skips.
const MAX_DEPTH: usize = 8;

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a page header is damaged")
}

struct Walk<'a> {
    input: &'a mut dyn BufRead,
    /// Bytes passed so far.
    length: u64,
}

impl Walk<'_> {
    /// A number of 32 bits, not negative, in the next field.
    fn size(&mut self) -> io::Result<u64> {
        match self.byte()? {
            NEXT_I32 => self.count(),
            _ => Err(damaged()),
        }
    }

    /// Such a number itself.
    fn count(&mut self) -> io::Result<u64> {
        // The decoder would cut a larger one off.
        let size = i32::try_from(from_zigzag(self.varint()?)).map_err(|_| damaged())?;
        u64::try_from(size).map_err(|_| damaged())
    }

    /// The structure of a page's type: numbers, of which the first counts the values, a flag, and what the decoder skips.
    fn own_structure(&mut self, kind: u64) -> io::Result<Option<u64>> {
        // The last of its numbers, which are its first fields, and the field of its flag.
        let (numbers, flag) = match kind {
            0 => (4, None),
            2 => (2, Some(3)),
            3 => (6, Some(7)),
            _ => (0, None),
        };
        let (mut field, mut values) = (0_i16, None);
        loop {
            let head = self.byte()?;
            let (step, kind) = (i16::from(head >> 4), head & 0x0f);
            match (kind, step) {
                // The decoder refuses a page that does not say it, but what it allocates first rests on this.
                (0, _) if numbers > 0 && values.is_none() => return Err(damaged()),
                (0, _) => return Ok(values),
                // A field that says its own number may be one of those before.
                (_, 0) => return Err(damaged()),
                _ => field = field.checked_add(step).ok_or_else(damaged)?,
            }
            match kind {
                I32 if field == 1 && numbers > 0 => values = Some(self.count()?),
                I32 if field <= numbers => drop(self.varint()?),
                1 | 2 if Some(field) == flag => {}
                _ if field <= numbers || Some(field) == flag => return Err(damaged()),
                _ => self.skip(kind, 0)?,
            }
        }
    }

    /// A value of a field that the decoder skips.
    fn skip(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        match kind {
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => self.varint().map(drop),
            7 => self.pass(8),
            8 => {
                let length = self.varint()?;
                self.pass(length)
            }
            STRUCTURE if depth < MAX_DEPTH => loop {
                let head = self.byte()?;
                match head & 0x0f {
                    0 => return Ok(()),
                    kind => {
                        if head >> 4 == 0 {
                            self.varint()?;
                        }
                        self.skip(kind, depth + 1)?;
                    }
                }
            },
            // Statistics have no lists and no maps.
            _ => Err(damaged()),
        }
    }

    fn varint(&mut self) -> io::Result<u64> {
        varint(&mut || self.byte())?.ok_or_else(damaged)
    }

    fn byte(&mut self) -> io::Result<u8> {
        let byte = *self.input.fill_buf()?.first().ok_or_else(damaged)?;
        self.input.consume(1);
        self.length += 1;
        Ok(byte)
    }

    fn pass(&mut self, count: u64) -> io::Result<()> {
        let mut left = count;
        while left > 0 {
            let here = self.input.fill_buf()?.len();
            if here == 0 {
                return Err(damaged());
            }
            let step = usize::try_from(left).map_or(here, |left| left.min(here));
            self.input.consume(step);
            self.length += step as u64;
            left -= step as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    /// The header in these bytes, read through a buffer shorter than it is.
    fn read(bytes: &[u8]) -> Option<PageHeader> {
        PageHeader::read(&mut BufReader::with_capacity(7, bytes)).ok()
    }

    /// As pyarrow writes it: 622 bytes as 615, sixty values, statistics with a smallest and a largest number.
    fn of_data(statistics: &[u8]) -> Vec<u8> {
        let sizes = [0x15, 0x00, 0x15, 0xdc, 0x09, 0x15, 0xce, 0x09];
        let own = [0x2c, 0x15, 0x78, 0x15, 0x10, 0x15, 0x06, 0x15, 0x06];
        [&sizes[..], &own, statistics, &[0x00, 0x00]].concat()
    }

    const STATISTICS: [u8; 28] = [
        0x1c, 0x36, 0x00, 0x28, 0x08, 1, 2, 3, 4, 5, 6, 7, 8, 0x18, 0x08, 1, 2, 3, 4, 5, 6, 7, 8,
        0x11, 0x11, 0x16, 0x00, 0x00,
    ];

    #[test]
    fn headers_are_read_to_their_end() {
        for statistics in [&[][..], &STATISTICS] {
            let mut bytes = of_data(statistics);
            let length = bytes.len() as u64;
            let header = PageHeader { packed: 615, unpacked: 622, values: Some(60), length };
            assert_eq!(read(&bytes), Some(header));
            for cut in 0..bytes.len() {
                assert_eq!(read(&bytes[..cut]), None, "cut at {cut}");
            }
            bytes.extend([0xff; 20]);
            assert_eq!(read(&bytes), Some(header));
        }
        // With a checksum; a dictionary; a page of the second version.
        for bytes in [
            &[0x15, 0, 0x15, 4, 0x15, 4, 0x15, 7, 0x1c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0][..],
            &[0x15, 4, 0x15, 4, 0x15, 4, 0x4c, 0x15, 2, 0x15, 0, 0x12, 0, 0],
            &[
                0x15, 6, 0x15, 4, 0x15, 4, 0x5c, 0x15, 2, 0x15, 0, 0x15, 2, 0x15, 0, 0x15, 0, 0x15,
                0, 0x11, 0, 0,
            ],
        ] {
            let length = bytes.len() as u64;
            let header = PageHeader { packed: 2, unpacked: 2, values: Some(1), length };
            assert_eq!(read(bytes), Some(header));
        }
    }

    /// The decoder would believe the last of several sizes, and the structure of another type beside the page's own.
    #[test]
    fn what_follows_the_structure_is_refused() {
        let whole = of_data(&STATISTICS);
        let end = whole.len() - 1;
        for more in [
            // Field 2 by its number, and field 8 after field 5.
            &[0x05, 0x04, 0xfe, 0xff, 0xff, 0xff, 0x0f][..],
            &[0x3c, 0x15, 0x00, 0x00],
            &[0x11],
        ] {
            assert_eq!(read(&[&whole[..end], more, &[0x00]].concat()), None);
        }
    }

    /// Where the walk and the decoder would not see the same fields.
    #[test]
    fn fields_of_other_types_are_refused() {
        let whole = of_data(&[]);
        for (place, byte) in [
            // The number of values as eight bytes of text, whose length the decoder would take for the number.
            (9, 0x18),
            // A flag, and a field that says its own number.
            (9, 0x11),
            (9, 0x05),
            // A structure where the size should be.
            (2, 0x1c),
        ] {
            let mut bytes = whole.clone();
            bytes[place] = byte;
            bytes.extend([0; 8]);
            assert_eq!(read(&bytes), None, "byte {place}");
        }
        // A page that does not say how many values it has, less than none, and more than its type can say.
        for own in [&[0x25, 0x10][..], &[0x15, 0x01], &[0x15, 0x84, 0x80, 0x80, 0x80, 0x20]] {
            let sizes = [0x15, 0x00, 0x15, 0xdc, 0x09, 0x15, 0xce, 0x09, 0x2c];
            assert_eq!(read(&[&sizes, own, &[0x00, 0x00]].concat()), None);
        }
        // Statistics that are a list, and structures in structures without an end.
        assert_eq!(read(&of_data(&[0x19, 0x15, 0x00])), None);
        let deep = [vec![0x1c; 100], vec![0; 100]].concat();
        assert_eq!(read(&of_data(&deep)), None);
    }

    /// Sizes that 32 bits do not hold, of which the decoder would take the lower ones.
    #[test]
    fn sizes_beyond_their_type_are_refused() {
        let with_size = |size: &[u8]| {
            let own = [0x2c, 0x15, 0x78, 0x15, 0x10, 0x15, 0x06, 0x15, 0x06, 0x00, 0x00];
            read(&[&[0x15, 0x00, 0x15, 0x04, 0x15], size, &own].concat())
        };
        assert!(with_size(&[0x04]).is_some());
        assert_eq!(
            with_size(&[0xfe, 0xff, 0xff, 0xff, 0x0f]).map(|it| it.packed),
            Some(0x7fff_ffff)
        );
        // Minus one, and 2^32 + 2.
        assert_eq!(with_size(&[0x01]), None);
        assert_eq!(with_size(&[0x84, 0x80, 0x80, 0x80, 0x20]), None);
        assert_eq!(with_size(&[0x80; 11]), None);
    }
}

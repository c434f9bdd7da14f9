//! Sizes in page headers against the bytes of the pages, checked before the decoder allocates what they claim.

use super::page_header::PageHeader;
use ::parquet::basic::{Encoding, Type};
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use ::parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};
use bytes::Bytes;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Largest page that is read, uncompressed. Writers aim at 1 MB; some go to 100 MB.
pub const MAX_PAGE_BYTES: u64 = 256 << 20;

/// Pages up to this size may shrink as much as they like: a constant column is a few bytes of zstd. Those of numbers hold no more than
/// their numbers take ([`Room`]).
const MODEST_PAGE_BYTES: u64 = 16 << 20;

/// Above it, a page grows by less than this; deflate's limit, beyond what numbers that differ can reach.
const LARGEST_RATIO: u64 = 1032;

/// Most numbers in a page of lists. The runs of its levels can claim billions in a few bytes, and a list is read whole.
const MAX_LIST_PAGE_VALUES: u64 = 1 << 24;

/// A file, read in pieces that lie in it.
pub(super) struct GuardedFile {
    file: File,
    length: u64,
}

impl GuardedFile {
    pub(super) fn new(file: File, length: u64) -> Self {
        Self { file, length }
    }
}

/// Bytes that a value may take in a page beside itself: each of its two levels takes two where runs are as short as can be, a place in a
/// dictionary five, and the difference from the value before no more than the value, and its share of what leads a block.
const VALUE_SLACK_BYTES: u64 = 16;

/// Bytes that a page may hold beside its values: lengths of levels, and places of a block of differences that are left empty.
const PAGE_SLACK_BYTES: u64 = 64 << 10;

/// How much the pages of a column can hold.
struct Room {
    column: ColumnDescPtr,
    /// Values of the column in its group of rows.
    values: u64,
}

impl Room {
    /// Most bytes of a page that says to hold so many values; none where a value may be of any length.
    fn of_page(&self, values: u64) -> Option<u64> {
        let width = match self.column.physical_type() {
            Type::BYTE_ARRAY => return None,
            Type::INT96 => 12,
            _ => value_bytes(&self.column),
        };
        // No page and no dictionary has more values than the column, whatever it says.
        let values = values.min(self.values);
        Some(values.saturating_mul(width + VALUE_SLACK_BYTES).saturating_add(PAGE_SLACK_BYTES))
    }

    /// Bytes that a page claims to hold, unpacked, which the decoder allocates before it sees a byte of the page.
    fn claimed_bytes(&self, header: PageHeader) -> io::Result<usize> {
        let PageHeader { packed, unpacked, values, .. } = header;
        let fail = |message| Err(io::Error::new(io::ErrorKind::InvalidData, message));
        let plausible = MODEST_PAGE_BYTES.max(packed.saturating_mul(LARGEST_RATIO));
        if unpacked > plausible.min(MAX_PAGE_BYTES) {
            return fail(format!("a page of {packed} bytes claims to hold {unpacked}"));
        }
        match values.and_then(|values| self.of_page(values)) {
            Some(most) if unpacked > most => {
                let column = self.column.path().parts().first().map_or("", String::as_str);
                fail(format!(
                    "column {column:?} has a page that claims to hold {unpacked} bytes, where its numbers take at most {most}"
                ))
            }
            _ => usize::try_from(unpacked).map_err(io::Error::other),
        }
    }
}

/// A column of it, whose page headers are looked at as they are read.
pub(super) struct GuardedColumn {
    file: Arc<GuardedFile>,
    room: Arc<Room>,
    /// Bytes that the page whose header was read last claims to hold, unpacked.
    claimed: Arc<AtomicUsize>,
}

impl GuardedColumn {
    /// A column that has this many values in its group of rows.
    pub(super) fn new(file: Arc<GuardedFile>, values: u64, column: &ColumnDescPtr) -> Self {
        let room = Room { column: column.clone(), values };
        Self { file, room: Arc::new(room), claimed: Arc::default() }
    }

    pub(super) fn claimed(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.claimed)
    }
}

impl Length for GuardedColumn {
    fn len(&self) -> u64 {
        self.file.length
    }
}

impl ChunkReader for GuardedColumn {
    type T = PageHeaderReader;

    fn get_read(&self, start: u64) -> Result<PageHeaderReader> {
        let input = self.file.file.get_read(start)?;
        let room = Arc::clone(&self.room);
        Ok(PageHeaderReader { input, room, claimed: self.claimed(), checked: false })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Before the bytes are asked for: the decoder would reserve them first.
        if start.checked_add(length as u64).is_none_or(|end| end > self.len()) {
            return Err(ParquetError::EOF("a page reaches past the end of the file".into()));
        }
        self.file.file.get_bytes(start, length)
    }
}

/// Reads a page header, after a look at the sizes it claims.
///
/// The decoder fetches headers through this and page data through `get_bytes`; a reader that is never read from may
/// stand anywhere.
pub(super) struct PageHeaderReader {
    input: BufReader<File>,
    room: Arc<Room>,
    claimed: Arc<AtomicUsize>,
    checked: bool,
}

impl Read for PageHeaderReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.checked {
            let header = PageHeader::read(&mut self.input)?;
            self.claimed.store(self.room.claimed_bytes(header)?, Ordering::Relaxed);
            self.input.seek_relative(-header.length.cast_signed())?;
            self.checked = true;
        }
        self.input.read(buffer)
    }
}

/// Pages of a column chunk that together hold no more values than the footer says, dictionaries no more than their
/// bytes can, and nothing that the decoder takes for granted and a damaged file lacks.
pub(super) struct GuardedPages {
    pages: Box<dyn PageReader>,
    values_left: u64,
    column: ColumnDescPtr,
    has_dictionary: bool,
}

impl GuardedPages {
    pub(super) fn new(pages: Box<dyn PageReader>, values: u64, column: &ColumnDescPtr) -> Self {
        Self { pages, values_left: values, column: column.clone(), has_dictionary: false }
    }

    fn check(&mut self, page: &Page) -> Result<()> {
        let values = u64::from(page.num_values());
        let fail = |message: String| Err(ParquetError::General(message));
        match page {
            Page::DictionaryPage { buf, .. } => {
                self.has_dictionary = true;
                // Even booleans take a bit.
                return if values <= 8 * buf.len() as u64 {
                    Ok(())
                } else {
                    fail("a dictionary is shorter than it claims".into())
                };
            }
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                if levels > buf.len() as u64 {
                    return fail("the levels of a page are longer than the page".into());
                }
            }
            Page::DataPage { .. } => {}
        }
        let encoding = page.encoding();
        if encoding == Encoding::BYTE_STREAM_SPLIT
            && values * value_bytes(&self.column) > data_bytes(page, &self.column)
        {
            return fail(
                "a page is too short for its numbers; it is damaged or holds nulls".into(),
            );
        }
        if matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY)
            && !self.has_dictionary
        {
            return fail("a page refers to a dictionary that is not there".into());
        }
        let limit = MAX_LIST_PAGE_VALUES;
        if self.column.max_rep_level() > 0 && values > limit {
            return fail(format!("a page claims {values} numbers, at most {limit} are read"));
        }
        match self.values_left.checked_sub(values) {
            Some(left) => {
                self.values_left = left;
                Ok(())
            }
            None => fail("a column holds more values than it says".into()),
        }
    }
}

/// Bytes of one number.
fn value_bytes(column: &ColumnDescriptor) -> u64 {
    match column.physical_type() {
        Type::INT32 | Type::FLOAT => 4,
        Type::INT64 | Type::DOUBLE => 8,
        // A length that is not one counts as a byte: too small refuses nothing that is sound.
        _ => u64::try_from(column.type_length()).unwrap_or(1),
    }
}

/// Bytes of a data page behind its levels.
fn data_bytes(page: &Page, column: &ColumnDescriptor) -> u64 {
    let mut rest = &page.buffer()[..];
    match page {
        Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
            let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
            return (rest.len() as u64).saturating_sub(levels);
        }
        _ => {
            // Each kind of level is led by its length.
            for levels in [column.max_rep_level(), column.max_def_level()] {
                if levels > 0 {
                    let Some((length, behind)) = rest.split_first_chunk() else { return 0 };
                    let length = u32::from_le_bytes(*length) as usize;
                    rest = behind.get(length..).unwrap_or_default();
                }
            }
        }
    }
    rest.len() as u64
}

impl Iterator for GuardedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// Pages without values are passed over, as if they were not there: the decoder takes one for the end of the column, and one behind the
/// last list for its continuation. pyarrow writes such pages, where a page is full before the last list of a group.
impl PageReader for GuardedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        loop {
            let Some(page) = self.pages.get_next_page()? else { return Ok(None) };
            if !page.is_data_page() || page.num_values() > 0 {
                self.check(&page)?;
                return Ok(Some(page));
            }
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        loop {
            match self.pages.peek_next_page()? {
                Some(page) if page.num_levels == Some(0) => self.pages.skip_next_page()?,
                next => return Ok(next),
            }
        }
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.peek_next_page()?;
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.peek_next_page()?;
        self.pages.at_record_boundary()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::parquet::schema::parser::parse_message_type;
    use ::parquet::schema::types::SchemaDescriptor;

    fn room(column: &str, values: u64) -> Room {
        let schema = parse_message_type(&format!("message table {{ required {column}; }}"));
        let column = SchemaDescriptor::new(Arc::new(schema.unwrap())).column(0);
        Room { column, values }
    }

    #[test]
    fn numbers_take_so_many_bytes_and_text_any() {
        for (column, width) in [
            ("boolean p", 1),
            ("int32 p", 4),
            ("float p", 4),
            ("int64 p", 8),
            ("double p", 8),
            ("fixed_len_byte_array(2) p", 2),
            ("fixed_len_byte_array(16) p", 16),
        ] {
            let room = room(column, 1000);
            for (values, counted) in [(0, 0), (40, 40), (1000, 1000), (1001, 1000), (1 << 31, 1000)]
            {
                let most = counted * (width + 16) + 65536;
                assert_eq!(room.of_page(values), Some(most), "{column} {values}");
                let claim = |unpacked| {
                    let (packed, length) = (100, 20);
                    let header = PageHeader { packed, unpacked, values: Some(values), length };
                    room.claimed_bytes(header).is_ok()
                };
                assert!(claim(0) && claim(most) && !claim(most + 1), "{column} {values}");
            }
        }
        assert_eq!(room("binary p", 1000).of_page(40), None);
        // No sum is so large that it wraps around.
        assert_eq!(room("double p", u64::MAX).of_page(u64::MAX), Some(u64::MAX));
    }
}

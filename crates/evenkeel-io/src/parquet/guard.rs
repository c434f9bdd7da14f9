//! Pages checked before the decoder allocates what they claim.

use super::number::{from_zigzag, varint};
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use ::parquet::schema::types::ColumnDescriptor;
use bytes::Bytes;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// Largest page that is read, uncompressed. Writers aim at 1 MB; some go to 100 MB.
pub const MAX_PAGE_BYTES: u64 = 256 << 20;

/// Pages up to this size may shrink as much as they like: a constant column is a few bytes of zstd.
const MODEST_PAGE_BYTES: u64 = 16 << 20;

/// Above it, a page grows by less than this; deflate's limit, beyond what numbers that differ can reach.
const LARGEST_RATIO: u64 = 1032;

/// Most numbers in a page of lists. The runs of its levels can claim billions in a few bytes, and a list is read whole.
const MAX_LIST_PAGE_VALUES: u64 = 1 << 24;

/// A file whose page headers are looked at as they are read.
pub(super) struct GuardedFile {
    file: File,
    length: u64,
}

impl GuardedFile {
    pub(super) fn new(file: File, length: u64) -> Self {
        Self { file, length }
    }
}

impl Length for GuardedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for GuardedFile {
    type T = PageHeaderReader;

    fn get_read(&self, start: u64) -> Result<PageHeaderReader> {
        Ok(PageHeaderReader { input: self.file.get_read(start)?, checked: false })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF("a page reaches past the end of the file".into()));
        }
        self.file.get_bytes(start, length)
    }
}

/// Reads a page header, after a look at the sizes it claims.
///
/// The decoder fetches headers through this and page data through `get_bytes`; a reader that is never read from may
/// stand anywhere.
pub(super) struct PageHeaderReader {
    input: BufReader<File>,
    checked: bool,
}

impl Read for PageHeaderReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.checked {
            check_sizes(self.input.fill_buf()?)?;
            self.checked = true;
        }
        self.input.read(buffer)
    }
}

/// A page header starts with its type, its uncompressed and its compressed size, each required and an `i32`.
fn check_sizes(header: &[u8]) -> io::Result<()> {
    const NEXT_FIELD_I32: u8 = 0x15;
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a page header is damaged");
    let mut bytes = header.iter().copied();
    let mut sizes = [0_u64; 3];
    for size in &mut sizes {
        let mut next = || bytes.next().ok_or_else(damaged);
        if next()? != NEXT_FIELD_I32 {
            return Err(damaged());
        }
        let value = varint(&mut next)?.map(from_zigzag).ok_or_else(damaged)?;
        *size = u64::try_from(value).map_err(|_| damaged())?;
    }
    let [_, uncompressed, compressed] = sizes;
    let plausible = MODEST_PAGE_BYTES.max(compressed.saturating_mul(LARGEST_RATIO));
    if uncompressed > plausible.min(MAX_PAGE_BYTES) {
        let message = format!("a page of {compressed} bytes claims to hold {uncompressed}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(())
}

/// Pages of a column chunk that together hold no more values than the footer says, and dictionaries no more than
/// their bytes can.
pub(super) struct GuardedPages<P> {
    pages: P,
    values_left: u64,
    page_limit: u64,
}

impl<P: PageReader> GuardedPages<P> {
    pub(super) fn new(pages: P, values: u64, column: &ColumnDescriptor) -> Self {
        let page_limit = if column.max_rep_level() > 0 { MAX_LIST_PAGE_VALUES } else { u64::MAX };
        Self { pages, values_left: values, page_limit }
    }

    fn check(&mut self, page: &Page) -> Result<()> {
        let values = u64::from(page.num_values());
        if let Page::DictionaryPage { buf, .. } = page {
            // Even booleans take a bit.
            if values > 8 * buf.len() as u64 {
                return Err(ParquetError::General("a dictionary is shorter than it claims".into()));
            }
            return Ok(());
        }
        if values > self.page_limit {
            let message =
                format!("a page claims {values} numbers, at most {} are read", self.page_limit);
            return Err(ParquetError::General(message));
        }
        match self.values_left.checked_sub(values) {
            Some(left) => {
                self.values_left = left;
                Ok(())
            }
            None => Err(ParquetError::General("a column holds more values than it says".into())),
        }
    }
}

impl<P: PageReader> Iterator for GuardedPages<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for GuardedPages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.iter().try_for_each(|page| self.check(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

//! Pages that are packed with brotli, unpacked here and not by the `parquet` crate: with its decoder it links an encoder that nothing
//! calls, a twentieth of the program.

use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use brotli_decompressor::{BrotliDecoderParameter, Decompressor};
use bytes::Bytes;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a packed page that the decoder holds at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// Unpacks the pages of a column whose reader takes them for plain.
pub(super) struct BrotliPages<P> {
    packed: P,
    /// Bytes of the page that was read last, its levels and its numbers, unpacked: what its header claims.
    claimed: Arc<AtomicUsize>,
}

impl<P> BrotliPages<P> {
    pub(super) fn new(packed: P, claimed: Arc<AtomicUsize>) -> Self {
        Self { packed, claimed }
    }
}

/// Behind `plain` bytes, which never are packed, `claimed` in all.
fn unpacked(page: &Bytes, plain: usize, claimed: usize) -> Result<Bytes> {
    let differ = |what: &str| {
        let reason =
            format!("a page packed with brotli is {what} than the {claimed} bytes it claims");
        ParquetError::General(reason)
    };
    let (Some((levels, packed)), Some(length)) =
        (page.split_at_checked(plain), claimed.checked_sub(plain))
    else {
        return Err(differ("shorter"));
    };
    let mut whole = Vec::with_capacity(claimed);
    whole.extend_from_slice(levels);
    // A page of nulls alone has no numbers, and nothing that could be unpacked.
    if length > 0 {
        let mut numbers = Decompressor::new(packed, BUFFER_BYTES);
        // RFC 7932, which parquet means, ends at windows of 16 MB; an extension, which the decoder takes unless told, has room for 1 GB.
        numbers.set_parameter(BrotliDecoderParameter::BROTLI_DECODER_PARAM_LARGE_WINDOW, 0);
        // One byte more than is claimed is enough to see that there are more.
        numbers.take(length as u64 + 1).read_to_end(&mut whole)?;
    }
    match whole.len() {
        found if found < claimed => Err(differ("shorter")),
        found if found > claimed => Err(differ("longer")),
        _ => Ok(whole.into()),
    }
}

impl<P: PageReader> Iterator for BrotliPages<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for BrotliPages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let mut page = self.packed.get_next_page()?;
        let claimed = self.claimed.load(Ordering::Relaxed);
        match &mut page {
            Some(Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. }) => {
                *buf = unpacked(buf, 0, claimed)?;
            }
            Some(Page::DataPageV2 {
                buf,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed: true,
                ..
            }) => {
                let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                *buf = unpacked(buf, usize::try_from(levels).unwrap_or(usize::MAX), claimed)?;
            }
            Some(Page::DataPageV2 { .. }) | None => {}
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.packed.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.packed.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.packed.at_record_boundary()
    }
}

#[cfg(test)]
mod tests {
    use super::unpacked;
    use bytes::Bytes;

    /// A hundred bytes, "keel" and again, as Node packs them.
    const PACKED: [u8; 13] = [27, 99, 0, 248, 37, 203, 214, 216, 2, 180, 0, 64, 199];

    #[test]
    fn a_page_is_as_long_as_it_claims_or_refused() {
        let page = Bytes::from([b"levels".as_slice(), &PACKED].concat());
        let whole = unpacked(&page, 6, 106).unwrap();
        assert_eq!(whole, Bytes::from(["levels".to_owned(), "keel".repeat(25)].concat()));
        assert_eq!(unpacked(&page, 6, 6).unwrap(), Bytes::from("levels"));
        for (plain, claimed, words) in [
            (6, 105, "longer than the 105"),
            (6, 107, "shorter than the 107"),
            (6, 5, "shorter"),
            (20, 106, "shorter"),
        ] {
            let error = unpacked(&page, plain, claimed).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn damaged_pages_are_refused() {
        for cut in 0..PACKED.len() {
            assert!(unpacked(&Bytes::copy_from_slice(&PACKED[..cut]), 0, 100).is_err());
        }
        assert!(unpacked(&Bytes::from_static(&[0xff; 40]), 0, 100).is_err());
    }

    /// Four bytes, stored as they are, behind the size of a window: 2^16 bytes, and 2^30 by an extension that parquet does not mean.
    #[test]
    fn large_windows_are_refused() {
        let [plain, large] = [&[0x30, 0x00, 0x10][..], &[0x11, 0x1e, 0x06, 0x00, 0x02]]
            .map(|window| Bytes::from([window, b"keel", &[0x03]].concat()));
        assert_eq!(unpacked(&plain, 0, 4).unwrap(), Bytes::from("keel"));
        assert!(unpacked(&large, 0, 4).is_err());
    }
}

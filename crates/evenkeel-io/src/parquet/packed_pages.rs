//! Pages that are packed with brotli, gzip or zstd, unpacked here and not by the `parquet` crate: with its decoders it links their
//! encoders, which nothing calls, a twelfth of the program, and pages of gzip may hold more than they claim.

use ::parquet::basic::Compression;
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use brotli_decompressor::{BrotliDecoderParameter, Decompressor};
use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use std::io::{Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zstd::bulk;

/// Bytes of a packed page that the decoder of brotli holds at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// What unpacks pages.
pub(super) enum Unpacker {
    Brotli,
    Gzip,
    Zstd(bulk::Decompressor<'static>),
}

impl Unpacker {
    /// That of a codec; none for those that the `parquet` crate unpacks.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(super) fn of(codec: Compression) -> Result<Option<Self>> {
        Ok(match codec {
            Compression::BROTLI(_) => Some(Self::Brotli),
            Compression::GZIP(_) => Some(Self::Gzip),
            Compression::ZSTD(_) => Some(Self::Zstd(bulk::Decompressor::new()?)),
            _ => None,
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Brotli => "brotli",
            Self::Gzip => "gzip",
            Self::Zstd(_) => "zstd",
        }
    }

    /// Behind `plain` bytes, which never are packed, `claimed` in all.
    fn unpacked(&mut self, page: &Bytes, plain: usize, claimed: usize) -> Result<Bytes> {
        let name = self.name();
        let differ = |what: &str| {
            let reason =
                format!("a page packed with {name} is {what} than the {claimed} bytes it claims");
            ParquetError::General(reason)
        };
        let (Some((levels, packed)), Some(length)) =
            (page.split_at_checked(plain), claimed.checked_sub(plain))
        else {
            return Err(differ("shorter"));
        };
        // One byte more than is claimed is enough to see that there are more.
        let mut whole = Vec::with_capacity(claimed + 1);
        whole.extend_from_slice(levels);
        match self {
            // A page of nulls alone has no numbers, and nothing that could be unpacked.
            _ if length == 0 => {}
            Self::Brotli => {
                let mut numbers = Decompressor::new(packed, BUFFER_BYTES);
                // RFC 7932, which parquet means, ends at windows of 16 MB; an extension, which the decoder takes unless told, has room
                // for 1 GB.
                numbers.set_parameter(BrotliDecoderParameter::BROTLI_DECODER_PARAM_LARGE_WINDOW, 0);
                numbers.take(length as u64 + 1).read_to_end(&mut whole)?;
            }
            Self::Gzip => {
                MultiGzDecoder::new(packed).take(length as u64 + 1).read_to_end(&mut whole)?;
            }
            // Straight to where they belong, so that a window may be of any size and takes no memory.
            Self::Zstd(unpacking) => {
                let mut room = Cursor::new(&mut whole);
                room.set_position(plain as u64);
                unpacking.decompress_to_buffer(packed, &mut room).map_err(|error| {
                    let reason = format!(
                        "a page packed with zstd does not give the {claimed} bytes it claims ({error})"
                    );
                    ParquetError::General(reason)
                })?;
            }
        }
        match whole.len() {
            found if found < claimed => Err(differ("shorter")),
            found if found > claimed => Err(differ("longer")),
            _ => Ok(whole.into()),
        }
    }
}

/// Unpacks the pages of a column whose reader takes them for plain.
pub(super) struct PackedPages<P> {
    packed: P,
    unpacker: Unpacker,
    /// Bytes of the page that was read last, its levels and its numbers, unpacked: what its header claims.
    claimed: Arc<AtomicUsize>,
}

impl<P> PackedPages<P> {
    pub(super) fn new(packed: P, unpacker: Unpacker, claimed: Arc<AtomicUsize>) -> Self {
        Self { packed, unpacker, claimed }
    }
}

impl<P: PageReader> Iterator for PackedPages<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for PackedPages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let mut page = self.packed.get_next_page()?;
        let claimed = self.claimed.load(Ordering::Relaxed);
        match &mut page {
            Some(Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. }) => {
                *buf = self.unpacker.unpacked(buf, 0, claimed)?;
            }
            Some(Page::DataPageV2 {
                buf,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed: true,
                ..
            }) => {
                let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                let plain = usize::try_from(levels).unwrap_or(usize::MAX);
                *buf = self.unpacker.unpacked(buf, plain, claimed)?;
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
    use super::*;
    use flate2::write::GzEncoder;
    use std::io::Write;

    /// A hundred bytes, "keel" and again, as Node packs them.
    const BROTLI: [u8; 13] = [27, 99, 0, 248, 37, 203, 214, 216, 2, 180, 0, 64, 199];

    fn zstd() -> Unpacker {
        Unpacker::Zstd(bulk::Decompressor::new().unwrap())
    }

    /// The same bytes by each codec.
    fn packed() -> [(Unpacker, Vec<u8>); 3] {
        let text = "keel".repeat(25);
        let by_zstd = bulk::compress(text.as_bytes(), 3).unwrap();
        let mut by_gzip = GzEncoder::new(Vec::new(), flate2::Compression::default());
        by_gzip.write_all(text.as_bytes()).unwrap();
        let by_gzip = by_gzip.finish().unwrap();
        [(Unpacker::Brotli, BROTLI.to_vec()), (Unpacker::Gzip, by_gzip), (zstd(), by_zstd)]
    }

    #[test]
    fn a_page_is_as_long_as_it_claims_or_refused() {
        for (mut unpacker, packed) in packed() {
            let page = Bytes::from([b"levels".as_slice(), &packed].concat());
            // Again and again: a page leaves nothing behind for the next one.
            for _ in 0..2 {
                let whole = unpacker.unpacked(&page, 6, 106).unwrap();
                assert_eq!(whole, Bytes::from(["levels".to_owned(), "keel".repeat(25)].concat()));
                assert_eq!(unpacker.unpacked(&page, 6, 6).unwrap(), Bytes::from("levels"));
                for (plain, claimed, words) in [
                    (6, 105, "longer than the 105"),
                    (6, 107, "shorter than the 107"),
                    (6, 5, "shorter"),
                    (page.len() + 1, 106, "shorter"),
                ] {
                    let error = unpacker.unpacked(&page, plain, claimed).unwrap_err().to_string();
                    assert!(error.contains(words), "{error}");
                }
                assert!(unpacker.unpacked(&page, 6, 50).is_err());
            }
        }
    }

    #[test]
    fn damaged_pages_are_refused() {
        for (mut unpacker, packed) in packed() {
            for cut in 0..packed.len() {
                let page = Bytes::copy_from_slice(&packed[..cut]);
                assert!(unpacker.unpacked(&page, 0, 100).is_err(), "{cut}");
            }
            assert!(unpacker.unpacked(&Bytes::from_static(&[0xff; 40]), 0, 100).is_err());
        }
    }

    /// Pages of several frames are whole.
    #[test]
    fn frames_follow_each_other() {
        let twice = [b"even".as_slice(), b"keel"].map(|text| bulk::compress(text, 1).unwrap());
        let whole = zstd().unpacked(&Bytes::from(twice.concat()), 0, 8).unwrap();
        assert_eq!(whole, Bytes::from("evenkeel"));
    }

    /// Four bytes, stored as they are, behind the size of a window: 2^16 bytes, and 2^30 by an extension that parquet does not mean.
    #[test]
    fn large_windows_are_refused() {
        let [plain, large] = [&[0x30, 0x00, 0x10][..], &[0x11, 0x1e, 0x06, 0x00, 0x02]]
            .map(|window| Bytes::from([window, b"keel", &[0x03]].concat()));
        assert_eq!(Unpacker::Brotli.unpacked(&plain, 0, 4).unwrap(), Bytes::from("keel"));
        assert!(Unpacker::Brotli.unpacked(&large, 0, 4).is_err());
    }
}

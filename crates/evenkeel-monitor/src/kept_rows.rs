//! Rows that are kept on request: as they came, compressed.
//!
//! ```text
//! precision, 1 byte (4 or 8) | classes, 4 bytes | zlib of the numbers, low byte first
//! ```
//! Stores made by earlier states of the repository hold zstd in place of zlib, and are read: the first byte tells. Nothing is packed by
//! zstd any more, because its packing is a thirtieth of the program.

use std::io::{Read, Write};

use evenkeel_jobs::{AnyRows, MemorySource, RowSource};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::error::{MonitorError, Result};

/// Rows larger than this are not kept: 256 MB of numbers a batch.
const MOST_BYTES: usize = 1 << 28;
/// Packing by more than this gains nothing: most of a probability's bits are noise.
const LEVEL: Compression = Compression::fast();
/// How what zstd packed begins; what zlib packed begins with another byte.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Row-major numbers in the precision they came in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum KeptRows {
    F32(Vec<f32>, usize),
    F64(Vec<f64>, usize),
}

impl KeptRows {
    /// Reads all rows of a source; none if they are too many to keep.
    pub(crate) fn read(source: &mut dyn RowSource) -> Result<Option<Self>> {
        source.rewind()?;
        let classes = source.columns();
        let (mut single, mut double) = (Vec::new(), Vec::new());
        while let Some(block) = source.next_block()? {
            match block.rows {
                AnyRows::F32(rows) => single.extend_from_slice(rows.values()),
                AnyRows::F64(rows) => double.extend_from_slice(rows.values()),
            }
            if 4 * single.len() + 8 * double.len() > MOST_BYTES {
                return Ok(None);
            }
        }
        Ok(match (single.is_empty(), double.is_empty()) {
            (true, true) => None,
            (false, true) => Some(Self::F32(single, classes)),
            // Blocks of one source have one precision; widening loses nothing.
            _ => {
                let mut all: Vec<f64> = single.into_iter().map(f64::from).collect();
                all.append(&mut double);
                Some(Self::F64(all, classes))
            }
        })
    }

    /// As bytes.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        let (precision, classes, numbers): (u8, usize, Vec<u8>) = match self {
            Self::F32(values, classes) => {
                (4, *classes, values.iter().flat_map(|value| value.to_le_bytes()).collect())
            }
            Self::F64(values, classes) => {
                (8, *classes, values.iter().flat_map(|value| value.to_le_bytes()).collect())
            }
        };
        let mut bytes = vec![precision];
        bytes.extend_from_slice(&u32::try_from(classes).unwrap_or(u32::MAX).to_le_bytes());
        let mut packing = ZlibEncoder::new(bytes, LEVEL);
        let packed = packing.write_all(&numbers).and_then(|()| packing.finish());
        packed.map_err(|_| damaged("they cannot be compressed"))
    }

    /// Reads them back.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (head, packed) =
            bytes.split_at_checked(5).ok_or_else(|| damaged("their end is missing"))?;
        let numbers = unpacked(packed).ok_or_else(|| damaged("they cannot be unpacked"))?;
        let classes = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let whole =
            classes > 0 && numbers.len().is_multiple_of(classes * usize::from(head[0]).max(1));
        match (head[0], whole) {
            (4, true) => {
                let values =
                    numbers.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four));
                Ok(Self::F32(values.collect(), classes))
            }
            (8, true) => {
                let values =
                    numbers.as_chunks::<8>().0.iter().map(|eight| f64::from_le_bytes(*eight));
                Ok(Self::F64(values.collect(), classes))
            }
            _ => Err(damaged("they are not whole rows")),
        }
    }

    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::F32(values, classes) => values.len() / classes,
            Self::F64(values, classes) => values.len() / classes,
        }
    }

    /// Adds the rows of a later batch.
    pub(crate) fn append(self, other: Self) -> Self {
        match (self, other) {
            (Self::F32(mut mine, classes), Self::F32(theirs, _)) => {
                mine.extend(theirs);
                Self::F32(mine, classes)
            }
            (mine, theirs) => {
                let classes = match &mine {
                    Self::F32(_, classes) | Self::F64(_, classes) => *classes,
                };
                let mut all = mine.widened();
                all.extend(theirs.widened());
                Self::F64(all, classes)
            }
        }
    }

    fn widened(self) -> Vec<f64> {
        match self {
            Self::F32(values, _) => values.into_iter().map(f64::from).collect(),
            Self::F64(values, _) => values,
        }
    }

    /// As a source of rows under a name.
    pub(crate) fn source<'a>(&'a self, name: &'a str) -> Result<MemorySource<'a>> {
        let rows = match self {
            Self::F32(values, classes) => AnyRows::f32(values, *classes),
            Self::F64(values, classes) => AnyRows::f64(values, *classes),
        };
        Ok(MemorySource::new(name, rows?))
    }
}

/// The numbers as bytes; none if they cannot be unpacked, or are more than are ever kept.
fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let mut numbers = Vec::new();
    let most = MOST_BYTES as u64 + 1;
    let read = if packed.starts_with(&ZSTD) {
        zstd::stream::read::Decoder::with_buffer(packed)
            .and_then(|unpacking| unpacking.take(most).read_to_end(&mut numbers))
    } else {
        ZlibDecoder::new(packed).take(most).read_to_end(&mut numbers)
    };
    read.is_ok_and(|length| length <= MOST_BYTES).then_some(numbers)
}

fn damaged(why: &'static str) -> MonitorError {
    evenkeel::Error::Damaged { what: "the rows that were kept", why }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_to_the_bit() {
        let single = [0.25_f32, 0.75, 1.0 / 3.0, 2.0 / 3.0];
        let mut source =
            MemorySource::new("rows", AnyRows::f32(&single, 2).unwrap()).in_blocks_of(1);
        let kept = KeptRows::read(&mut source).unwrap().unwrap();
        assert_eq!(kept, KeptRows::F32(single.to_vec(), 2));
        assert_eq!(KeptRows::from_bytes(&kept.to_bytes().unwrap()).unwrap(), kept);
        let double = KeptRows::F64(vec![0.1, 0.9], 2);
        assert_eq!(KeptRows::from_bytes(&double.to_bytes().unwrap()).unwrap(), double);
        let both = kept.append(double);
        assert_eq!(both.rows(), 3);
        assert!(KeptRows::from_bytes(&[4, 2, 0]).is_err());
        assert!(KeptRows::from_bytes(&[4, 2, 0, 0, 0, 9, 9]).is_err());
    }

    #[test]
    fn rows_packed_by_zstd_come_back() {
        // As stores held them: 0.25 and 0.75, in single precision.
        let mut bytes = vec![4, 2, 0, 0, 0];
        bytes.extend(ZSTD);
        bytes.extend([0x20, 8, 65, 0, 0, 0, 0, 0x80, 0x3e, 0, 0, 0x40, 0x3f]);
        let kept = KeptRows::from_bytes(&bytes).unwrap();
        assert_eq!(kept, KeptRows::F32(vec![0.25, 0.75], 2));
        for cut in 5..bytes.len() {
            assert!(KeptRows::from_bytes(&bytes[..cut]).is_err(), "{cut}");
        }
    }

    #[test]
    fn what_is_cut_or_too_long_is_refused() {
        let packed = KeptRows::F64(vec![0.1, 0.9], 2).to_bytes().unwrap();
        for cut in 0..packed.len() {
            assert!(KeptRows::from_bytes(&packed[..cut]).is_err(), "{cut}");
        }
        let mut bomb = ZlibEncoder::new(vec![4, 1, 0, 0, 0], Compression::best());
        let zeros = vec![0; 1 << 20];
        (0..=MOST_BYTES >> 20).for_each(|_| bomb.write_all(&zeros).unwrap());
        assert!(KeptRows::from_bytes(&bomb.finish().unwrap()).is_err());
    }
}

//! `file.npz:key -> rows`: npz archives are zip files of npy arrays, stored or deflated.
//!
//! The `zip` crate reads the directory. The array is then streamed straight from the file, so that nothing borrows from
//! the archive and stored members can be read in any order.

use crate::error::{IoError, Result, some_of};
use crate::input::{Input, open_input};
use crate::npy::{CRows, FortranRows, Header, Order};
use crate::reader::RowStream;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Take};
use std::path::Path;
use std::sync::Arc;
use zip::{CompressionMethod, ZipArchive};

/// Largest compressed array in Fortran order that is read. Its rows are spread over the whole stream, so it must be
/// held in memory.
pub const FORTRAN_MEMORY_CAP: u64 = 256 << 20;

/// Deflate cannot shrink its input further than this, so a directory that claims more is a zip bomb or damaged.
const LARGEST_DEFLATE_RATIO: u64 = 1032;

/// What was found in an npz archive, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpzProblem {
    /// The directory of the archive cannot be read.
    #[error(
        "this is not a readable npz archive ({reason}); copy it again or write it with numpy.savez"
    )]
    NotAnArchive {
        /// What the zip reader said.
        reason: String,
    },
    /// An archive without arrays.
    #[error("the archive holds no arrays; write some with numpy.savez")]
    NoArrays,
    /// Several arrays and no key.
    #[error(
        "the archive holds several arrays; choose one with file.npz:key, where key is one of {}",
        some_of(keys)
    )]
    SeveralArrays {
        /// The keys to choose from.
        keys: Vec<String>,
    },
    /// A key that is not there.
    #[error("the archive holds no array {key:?}; it holds {}", some_of(keys))]
    NoSuchKey {
        /// The key asked for.
        key: String,
        /// The keys there are.
        keys: Vec<String>,
    },
    /// A compression that NumPy does not write.
    #[error(
        "array {key:?} is {how}; only arrays as written by numpy.savez and savez_compressed are read"
    )]
    Unreadable {
        /// Key of the array.
        key: String,
        /// How it is stored.
        how: &'static str,
    },
    /// Sizes in the directory that cannot be true.
    #[error(
        "array {key:?} claims {claimed} bytes, more than {stored} stored bytes can hold; the file is damaged"
    )]
    ImpossibleSize {
        /// Key of the array.
        key: String,
        /// Uncompressed size that the directory claims, in bytes.
        claimed: u64,
        /// Bytes in the file.
        stored: u64,
    },
    /// A compressed array in Fortran order that is too large to hold in memory.
    #[error(
        "array {key:?} is compressed and in Fortran order, which needs all of its {bytes} bytes in memory (at most {cap}); \
         save it with numpy.ascontiguousarray or with savez"
    )]
    FortranTooLarge {
        /// Key of the array.
        key: String,
        /// Its uncompressed size in bytes.
        bytes: u64,
        /// Largest size that is read, in bytes.
        cap: u64,
    },
}

/// Opens the array `key` of an archive; without a key there must be only one.
pub(crate) fn open(
    path: &Path,
    key: Option<&str>,
    origin: &Arc<str>,
) -> Result<Box<dyn RowStream>> {
    let (file, length) = open_input(path)?;
    let fail = |problem| IoError::Npz { origin: Arc::clone(origin), problem };
    let member = Member::find(file, length, key).map_err(fail)?;
    // A second handle: the archive took the first.
    let mut file = open_input(path)?.0;
    let failed = |error| IoError::Read { origin: Arc::clone(origin), error };
    file.seek(SeekFrom::Start(member.start)).map_err(failed)?;
    // Never past the member: a damaged stream would go on decoding its neighbour.
    let stored = file.take(member.stored);
    if member.deflated {
        let inflated = DeflateDecoder::new(BufReader::with_capacity(1 << 18, stored));
        let mut checked = Checked::new(inflated, &member);
        let header = Header::read(&mut checked, member.size, origin)?;
        if header.order == Order::C {
            return Ok(Box::new(CRows::new(checked, header, origin)));
        }
        let (bytes, cap) = (member.size - header.bytes, FORTRAN_MEMORY_CAP);
        if bytes > cap {
            return Err(fail(NpzProblem::FortranTooLarge { key: member.key, bytes, cap }));
        }
        let mut data = Vec::new();
        // Bounded by the cap above: `Checked` never gives more than the size that was checked.
        checked.read_to_end(&mut data).map_err(failed)?;
        return Ok(Box::new(FortranRows::new(Cursor::new(data), 0, header, origin)));
    }
    let mut checked = Checked::new(stored, &member);
    let header = Header::read(&mut checked, member.size, origin)?;
    Ok(match header.order {
        Order::C => Box::new(CRows::new(checked, header, origin)),
        Order::Fortran => {
            let start = member.start + header.bytes;
            // Read out of order, the checksum of the whole cannot be followed; the sizes were
            // checked.
            let file = checked.into_inner().into_inner();
            Box::new(FortranRows::new(file, start, header, origin))
        }
    })
}

/// Where an array lies in the archive.
struct Member {
    key: String,
    start: u64,
    stored: u64,
    size: u64,
    crc: u32,
    deflated: bool,
}

impl Member {
    fn find(file: Input, length: u64, key: Option<&str>) -> Result<Self, NpzProblem> {
        let damaged =
            |error: zip::result::ZipError| NpzProblem::NotAnArchive { reason: error.to_string() };
        let mut archive = ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
        let mut arrays: Vec<(usize, String)> = (0..archive.len())
            .filter_map(|index| {
                let name = archive.name_for_index(index)?.ok()?;
                Some((index, name.strip_suffix(".npy")?.to_owned()))
            })
            .collect();
        let position = match key {
            Some(key) => arrays.iter().position(|(_, name)| name == key),
            None if arrays.len() == 1 => Some(0),
            None if arrays.is_empty() => return Err(NpzProblem::NoArrays),
            None => {
                let keys = arrays.into_iter().map(|(_, name)| name).collect();
                return Err(NpzProblem::SeveralArrays { keys });
            }
        };
        let Some(position) = position else {
            let keys = arrays.into_iter().map(|(_, name)| name).collect();
            return Err(NpzProblem::NoSuchKey { key: key.unwrap_or_default().to_owned(), keys });
        };
        // By its place and not by its name: two members may share one.
        let (index, key) = arrays.swap_remove(position);
        let entry = archive.by_index_raw(index).map_err(damaged)?;
        let deflated = match entry.compression() {
            _ if entry.encrypted() => return Err(NpzProblem::Unreadable { key, how: "encrypted" }),
            CompressionMethod::Stored => false,
            CompressionMethod::Deflated => true,
            _ => return Err(NpzProblem::Unreadable { key, how: "compressed in an unusual way" }),
        };
        let (size, stored) = (entry.size(), entry.compressed_size());
        // Saturating: a claimed size near 2^64 must not wrap around into a plausible one.
        let most = if deflated { stored.saturating_mul(LARGEST_DEFLATE_RATIO) } else { stored };
        let start = entry.data_start().unwrap_or(length);
        let available = length.saturating_sub(start);
        if stored > available || size > most || (!deflated && size != stored) {
            let stored = stored.min(available);
            return Err(NpzProblem::ImpossibleSize { key, claimed: size, stored });
        }
        Ok(Self { start, stored, size, crc: entry.crc32(), deflated, key })
    }
}

/// Reads a member's bytes, and compares their checksum with the directory's after the last.
struct Checked<R> {
    inner: Take<R>,
    crc: Crc,
    expected: u32,
}

impl<R: Read> Checked<R> {
    fn new(inner: R, member: &Member) -> Self {
        Self { inner: inner.take(member.size), crc: Crc::new(), expected: member.crc }
    }

    fn into_inner(self) -> R {
        self.inner.into_inner()
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.crc.update(&buffer[..count]);
        // At the last byte, not at the end of the stream: the array's reader asks for exactly its bytes and never sees
        // an end.
        if count > 0 && self.inner.limit() == 0 && self.crc.sum() != self.expected {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the array's checksum does not match its bytes",
            ));
        }
        Ok(count)
    }
}

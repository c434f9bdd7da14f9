//! `path -> (file, length)`: opening input files.

use crate::error::{IoError, Result};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// What readers of bytes read. Builds of the fuzzer hold some inputs in memory.
#[cfg(not(fuzzing))]
pub(crate) type Input = File;
#[cfg(fuzzing)]
pub(crate) use crate::memory_input::Input;

/// An open file and its length in bytes. Directories, pipes and devices are refused: their length
/// says nothing about what can be read, so no claim could be checked against it.
pub(crate) fn open_file(path: &Path) -> Result<(File, u64)> {
    let failed = |error: io::Error| IoError::Open { path: path.to_path_buf(), error };
    // Asked before opening: opening a pipe without a writer would wait forever.
    file_length(path)?;
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    Ok((file, length))
}

/// The same for readers that only read and seek.
#[cfg(not(fuzzing))]
pub(crate) fn open_input(path: &Path) -> Result<(Input, u64)> {
    open_file(path)
}

/// The same for readers that only read and seek, of bytes in memory where some are held for the path.
#[cfg(fuzzing)]
pub(crate) fn open_input(path: &Path) -> Result<(Input, u64)> {
    match crate::memory_input::held(path) {
        Some(held) => Ok(held),
        None => open_file(path).map(|(file, length)| (Input::File(file), length)),
    }
}

/// Text, inflated where its first bytes say that it was compressed: gzip or zstd.
pub(crate) fn open_text(path: &Path) -> Result<Box<dyn Read + Send>> {
    let (file, _) = open_input(path)?;
    let mut input = BufReader::new(file);
    let failed = |error: io::Error| IoError::Open { path: path.to_path_buf(), error };
    // By the bytes and not by the name: a name may be wrong, and stdin has none.
    Ok(match Packing::of(input.fill_buf().map_err(failed)?) {
        Some(Packing::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
        Some(Packing::Zstd) => {
            Box::new(zstd::stream::read::Decoder::with_buffer(input).map_err(failed)?)
        }
        None => Box::new(input),
    })
}

/// How text is packed, which its readers undo by themselves. What comes out is bounded by nothing: whoever reads for strangers asks first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// As `gzip` does.
    Gzip,
    /// As `zstd` does.
    Zstd,
}

impl Packing {
    /// By the first bytes; none where the text is as it is.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // A frame, or one to be passed over, with which parallel writers begin.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// Length in bytes of what must be a file.
pub(crate) fn file_length(path: &Path) -> Result<u64> {
    #[cfg(fuzzing)]
    if let Some((_, length)) = crate::memory_input::held(path) {
        return Ok(length);
    }
    let metadata = std::fs::metadata(path)
        .map_err(|error| IoError::Open { path: path.to_path_buf(), error })?;
    if metadata.is_file() {
        return Ok(metadata.len());
    }
    let found = if metadata.is_dir() { "a directory" } else { "a pipe or device" };
    Err(IoError::NotAFile { path: path.to_path_buf(), found })
}

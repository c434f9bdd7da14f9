//! `path -> (file, length)`: opening input files.

use crate::error::{IoError, Result};
use std::fs::File;
use std::io;
use std::path::Path;

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

/// Length in bytes of what must be a file.
pub(crate) fn file_length(path: &Path) -> Result<u64> {
    let metadata = std::fs::metadata(path)
        .map_err(|error| IoError::Open { path: path.to_path_buf(), error })?;
    if metadata.is_file() {
        return Ok(metadata.len());
    }
    let found = if metadata.is_dir() { "a directory" } else { "a pipe or device" };
    Err(IoError::NotAFile { path: path.to_path_buf(), found })
}

//! `path -> bytes in memory`, in builds of the fuzzer only (`--cfg fuzzing`).
//!
//! Writing and opening a file costs more than reading a few hundred bytes of it. Readers ask for a path all the same, and what is
//! behind it is the bytes that were held for it. The program that is shipped has none of this.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a reader reads: a file, or bytes that are held.
pub(crate) enum Input {
    File(File),
    Held(Cursor<Arc<[u8]>>),
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Held(bytes) => bytes.read(buffer),
        }
    }
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Held(bytes) => bytes.seek(to),
        }
    }
}

thread_local! {
    static HELD: RefCell<Vec<(PathBuf, Arc<[u8]>)>> = const { RefCell::new(Vec::new()) };
}

/// Holds bytes for a path, in place of those held before. Threads do not see each other's.
pub fn hold(path: &Path, bytes: &[u8]) {
    HELD.with_borrow_mut(|held| match held.iter_mut().find(|(other, _)| other == path) {
        Some((_, before)) => *before = bytes.into(),
        None => held.push((path.to_path_buf(), bytes.into())),
    });
}

/// The bytes held for a path, and how many they are.
pub(crate) fn held(path: &Path) -> Option<(Input, u64)> {
    let bytes = HELD.with_borrow(|held| {
        held.iter().find(|(other, _)| other == path).map(|(_, bytes)| Arc::clone(bytes))
    })?;
    let length = bytes.len() as u64;
    Some((Input::Held(Cursor::new(bytes)), length))
}

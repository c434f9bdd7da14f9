//! The files of `tests/fixtures`, a place for new ones, and whole reads through small blocks.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

pub(crate) mod parquet_pages;

use evenkeel_io::{IoError, MatrixReader, MatrixSource, Values};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Path of a fixture.
pub(crate) fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Names of the fixtures that hold matrices, good and bad.
pub(crate) fn all_fixtures() -> Vec<String> {
    let directory = std::fs::read_dir(fixture("")).unwrap();
    let mut names: Vec<String> =
        directory.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.ends_with(".py"));
    names.sort();
    names
}

/// A directory that is removed in the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("evenkeel-io-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file and gives its path.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.into_os_string().into_string().unwrap()
    }

    /// Names of the files in the directory.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// A matrix as f64, and whether it was read in single precision.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Whole {
    pub(crate) columns: usize,
    pub(crate) values: Vec<f64>,
    pub(crate) single: bool,
}

/// Reads all rows in blocks of `rows`, and checks what every block says about itself.
pub(crate) fn read_in_blocks(argument: &str, rows: usize) -> Result<Whole, IoError> {
    let mut reader = MatrixReader::open(&MatrixSource::parse(argument)?)?;
    let (columns, claimed) = (reader.columns(), reader.rows());
    let mut whole = Whole { columns, values: Vec::new(), single: false };
    let mut found = 0;
    while let Some(block) = reader.next_block(rows)? {
        assert_eq!((block.first_row(), block.columns()), (found, columns));
        assert!((1..=rows).contains(&block.row_count()));
        found += block.row_count();
        whole.single = matches!(block.values(), Values::F32(_));
        whole.values.extend(block.values().to_f64());
    }
    assert!(claimed.is_none_or(|claimed| claimed == found as u64));
    assert!(reader.next_block(rows)?.is_none(), "the end is the end");
    Ok(whole)
}

/// The message of an error that must occur, whether on opening or on reading.
pub(crate) fn message(argument: &str) -> String {
    match read_in_blocks(argument, 1000) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{argument} was read"),
    }
}

/// An npy file: version 1 header and data.
pub(crate) fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

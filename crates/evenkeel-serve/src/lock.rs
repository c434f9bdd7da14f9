//! One server for each store.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::ServeError;

/// A lock on a file beside the store. The system ends it with the process, however that ends.
#[derive(Debug)]
pub(crate) struct StoreLock {
    _file: File,
}

impl StoreLock {
    /// Takes the lock.
    ///
    /// # Errors
    /// If another server has it, or the file cannot be made.
    pub(crate) fn take(store: &Path) -> Result<Self, ServeError> {
        let mut name = store.as_os_str().to_owned();
        name.push(".serve-lock");
        let path = PathBuf::from(name);
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = opened.map_err(|error| ServeError::File { path: path.clone(), error })?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(ServeError::Locked { store: store.to_owned() }),
            Err(TryLockError::Error(error)) => Err(ServeError::File { path, error }),
        }
    }
}

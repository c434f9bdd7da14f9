//! `path -> device and inode`: whether two names are one file.

use super::target::followed;
use super::temporary::directory_of;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::path::Path;

/// What tells a file from all others: links of both kinds lead to one identity. None for what is no plain file, where
/// writing replaces nothing. A file that is not there yet is told by its directory and its name.
pub fn identity(path: &Path) -> Option<FileIdentity> {
    match fs::metadata(path) {
        Ok(found) => found.is_file().then(|| FileIdentity::of(&found, path)),
        Err(_) => {
            let target = followed(path).ok()?;
            let directory = fs::metadata(directory_of(&target)).ok()?;
            let there = FileIdentity::of(&directory, directory_of(&target));
            Some(FileIdentity { missing: Some(target.file_name()?.to_owned()), ..there })
        }
    }
}

/// See [`identity`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    #[cfg(not(unix))]
    path: Option<std::path::PathBuf>,
    missing: Option<OsString>,
}

impl FileIdentity {
    #[cfg(unix)]
    fn of(found: &Metadata, _: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self { device_and_inode: (found.dev(), found.ino()), missing: None }
    }

    #[cfg(not(unix))]
    fn of(_: &Metadata, path: &Path) -> Self {
        Self { path: fs::canonicalize(path).ok(), missing: None }
    }
}

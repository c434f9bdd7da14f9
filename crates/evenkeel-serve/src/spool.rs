//! Bodies kept in files while they are read: the readers of tables take files, inflate within bounds and read twice.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::ServeError;

/// The folder beside the store in which bodies are kept while they are read. Only the owner can look into it.
#[derive(Debug)]
pub(crate) struct Spool {
    folder: PathBuf,
    next: AtomicU64,
}

impl Spool {
    /// An empty folder. What a server that was killed left there is removed: the store's lock says that nobody uses it.
    pub(crate) fn open(store: &Path) -> Result<Self, ServeError> {
        let mut name = store.as_os_str().to_owned();
        name.push(".spool");
        let folder = PathBuf::from(name);
        let failed = |error| ServeError::File { path: folder.clone(), error };
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(error));
            }
            _ => {}
        }
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(failed)?;
        Ok(Self { folder, next: AtomicU64::new(0) })
    }

    /// A new file with this content; `extension` tells the readers what it is.
    pub(crate) fn keep(&self, bytes: &[u8], extension: &str) -> std::io::Result<SpooledFile> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("{number}.{extension}"));
        let mut file: File = OpenOptions::new().write(true).create_new(true).open(&path)?;
        let spooled = SpooledFile { path };
        file.write_all(bytes)?;
        Ok(spooled)
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // The next server removes what stays.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A file that is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct SpooledFile {
    path: PathBuf,
}

impl SpooledFile {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SpooledFile {
    fn drop(&mut self) {
        // The next server removes what stays.
        let _ = fs::remove_file(&self.path);
    }
}

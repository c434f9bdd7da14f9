//! `.name.pid-count.tmp -> name`: files that appear whole or not at all.

use crate::error::{IoError, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

const BUFFER_BYTES: usize = 1 << 18;

/// Distinguishes the temporary files of one process.
static COUNTER: AtomicU32 = AtomicU32::new(0);

/// The temporary files of this process that are neither in place nor removed.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    // A panic while the list was held left it whole: pushing and removing are single calls.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every temporary file of this process: for a handler that ends the process at once, which drops nothing.
/// Writing stops for good: the list stays locked, so that no other file can be started or put in place.
pub fn remove_unfinished() {
    let list = unfinished();
    for temporary in list.iter() {
        // The process ends; there is nobody to tell.
        drop(fs::remove_file(temporary));
    }
    std::mem::forget(list);
}

/// A file being written beside its target, which it replaces on [`commit`](Self::commit). Until then the target stays
/// as it is; a file that is dropped before is removed.
///
/// A target that is a device or a pipe (`/dev/stdout`) is written to directly: renaming would replace the device.
#[derive(Debug)]
pub struct AtomicFile {
    writer: BufWriter<File>,
    /// The path as it was given, for errors.
    path: PathBuf,
    target: PathBuf,
    /// The file to be renamed; none once that is done, or when writing to a device.
    temporary: Option<PathBuf>,
    seekable: bool,
}

impl AtomicFile {
    /// Starts a file that will become `target`. Fails at once where it could not be written.
    ///
    /// # Errors
    /// [`IoError::Write`] if the path is a directory, or if no file can be made beside it.
    pub fn create(target: &Path) -> Result<Self> {
        Self::start(target).map_err(|error| IoError::Write { path: target.to_path_buf(), error })
    }

    fn start(path: &Path) -> io::Result<Self> {
        let existing = fs::metadata(path).ok();
        if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        if existing.as_ref().is_some_and(|found| !found.is_file()) {
            let file = OpenOptions::new().write(true).open(path)?;
            let writer = BufWriter::with_capacity(BUFFER_BYTES, file);
            let (path, target) = (path.to_path_buf(), path.to_path_buf());
            return Ok(Self { writer, path, target, temporary: None, seekable: false });
        }
        // A link stays a link: the file it leads to is replaced.
        let target = match &existing {
            Some(_) => fs::canonicalize(path)?,
            None => path.to_path_buf(),
        };
        let (file, temporary) = create_beside(&target)?;
        // From here on the temporary file is removed if anything fails.
        let writer = BufWriter::with_capacity(BUFFER_BYTES, file);
        let (path, temporary) = (path.to_path_buf(), Some(temporary));
        let started = Self { writer, path, target, temporary, seekable: true };
        // The new file takes the place of the old one, so it should be readable by the same people and no others.
        if let Some(existing) = existing {
            started.writer.get_ref().set_permissions(existing.permissions())?;
        }
        Ok(started)
    }

    /// Whether earlier bytes can be written over.
    pub(super) fn is_seekable(&self) -> bool {
        self.seekable
    }

    /// Writes over bytes at `offset`, then returns to the end.
    pub(super) fn overwrite(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.writer.seek(SeekFrom::Start(offset))?;
        self.writer.write_all(bytes)?;
        self.writer.seek(SeekFrom::End(0)).map(drop)
    }

    /// Puts the finished file in the target's place.
    ///
    /// # Errors
    /// [`IoError::Write`] if the last bytes cannot be written or the file cannot be renamed. The target is then
    /// unchanged.
    pub fn commit(mut self) -> Result<()> {
        let done = self.finish();
        done.map_err(|error| self.error(error))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.flush()?;
        if let Some(temporary) = &self.temporary {
            // Locked over the rename: a handler that removes unfinished files must not meet one that is already in
            // place.
            let mut list = unfinished();
            fs::rename(temporary, &self.target)?;
            list.retain(|other| other != temporary);
        }
        self.temporary = None;
        Ok(())
    }

    /// Writes the whole contents and puts the file in the target's place.
    ///
    /// # Errors
    /// [`IoError::Write`] if writing or renaming fails. The target is then unchanged.
    pub fn write_whole(mut self, contents: impl AsRef<[u8]>) -> Result<()> {
        if let Err(error) = self.write_all(contents.as_ref()) {
            return Err(self.error(error));
        }
        self.commit()
    }

    /// A failed write, with the target's name.
    pub fn error(&self, error: io::Error) -> IoError {
        IoError::Write { path: self.path.clone(), error }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            // Nothing sensible can be done if this fails too; the error that led here is the one to report.
            drop(fs::remove_file(&temporary));
            unfinished().retain(|other| *other != temporary);
        }
    }
}

/// A new file in the directory of `target`, under a name that nobody else has.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    let Some(name) = target.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it does not name a file"));
    };
    loop {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let mut temporary_name = std::ffi::OsString::from(".");
        temporary_name.push(name);
        temporary_name.push(format!(".{}-{count}.tmp", std::process::id()));
        let temporary = target.with_file_name(temporary_name);
        let mut list = unfinished();
        // Never an existing file: a link that somebody placed under this name would be written through.
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => {
                list.push(temporary.clone());
                return Ok((file, temporary));
            }
        }
    }
}

/// Writes a whole file (JSON, HTML, text) atomically.
///
/// # Errors
/// [`IoError::Write`] if the file cannot be written. The target is then unchanged.
pub fn write_file(target: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    AtomicFile::create(target)?.write_whole(contents)
}

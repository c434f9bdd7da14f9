//! `write beside, sync, rename, sync`: files that appear whole or not at all.

use super::target::followed;
use super::temporary::{create_beside, directory_of, unfinished};
use crate::error::{IoError, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const BUFFER_BYTES: usize = 1 << 18;

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
        let (target, existing) = match fs::metadata(path) {
            // Not followed by hand: `/dev/stdout` is a link whose text names no file.
            Ok(found) if !found.is_file() => (path.to_path_buf(), Some(found)),
            Ok(found) => (fs::canonicalize(path)?, Some(found)),
            Err(error) => {
                let target = followed(path)?;
                if error.kind() != io::ErrorKind::NotFound {
                    return Err(error);
                }
                (target, None)
            }
        };
        if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        let path = path.to_path_buf();
        if existing.as_ref().is_some_and(|found| !found.is_file()) {
            let file = OpenOptions::new().write(true).open(&target)?;
            let writer = BufWriter::with_capacity(BUFFER_BYTES, file);
            return Ok(Self { writer, path, target, temporary: None });
        }
        let (file, temporary) = create_beside(&target)?;
        // From here on the temporary file is removed if anything fails.
        let writer = BufWriter::with_capacity(BUFFER_BYTES, file);
        let started = Self { writer, path, target, temporary: Some(temporary) };
        // The new file takes the place of the old one, so it should be readable by the same people and no others.
        if let Some(existing) = existing {
            started.writer.get_ref().set_permissions(existing.permissions())?;
        }
        Ok(started)
    }

    /// Where the file lies until it is finished, for what writes to files by their names; none when writing to a device.
    pub fn beside(&self) -> Option<&Path> {
        self.temporary.as_deref()
    }

    /// Writes over bytes at `offset`, then returns to the end.
    pub(super) fn overwrite(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.writer.seek(SeekFrom::Start(offset))?;
        self.writer.write_all(bytes)?;
        self.writer.seek(SeekFrom::End(0)).map(drop)
    }

    /// Puts the finished file in the target's place.
    ///
    /// The bytes are on the disk before the name is: a file system may write names first, and after a power cut the name
    /// would lead to an empty file where the old one was good.
    ///
    /// # Errors
    /// [`IoError::Write`] if the last bytes cannot be written or the file cannot be renamed; the target is then unchanged.
    /// The same if the directory cannot be synced afterwards; the target is then new, but may be old again after a power
    /// cut.
    pub fn commit(mut self) -> Result<()> {
        let done = self.finish();
        done.map_err(|error| self.error(error))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.flush()?;
        let Some(temporary) = &self.temporary else { return Ok(()) };
        self.writer.get_ref().sync_all()?;
        {
            // Locked over the rename: a handler that removes unfinished files must not meet one that is already in
            // place.
            let mut list = unfinished();
            rename(temporary, &self.target)?;
            list.retain(|other| other != temporary);
        }
        self.temporary = None;
        sync_directory(directory_of(&self.target))
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

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.writer.seek(to)
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

/// Renames, again if a signal came in between: the standard library leaves that to its callers.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    loop {
        match fs::rename(from, to) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Brings the names in a directory to the disk.
#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        // A directory that may be written to but not read, or a file system that does not sync directories: the file is
        // in place all the same.
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(())
        }
        done => done,
    }
}

/// Elsewhere directories are not files.
#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Writes a whole file (JSON, HTML, text) atomically.
///
/// # Errors
/// [`IoError::Write`] if the file cannot be written. The target is then unchanged.
pub fn write_file(target: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    AtomicFile::create(target)?.write_whole(contents)
}

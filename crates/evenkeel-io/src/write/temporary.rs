//! `.evenkeel-pid-start-count.tmp`: names for files that are being written, and the removal of those that nobody writes.
//!
//! A process that is killed leaves its temporary file behind. The next one that writes into the same directory removes
//! it. Whether its writer is alive is asked of the system, by a lock that ends with the process: process numbers are used
//! again, and mean nothing in another container or on another machine.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

const PREFIX: &str = ".evenkeel-";
const SUFFIX: &str = ".tmp";

/// Distinguishes the temporary files of one process.
static COUNTER: AtomicU32 = AtomicU32::new(0);

/// Nanoseconds since 1970 at the first file: a later process of the same number has other names.
static START: LazyLock<u128> = LazyLock::new(|| {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos())
});

/// The temporary files of this process that are neither in place nor removed.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The directories that were looked through. Once each: a run that writes thousands of files would otherwise list all of
/// them for each.
static SWEPT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The list of unfinished files, locked.
pub(super) fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    // A panic while the list was held left it whole: pushing and removing are single calls.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every temporary file of this process: for a handler that ends the process at once, which drops nothing.
/// Writing stops for good: the list stays locked, so that no other file can be started or put in place.
pub fn remove_unfinished() {
    remove_all(unfinished());
}

/// The same where the caller cannot wait: it may have interrupted the very thread that holds the list. Files that stay
/// then are removed by the next process that writes beside them.
pub fn try_remove_unfinished() {
    if let Ok(list) = UNFINISHED.try_lock() {
        remove_all(list);
    }
}

fn remove_all(list: MutexGuard<'static, Vec<PathBuf>>) {
    for temporary in list.iter() {
        // The process ends; there is nobody to tell.
        drop(fs::remove_file(temporary));
    }
    std::mem::forget(list);
}

/// A new, locked file in the directory of `target`, under a name that nobody else has. What dead processes left there is
/// removed first.
pub(super) fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    if target.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it does not name a file"));
    }
    let directory = directory_of(target);
    remove_abandoned_once(directory);
    loop {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        // Without the target's name, which may have all the bytes that a name can have.
        let name = format!("{PREFIX}{}-{:x}-{count}{SUFFIX}", std::process::id(), *START);
        let temporary = directory.join(name);
        let noted = temporary.clone();
        let mut list = unfinished();
        // Before the file is made: memory that ends between file and list would leave the file behind.
        list.reserve(1);
        // Never an existing file: a link that somebody placed under this name would be written through.
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => {
                if is_ours(&file, &temporary) {
                    list.push(noted);
                    return Ok((file, temporary));
                }
            }
        }
    }
}

/// A new, locked file in a directory that only its owner can read; removed when the process says that it ends.
pub(crate) fn create_temporary(directory: &Path) -> io::Result<(File, PathBuf)> {
    let (file, path) = create_beside(&directory.join("stdin"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    Ok((file, path))
}

/// Locks a new file. False if another process looked through the directory just before, took the file for abandoned and
/// removes it.
fn is_ours(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => is_at(file, path),
        Err(TryLockError::WouldBlock) => false,
        // A file system without locks: nobody can lock the file, so nobody removes it.
        Err(TryLockError::Error(_)) => true,
    }
}

/// Directory of a file, as it can be opened: that of a bare name is `.`.
pub(super) fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("."),
    }
}

fn remove_abandoned_once(directory: &Path) {
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if !swept.iter().any(|earlier| earlier == directory) {
        swept.push(directory.to_path_buf());
        remove_abandoned(directory);
    }
}

/// Removes the temporary files in a directory that no living process holds.
fn remove_abandoned(directory: &Path) {
    // Housekeeping for someone else: what cannot be listed, opened, locked or removed stays, and the run goes on.
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        // A link or a pipe under such a name is not ours; opening it could lead elsewhere or wait forever.
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_file || !is_temporary(&entry.file_name()) {
            continue;
        }
        let path = entry.path();
        let Ok(file) = File::open(&path) else { continue };
        // The lock is the writer's until it ends, however it ends.
        if file.try_lock().is_ok() && is_at(&file, &path) {
            drop(fs::remove_file(&path));
        }
    }
}

/// Whether a name is of the form that [`create_beside`] gives: nothing else is ever removed.
fn is_temporary(name: &OsStr) -> bool {
    let digits = |text: &str, radix| !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
    let parts = name
        .to_str()
        .and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX))
        .map(|middle| middle.split('-').collect::<Vec<_>>());
    matches!(parts.as_deref(), Some([pid, start, count])
        if digits(pid, 10) && digits(start, 16) && digits(count, 10))
}

/// Whether an open file is the one at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => is_same(&open, &named),
        _ => false,
    }
}

/// Whether two files are one.
#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Elsewhere a file that is open cannot be replaced under its name.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_form_are_ever_removed() {
        let ours = format!("{PREFIX}{}-{:x}-{}{SUFFIX}", 4194304, *START, u32::MAX);
        assert!(is_temporary(OsStr::new(&ours)) && ours.len() < 64, "{ours}");
        for other in [
            "a.tmp",
            ".evenkeel-.tmp",
            ".evenkeel-1-2.tmp",
            ".evenkeel-1--3.tmp",
            ".evenkeel-x-2-3.tmp",
            ".evenkeel-1-2-3-4.tmp",
            ".evenkeel-1-2-3.tmp.json",
            ".cal.json.123-0.tmp",
            "evenkeel-1-2-3.tmp",
        ] {
            assert!(!is_temporary(OsStr::new(other)), "{other}");
        }
    }
}

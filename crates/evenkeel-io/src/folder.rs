//! `dir`, `dir/*.parquet`: the files that a folder or a pattern stands for, in the order of their names.
//!
//! What cannot be read is an error, never left out: a table of which a part is missing gives an answer all the same.

use crate::error::{IoError, Result};
use crate::source::Format;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Deeper folders than any partitioned table has: a link that leads upward would be followed forever.
const DEEPEST: usize = 16;

/// Endings of tables that are not read: a folder that holds one is not read in part.
const UNREADABLE: [&str; 15] = [
    "npy", "npz", "bz2", "xz", "lz4", "br", "zip", "7z", "tar", "tgz", "orc", "avro", "xls",
    "xlsx", "pkl",
];

/// What is wrong with something in a folder, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FolderProblem {
    /// The system would not list or follow it.
    #[error(
        "cannot be read: {reason}; check its permissions and where links lead, or name the files to read"
    )]
    Unreadable {
        /// What the system said.
        reason: String,
    },
    /// Folders in folders without end.
    #[error("lies {deepest} folders deep, more than are looked into; does a link lead upward?")]
    TooDeep {
        /// Folders that are looked into at most.
        deepest: usize,
    },
    /// A table in a form that a folder is not read in.
    #[error(
        "a folder is read as csv, jsonl, parquet or arrow, and this is none; name the files to read ('folder/*.parquet'), or move it"
    )]
    OtherFormat,
    /// The same table in two forms.
    #[error(
        "{other} lies beside it and has the same name: the same rows twice? Name the files to read ('folder/*.parquet')"
    )]
    TwoForms {
        /// The other file.
        other: String,
    },
}

fn problem(path: &Path, problem: FolderProblem) -> IoError {
    IoError::Folder { path: path.to_path_buf(), problem }
}

fn unreadable(path: &Path, error: &std::io::Error) -> IoError {
    let reason = error.to_string();
    let reason = reason.split(" (os error").next().unwrap_or_default().to_owned();
    problem(path, FolderProblem::Unreadable { reason })
}

/// The tables of a directory, or the files that fit a star in the last part of a path; none if it is neither, or holds none.
///
/// # Errors
/// [`IoError::Folder`] for what lies there and cannot be read.
pub(crate) fn expand(path: &Path) -> Result<Option<(Vec<PathBuf>, Format)>> {
    let mut found = Vec::new();
    if path.is_dir() {
        collect(path, 0, &mut found)?;
    } else {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some((before, after)) = name.and_then(|name| name.split_once('*')) else {
            return Ok(None);
        };
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        // A pattern in no folder fits nothing, which is said where it is read.
        let Ok(entries) = std::fs::read_dir(directory) else { return Ok(None) };
        for entry in entries {
            let path = entry.map_err(|error| unreadable(directory, &error))?.path();
            if fits(&path, before, after) && Format::of(&path).is_some() && is_file(&path)? {
                found.push(path);
            }
        }
    }
    found.sort();
    refuse_two_forms(&found)?;
    let format = found.first().and_then(|first| Format::of(first));
    Ok(format.map(|format| (found, format)))
}

/// Whether the name of a file is a pattern's, whose star stands between these.
fn fits(path: &Path, before: &str, after: &str) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| {
        name.len() >= before.len() + after.len()
            && name.starts_with(before)
            && name.ends_with(after)
    })
}

/// Whether a table written to `path` would be read as one of a folder, or of a pattern.
pub(crate) fn would_hold(folder: &Path, path: &Path) -> bool {
    let place = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new(".")).canonicalize().ok()
    };
    let (Some(written), true) = (place(path), Format::of(path).is_some()) else { return false };
    if folder.is_dir() {
        return folder.canonicalize().is_ok_and(|folder| written.starts_with(folder));
    }
    let name = folder.file_name().and_then(|name| name.to_str());
    let star = name.and_then(|name| name.split_once('*'));
    star.is_some_and(|(before, after)| {
        place(folder) == Some(written.clone()) && fits(path, before, after)
    })
}

/// Tables below a directory; what begins with a dot or an underscore is a note of the program that wrote them.
fn collect(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    if depth > DEEPEST {
        return Err(problem(directory, FolderProblem::TooDeep { deepest: DEEPEST }));
    }
    let failed = |error: &std::io::Error| unreadable(directory, error);
    for entry in std::fs::read_dir(directory).map_err(|error| failed(&error))? {
        let path = entry.map_err(|error| failed(&error))?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.starts_with(['.', '_'])) {
            continue;
        }
        if path.is_dir() {
            collect(&path, depth + 1, found)?;
            continue;
        }
        let ending = path.extension().and_then(|ending| ending.to_str());
        let ending = ending.map(str::to_ascii_lowercase).unwrap_or_default();
        match Format::of(&path) {
            Some(format) if format.is_table() => found.extend(is_file(&path)?.then_some(path)),
            // Also `.parquet.gz`, which is a table, and none that is read.
            _ if UNREADABLE.contains(&ending.as_str())
                || ["gz", "zst"].contains(&ending.as_str()) =>
            {
                return Err(problem(&path, FolderProblem::OtherFormat));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a path leads to a file; an error for a link that leads nowhere.
fn is_file(path: &Path) -> Result<bool> {
    std::fs::metadata(path).map(|found| found.is_file()).map_err(|error| unreadable(path, &error))
}

/// An error for `day-1.csv` beside `day-1.parquet`.
fn refuse_two_forms(files: &[PathBuf]) -> Result<()> {
    let mut stems: BTreeMap<PathBuf, &PathBuf> = BTreeMap::new();
    for file in files {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let ending = |name: &str| {
            [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end).map(str::to_owned))
        };
        let inner = ending(name).unwrap_or_else(|| name.to_owned());
        let stem = file.with_file_name(Path::new(&inner).file_stem().unwrap_or_default());
        if let Some(other) = stems.insert(stem, file) {
            let other = other.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Err(problem(file, FolderProblem::TwoForms { other }));
        }
    }
    Ok(())
}

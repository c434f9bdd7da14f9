//! `name of class 0 \n name of class 1 \n ...`: class names, one per line.

use crate::error::{IoError, Result};
use crate::input::open_input;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Longest file of class names that is read: a name of a dozen letters for each of a few million classes.
pub const MAX_CLASS_NAMES_BYTES: u64 = 64 << 20;

/// What can be wrong in a line of class names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClassNameProblem {
    /// A blank line between names.
    #[error("the line is blank; give every class a name, one per line")]
    Blank,
    /// The same name twice.
    #[error("{name:?} already stands in line {earlier}; names must differ")]
    Duplicate {
        /// The name that stands twice.
        name: String,
        /// Line of its first appearance, counted from 1.
        earlier: usize,
    },
    /// Bytes that are not text.
    #[error("this is not UTF-8 text; class names are one per line")]
    NotText,
    /// More than a list of names can be.
    #[error("the file is longer than {limit} bytes; class names are one per line")]
    TooLong {
        /// Bytes that are read at most.
        limit: u64,
    },
}

/// Reads class names, one per line, in the order of the labels. White space around names and blank lines at the end do
/// not count. With `classes`, there must be exactly that many.
///
/// # Errors
/// [`IoError::Open`] or [`IoError::NotAFile`] if there is no readable file, [`IoError::NoRows`] for an empty one,
/// [`IoError::ClassName`] for a blank line, a name that stands twice, bytes that are not UTF-8 or more than
/// [`MAX_CLASS_NAMES_BYTES`], [`IoError::WrongCount`] unless there are as many names as classes.
pub fn read_class_names(path: &Path, classes: Option<usize>) -> Result<Vec<String>> {
    let at = |line, problem| IoError::ClassName { path: path.to_path_buf(), line, problem };
    let (file, length) = open_input(path)?;
    if length > MAX_CLASS_NAMES_BYTES {
        return Err(at(1, ClassNameProblem::TooLong { limit: MAX_CLASS_NAMES_BYTES }));
    }
    let mut bytes = Vec::new();
    let origin = || path.display().to_string().into();
    // The length was checked, but a file may grow while it is read.
    file.take(MAX_CLASS_NAMES_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| IoError::Read { origin: origin(), error })?;
    let text = match std::str::from_utf8(&bytes) {
        // Spreadsheets begin UTF-8 with a mark that would become part of the first name.
        Ok(text) if !text.contains('\0') => text.trim_start_matches('\u{feff}').trim_end(),
        Ok(text) => return Err(at(line_of(text.as_bytes(), b'\0'), ClassNameProblem::NotText)),
        Err(error) => {
            let line = 1 + bytes[..error.valid_up_to()].iter().filter(|b| **b == b'\n').count();
            return Err(at(line, ClassNameProblem::NotText));
        }
    };
    if text.is_empty() {
        return Err(IoError::NoRows { origin: origin() });
    }
    let mut seen = BTreeMap::new();
    let mut names = Vec::new();
    for (line, name) in text.lines().map(str::trim).enumerate() {
        if name.is_empty() {
            return Err(at(line + 1, ClassNameProblem::Blank));
        }
        // Two classes of one name could not be told apart in the sets that are written.
        if let Some(earlier) = seen.insert(name, line + 1) {
            return Err(at(line + 1, ClassNameProblem::Duplicate { name: name.into(), earlier }));
        }
        names.push(name.to_owned());
    }
    match classes {
        Some(expected) if expected != names.len() => {
            let (what, found) = ("class names", names.len());
            Err(IoError::WrongCount { origin: origin(), what, found, expected })
        }
        _ => Ok(names),
    }
}

/// The line on which `byte` first stands.
fn line_of(text: &[u8], byte: u8) -> usize {
    1 + text.iter().take_while(|b| **b != byte).filter(|b| **b == b'\n').count()
}

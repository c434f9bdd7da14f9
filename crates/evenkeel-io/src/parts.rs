//! `dir`, `dir/*.parquet`: several files as one matrix, one after the other in the order of their names.

use crate::block::{Precision, Values};
use crate::column_choice::{ColumnChoice, other_columns};
use crate::error::{IoError, Result};
use crate::reader::{RowStream, open_stream};
use crate::source::{Format, MatrixSource};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Deeper folders than any partitioned table has: a link that leads upward must not be followed forever.
const DEEPEST: usize = 16;

/// The tables of a directory, or the files that fit a star in the last part of a path; none if it is neither.
pub(crate) fn expand(path: &Path) -> Option<(Vec<PathBuf>, Format)> {
    let mut found = Vec::new();
    if path.is_dir() {
        collect(path, 0, &mut found);
    } else {
        let (before, after) = path.file_name()?.to_str()?.split_once('*')?;
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        for entry in std::fs::read_dir(directory.unwrap_or(Path::new("."))).ok()?.flatten() {
            let fits = entry.file_name().to_str().is_some_and(|name| {
                name.len() >= before.len() + after.len()
                    && name.starts_with(before)
                    && name.ends_with(after)
            });
            if fits && Format::of(&entry.path()).is_some() && entry.path().is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    let format = Format::of(found.first()?)?;
    Some((found, format))
}

/// Tables below a directory; what begins with a dot or an underscore is a note of the program that wrote them.
fn collect(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if name.to_str().is_none_or(|name| name.starts_with(['.', '_'])) {
            continue;
        }
        if path.is_dir() && depth < DEEPEST {
            collect(&path, depth + 1, found);
        } else if Format::of(&path).is_some_and(Format::is_table) && path.is_file() {
            found.push(path);
        }
    }
}

/// Rows of several files.
pub(crate) struct PartRows {
    source: MatrixSource,
    choice: ColumnChoice,
    columns: usize,
    names: Option<Vec<String>>,
    rows: Option<u64>,
    precision: Precision,
    next: usize,
    current: Option<Box<dyn RowStream>>,
    scratch: Values,
}

impl PartRows {
    /// Opens all parts, so that a part that does not fit is found before a row is read.
    pub(crate) fn open(source: &MatrixSource, choice: &ColumnChoice) -> Result<Self> {
        let mut whole: Option<Self> = None;
        for part in source.parts() {
            let known = whole.as_ref().and_then(|whole| whole.names.clone());
            let stream = open_part(&part, choice, known.as_deref())?;
            let (columns, rows, precision) = (stream.columns(), stream.rows(), stream.precision());
            match &mut whole {
                None => {
                    whole = Some(Self {
                        source: source.clone(),
                        choice: choice.clone(),
                        columns,
                        names: stream.names().map(<[String]>::to_vec),
                        rows,
                        precision,
                        next: 0,
                        current: None,
                        scratch: Values::none(precision),
                    });
                }
                Some(whole) => {
                    if columns != whole.columns {
                        let (origin, what) = (part.to_string().into(), "columns");
                        let (found, expected) = (columns, whole.columns);
                        return Err(IoError::WrongCount { origin, what, found, expected });
                    }
                    whole.rows = whole.rows.zip(rows).and_then(|(all, more)| all.checked_add(more));
                    // One part that needs double precision decides for all: a block has one type.
                    if precision == Precision::Double {
                        whole.precision = Precision::Double;
                    }
                }
            }
        }
        whole.ok_or_else(|| IoError::NoRows { origin: source.to_string().into() })
    }
}

/// Opens one part with the columns of the first.
fn open_part(
    part: &MatrixSource,
    choice: &ColumnChoice,
    known: Option<&[String]>,
) -> Result<Box<dyn RowStream>> {
    let stream = open_stream(part, choice)?;
    match (known, stream.names()) {
        (Some(known), Some(names)) if known != names => {
            let lacking = |names: &[String], among: &[String]| -> Vec<String> {
                names.iter().filter(|name| !among.contains(name)).cloned().collect()
            };
            let (missing, surplus) = (lacking(known, names), lacking(names, known));
            if missing.is_empty() && surplus.is_empty() {
                return open_stream(part, &ColumnChoice::Named(known.to_vec()));
            }
            let origin: Arc<str> = part.to_string().into();
            Err(other_columns(&origin, &missing, &surplus))
        }
        _ => Ok(stream),
    }
}

impl RowStream for PartRows {
    fn columns(&self) -> usize {
        self.columns
    }

    fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    fn rows(&self) -> Option<u64> {
        self.rows
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn fill(&mut self, rows: usize, values: &mut Values) -> Result<usize> {
        values.restart(self.precision);
        let mut filled = 0;
        while filled < rows {
            if self.current.is_none() {
                let Some(part) = self.source.parts().nth(self.next) else { break };
                self.current = Some(open_part(&part, &self.choice, self.names.as_deref())?);
                self.next += 1;
            }
            let Some(stream) = &mut self.current else { break };
            // Most blocks lie within one part: these are read in place, in the memory of one block.
            if filled == 0 && stream.precision() == self.precision {
                match stream.fill(rows, values)? {
                    0 => self.current = None,
                    found => filled = found,
                }
                continue;
            }
            // A stream fills values of its own precision.
            self.scratch.restart(stream.precision());
            match stream.fill(rows - filled, &mut self.scratch)? {
                0 => self.current = None,
                found => {
                    filled += found;
                    let added = values.try_reserve_close(self.scratch.len());
                    let added = added.and_then(|()| values.try_extend(&self.scratch));
                    added.map_err(|_| IoError::OutOfMemory {
                        origin: self.source.to_string().into(),
                        bytes: values.bytes().saturating_mul(2),
                    })?;
                }
            }
        }
        Ok(filled)
    }
}

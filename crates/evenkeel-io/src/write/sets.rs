//! `LabelSets, LabelSets, ... -> file`: prediction sets in the format that the file's name asks for.

use super::atomic::AtomicFile;
use super::npy_sets::NpySets;
use super::parquet_sets::ParquetSets;
use super::text_sets::{CsvSets, JsonlSets};
use crate::error::{IoError, Result};
use evenkeel::conformal::LabelSets;
use std::path::Path;
use std::sync::Arc;

/// Stands for stdout, which takes csv unless another format is named.
pub const STDOUT: &str = "-";

/// The formats prediction sets can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetFormat {
    /// A bool array of shape (rows, classes).
    Npy,
    /// `row,size,labels`, labels separated by `;`.
    Csv,
    /// One JSON list per line.
    Jsonl,
    /// One list column `labels`.
    Parquet,
}

impl SetFormat {
    /// The format a file name asks for, by its extension in any case; `-` is stdout and takes csv.
    ///
    /// # Errors
    /// [`IoError::UnknownOutputFormat`] unless the extension is one of the four.
    pub fn of(path: &Path) -> Result<Self> {
        if path.as_os_str() == STDOUT {
            return Ok(Self::Csv);
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("npy") => Ok(Self::Npy),
            Some("csv") => Ok(Self::Csv),
            Some("jsonl") => Ok(Self::Jsonl),
            Some("parquet") => Ok(Self::Parquet),
            _ => Err(IoError::UnknownOutputFormat { path: path.to_path_buf() }),
        }
    }
}

/// What every format provides. I/O errors are named by the caller.
pub(super) trait SetSink {
    /// Adds a block of sets; `beside` has the cells passed through for each of them, or none at all.
    fn write(&mut self, sets: &LabelSets, beside: &[Vec<String>]) -> std::io::Result<()>;
    /// Writes what is still missing and hands the file back.
    fn finish(self: Box<Self>) -> std::io::Result<AtomicFile>;
}

/// Writes prediction sets block by block; the file appears on [`finish`](Self::finish).
pub struct SetWriter {
    sink: Box<dyn SetSink>,
    path: Arc<Path>,
    classes: usize,
    ids: usize,
    rows: usize,
}

impl SetWriter {
    /// Starts a file of sets over `classes` labels, in the format of its name. Class names, where given, stand for
    /// the labels in csv, jsonl and parquet.
    ///
    /// # Errors
    /// [`IoError::UnknownOutputFormat`] for another extension, [`IoError::WrongCount`] unless there is one name per
    /// class, [`IoError::NameWithSeparator`] for a name that csv would split, [`IoError::NeedsAFile`] for npy written to a
    /// pipe, [`IoError::Write`] if the file cannot be started.
    pub fn create(path: &Path, classes: usize, names: Option<&[String]>) -> Result<Self> {
        Self::create_beside(path, classes, names, &[])
    }

    /// The same with columns that are passed through; [`write_beside`](Self::write_beside) takes their cells.
    ///
    /// # Errors
    /// As [`create`](Self::create), [`IoError::IdsNeedATable`] for npy, and [`IoError::IdColumn`] for a column that the
    /// file has itself.
    pub fn create_beside(
        path: &Path,
        classes: usize,
        names: Option<&[String]>,
        ids: &[String],
    ) -> Result<Self> {
        Self::create_as(SetFormat::of(path)?, path, classes, names, ids)
    }

    /// The same in a format of its own, for stdout, whose name says none.
    ///
    /// # Errors
    /// As [`create_beside`](Self::create_beside).
    pub fn create_as(
        format: SetFormat,
        path: &Path,
        classes: usize,
        names: Option<&[String]>,
        ids: &[String],
    ) -> Result<Self> {
        check_ids(path, format, ids)?;
        if let Some(names) = names
            && names.len() != classes
        {
            let (origin, what) = (path.display().to_string().into(), "class names");
            return Err(IoError::WrongCount {
                origin,
                what,
                found: names.len(),
                expected: classes,
            });
        }
        // A pipe or device is written to directly; see `AtomicFile`.
        let path: Arc<Path> =
            if path.as_os_str() == STDOUT { Path::new("/dev/stdout") } else { path }.into();
        let failed = |error| IoError::Write { path: path.to_path_buf(), error };
        let sink: Box<dyn SetSink> = match format {
            SetFormat::Npy => {
                // Asked before it is opened: opening a pipe waits for a reader.
                if std::fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
                    return Err(IoError::NeedsAFile { path: path.to_path_buf() });
                }
                let file = AtomicFile::create(&path)?;
                Box::new(NpySets::new(file, classes).map_err(failed)?)
            }
            SetFormat::Csv => {
                // Before the file is started: a name that cannot be written should leave nothing
                // behind.
                CsvSets::check_names(&path, names)?;
                Box::new(CsvSets::new(AtomicFile::create(&path)?, names, ids).map_err(failed)?)
            }
            SetFormat::Jsonl => Box::new(JsonlSets::new(AtomicFile::create(&path)?, names, ids)),
            SetFormat::Parquet => {
                Box::new(ParquetSets::new(AtomicFile::create(&path)?, names, ids).map_err(failed)?)
            }
        };
        Ok(Self { sink, path, classes, ids: ids.len(), rows: 0 })
    }

    /// Adds the sets of the next rows.
    ///
    /// # Errors
    /// [`IoError::Core`] for sets over another number of classes, [`IoError::Write`] if writing fails.
    pub fn write(&mut self, sets: &LabelSets) -> Result<()> {
        self.write_beside(sets, &[])
    }

    /// The same with the cells that are passed through, as many for each row as columns were named.
    ///
    /// # Errors
    /// As [`write`](Self::write), and if there are not as many cells.
    pub fn write_beside(&mut self, sets: &LabelSets, beside: &[Vec<String>]) -> Result<()> {
        let whole = beside.iter().all(|cells| cells.len() == self.ids);
        if self.ids > 0 && (beside.len() != sets.rows() || !whole) {
            let (origin, what) = (self.path.display().to_string().into(), "rows to pass through");
            let (found, expected) = (beside.len(), sets.rows());
            return Err(IoError::WrongCount { origin, what, found, expected });
        }
        if sets.classes() != self.classes {
            let origin: Arc<str> = self.path.display().to_string().into();
            let error = evenkeel::Error::LengthMismatch {
                what: "classes of the sets",
                found: sets.classes(),
                other: "classes of the file",
                expected: self.classes,
            };
            return Err(IoError::from_core(&origin, 0, error));
        }
        self.rows += sets.rows();
        let failed = |error| IoError::Write { path: self.path.to_path_buf(), error };
        self.sink.write(sets, if self.ids > 0 { beside } else { &[] }).map_err(failed)
    }

    /// Completes the file, puts it in place, and returns how many rows it has.
    ///
    /// # Errors
    /// [`IoError::Write`] if the file cannot be completed or renamed. The target is then unchanged.
    pub fn finish(self) -> Result<usize> {
        let failed = |error| IoError::Write { path: self.path.to_path_buf(), error };
        self.sink.finish().map_err(failed)?.commit()?;
        Ok(self.rows)
    }
}

/// An error if columns cannot be passed through to a file.
fn check_ids(path: &Path, format: SetFormat, ids: &[String]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let own: &[&str] = match format {
        SetFormat::Npy => return Err(IoError::IdsNeedATable { path: path.to_path_buf() }),
        SetFormat::Csv => &["row", "size", "labels"],
        SetFormat::Jsonl | SetFormat::Parquet => &["labels"],
    };
    let twice = |(place, name): (usize, &String)| ids[..place].contains(name);
    let clash = ids
        .iter()
        .enumerate()
        .find(|(place, name)| own.contains(&name.as_str()) || twice((*place, name)));
    match clash {
        None => Ok(()),
        Some((_, name)) => Err(IoError::IdColumn { path: path.to_path_buf(), name: name.clone() }),
    }
}

impl std::fmt::Debug for SetWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SetWriter").field("path", &self.path).field("rows", &self.rows).finish()
    }
}

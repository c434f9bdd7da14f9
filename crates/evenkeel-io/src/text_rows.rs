//! Cells of a table as text, row for row: labels by name, and columns that are passed through.

use crate::arrow::ArrowText;
use crate::csv::{Records, cell_text, header_names};
use crate::error::{IoError, Result, some_of};
use crate::input::open_text;
use crate::json_lines::JsonText;
use crate::parquet::ParquetText;
use crate::partitions::beside_file;
use crate::source::{Format, MatrixSource};
use std::collections::VecDeque;
use std::sync::Arc;

/// Reads some columns of a table as text.
pub struct TextRows {
    cells: Cells,
    columns: usize,
    /// Files that follow, and what is read of them.
    later: VecDeque<MatrixSource>,
    names: Option<Vec<String>>,
    /// Where the cells of a row come from, if some stand in the names of folders.
    arranged: Option<Vec<Whence>>,
    origin: Arc<str>,
}

/// Where a cell comes from.
enum Whence {
    /// The file's own cells, in their order.
    File,
    /// A folder, which says the same of all its rows.
    Folder(String),
}

enum Cells {
    Csv { records: Box<Records>, places: Vec<usize>, ahead: VecDeque<Vec<String>>, width: usize },
    Json(Box<JsonText>),
    Parquet(Box<ParquetText>),
    Arrow(Box<ArrowText>),
}

impl TextRows {
    /// Opens the columns of these names; without names a file of one column, with or without a header.
    ///
    /// # Errors
    /// [`IoError::NoColumn`] for a name that is not there, [`IoError::NotOneColumn`] for several columns and no name,
    /// [`IoError::NoNames`] for a file whose columns have none, and the errors of reading it.
    pub fn open(source: &MatrixSource, names: Option<&[String]>) -> Result<Self> {
        let mut parts: VecDeque<MatrixSource> = source.parts().collect();
        let is_whole = parts.len() == 1;
        while let Some(part) = parts.pop_front() {
            match Self::open_part(&part, names) {
                // Parts without rows are passed over, as where numbers are read.
                Err(IoError::NoRows { .. }) if !is_whole => {}
                opened => return Ok(Self { later: parts, ..opened? }),
            }
        }
        Err(IoError::NoRows { origin: source.to_string().into() })
    }

    /// Opens one file.
    fn open_part(source: &MatrixSource, names: Option<&[String]>) -> Result<Self> {
        let origin: Arc<str> = source.to_string().into();
        let selected: Option<Vec<String>> = match (names, source.selector()) {
            (Some(names), _) => Some(names.to_vec()),
            (None, Some(column)) => Some(vec![column.to_owned()]),
            (None, None) => None,
        };
        let (own, arranged) = match &selected {
            Some(names) => arranged(source, names, &origin)?,
            None => (None, None),
        };
        let (path, own) = (source.path(), own.as_deref());
        let cells = match source.format() {
            Format::Csv => csv_cells(source, &origin, own)?,
            Format::Jsonl => Cells::Json(Box::new(JsonText::open(path, own, &origin)?)),
            Format::Parquet => Cells::Parquet(Box::new(ParquetText::open(path, own, &origin)?)),
            Format::Arrow => Cells::Arrow(Box::new(ArrowText::open(path, own, &origin)?)),
            Format::Npy | Format::Npz => return Err(IoError::NoNames { origin }),
        };
        let columns = selected.as_ref().map_or(1, Vec::len);
        Ok(Self { cells, columns, later: VecDeque::new(), names: selected, arranged, origin })
    }

    /// The input as the user typed it.
    pub fn origin(&self) -> &Arc<str> {
        &self.origin
    }

    /// Number of columns, the cells of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of rows, where the format tells.
    pub fn rows(&self) -> Option<u64> {
        match &self.cells {
            Cells::Parquet(rows) if self.later.is_empty() => Some(rows.rows()),
            Cells::Arrow(rows) if self.later.is_empty() => Some(rows.rows()),
            _ => None,
        }
    }

    /// Takes the name of a lone column off its head: a first cell that is neither a number nor one of these names.
    pub(crate) fn skip_header(&mut self, names: &[String]) {
        if let Cells::Csv { ahead, .. } = &mut self.cells {
            let is_label = |cell: &String| {
                cell.trim().parse::<f64>().is_ok() || names.iter().any(|name| name == cell.trim())
            };
            if ahead.front().and_then(|row| row.first()).is_some_and(|cell| !is_label(cell)) {
                ahead.clear();
            }
        }
    }

    /// The next `rows` rows, fewer only at the end. A cell that is missing is empty.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn next_rows(&mut self, rows: usize) -> Result<Vec<Vec<String>>> {
        let mut found = self.next_of_part(rows)?;
        while found.len() < rows
            && let Some(part) = self.later.pop_front()
        {
            let next = match Self::open_part(&part, self.names.as_deref()) {
                Err(IoError::NoRows { .. }) => continue,
                opened => opened?,
            };
            (self.cells, self.origin, self.arranged) = (next.cells, next.origin, next.arranged);
            found.extend(self.next_of_part(rows - found.len())?);
        }
        Ok(found)
    }

    fn next_of_part(&mut self, rows: usize) -> Result<Vec<Vec<String>>> {
        let mut found = self.next_of_file(rows)?;
        if let Some(arranged) = &self.arranged {
            for row in &mut found {
                let mut own = std::mem::take(row).into_iter();
                row.extend(arranged.iter().map(|whence| match whence {
                    Whence::File => own.next().unwrap_or_default(),
                    Whence::Folder(cell) => cell.clone(),
                }));
            }
        }
        Ok(found)
    }

    fn next_of_file(&mut self, rows: usize) -> Result<Vec<Vec<String>>> {
        match &mut self.cells {
            Cells::Json(text) => text.next_rows(rows),
            Cells::Parquet(text) => text.next_rows(rows),
            Cells::Arrow(text) => text.next_rows(rows),
            Cells::Csv { records, places, ahead, width } => {
                let mut found: Vec<Vec<String>> = Vec::new();
                while found.len() < rows {
                    if let Some(row) = ahead.pop_front() {
                        found.push(row);
                        continue;
                    }
                    let Some(line) = records.next()? else { break };
                    if records.cell_count() != *width {
                        let problem = crate::CsvProblem::Ragged {
                            found: records.cell_count(),
                            expected: *width,
                        };
                        return Err(IoError::Csv {
                            origin: Arc::clone(&self.origin),
                            line,
                            problem,
                        });
                    }
                    found.push(picked(records, places, line, &self.origin)?);
                }
                Ok(found)
            }
        }
    }
}

/// Columns of the file itself, and where the cells of a row come from.
type Arranged = (Option<Vec<String>>, Option<Vec<Whence>>);

/// The columns that the file itself has, and where each cell of a row comes from; nothing where all come from the file.
fn arranged(source: &MatrixSource, names: &[String], origin: &Arc<str>) -> Result<Arranged> {
    let (mut own, mut whence) = (Vec::new(), Vec::new());
    for name in names {
        match beside_file(source, name, origin)? {
            Some(cell) => whence.push(Whence::Folder(cell)),
            None => {
                own.push(name.clone());
                whence.push(Whence::File);
            }
        }
    }
    let arranged = (own.len() < names.len()).then_some(whence);
    Ok((Some(own), arranged))
}

fn csv_cells(
    source: &MatrixSource,
    origin: &Arc<str>,
    selected: Option<&[String]>,
) -> Result<Cells> {
    let mut records = Box::new(Records::new(open_text(source.path())?, origin)?);
    let Some(line) = records.next()? else {
        return Err(IoError::NoRows { origin: Arc::clone(origin) });
    };
    let width = records.cell_count();
    let mut ahead = VecDeque::new();
    let places = match selected {
        Some(wanted) => {
            let names = header_names(&records, line, origin)?;
            let place = |name: &String| {
                let mut places = names.iter().enumerate().filter(|(_, found)| *found == name);
                match (places.next(), places.next()) {
                    (Some((place, _)), None) => Ok(place),
                    (Some(_), Some(_)) => {
                        Err(IoError::SameNames { origin: Arc::clone(origin), name: name.clone() })
                    }
                    (None, _) => Err(IoError::NoColumn {
                        origin: Arc::clone(origin),
                        name: name.clone(),
                        found: some_of(&names),
                    }),
                }
            };
            wanted.iter().map(place).collect::<Result<_>>()?
        }
        None if width == 1 => {
            // A word over the cells may be a name or a label; only the reader of labels can tell.
            ahead.push_back(picked(&records, &[0], line, origin)?);
            vec![0]
        }
        None => {
            let origin = Arc::clone(origin);
            return Err(IoError::NotOneColumn { origin, what: "labels", columns: width });
        }
    };
    Ok(Cells::Csv { records, places, ahead, width })
}

/// Some cells of the current record, in the order of `places`.
fn picked(
    records: &Records,
    places: &[usize],
    line: u64,
    origin: &Arc<str>,
) -> Result<Vec<String>> {
    let text = |place: &usize| Ok(cell_text(records.cell(*place), line, origin)?.to_owned());
    places.iter().map(text).collect()
}

impl std::fmt::Debug for TextRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextRows").field("origin", &self.origin).finish()
    }
}

//! `date=2026-01-01/part.parquet`: columns that stand in the names of folders.
//!
//! A column of the file wins over a folder of its name. They are never taken for classes: nothing chooses them but their name.

use crate::block::{Precision, Values};
use crate::column_problem::ColumnProblem;
use crate::error::{IoError, Result};
use crate::reader::RowStream;
use crate::source::{Format, MatrixSource};
use crate::text_rows::TextRows;
use crate::{arrow, csv, json_lines, parquet};
use std::path::Path;
use std::sync::Arc;

/// What programs write for a value that is missing.
const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// Rows read at a time.
const STEP_ROWS: usize = 1 << 14;

/// What the folders above a file say of a column; empty where the value is missing, none where no folder names it. The folder
/// nearest to the file decides.
pub(crate) fn cell_of_folder(path: &Path, column: &str) -> Option<String> {
    let folders = path.parent()?.components().rev();
    folders.filter_map(|folder| folder.as_os_str().to_str()).find_map(|folder| {
        let (name, value) = folder.split_once('=')?;
        let found = unescaped(name) == column;
        found.then(|| if value == MISSING { String::new() } else { unescaped(value) })
    })
}

/// A name with its `%20` taken back, as writers escape what a folder cannot be called.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, escaped) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            (other, _) => {
                bytes.push(*other);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Names of all columns of a file, where they have any.
pub(crate) fn column_names(
    source: &MatrixSource,
    origin: &Arc<str>,
) -> Result<Option<Vec<String>>> {
    Ok(match source.format() {
        Format::Npy | Format::Npz => None,
        Format::Csv => csv::column_names(source.path(), origin)?,
        Format::Jsonl => json_lines::column_names(source.path(), origin)?,
        Format::Parquet => Some(parquet::column_names(source.path(), origin)?),
        Format::Arrow => Some(arrow::column_names(source.path(), origin)?),
    })
}

/// What the folders say of a column that the file itself does not have.
pub(crate) fn beside_file(
    source: &MatrixSource,
    column: &str,
    origin: &Arc<str>,
) -> Result<Option<String>> {
    let Some(cell) = cell_of_folder(source.path(), column).filter(|_| source.is_table()) else {
        return Ok(None);
    };
    let own = column_names(source, origin)?.unwrap_or_default();
    Ok((!own.iter().any(|name| name == column)).then_some(cell))
}

/// The number of a folder, once for every row of the file.
pub(crate) struct FolderNumbers {
    rows: TextRows,
    value: f64,
    name: [String; 1],
}

impl FolderNumbers {
    /// # Errors
    /// If the folder's cell is not a number, or the file cannot be read.
    pub(crate) fn open(
        source: &MatrixSource,
        column: &str,
        cell: &str,
        origin: &Arc<str>,
    ) -> Result<Self> {
        let value = cell.trim().parse().map_err(|_| IoError::Column {
            origin: Arc::clone(origin),
            problem: ColumnProblem::WordOfFolder {
                column: column.to_owned(),
                found: cell.to_owned(),
            },
        })?;
        let rows = TextRows::open(source, Some(&[]))?;
        Ok(Self { rows, value, name: [column.to_owned()] })
    }
}

impl RowStream for FolderNumbers {
    fn columns(&self) -> usize {
        1
    }

    fn names(&self) -> Option<&[String]> {
        Some(&self.name)
    }

    fn rows(&self) -> Option<u64> {
        self.rows.rows()
    }

    fn precision(&self) -> Precision {
        Precision::Double
    }

    fn fill(&mut self, rows: usize, values: &mut Values) -> Result<usize> {
        let found = self.rows.next_rows(rows.min(STEP_ROWS))?.len();
        *values = Values::F64(vec![self.value; found]);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_name_columns() {
        let path = Path::new("/data/region=a%20b/date=2026-01-02/region=c/x=1.parquet");
        let cell = |column: &str| cell_of_folder(path, column);
        assert_eq!(cell("date").as_deref(), Some("2026-01-02"));
        assert_eq!(cell("region").as_deref(), Some("c"));
        // The file's own name is none of its folders.
        assert_eq!(cell("x"), None);
        assert_eq!(cell("data"), None);
        let missing = Path::new("day=__HIVE_DEFAULT_PARTITION__/a.csv");
        assert_eq!(cell_of_folder(missing, "day").as_deref(), Some(""));
        assert_eq!(unescaped("a%2Fb%zz%"), "a/b%zz%");
        assert_eq!(unescaped("%ff"), "%ff");
    }
}

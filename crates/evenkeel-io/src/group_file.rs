//! The groups of rows from a file: a column of texts or whole numbers.
//!
//! ```text
//! segments.csv           one column under a header, or the column that the grouping is called by
//! customers.csv:segment  the column segment
//! customers.parquet      likewise, as are folders, compressed text and stdin
//! segments.npy           whole numbers, as are columns of npz files
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;

use evenkeel_jobs::JobError;
use evenkeel_jobs::grouped::GroupColumn;

use crate::companion::RowAligned;
use crate::csv::{CsvProblem, Records};
use crate::error::{IoError, Result, some_of};
use crate::input::open_text;
use crate::source::MatrixSource;
use crate::text_rows::TextRows;

/// Groups in a file, read in order, in bounded memory.
pub struct GroupFile {
    argument: String,
    /// Tables whose rows follow.
    more: Vec<String>,
    /// What the grouping is called, which may be the name of a column.
    by: Option<String>,
    cells: Cells,
}

enum Cells {
    /// A column of a table by its name.
    Table(TextRows),
    Texts {
        // Boxed: its buffers are large beside the others.
        records: Box<Records>,
        place: usize,
        origin: Arc<str>,
    },
    Numbers(RowAligned),
}

impl std::fmt::Debug for GroupFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupFile").field("argument", &self.argument).finish_non_exhaustive()
    }
}

impl GroupFile {
    /// The file that an argument names, without the column; none where it names none that can be read.
    pub fn path_of(argument: &str) -> Option<PathBuf> {
        match csv_parts(argument) {
            Some((path, _)) => Some(PathBuf::from(path)),
            None => MatrixSource::parse(argument).ok().map(|source| source.path().to_path_buf()),
        }
    }

    /// Opens the column `by` of the table that holds the rows; none where it has no such column, or is no table.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn beside(matrix: &str, by: &str) -> Result<Option<Self>> {
        let source = MatrixSource::parse(matrix)?;
        if !source.is_table() || source.selector().is_some() {
            return Ok(None);
        }
        match Self::open(&format!("{matrix}:{by}"), Some(by)) {
            Ok(found) => Ok(Some(found)),
            Err(IoError::NoColumn { .. } | IoError::NoNames { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a file with the group of every row; `by` is what the grouping is called.
    ///
    /// # Errors
    /// If it cannot be read, there is no such column, or there are several and none is selected.
    pub fn open(argument: &str, by: Option<&str>) -> Result<Self> {
        let cells = Cells::open(argument, by)?;
        let (argument, by) = (argument.to_owned(), by.map(str::to_owned));
        Ok(Self { argument, more: Vec::new(), by, cells })
    }

    /// Opens the column `by` of several tables, the rows of one after those of another.
    ///
    /// # Errors
    /// If one cannot be read, or has no such column.
    pub fn of_tables(tables: &[String], by: &str) -> Result<Self> {
        let argument = format!("{}:{by}", tables.first().map_or("", String::as_str));
        let more: Vec<String> =
            tables.iter().skip(1).map(|table| format!("{table}:{by}")).collect();
        if more.is_empty() {
            return Self::open(&argument, Some(by));
        }
        let cells = Cells::several(&argument, &more, by)?;
        Ok(Self { argument, more, by: Some(by.to_owned()), cells })
    }
}

/// A path to a csv file, and the column selected in it.
fn csv_parts(argument: &str) -> Option<(&str, Option<&str>)> {
    // A folder may be named like a table; its files are read one after the other.
    let is_csv = |path: &str| {
        let path = Path::new(path);
        let named = path.extension().is_some_and(|found| found.eq_ignore_ascii_case("csv"));
        named && !path.is_dir()
    };
    // A file whose own name holds the colon wins over a column.
    if is_csv(argument) {
        return Some((argument, None));
    }
    let (path, column) = argument.rsplit_once(':')?;
    is_csv(path).then_some((path, Some(column)))
}

impl Cells {
    fn several(argument: &str, more: &[String], by: &str) -> Result<Self> {
        let source = MatrixSource::parse(argument)?.followed_by(more)?;
        Ok(Self::Table(TextRows::open(&source, Some(&[by.to_owned()]))?))
    }

    fn open(argument: &str, by: Option<&str>) -> Result<Self> {
        let Some((path, column)) = csv_parts(argument) else {
            let source = MatrixSource::parse(argument)?;
            let column = source.selector().or(by).map(str::to_owned);
            if source.is_table()
                && let Some(column) = column
            {
                return Ok(Self::Table(TextRows::open(&source, Some(&[column]))?));
            }
            return Ok(Self::Numbers(RowAligned::open_column(&source, "groups")?));
        };
        let origin: Arc<str> = Arc::from(argument);
        let mut records = Box::new(Records::new(open_text(Path::new(path))?, &origin)?);
        // The first line is always a header: names and groups are both texts, and guessing would lose a row.
        let Some(line) = records.next()? else {
            return Err(IoError::NoRows { origin });
        };
        let header: Vec<String> = records
            .cells()
            .map(|cell| text(cell, &origin, line).map(|name| name.trim().to_owned()))
            .collect::<Result<_>>()?;
        let find = |name: &str| header.iter().position(|column| column == name);
        let place = match (column, by.and_then(find)) {
            (Some(name), _) => find(name).ok_or_else(|| IoError::NoColumn {
                origin: Arc::clone(&origin),
                name: name.to_owned(),
                found: some_of(&header),
            })?,
            (None, Some(place)) => place,
            (None, None) if header.len() == 1 => 0,
            (None, None) => {
                let (what, columns) = ("groups", header.len());
                return Err(IoError::NotOneColumn { origin, what, columns });
            }
        };
        Ok(Self::Texts { records, place, origin })
    }
}

fn text<'a>(cell: &'a [u8], origin: &Arc<str>, line: u64) -> Result<&'a str> {
    let problem = CsvProblem::NotText;
    std::str::from_utf8(cell).map_err(|_| IoError::Csv {
        origin: Arc::clone(origin),
        line,
        problem,
    })
}

impl GroupColumn for GroupFile {
    fn name(&self) -> &str {
        &self.argument
    }

    fn rewind(&mut self) -> evenkeel_jobs::Result<()> {
        self.cells = match (&self.by, self.more.is_empty()) {
            (Some(by), false) => Cells::several(&self.argument, &self.more, by),
            (by, _) => Cells::open(&self.argument, by.as_deref()),
        }
        .map_err(JobError::from)?;
        Ok(())
    }

    fn next_cells(
        &mut self,
        rows: usize,
        take: &mut dyn FnMut(&str) -> evenkeel_jobs::Result<()>,
    ) -> evenkeel_jobs::Result<usize> {
        match &mut self.cells {
            Cells::Table(text) => {
                let found = text.next_rows(rows).map_err(JobError::from)?;
                let cell = |row: &Vec<String>| take(row.first().map_or("", String::as_str));
                found.iter().try_for_each(cell)?;
                Ok(found.len())
            }
            Cells::Numbers(numbers) => {
                let found = numbers.next_labels(rows).map_err(JobError::from)?;
                found.iter().try_for_each(|number| take(&number.to_string()))?;
                Ok(found.len())
            }
            Cells::Texts { records, place, origin } => {
                let mut found = 0;
                while found < rows
                    && let Some(line) = records.next().map_err(JobError::from)?
                {
                    // A line that ends early has nothing there.
                    let cell = records.cells().nth(*place).unwrap_or_default();
                    take(text(cell, origin, line).map_err(JobError::from)?)?;
                    found += 1;
                }
                Ok(found)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(argument: &str, by: Option<&str>) -> Result<Vec<String>, String> {
        let mut file = GroupFile::open(argument, by).map_err(|error| error.to_string())?;
        let mut found = Vec::new();
        for _ in 0..2 {
            found.clear();
            file.rewind().map_err(|error| error.to_string())?;
            while file
                .next_cells(2, &mut |cell| {
                    found.push(cell.to_owned());
                    Ok(())
                })
                .map_err(|error| error.to_string())?
                > 0
            {}
        }
        Ok(found)
    }

    #[test]
    fn columns_are_found_by_name_and_read_again() {
        let folder = std::env::temp_dir().join(format!("evenkeel-groups-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("rows.csv");
        std::fs::write(&path, "id,segment\n1,north\n2,\"a, b\"\n3,south\n").unwrap();
        let name = path.display().to_string();
        let expected = ["north", "a, b", "south"];
        assert_eq!(cells(&format!("{name}:segment"), None).unwrap(), expected);
        assert_eq!(cells(&name, Some("segment")).unwrap(), expected);
        assert!(cells(&name, None).unwrap_err().contains("groups need one column, found 2"));
        assert!(cells(&format!("{name}:x"), None).unwrap_err().contains("id, segment"));
        let one = folder.join("one.csv");
        std::fs::write(&one, "segment\nx\n7\n").unwrap();
        assert_eq!(cells(&one.display().to_string(), None).unwrap(), ["x", "7"]);
        // Two files of a folder are one column, the rows of the first before those of the second.
        let parts = folder.join("parts.csv");
        std::fs::create_dir_all(&parts).unwrap();
        std::fs::copy(&path, parts.join("1.csv")).unwrap();
        std::fs::copy(&one, parts.join("0.csv")).unwrap();
        let both = ["x", "7", "north", "a, b", "south"];
        assert_eq!(cells(&format!("{}:segment", parts.display()), None).unwrap(), both);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn words_of_parquet_are_groups_in_every_codec() {
        let fixture = |codec: &str| {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
            format!("{folder}/codec_{codec}.parquet")
        };
        let plain = cells(&fixture("none"), Some("label")).unwrap();
        assert_eq!(plain.len(), 60);
        assert!(plain.iter().all(|word| ["cat", "dog", "eel"].contains(&word.as_str())));
        for codec in ["snappy", "gzip", "zstd", "lz4", "brotli", "brotli_v2"] {
            assert_eq!(cells(&format!("{}:label", fixture(codec)), None).unwrap(), plain);
        }
        // The table that holds the rows has the column, or it has not.
        assert!(GroupFile::beside(&fixture("zstd"), "label").unwrap().is_some());
        assert!(GroupFile::beside(&fixture("zstd"), "segment").unwrap().is_none());
        assert!(cells(&fixture("zstd"), Some("segment")).unwrap_err().contains("p_cat"));
    }
}

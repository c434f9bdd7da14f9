//! The sheet that people fill in: one line for each row to label.
//!
//! ```text
//! row,id,label,predicted,set         label is empty until somebody knows it; the other columns help to know it
//! 174,img_0174,,coat,coat;pullover
//! ```
//! It is what `read_target_labels` takes, filled in to any degree. A sheet that is read again keeps all of its columns and cells.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::csv::Records;
use crate::error::{IoError, Result, some_of};
use crate::input::{open_input, open_text};
use crate::write::csv_cell;

/// Name of the column of row numbers.
pub const ROW: &str = "row";
/// Name of the column of labels.
pub const LABEL: &str = "label";
/// A sheet of ten million rows is about 300 MB.
const MOST_BYTES: u64 = 1 << 29;

/// Rows to label, with what stands beside them, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelSheet {
    columns: Vec<String>,
    /// Each as long as `columns`.
    lines: Vec<Vec<String>>,
    rows: Vec<u64>,
}

impl LabelSheet {
    /// An empty sheet; `row` and `label` are among the columns.
    pub fn new(columns: Vec<String>) -> Self {
        Self { columns, lines: Vec::new(), rows: Vec::new() }
    }

    /// Reads a sheet that was written before, filled in to any degree.
    ///
    /// # Errors
    /// If it has no column `row` or `label`, a row is no whole number or stands there twice, or a line is longer than the first.
    pub fn read(path: &Path) -> Result<Self> {
        let origin: Arc<str> = Arc::from(path.display().to_string());
        let (file, length) = open_input(path)?;
        let problem = |line: u64, found: &str, expected: &'static str| IoError::TargetLabels {
            origin: Arc::clone(&origin),
            line: line as usize,
            found: found.chars().take(40).collect(),
            expected,
        };
        if length > MOST_BYTES {
            return Err(problem(1, "more than 512 MB", "a sheet of labels"));
        }
        drop(file);
        let mut records = Records::new(open_text(path)?, &origin)?;
        if records.next()?.is_none() {
            return Err(IoError::NoRows { origin });
        }
        let mut sheet = Self::new(texts(&records, &origin, 1)?);
        let at = sheet.place(ROW, &origin)?;
        sheet.place(LABEL, &origin)?;
        let mut seen = BTreeSet::new();
        while let Some(line) = records.next()? {
            let mut cells = texts(&records, &origin, line)?;
            if cells.iter().all(|cell| cell.trim().is_empty()) {
                continue;
            }
            if cells.len() > sheet.columns.len() {
                let more = cells[sheet.columns.len()].clone();
                return Err(problem(line, &more, "no more cells than the first line has"));
            }
            // Programs leave out what is empty at the end of a line.
            cells.resize(sheet.columns.len(), String::new());
            let text = cells[at].trim();
            let row: u64 = text
                .strip_suffix(".0")
                .unwrap_or(text)
                .parse()
                .map_err(|_| problem(line, text, "a row, which is a whole number from 0"))?;
            if !seen.insert(row) {
                return Err(problem(line, text, "each row once"));
            }
            sheet.rows.push(row);
            sheet.lines.push(cells);
        }
        Ok(sheet)
    }

    /// Place of a column, an error if there is none.
    fn place(&self, name: &str, origin: &Arc<str>) -> Result<usize> {
        self.find(name).ok_or_else(|| IoError::NoColumn {
            origin: Arc::clone(origin),
            name: name.to_owned(),
            found: some_of(&self.columns),
        })
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.trim().eq_ignore_ascii_case(name))
    }

    /// The rows of its lines, in their order.
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// Lines with a label.
    pub fn filled(&self) -> usize {
        let Some(at) = self.find(LABEL) else { return 0 };
        self.lines.iter().filter(|line| !line[at].trim().is_empty()).count()
    }

    /// Adds columns at the end, empty so far, unless they are there.
    pub fn with_columns(mut self, names: &[String]) -> Self {
        for name in names {
            if self.find(name).is_none() {
                self.columns.push(name.clone());
                self.lines.iter_mut().for_each(|line| line.push(String::new()));
            }
        }
        self
    }

    /// Takes columns away, with what stands in them.
    pub fn without_columns(mut self, names: &[&str]) -> Self {
        while let Some(at) = names.iter().find_map(|name| self.find(name)) {
            self.columns.remove(at);
            self.lines.iter_mut().for_each(|line| drop(line.remove(at)));
        }
        self
    }

    /// What stands in a column on each line; nothing where there is no such column.
    pub fn cells<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let at = self.find(name);
        self.lines.iter().map(move |line| at.map_or("", |at| line[at].trim()))
    }

    /// Adds a line: the row, and what stands in some of the columns.
    pub fn push(&mut self, row: u64, cells: &[(&str, String)]) {
        let mut line = vec![String::new(); self.columns.len()];
        let row_cell = (ROW, row.to_string());
        for (name, text) in std::iter::once(&row_cell).chain(cells) {
            if let Some(at) = self.find(name) {
                line[at].clone_from(text);
            }
        }
        self.rows.push(row);
        self.lines.push(line);
    }

    /// The sheet as csv.
    pub fn to_csv(&self) -> String {
        let line = |cells: &Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|cell| csv_cell(cell)).collect();
            cells.join(",") + "\n"
        };
        std::iter::once(&self.columns).chain(&self.lines).map(line).collect()
    }
}

/// What stands in the columns of a table for some of its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdColumns {
    /// Names of the columns.
    pub names: Vec<String>,
    /// Their cells, by row.
    pub cells: BTreeMap<u64, Vec<String>>,
    /// Rows of the table.
    pub rows: u64,
}

/// Reads columns of a csv file with a header, of these of its rows only: memory is theirs. Without names, all columns.
///
/// # Errors
/// If there is no such column, or a line is not text or has other cells than the first.
pub fn read_id_columns(
    path: &Path,
    names: Option<&[String]>,
    rows: &BTreeSet<u64>,
) -> Result<IdColumns> {
    let origin: Arc<str> = Arc::from(path.display().to_string());
    let mut records = Records::new(open_text(path)?, &origin)?;
    if records.next()?.is_none() {
        return Err(IoError::NoRows { origin });
    }
    let head = texts(&records, &origin, 1)?;
    let names: Vec<String> = names.map_or_else(|| head.clone(), <[String]>::to_vec);
    let place = |name: &String| {
        head.iter().position(|column| column.trim() == name.trim()).ok_or_else(|| {
            IoError::NoColumn {
                origin: Arc::clone(&origin),
                name: name.clone(),
                found: some_of(&head),
            }
        })
    };
    let places = names.iter().map(place).collect::<Result<Vec<usize>>>()?;
    let (mut cells, mut row) = (BTreeMap::new(), 0);
    while let Some(line) = records.next()? {
        if rows.contains(&row) {
            let texts = texts(&records, &origin, line)?;
            if texts.len() != head.len() {
                let problem =
                    crate::CsvProblem::Ragged { found: texts.len(), expected: head.len() };
                return Err(IoError::Csv { origin, line, problem });
            }
            cells.insert(row, places.iter().map(|at| texts[*at].clone()).collect());
        }
        row += 1;
    }
    Ok(IdColumns { names, cells, rows: row })
}

/// The cells of the present record as text.
fn texts(records: &Records, origin: &Arc<str>, line: u64) -> Result<Vec<String>> {
    let text = |cell: &[u8]| {
        let found = std::str::from_utf8(cell).map(str::to_owned);
        found.map_err(|_| IoError::Csv {
            origin: Arc::clone(origin),
            line,
            problem: crate::CsvProblem::NotText,
        })
    };
    records.cells().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_target_labels;

    fn file(name: &str, text: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("evenkeel-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn a_sheet_comes_back_with_all_its_cells() {
        let mut sheet = LabelSheet::new(["row", "name", "label"].map(str::to_owned).to_vec());
        sheet.push(17, &[("name", "a \"b\", c\nd".into())]);
        sheet.push(4, &[("name", "e".into()), ("label", "2".into())]);
        let path = file("sheet-a.csv", &sheet.to_csv());
        let read = LabelSheet::read(&path).unwrap();
        assert_eq!(read, sheet);
        assert_eq!((read.rows(), read.filled()), (&[17, 4][..], 1));
        // Commas and line feeds in other columns do not hide the labels.
        assert_eq!(
            read_target_labels(path.to_str().unwrap(), &crate::LabelNames::None).unwrap(),
            [(4, 2)]
        );
        let wider = read.with_columns(&["label".into(), "set".into()]);
        assert!(wider.to_csv().starts_with("row,name,label,set\n"));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn damaged_sheets_are_named_with_their_line() {
        for (text, words) in [
            ("", "no rows"),
            ("row,id\n1,2\n", "no column 'label'"),
            ("id,label\n1,2\n", "no column 'row'"),
            ("row,label\nx,2\n", "line 2"),
            ("row,label\n1,2\n1,0\n", "line 3"),
            ("row,label\n1,2,3\n", "line 2"),
        ] {
            let path = file("sheet-b.csv", text);
            let error = LabelSheet::read(&path).unwrap_err().to_string();
            assert!(error.contains(words), "{text:?}: {error}");
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn columns_of_some_rows_are_read() {
        let path = file("ids.csv", "id,site\na,1\nb,\"x,y\"\nc,3\n");
        let found = read_id_columns(&path, None, &BTreeSet::from([1])).unwrap();
        assert_eq!((found.names, found.rows), (vec!["id".to_owned(), "site".to_owned()], 3));
        assert_eq!(found.cells, BTreeMap::from([(1, vec!["b".to_owned(), "x,y".to_owned()])]));
        let error = read_id_columns(&path, Some(&["no".into()]), &BTreeSet::new()).unwrap_err();
        assert!(error.to_string().contains("id, site"), "{error}");
        std::fs::remove_file(path).unwrap();
    }
}

//! Labels of some target rows: a sheet `row,label`, or a column with gaps.
//!
//! ```text
//! row,label          sheet: any order, other columns ignored, an empty label is one still to be filled in
//! 17,3               a label is the number of a class, or its name where names are given
//! 4,
//!
//! 3                  column: one line or number for each target row; empty, -1 or NaN is unknown
//! -1
//! ```

use std::io::Read;
use std::sync::Arc;

use crate::class_of_label::{ClassOfLabel, NoClass};
use crate::csv::Records;
use crate::error::{IoError, Result};
use crate::input::{open_input, open_text};
use crate::label_names::{LabelNames, whole};
use crate::matrix::read_matrix;
use crate::partitions;
use crate::place::LabelPlace;
use crate::source::{Format, Gaps, MatrixSource};
use crate::text_rows::TextRows;
use crate::vectors::labels_of;

/// A sheet for ten million labels is about 200 MB.
const MOST_BYTES: u64 = 1 << 28;

/// Rows read at a time.
const STEP_ROWS: usize = 1 << 14;

/// Labels of some target rows, as a file has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelsOfRows {
    /// `(row, label)`; rows count from 0.
    pub pairs: Vec<(usize, usize)>,
    /// Entries of a column with one for each row, gaps included; none for a sheet that names its rows.
    pub entries: Option<usize>,
}

/// Reads `(row, label)` pairs; rows count from 0. Texts may name classes.
///
/// # Errors
/// [`IoError::TargetLabels`] for a line or number that is neither a label nor a gap, and the errors of reading a file.
pub fn read_target_labels(input: &str, names: &LabelNames) -> Result<Vec<(usize, usize)>> {
    Ok(read_labels_of_rows(input, names)?.pairs)
}

/// The same with the length of the column, which must be that of the target data.
///
/// # Errors
/// As [`read_target_labels`].
pub fn read_labels_of_rows(input: &str, names: &LabelNames) -> Result<LabelsOfRows> {
    let source = MatrixSource::parse(input)?;
    let cells = Cells::new(input, names);
    match (source.format(), source.selector()) {
        (Format::Csv, None) => of_text(&source, &cells),
        // A column alone may have gaps that are empty lines, which only the reader of text counts.
        (Format::Csv, Some(_)) if is_narrow(&source, &cells)? => of_column(&source, &cells),
        (Format::Csv | Format::Jsonl | Format::Arrow | Format::Parquet, _) => {
            of_cells(&source, &cells)
        }
        (Format::Npy | Format::Npz, _) => of_numbers(&source, &cells),
    }
}

/// Whether a text has one column, the one that is selected.
fn is_narrow(source: &MatrixSource, cells: &Cells<'_>) -> Result<bool> {
    let names = partitions::column_names(source, &cells.origin)?.unwrap_or_default();
    Ok(names.len() == 1 && source.selector() == names.first().map(String::as_str))
}

/// A table: its columns `row` and `label`, or its only or selected column.
fn of_cells(source: &MatrixSource, cells: &Cells<'_>) -> Result<LabelsOfRows> {
    let columns = partitions::column_names(source, &cells.origin)?.unwrap_or_default();
    let named = |name: &str| columns.iter().find(|found| found.eq_ignore_ascii_case(name));
    let sheet = match (source.selector(), named("row"), named("label")) {
        (None, Some(row), Some(label)) => Some([row.clone(), label.clone()]),
        _ => None,
    };
    let mut text = TextRows::open(source, sheet.as_ref().map(<[String; 2]>::as_slice))?;
    let (mut pairs, mut entries) = (Vec::new(), 0);
    loop {
        let rows = text.next_rows(STEP_ROWS)?;
        if rows.is_empty() {
            break;
        }
        for row in &rows {
            let line = entries + 1;
            let place = match (&sheet, &row[..]) {
                (Some(_), [place, _]) => Some(place.trim()),
                _ => None,
            };
            let label = row.last().map_or("", |cell| cell.trim());
            if let Some(label) = cells.label(line, label)? {
                let place = place.map_or(Ok(entries), |place| cells.row(line, place))?;
                pairs.push((place, label));
            }
            entries += 1;
        }
    }
    Ok(LabelsOfRows { pairs, entries: sheet.is_none().then_some(entries) })
}

/// One column with gaps, or two: row and label.
fn of_numbers(source: &MatrixSource, cells: &Cells<'_>) -> Result<LabelsOfRows> {
    let matrix = read_matrix(&source.clone().with_gaps(Gaps::AreNan))?;
    let (columns, origin) = (matrix.columns(), Arc::clone(matrix.origin()));
    let values = matrix.into_values().to_f64();
    if columns > 2 {
        return Err(IoError::NotOneColumn { origin, what: "labels", columns });
    }
    let mut found = Vec::new();
    for (index, row) in values.chunks_exact(columns).enumerate() {
        let label = row[columns - 1];
        if label.is_nan() || label == -1.0 {
            continue;
        }
        let pair = match columns {
            1 => vec![index as f64, label],
            _ => row.to_vec(),
        };
        let whole = labels_of(&origin, index, &pair)?;
        found.push((whole[0], cells.class.of_number(&origin, index, whole[1])?));
    }
    let entries = (columns == 1).then_some(values.len());
    Ok(LabelsOfRows { pairs: found, entries })
}

/// What cells mean, and where they stand.
pub(crate) struct Cells<'a> {
    origin: Arc<str>,
    names: &'a LabelNames,
    class: ClassOfLabel,
}

impl<'a> Cells<'a> {
    pub(crate) fn new(input: &str, names: &'a LabelNames) -> Self {
        Self { origin: Arc::from(input), names, class: ClassOfLabel::new(names.clone()) }
    }

    /// The input as it was typed.
    pub(crate) fn origin(&self) -> &Arc<str> {
        &self.origin
    }

    /// An error about a line.
    pub(crate) fn problem(&self, line: usize, found: &str, expected: &'static str) -> IoError {
        let found = found.chars().take(40).collect();
        IoError::TargetLabels { origin: Arc::clone(&self.origin), line, found, expected }
    }

    fn row(&self, line: usize, text: &str) -> Result<usize> {
        let expected = "a row, which is a whole number from 0";
        whole(text).ok_or_else(|| self.problem(line, text, expected))
    }

    /// The class of a cell, none where it is empty.
    pub(crate) fn label(&self, line: usize, text: &str) -> Result<Option<usize>> {
        if text.is_empty() || text == "-1" || text.eq_ignore_ascii_case("nan") {
            return Ok(None);
        }
        match self.class.find(text) {
            Ok(class) => Ok(Some(class)),
            // Of two meanings neither may be chosen in silence.
            Err(NoClass::Two) => Err(IoError::AmbiguousLabel {
                origin: Arc::clone(&self.origin),
                place: LabelPlace::Line(line),
                found: text.to_owned(),
            }),
            Err(NoClass::Unknown) => {
                let expected = match self.names {
                    LabelNames::None => "a label, which is a whole number from 0, or nothing",
                    _ => {
                        "a label, which is a whole number from 0 or the name of a class, or nothing"
                    }
                };
                Err(self.problem(line, text, expected))
            }
        }
    }
}

fn of_text(source: &MatrixSource, cells: &Cells<'_>) -> Result<LabelsOfRows> {
    let (file, length) = open_input(source.path())?;
    if length > MOST_BYTES {
        return Err(cells.problem(1, "more than 256 MB", "a sheet of labels"));
    }
    drop(file);
    let mut records = Records::new(open_text(source.path())?, &cells.origin)?;
    if records.next()?.is_none() {
        return Ok(LabelsOfRows { pairs: Vec::new(), entries: Some(0) });
    }
    let text = |cell: &[u8]| String::from_utf8_lossy(cell).trim().to_owned();
    let head: Vec<String> = records.cells().map(|cell| text(cell).to_lowercase()).collect();
    let place = |name: &str| head.iter().position(|found| found == name);
    let (Some(row), Some(label)) = (place("row"), place("label")) else {
        return of_column(source, cells);
    };
    for name in ["row", "label"] {
        if head.iter().filter(|found| *found == name).count() > 1 {
            return Err(cells.problem(1, &head.join(","), "one column row and one column label"));
        }
    }
    let mut found = Vec::new();
    while let Some(line) = records.next()? {
        let at = |place: usize| records.cells().nth(place).map(text).unwrap_or_default();
        let line = line as usize;
        // A comma that was not quoted moves every cell behind it.
        if records.cells().count() != head.len() {
            let found: Vec<String> = records.cells().map(text).collect();
            return Err(cells.problem(
                line,
                &found.join(","),
                "as many cells as the header has; quote cells with a comma",
            ));
        }
        if let Some(label) = cells.label(line, &at(label))? {
            found.push((cells.row(line, &at(row))?, label));
        }
    }
    Ok(LabelsOfRows { pairs: found, entries: None })
}

/// One label a line, where an empty line counts: the reader of records would skip it.
fn of_column(source: &MatrixSource, cells: &Cells<'_>) -> Result<LabelsOfRows> {
    let mut text = String::new();
    let read = open_text(source.path())?.take(MOST_BYTES).read_to_string(&mut text);
    read.map_err(|error| IoError::Read { origin: Arc::clone(&cells.origin), error })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let cell = |line: &str| line.trim().trim_matches('"').trim().to_owned();
    let first = cell(text.lines().next().unwrap_or(""));
    // A word over the numbers is the column's name.
    let known = matches!(cells.label(1, &first), Ok(Some(_)));
    let named = !known && !first.is_empty() && first.parse::<f64>().is_err();
    let mut found = Vec::new();
    let entries = text.lines().count() - usize::from(named);
    for (index, line) in text.lines().enumerate().skip(usize::from(named)) {
        if line.contains([',', ';', '\t']) {
            return Err(cells.problem(index + 1, line, "one label a line, or a header row,label"));
        }
        if let Some(label) = cells.label(index + 1, &cell(line))? {
            found.push((index - usize::from(named), label));
        }
    }
    Ok(LabelsOfRows { pairs: found, entries: Some(entries) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Vec<(usize, usize)>> {
        let path = std::env::temp_dir().join(format!("evenkeel-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let names = ["coat", "bag", "2", "boot"].map(str::to_owned);
        let found = match name.starts_with("named") {
            true => read_target_labels(path.to_str().unwrap(), &LabelNames::Listed(names.to_vec())),
            false => read_target_labels(path.to_str().unwrap(), &LabelNames::None),
        };
        std::fs::remove_file(&path).unwrap();
        found
    }

    #[test]
    fn sheets_and_columns_with_gaps() {
        let sheet = "row,label,predicted\n17,3,{3}\n4,,{1}\n\n2,0,x\n";
        assert_eq!(read("a.csv", sheet).unwrap(), [(17, 3), (2, 0)]);
        assert_eq!(read("b.csv", "Row;id;Label\r\n1;x;2.0\r\n").unwrap(), [(1, 2)]);
        assert_eq!(read("c.csv", "3\n-1\n\nnan\n0\n").unwrap(), [(0, 3), (4, 0)]);
        assert_eq!(read("d.csv", "label\n\n5\n").unwrap(), [(1, 5)]);
        assert_eq!(read("e.csv", "").unwrap(), []);
    }

    #[test]
    fn names_of_classes_are_labels_unless_they_are_the_number_of_another() {
        let sheet = "row,label\n17,boot\n4,0\n5,2\n6,\n";
        assert_eq!(read("named-a.csv", sheet).unwrap(), [(17, 3), (4, 0), (5, 2)]);
        assert_eq!(read("named-b.csv", "bag\n\ncoat\n").unwrap(), [(0, 1), (2, 0)]);
        let error = read("named-c.csv", "row,label\n1,shoe\n").unwrap_err().to_string();
        assert!(error.contains("the name of a class"), "{error}");
        let path = std::env::temp_dir().join(format!("evenkeel-{}-digits.csv", std::process::id()));
        std::fs::write(&path, "row,label\n3,1\n").unwrap();
        let digits = ["1", "2", "3"].map(str::to_owned);
        let (path_text, digits) = (path.to_str().unwrap(), digits.to_vec());
        let error = read_target_labels(path_text, &LabelNames::Listed(digits.clone())).unwrap_err();
        assert!(
            matches!(error, IoError::AmbiguousLabel { place: LabelPlace::Line(2), .. }),
            "{error}"
        );
        // The columns are called so: there is no other meaning.
        assert_eq!(read_target_labels(path_text, &LabelNames::Own(digits)).unwrap(), [(3, 0)]);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_is_no_label_is_named_with_its_line() {
        for (text, line) in [
            ("row,label\n1,cat\n", "line 2"),
            ("row,label\nx,1\n", "line 2"),
            ("1\n2,3\n", "line 2"),
            ("1\n1.5\n", "line 2"),
            ("id,row,label\nx,1,5\nJohn, 3,4,2\n", "line 3"),
            ("id,row,label\nJohn\n", "line 2"),
            ("row,label\n1,5,7\n", "line 2"),
            ("row,row,label\n1,2,5\n", "line 1"),
        ] {
            let error = read("f.csv", text).unwrap_err().to_string();
            assert!(error.contains(line), "{error}");
        }
    }
}

//! Labels of some target rows: a sheet `row,label`, or a column with gaps.
//!
//! ```text
//! row,label          sheet: any order, other columns ignored, an empty label is one still to be filled in
//! 17,3
//! 4,
//!
//! 3                  column: one line or number for each target row; empty, -1 or NaN is unknown
//! -1
//! ```

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use crate::error::{IoError, Result};
use crate::matrix::read_matrix;
use crate::source::{Format, MatrixSource};
use crate::vectors::labels_of;

/// A sheet for ten million labels is about 200 MB.
const MOST_BYTES: u64 = 1 << 28;

/// Reads `(row, label)` pairs; rows count from 0.
///
/// # Errors
/// [`IoError::TargetLabels`] for a line or number that is neither a label nor a gap, and the errors of reading a file.
pub fn read_target_labels(input: &str) -> Result<Vec<(usize, usize)>> {
    let source = MatrixSource::parse(input)?;
    match source.format() {
        Format::Csv => of_text(&source, input),
        _ => of_numbers(&source),
    }
}

/// One column with gaps, or two: row and label.
fn of_numbers(source: &MatrixSource) -> Result<Vec<(usize, usize)>> {
    let matrix = read_matrix(source)?;
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
        found.push((whole[0], whole[1]));
    }
    Ok(found)
}

fn of_text(source: &MatrixSource, input: &str) -> Result<Vec<(usize, usize)>> {
    let origin: Arc<str> = Arc::from(input);
    let path = source.path();
    let opened = File::open(path).map_err(|error| IoError::Open { path: path.into(), error })?;
    let mut text = String::new();
    let read = opened.take(MOST_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| IoError::Read { origin: Arc::clone(&origin), error })?;
    let problem = |line: usize, found: &str, expected: &'static str| IoError::TargetLabels {
        origin: Arc::clone(&origin),
        line,
        found: found.chars().take(40).collect(),
        expected,
    };
    if text.len() as u64 > MOST_BYTES {
        return Err(problem(1, "more than 256 MB", "a sheet of labels"));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let delimiter =
        [';', '\t'].into_iter().find(|mark| first_line(text).contains(*mark)).unwrap_or(',');
    let cell = |cell: &str| cell.trim().trim_matches('"').trim().to_owned();
    let cells = |line: &str| line.split(delimiter).map(cell).collect::<Vec<String>>();
    let head: Vec<String> =
        cells(first_line(text)).iter().map(|name| name.to_lowercase()).collect();
    let place = |name: &str| head.iter().position(|found| found == name);
    let known =
        |label: &str| !(label.is_empty() || label == "-1" || label.eq_ignore_ascii_case("nan"));
    let whole = |line: usize, text: &str, expected: &'static str| {
        // Programs write whole numbers as 3.0 where a column has gaps.
        let text = text.strip_suffix(".0").unwrap_or(text);
        text.parse::<usize>().map_err(|_| problem(line, text, expected))
    };
    const LABEL: &str = "a label, which is a whole number from 0, or nothing";
    const ROW: &str = "a row, which is a whole number from 0";
    let mut found = Vec::new();
    match (place("row"), place("label")) {
        (Some(row), Some(label)) => {
            for (index, line) in text.lines().enumerate().skip(1) {
                let cells = cells(line);
                if cells.iter().all(String::is_empty) {
                    continue;
                }
                let given = cells.get(label).map_or("", String::as_str);
                if known(given) {
                    let row = cells.get(row).map_or("", String::as_str);
                    found.push((whole(index + 1, row, ROW)?, whole(index + 1, given, LABEL)?));
                }
            }
        }
        _ => {
            let named = head.len() == 1 && known(&head[0]) && head[0].parse::<f64>().is_err();
            for (index, line) in text.lines().enumerate().skip(usize::from(named)) {
                let cells = cells(line);
                if cells.len() > 1 {
                    return Err(problem(
                        index + 1,
                        line,
                        "one label a line, or a header row,label",
                    ));
                }
                if known(&cells[0]) {
                    let row = index - usize::from(named);
                    found.push((row, whole(index + 1, &cells[0], LABEL)?));
                }
            }
        }
    }
    Ok(found)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Vec<(usize, usize)>> {
        let path = std::env::temp_dir().join(format!("evenkeel-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let found = read_target_labels(path.to_str().unwrap());
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
    fn what_is_no_label_is_named_with_its_line() {
        for (text, line) in [
            ("row,label\n1,cat\n", "line 2"),
            ("row,label\nx,1\n", "line 2"),
            ("1\n2,3\n", "line 2"),
            ("1\n1.5\n", "line 2"),
        ] {
            let error = read("f.csv", text).unwrap_err().to_string();
            assert!(error.contains(line), "{error}");
        }
    }
}

//! Labels of rows that are called by ids: a table with a column of ids and a column of labels.
//!
//! ```text
//! id,label           any order, other columns ignored, an empty label is one still to be filled in
//! order-17,3
//! ```

use crate::error::Result;
use crate::label_names::LabelNames;
use crate::partitions;
use crate::source::{Format, MatrixSource};
use crate::target_labels::Cells;
use crate::text_rows::TextRows;

/// Rows read at a time.
const STEP_ROWS: usize = 1 << 14;

/// What the column of labels is called unless somebody says otherwise.
const LABEL: &str = "label";

/// Reads `(id, label)` pairs. Texts may name classes. The labels stand in the column `label_column`, the one that the input
/// selects, or the one called label.
///
/// # Errors
/// [`NoColumn`](crate::IoError::NoColumn) where a column is missing, [`TargetLabels`](crate::IoError::TargetLabels) for a cell that is neither a label nor a gap or a label
/// without an id, and the errors of reading a file.
pub fn read_labels_of_ids(
    input: &str,
    id_column: &str,
    label_column: Option<&str>,
    names: &LabelNames,
) -> Result<Vec<(String, usize)>> {
    let source = MatrixSource::parse(input)?;
    let cells = Cells::new(input, names);
    let columns = partitions::column_names(&source, cells.origin())?.unwrap_or_default();
    let called = columns.iter().find(|name| name.eq_ignore_ascii_case(LABEL));
    let label = label_column.or(source.selector()).or(called.map(String::as_str)).unwrap_or(LABEL);
    let mut text = TextRows::open(&source, Some(&[id_column.to_owned(), label.to_owned()]))?;
    // The first row of a text stands below its header.
    let mut line = 1 + usize::from(source.format() == Format::Csv);
    let mut found = Vec::new();
    loop {
        let rows = text.next_rows(STEP_ROWS)?;
        if rows.is_empty() {
            return Ok(found);
        }
        for mut row in rows {
            let label = row.pop().unwrap_or_default();
            if let Some(label) = cells.label(line, label.trim())? {
                let id = row.pop().filter(|id| !id.is_empty());
                let id = id.ok_or_else(|| cells.problem(line, "", "the id of a row"))?;
                found.push((id, label));
            }
            line += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str, label: Option<&str>) -> Result<Vec<(String, usize)>> {
        let path = std::env::temp_dir().join(format!("evenkeel-ids-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let names = LabelNames::Listed(["coat", "bag"].map(str::to_owned).to_vec());
        let found = read_labels_of_ids(path.to_str().unwrap(), "order", label, &names);
        std::fs::remove_file(&path).unwrap();
        found
    }

    #[test]
    fn ids_and_labels_in_any_order_with_gaps() {
        let expected = [("b-7".to_owned(), 1), ("a 1".to_owned(), 0)];
        let sheet = "Label,note,order\nbag,x,b-7\n,y,c\n0,z,a 1\n";
        assert_eq!(read("a.csv", sheet, None).unwrap(), expected);
        let lines = "{\"order\": \"b-7\", \"truth\": 1}\n{\"order\": \"a 1\", \"truth\": 0}\n";
        assert_eq!(read("b.jsonl", lines, Some("truth")).unwrap(), expected);
    }

    #[test]
    fn what_is_missing_is_named() {
        for (text, label, expected) in [
            ("id,label\na,1\n", None, "order"),
            ("order,truth\na,1\n", None, "label"),
            ("order,label\na,1\nb,7.5\n", None, "line 3"),
            ("order,label\na,1\n,1\n", None, "line 3"),
        ] {
            let error = read("c.csv", text, label).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

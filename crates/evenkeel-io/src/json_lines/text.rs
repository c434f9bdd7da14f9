//! Fields of JSON lines as text: labels that are words, ids.

use super::{JsonLineProblem, Line, Lines, column_names};
use crate::column_problem::ColumnProblem;
use crate::error::{IoError, Result};
use crate::input::open_text;
use std::path::Path;
use std::sync::Arc;

/// Cells of some fields as text, line for line.
pub(crate) struct JsonText {
    lines: Lines,
    /// The fields; none where lines are values.
    names: Option<Vec<String>>,
}

impl JsonText {
    /// Opens these fields, or without names the one that there is.
    pub(crate) fn open(path: &Path, names: Option<&[String]>, origin: &Arc<str>) -> Result<Self> {
        let found = column_names(path, origin)?;
        let names = match (names, found) {
            (Some(names), Some(found)) => {
                if let Some(name) = names.iter().find(|name| !found.contains(name)) {
                    return Err(IoError::NoColumn {
                        origin: Arc::clone(origin),
                        name: name.clone(),
                        found: crate::error::some_of(&found),
                    });
                }
                Some(names.to_vec())
            }
            (Some([]), None) | (None, None) => None,
            (Some(_), None) => return Err(IoError::NoNames { origin: Arc::clone(origin) }),
            (None, Some(found)) if found.len() == 1 => Some(found),
            (None, Some(found)) => {
                let (origin, columns) = (Arc::clone(origin), found.len());
                return Err(IoError::NotOneColumn { origin, what: "labels", columns });
            }
        };
        Ok(Self { lines: Lines::new(open_text(path)?, origin), names })
    }

    /// The next rows, fewer only at the end; a field that is null or left out is empty.
    pub(crate) fn next_rows(&mut self, rows: usize) -> Result<Vec<Vec<String>>> {
        let mut found = Vec::new();
        while found.len() < rows && self.lines.next()?.is_some() {
            let row = match (&self.names, self.lines.row()?) {
                (None, Line::Value(value)) => vec![self.cell("the line", value.get())?],
                (None, row) => {
                    let (found, expected) = (row.form(), "one value");
                    return Err(self.lines.error(JsonLineProblem::OtherForm { found, expected }));
                }
                (Some(names), Line::Fields(fields)) => {
                    let cell = |name: &String| {
                        let mut values = fields.iter().filter(|(field, _)| field == name);
                        match (values.next(), values.next()) {
                            (None, _) => Ok(String::new()),
                            (Some((_, value)), None) => self.cell(name, value),
                            (Some(_), Some(_)) => {
                                let field = name.clone();
                                Err(self.lines.error(JsonLineProblem::Twice { field }))
                            }
                        }
                    };
                    names.iter().map(cell).collect::<Result<_>>()?
                }
                (Some(_), row) => {
                    let (found, expected) = (row.form(), "an object");
                    return Err(self.lines.error(JsonLineProblem::OtherForm { found, expected }));
                }
            };
            found.push(row);
        }
        Ok(found)
    }

    fn cell(&self, name: &str, value: &str) -> Result<String> {
        let not_text = |found: &str| IoError::Column {
            origin: Arc::clone(self.lines.origin()),
            problem: ColumnProblem::NotText { column: name.to_owned(), found: found.to_owned() },
        };
        match value.as_bytes().first() {
            Some(b'"') => serde_json::from_str(value).map_err(|error| {
                self.lines.error(JsonLineProblem::Syntax { reason: error.to_string() })
            }),
            Some(b'[') => Err(not_text("lists")),
            Some(b'{') => Err(not_text("records")),
            Some(b'n') => Ok(String::new()),
            _ => Ok(value.to_owned()),
        }
    }
}

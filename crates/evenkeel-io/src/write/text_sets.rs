//! `0,2,3;7` and `[3,7]`: sets as text, csv and JSON lines.

use super::atomic::AtomicFile;
use super::sets::SetSink;
use crate::error::{IoError, Result};
use evenkeel::conformal::LabelSets;
use std::io::{self, Write};
use std::path::Path;

/// Between the labels of a set in csv.
const SEPARATOR: char = ';';

/// Writes `row,size,labels`. The row number keeps empty sets visible to readers that skip blank lines.
pub(super) struct CsvSets {
    file: AtomicFile,
    names: Option<Vec<String>>,
    rows: usize,
}

impl CsvSets {
    /// An error at the first name that would read as two labels.
    pub(super) fn check_names(path: &Path, names: Option<&[String]>) -> Result<()> {
        match names.unwrap_or_default().iter().find(|name| name.contains(SEPARATOR)) {
            None => Ok(()),
            Some(name) => Err(IoError::NameWithSeparator {
                path: path.to_path_buf(),
                name: name.clone(),
                separator: SEPARATOR,
            }),
        }
    }

    pub(super) fn new(
        mut file: AtomicFile,
        names: Option<&[String]>,
        ids: &[String],
    ) -> io::Result<Self> {
        let ids: String = ids.iter().map(|name| csv_cell(name) + ",").collect();
        file.write_all(format!("row,{ids}size,labels\n").as_bytes())?;
        Ok(Self { file, names: names.map(<[String]>::to_vec), rows: 0 })
    }
}

impl SetSink for CsvSets {
    fn write(&mut self, sets: &LabelSets, beside: &[Vec<String>]) -> io::Result<()> {
        for (row, labels) in sets.iter().enumerate() {
            write!(self.file, "{},", self.rows)?;
            for cell in beside.get(row).into_iter().flatten() {
                write!(self.file, "{},", csv_cell(cell))?;
            }
            write!(self.file, "{},", labels.len())?;
            match &self.names {
                None => {
                    for (position, label) in labels.enumerate() {
                        let between = if position == 0 { "" } else { ";" };
                        write!(self.file, "{between}{label}")?;
                    }
                }
                Some(names) => {
                    let names: Vec<&str> = labels.map(|label| names[label].as_str()).collect();
                    self.file.write_all(csv_cell(&names.join(";")).as_bytes())?;
                }
            }
            self.file.write_all(b"\n")?;
            self.rows += 1;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<AtomicFile> {
        Ok(self.file)
    }
}

/// A cell, in quotes where it needs them.
pub(crate) fn csv_cell(text: &str) -> String {
    // Only where needed, so that plain files stay plain; a quote inside is doubled, as readers of csv expect.
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Writes one JSON list per line.
pub(super) struct JsonlSets {
    file: AtomicFile,
    /// What stands for each label, as JSON.
    names: Option<Vec<String>>,
    /// Names of the columns that are passed through, as JSON.
    ids: Vec<String>,
}

impl JsonlSets {
    pub(super) fn new(file: AtomicFile, names: Option<&[String]>, ids: &[String]) -> Self {
        // Escaped once for all rows, not once for every set they stand in.
        let names = names.map(|names| names.iter().map(|name| json_string(name)).collect());
        let ids = ids.iter().map(|name| json_string(name)).collect();
        Self { file, names, ids }
    }
}

impl SetSink for JsonlSets {
    fn write(&mut self, sets: &LabelSets, beside: &[Vec<String>]) -> io::Result<()> {
        for (row, labels) in sets.iter().enumerate() {
            // A list alone, or an object where there is more than the list.
            if !self.ids.is_empty() {
                self.file.write_all(b"{")?;
                let cells = self.ids.iter().zip(beside.get(row).into_iter().flatten());
                for (name, cell) in cells {
                    write!(self.file, "{name}:{},", json_string(cell))?;
                }
                self.file.write_all(b"\"labels\":")?;
            }
            self.file.write_all(b"[")?;
            for (position, label) in labels.enumerate() {
                let between = if position == 0 { "" } else { "," };
                match &self.names {
                    None => write!(self.file, "{between}{label}")?,
                    Some(names) => write!(self.file, "{between}{}", names[label])?,
                }
            }
            self.file.write_all(if self.ids.is_empty() { b"]\n" } else { b"]}\n" })?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<AtomicFile> {
        Ok(self.file)
    }
}

/// A string as JSON writes it.
fn json_string(text: &str) -> String {
    let mut json = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            // JSON forbids bare control characters, and a line feed would split a line in two.
            control if control < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => json.push(other),
        }
    }
    json.push('"');
    json
}

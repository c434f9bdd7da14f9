//! The folder of a run: what is finished, and for which configuration.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use evenkeel_io::write_file;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Outputs, Stopwatch};
use crate::error::{Error, Result};

const CONFIGURATION: &str = "configuration.json";
const TIMING: &str = "timing.csv";

/// A folder that belongs to one configuration.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
    configuration: Value,
}

impl RunFolder {
    /// Takes a folder into use: makes it if it is not there, continues in it if it has the same configuration, and
    /// refuses it otherwise. A configuration under which no cell was finished is replaced.
    pub fn open(path: &Path, configuration: &Value) -> Result<Self> {
        let file = path.join(CONFIGURATION);
        let found = configuration_of_finished_cells(path)?;
        // Mixed cells of two configurations would average into a table that no run produced.
        if let Some(found) = found.filter(|found| found != configuration) {
            let differences = differences(&found, configuration);
            return Err(Error::OtherConfiguration { path: file, differences });
        }
        fs::create_dir_all(path).map_err(Error::at(path))?;
        let text = serde_json::to_string_pretty(configuration)
            .map_err(|source| Error::Json { path: file.clone(), source })?;
        write_file(&file, text + "\n")?;
        for part in ["cells", "tables", "figures"] {
            let part = path.join(part);
            fs::create_dir_all(&part).map_err(Error::at(&part))?;
        }
        Ok(Self { path: path.to_path_buf(), configuration: configuration.clone() })
    }

    /// Refuses a folder that holds finished cells of another run, as far as some fields of the configuration tell: for
    /// callers with costly work to do before they know the others. Touches nothing.
    pub fn check(path: &Path, known: &Value) -> Result<()> {
        let Some(Value::Object(mut found)) = configuration_of_finished_cells(path)? else {
            return Ok(());
        };
        // Only what both know: fields that data add are not known yet.
        if let Value::Object(known) = known {
            found.retain(|key, _| known.contains_key(key));
        }
        let found = Value::Object(found);
        if found == *known {
            return Ok(());
        }
        let differences = differences(&found, known);
        Err(Error::OtherConfiguration { path: path.join(CONFIGURATION), differences })
    }

    fn cell_path(&self, name: &str) -> PathBuf {
        self.path.join("cells").join(format!("{name}.json"))
    }

    /// What a cell left behind; none if it is not finished. A file that cannot be read counts as not finished: the cell
    /// is run again and the file replaced.
    pub fn read_cell<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let bytes = fs::read(self.cell_path(name)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// What a finished cell left behind.
    pub fn require_cell<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let path = self.cell_path(name);
        let bytes = fs::read(&path).map_err(Error::at(&path))?;
        serde_json::from_slice(&bytes).map_err(|source| Error::Json { path, source })
    }

    /// Notes that a cell is finished; the file appears whole or not at all.
    pub fn write_cell(&self, name: &str, outcome: &impl Serialize) -> Result<()> {
        let path = self.cell_path(name);
        let text = serde_json::to_string(outcome)
            .map_err(|source| Error::Json { path: path.clone(), source })?;
        Ok(write_file(&path, text + "\n")?)
    }

    /// Appends a cell's seconds. One write each, so that lines of cells that end together do not mix.
    pub fn write_timing(&self, name: &str, stopwatch: &Stopwatch) -> Result<()> {
        let path = self.path.join(TIMING);
        let lines: String = stopwatch
            .parts()
            .iter()
            .map(|(part, seconds)| format!("{name},\"{part}\",{seconds:.6}\n"))
            .collect();
        let mut file =
            OpenOptions::new().create(true).append(true).open(&path).map_err(Error::at(&path))?;
        file.write_all(lines.as_bytes()).map_err(Error::at(&path))
    }

    /// Writes tables, figures and the page.
    pub fn write_outputs(&self, outputs: &Outputs) -> Result<()> {
        let tables = self.path.join("tables");
        for table in &outputs.tables {
            write_file(&tables.join(format!("{}.csv", table.name)), table.csv())?;
            write_file(&tables.join(format!("{}.md", table.name)), table.markdown())?;
        }
        for table in &outputs.data {
            write_file(&tables.join(format!("{}.csv", table.name)), table.csv())?;
        }
        for figure in &outputs.figures {
            let path = self.path.join("figures").join(format!("{}.svg", figure.name));
            write_file(&path, &figure.svg)?;
        }
        Ok(write_file(&self.path.join("report.html"), outputs.page(&self.configuration))?)
    }
}

/// The configuration of a folder; none if it has none, or no finished cell that would depend on it.
fn configuration_of_finished_cells(path: &Path) -> Result<Option<Value>> {
    let (file, cells) = (path.join(CONFIGURATION), path.join("cells"));
    let is_missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    let has_cells = match fs::read_dir(&cells) {
        // Cells that were being written when a run was killed have other extensions.
        Ok(entries) => entries
            .flatten()
            .any(|entry| entry.path().extension().is_some_and(|extension| extension == "json")),
        Err(error) if is_missing(&error) => false,
        Err(source) => return Err(Error::Io { path: cells, source }),
    };
    if !has_cells {
        return Ok(None);
    }
    match fs::read(&file) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|source| Error::Json { path: file, source }),
        Err(error) if is_missing(&error) => Ok(None),
        Err(source) => Err(Error::Io { path: file, source }),
    }
}

/// Which fields differ, with both values; of another experiment, its name says enough.
fn differences(found: &Value, wanted: &Value) -> String {
    let mut out = Vec::new();
    let experiment = |of: &Value| of.get("experiment").cloned().unwrap_or_default();
    if experiment(found) != experiment(wanted) {
        collect("experiment", &experiment(found), &experiment(wanted), &mut out);
        return out.concat();
    }
    collect("", found, wanted, &mut out);
    // A few of them: with another data folder every file differs.
    const MOST: usize = 5;
    let more = out.len().saturating_sub(MOST);
    out.truncate(MOST);
    let text = out.join("; ");
    if more > 0 { format!("{text}; and {more} more") } else { text }
}

fn collect(place: &str, found: &Value, wanted: &Value, out: &mut Vec<String>) {
    if found == wanted {
        return;
    }
    if let (Value::Object(a), Value::Object(b)) = (found, wanted) {
        let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
        for key in keys {
            let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
            let (a, b) = (a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null));
            collect(&place, a, b, out);
        }
        return;
    }
    out.push(format!("{place} is {} there and {} now", short(found), short(wanted)));
}

/// A value in a few words.
fn short(value: &Value) -> String {
    const MOST: usize = 60;
    let text = match value {
        Value::Null => return "absent".to_owned(),
        Value::Object(_) => return "present".to_owned(),
        other => other.to_string(),
    };
    if text.chars().count() <= MOST {
        return text;
    }
    let start: String = text.chars().take(MOST).collect();
    format!("{start}...")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_are_named() {
        let found = json!({"seeds": 10, "sizes": {"n": 300, "m": 300}, "alpha": 0.1});
        let wanted = json!({"seeds": 3, "sizes": {"n": 300, "m": 100}, "alpha": 0.1});
        assert_eq!(
            differences(&found, &wanted),
            "seeds is 10 there and 3 now; sizes.m is 300 there and 100 now"
        );
        let found = json!({"data": {"fog_1": {"bytes": 7}}, "methods": vec!["a-long-name"; 20]});
        let wanted = json!({"data": {"fog_2": {"bytes": 7}}, "methods": ["a"]});
        let words = differences(&found, &wanted);
        assert!(words.starts_with("data.fog_1 is present there and absent now; data.fog_2 is"));
        assert!(words.len() < 250, "{words}");
        let found = json!({"experiment": "regression", "epochs": [30]});
        let wanted = json!({"experiment": "images", "data": {"fog_1": {}}});
        assert_eq!(
            differences(&found, &wanted),
            "experiment is \"regression\" there and \"images\" now"
        );
    }
}

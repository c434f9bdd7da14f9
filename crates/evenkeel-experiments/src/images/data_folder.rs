//! A folder of softmax files: `clean.npz` and one file for each corruption and severity.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use evenkeel::seed::Seed;
use serde_json::{Value, json};

use super::softmax::SoftmaxTable;
use super::split::{LabelMarginal, RoleSizes, Split};
use crate::error::{Error, Result};

/// A shifted condition, named by its file: `fog_3.npz` is corruption `fog` at severity 3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShiftedCondition {
    /// Name of the corruption.
    pub corruption: String,
    /// Its severity.
    pub severity: u32,
}

impl ShiftedCondition {
    /// The name of its file, without extension.
    pub fn name(&self) -> String {
        format!("{}_{}", self.corruption, self.severity)
    }
}

impl FromStr for ShiftedCondition {
    type Err = Error;

    /// From the name of a file without its extension, which must end in a severity.
    fn from_str(name: &str) -> Result<Self> {
        // A name that would not come back as it was names no file.
        let parsed = read_name(name).filter(|condition| condition.name() == name);
        parsed.ok_or_else(|| Error::NoSuchCondition { found: name.to_owned() })
    }
}

/// Corruption and severity, however the severity is spelt.
fn read_name(name: &str) -> Option<ShiftedCondition> {
    let (corruption, severity) = name.rsplit_once('_')?;
    let severity = severity.parse().ok()?;
    let corruption = Some(corruption.to_owned()).filter(|corruption| !corruption.is_empty())?;
    Some(ShiftedCondition { corruption, severity })
}

/// The folder and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFolder {
    path: PathBuf,
    conditions: Vec<ShiftedCondition>,
}

/// Bytes at each end of a file that its fingerprint is made of.
const SAMPLE: u64 = 1 << 16;

impl DataFolder {
    /// Lists a folder; conditions are sorted by severity, then by name.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.join("clean.npz").exists() {
            return Err(Error::MissingSoftmax { path: path.join("clean.npz") });
        }
        let mut conditions = Vec::new();
        for entry in fs::read_dir(path).map_err(Error::at(path))? {
            let file = entry.map_err(Error::at(path))?.path();
            if file.extension().is_some_and(|extension| extension == "npz") {
                let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
                if let Some(condition) = read_name(stem) {
                    // `fog_03.npz` would be listed as `fog_3` and then not found.
                    if condition.name() != stem {
                        let expected = format!("{}.npz", condition.name());
                        return Err(Error::OtherSpelling { path: file, expected });
                    }
                    conditions.push(condition);
                }
            }
        }
        if conditions.is_empty() {
            return Err(Error::MissingSoftmax { path: path.join("NAME_SEVERITY.npz") });
        }
        // Folders list files in any order; tables and seeds must not depend on it.
        conditions.sort_by(|a, b| (a.severity, &a.corruption).cmp(&(b.severity, &b.corruption)));
        Ok(Self { path: path.to_path_buf(), conditions })
    }

    /// Restricts it to some severities.
    pub fn with_severities(mut self, severities: &[u32]) -> Result<Self> {
        self.conditions.retain(|condition| severities.contains(&condition.severity));
        if self.conditions.is_empty() {
            let wanted: Vec<String> = severities.iter().map(u32::to_string).collect();
            let name = format!("NAME_{}.npz", wanted.join("|"));
            return Err(Error::MissingSoftmax { path: self.path.join(name) });
        }
        Ok(self)
    }

    /// Puts the conditions into the order of a list of corruptions; others stay behind, by name.
    pub fn in_order_of(mut self, corruptions: &[&str]) -> Self {
        let rank = |condition: &ShiftedCondition| {
            let known = corruptions.iter().position(|name| *name == condition.corruption);
            (condition.severity, known.unwrap_or(corruptions.len()))
        };
        self.conditions.sort_by_key(rank);
        self
    }

    /// The conditions.
    pub fn conditions(&self) -> &[ShiftedCondition] {
        &self.conditions
    }

    /// Their severities, increasing.
    pub fn severities(&self) -> Vec<u32> {
        let mut found: Vec<u32> =
            self.conditions.iter().map(|condition| condition.severity).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Reads every file once: shapes, numbers, labels and ids must fit, and rows must suffice for the roles.
    pub(super) fn check(&self, clean: &SoftmaxTable, sizes: RoleSizes, seed: Seed) -> Result<()> {
        for condition in &self.conditions {
            let table = self.read(condition, clean.classes)?;
            let dealt = Split::deal(clean, &table, sizes, LabelMarginal::Same, seed);
            // Named by its file: a folder holds dozens of them.
            dealt.map(drop).map_err(|error| match error {
                Error::TooFewRows { found, needed, .. } if clean.rows() >= sizes.calibration => {
                    let what = format!("{}.npz, without the calibration images,", condition.name());
                    Error::TooFewRows { what, found, needed }
                }
                other => other,
            })?;
        }
        Ok(())
    }

    /// The condition with a name.
    pub fn condition(&self, name: &str) -> Result<ShiftedCondition> {
        let found = self.conditions.iter().find(|condition| condition.name() == name);
        let missing = || Error::MissingSoftmax { path: self.path.join(format!("{name}.npz")) };
        found.cloned().ok_or_else(missing)
    }

    /// The clean table.
    pub fn read_clean(&self) -> Result<SoftmaxTable> {
        SoftmaxTable::read(&self.path.join("clean.npz"))
    }

    /// The table of a condition, which must have as many classes as the clean one.
    pub fn read(&self, condition: &ShiftedCondition, classes: usize) -> Result<SoftmaxTable> {
        let path = self.path.join(format!("{}.npz", condition.name()));
        let table = SoftmaxTable::read(&path)?;
        if table.classes != classes {
            let (what, found) = ("the number of classes", table.classes);
            return Err(Error::UnfitSoftmax { path, what, found, expected: classes });
        }
        Ok(table)
    }

    /// What tells this folder's files from others: their lengths, and a checksum of both ends of each.
    pub fn fingerprint(&self) -> Result<Value> {
        let mut files = serde_json::Map::new();
        let names = self.conditions.iter().map(ShiftedCondition::name);
        for name in std::iter::once("clean".to_owned()).chain(names) {
            let path = self.path.join(format!("{name}.npz"));
            let (bytes, checksum) = ends(&path).map_err(Error::at(&path))?;
            files.insert(name, json!({ "bytes": bytes, "ends": format!("{checksum:016x}") }));
        }
        Ok(Value::Object(files))
    }
}

/// Length of a file and the FNV-1a checksum of its first and last bytes.
fn ends(path: &Path) -> std::io::Result<(u64, u64)> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.by_ref().take(SAMPLE).read_to_end(&mut bytes)?;
    // Both ends: archives differ in their directory, which stands last, even where the first bytes
    // agree.
    file.seek(SeekFrom::Start(length.saturating_sub(SAMPLE)))?;
    file.take(SAMPLE).read_to_end(&mut bytes)?;
    let checksum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Ok((length, checksum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_in_a_severity() {
        let parse = |name: &str| name.parse::<ShiftedCondition>().ok().map(|found| found.name());
        assert_eq!(parse("jpeg_compression_5").as_deref(), Some("jpeg_compression_5"));
        for wrong in ["clean", "fog", "fog_", "_3", "fog_x", "fog_01", "fog_+1"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}

//! Models under watch, and the versions of their calibrations.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{MonitorError, Result};
use crate::instant::Instant;

/// The name of a model: it stands in addresses, file names and labels of metrics.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ModelName(String);

impl ModelName {
    /// 1 to 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn new(name: &str) -> Result<Self> {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        let fits = (1..=64).contains(&name.len())
            && name.bytes().all(letter)
            && name.as_bytes()[0].is_ascii_alphanumeric();
        match fits {
            true => Ok(Self(name.to_owned())),
            false => Err(MonitorError::BadName { name: name.chars().take(80).collect() }),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is kept of the rows of a batch, beside counts, results and sketches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// Nothing: labels that come late cannot be judged.
    Nothing,
    /// The prediction sets, a bit for each row and class: enough for late labels.
    #[default]
    Sets,
    /// The rows too: proposals can use several batches and labels that came late.
    Rows,
}

impl Keep {
    /// The word on the command line and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Sets => "sets",
            Self::Rows => "rows",
        }
    }

    /// The same from its word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Nothing, Self::Sets, Self::Rows].into_iter().find(|keep| keep.as_str() == word)
    }
}

/// A model to be watched from now on.
#[derive(Debug, Clone)]
pub struct NewModel<'a> {
    /// Its name.
    pub name: ModelName,
    /// The calibration in use, as `evenkeel calibrate` wrote it.
    pub calibration: &'a str,
    /// Chance of any false alarm over the life of a reference: of the alarm without labels, and once more of that by labels.
    pub delta: f64,
    /// What is kept of batches.
    pub keep: Keep,
    /// Who adds it, for the audit log.
    pub who: &'a str,
    /// When.
    pub at: Instant,
}

/// A model under watch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Model {
    /// Its name.
    pub name: ModelName,
    /// When it was added.
    pub created: Instant,
    /// Miscoverage rate of its calibration.
    pub alpha: f64,
    /// Chance of any false alarm over the life of a reference.
    pub delta: f64,
    /// Number of classes.
    pub classes: u64,
    /// What is kept of batches.
    pub keep: Keep,
    /// Version of the calibration in use, from 1.
    pub version: u64,
    /// Number of the watch that is on: one begins with the model and with every decision.
    pub watch: u64,
    /// Batches so far.
    pub batches: u64,
    /// Rows so far.
    pub rows: u64,
}

/// A version of a calibration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Version {
    /// Its number, from 1.
    pub version: u64,
    /// When it was made or approved.
    pub created: Instant,
    /// SHA-256 of the text, in hexadecimal: what serving systems compare (ETag).
    pub etag: String,
    /// The calibration file.
    #[serde(skip)]
    pub calibration: String,
    /// Who added or approved it.
    pub who: String,
    /// Why.
    pub why: String,
    /// The proposal it came from; none for the first.
    pub proposal: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for name in ["a", "fashion-mnist", "v1.2_x", "7"] {
            assert_eq!(ModelName::new(name).unwrap().as_str(), name);
        }
        for name in ["", ".hidden", "-x", "a b", "a/b", "é", "a\n", &"x".repeat(65)] {
            assert!(ModelName::new(name).is_err(), "{name:?}");
        }
    }
}

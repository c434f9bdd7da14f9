//! The wire form of what a pass leaves, and of what a worker needs for it.
//!
//! ```text
//! EKST | version, 2 bytes | kind, 1 byte | header | payload | SHA-256 of all before, 32 bytes
//! ```
//! The header names the job: its method and settings, the pass, and a digest of the calibration data. States of different
//! jobs are never merged. Header and payload are written by postcard: numbers in as few bytes as they need, floats as their
//! eight bytes, lists after their length.
//!
//! Bytes may come from anywhere. The checksum finds accidents; bytes made up with a matching checksum are refused where they
//! contradict themselves. Reading takes memory in proportion to the bytes that are there, at most 32 times as much and a few
//! megabytes, and never in proportion to a number that stands in them.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::part_ids::PartIds;
use crate::error::{Error, Result};
use crate::score::Labels;
use crate::side_inputs::SideInputs;

/// First bytes of a state or plan: anything else is refused as some other file, not as a damaged
/// one.
const MAGIC: [u8; 4] = *b"EKST";
/// Version of the format; states of another one are refused.
const VERSION: u16 = 4;
/// Bytes before the header.
const PREFIX: usize = MAGIC.len() + 2 + 1;
/// Bytes of the SHA-256 at the end.
const CHECKSUM: usize = 32;

/// What the bytes are: a plan goes out to workers, states come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What a worker needs for a pass.
    Plan,
    /// What a pass over some of the rows left.
    State,
}

impl Kind {
    /// The byte that stands for it on the wire.
    fn code(self) -> u8 {
        match self {
            Self::Plan => 1,
            Self::State => 2,
        }
    }

    /// Its name with an article, for errors.
    fn named(self) -> &'static str {
        match self {
            Self::Plan => "a plan",
            Self::State => "a state",
        }
    }

    /// Its name as the thing an error is about.
    fn what(self) -> &'static str {
        match self {
            Self::Plan => "the plan",
            Self::State => "the state",
        }
    }
}

/// The job that a state or plan belongs to.
///
/// Settings are text, so that a state of another job can be refused with both values in the
/// message, by a program that need not know the setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobHeader {
    /// Name of the method, as users type it.
    pub method: String,
    /// Names and values of all settings that the result depends on.
    pub settings: Vec<(String, String)>,
    /// Which pass over the rows, from 1.
    pub pass: u8,
    /// How many rows all parts have together, where that was said: what parts keep depends on it.
    pub rows: Option<u64>,
    /// Digest of the calibration data, by [`digest_of`].
    pub calibration: [u8; 32],
}

impl JobHeader {
    /// An error that names the first thing in which two jobs differ, with both values.
    pub(crate) fn require_same(&self, other: &Self) -> Result<()> {
        let differ = |what: &str, mine: String, theirs: String| {
            Err(Error::OtherJob { what: what.to_owned(), mine, theirs })
        };
        if self.method != other.method {
            return differ("the method", self.method.clone(), other.method.clone());
        }
        let value = |settings: &[(String, String)], name: &str| -> String {
            let found = settings.iter().find(|(known, _)| known == name);
            found.map_or_else(|| "not set".to_owned(), |(_, value)| value.clone())
        };
        // By name and from both lists, so that a setting that only one job has is named too.
        for (name, _) in self.settings.iter().chain(&other.settings) {
            let (mine, theirs) = (value(&self.settings, name), value(&other.settings, name));
            if mine != theirs {
                return differ(name, mine, theirs);
            }
        }
        if self.pass != other.pass {
            return differ("the pass", self.pass.to_string(), other.pass.to_string());
        }
        if self.rows != other.rows {
            let said =
                |rows: Option<u64>| rows.map_or_else(|| "not said".to_owned(), |n| n.to_string());
            return differ("the number of all rows", said(self.rows), said(other.rows));
        }
        if self.calibration != other.calibration {
            let (mine, theirs) = (hexadecimal(&self.calibration), hexadecimal(&other.calibration));
            return differ("the digest of the calibration data", mine, theirs);
        }
        // Equal values by name, yet another order or a repeat: not a list that this version writes.
        if self.settings != other.settings {
            return differ("the list of settings", listed(self), listed(other));
        }
        Ok(())
    }
}

/// Names of the settings, separated by commas.
fn listed(header: &JobHeader) -> String {
    header.settings.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The first eight bytes of a digest in hexadecimal: enough to tell two apart, short enough to
/// read.
fn hexadecimal(digest: &[u8; 32]) -> String {
    digest[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes of a state or plan.
///
/// # Errors
/// If it cannot be written, which plain numbers and lists always can.
pub(crate) fn seal(kind: Kind, header: &JobHeader, payload: &impl Serialize) -> Result<Vec<u8>> {
    let unwritable = |_| Error::Damaged { what: kind.what(), why: "it cannot be written" };
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.push(kind.code());
    let bytes = postcard::to_extend(header, bytes).map_err(unwritable)?;
    let mut bytes = postcard::to_extend(payload, bytes).map_err(unwritable)?;
    let checksum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&checksum);
    Ok(bytes)
}

/// Reads a state or plan back.
///
/// # Errors
/// If the bytes are something else, of another version or kind, or were cut, changed or made up.
/// Nothing of the payload is read before the checksum fits.
pub(crate) fn open<T: DeserializeOwned>(kind: Kind, bytes: &[u8]) -> Result<(JobHeader, T)> {
    let (header, payload) = open_header(kind, bytes)?;
    Ok((header, contents(kind, payload)?))
}

/// What the payload that [`open_header`] gives holds.
///
/// # Errors
/// If it cannot be read, or more follows.
pub(crate) fn contents<T: DeserializeOwned>(kind: Kind, payload: &[u8]) -> Result<T> {
    let damaged = |why| Error::Damaged { what: kind.what(), why };
    let (value, rest) = postcard::take_from_bytes::<T>(payload)
        .map_err(|_| damaged("its contents cannot be read or contradict themselves"))?;
    // Bytes that nothing reads would be accepted unchecked, and lost when the state is written
    // again.
    if rest.is_empty() { Ok(value) } else { Err(damaged("bytes follow its end")) }
}

/// The job and the parts of a state, without its sums.
///
/// # Errors
/// As [`open`], as far as the sums do not matter.
pub(crate) fn open_parts(bytes: &[u8]) -> Result<(JobHeader, PartIds)> {
    let (header, payload) = open_header(Kind::State, bytes)?;
    let unread = |_| Error::Damaged { what: "the state", why: "its parts cannot be read" };
    let (parts, _) = postcard::take_from_bytes::<PartIds>(payload).map_err(unread)?;
    Ok((header, parts))
}

/// The header, and the bytes of the payload.
///
/// # Errors
/// As [`open`], as far as the payload's contents do not matter.
pub(crate) fn open_header(kind: Kind, bytes: &[u8]) -> Result<(JobHeader, &[u8])> {
    let what = kind.what();
    if !bytes.starts_with(&MAGIC) {
        return Err(Error::NotAState { what });
    }
    let damaged = |why| Error::Damaged { what, why };
    let Some((sealed, checksum)) = bytes.split_last_chunk::<CHECKSUM>() else {
        return Err(damaged("its end is missing"));
    };
    let (Some([low, high]), Some(code)) = (sealed.get(4..6), sealed.get(6)) else {
        return Err(damaged("its end is missing"));
    };
    // The version first: another version may place or compute its checksum in another way, and
    // "damaged" would send people looking for a fault that is none.
    let found = u16::from_le_bytes([*low, *high]);
    if found != VERSION {
        return Err(Error::OtherStateVersion { what, found, supported: VERSION });
    }
    if Sha256::digest(sealed)[..] != checksum[..] {
        return Err(damaged("its checksum does not fit, so bytes of it were lost or changed"));
    }
    if *code != kind.code() {
        let found = [Kind::Plan, Kind::State].into_iter().find(|kind| kind.code() == *code);
        let found = found.map_or("something unknown", Kind::named);
        return Err(Error::OtherKind { found, expected: kind.named() });
    }
    postcard::take_from_bytes::<JobHeader>(&sealed[PREFIX..])
        .map_err(|_| damaged("its header cannot be read"))
}

/// SHA-256 of the calibration data: scores, labels, and what is given beside them. Equal for equal
/// bits, whatever file or array they came from.
pub(crate) fn digest_of(scores: &[f64], labels: &Labels, side: &SideInputs<'_>) -> [u8; 32] {
    let mut digest = DataDigest(Sha256::new());
    digest.begin("scores", &[scores.len()]);
    digest.numbers(scores.iter().copied());
    digest.begin("labels", &[labels.len()]);
    labels.as_slice().iter().for_each(|label| digest.word(*label as u64));
    if let Some(features) = side.features {
        digest.begin("features", &[features.rows(), features.columns()]);
        digest.numbers(features.values().iter().copied());
    }
    for (name, values) in [("ratios", side.ratios), ("weights", side.weights)] {
        if let Some(values) = values {
            digest.begin(name, &[values.len()]);
            digest.numbers(values.iter().copied());
        }
    }
    if let Some(second) = side.second {
        digest.begin("second models", &[second.rows(), second.columns()]);
        digest.numbers(second.values().iter().copied());
    }
    if let Some(labels) = side.labels {
        digest.begin("labels of target rows", &[labels.len(), labels.shares().len()]);
        labels.keys().iter().for_each(|key| digest.word(*key));
        labels.as_slice().iter().for_each(|label| digest.word(*label as u64));
        digest.numbers(labels.shares().iter().copied());
    }
    digest.0.finalize().into()
}

/// A digest of named lists of numbers, none of which can be taken for another.
///
/// Every list begins with its name, the length of the name and its shape, and every number takes
/// eight bytes: the digested bytes can be read in one way only.
struct DataDigest(Sha256);

impl DataDigest {
    /// Opens a list: its name after its length, then its shape. Without lengths `[1, 2] [3]` and
    /// `[1] [2, 3]` would have one digest.
    fn begin(&mut self, name: &str, shape: &[usize]) {
        self.word(name.len() as u64);
        self.0.update(name.as_bytes());
        shape.iter().for_each(|length| self.word(*length as u64));
    }

    /// One number, low byte first on every machine.
    fn word(&mut self, word: u64) {
        self.0.update(word.to_le_bytes());
    }

    /// Floats by their bits, so that -0.0 and 0.0 differ as they do in a file.
    fn numbers(&mut self, values: impl Iterator<Item = f64>) {
        values.for_each(|value| self.word(value.to_bits()));
    }
}

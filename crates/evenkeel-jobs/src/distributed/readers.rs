//! What readers of the same rows may ask, and what they find.

use std::collections::BTreeMap;

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::Part;
use evenkeel::check::CheckPart;
use evenkeel::error::Error;
use evenkeel::rows::RowKeys;
use evenkeel::side_inputs::SideInputs;
use evenkeel::wire::WireJob;
use serde::{Deserialize, Serialize};

use crate::any_rows::{AnyRows, with_rows};
use crate::error::Result;
use crate::grouped::key_of;
use crate::stored::parse_calibration;

/// What a reader asks of the rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Asks {
    /// What the plan of a fit or a check asks.
    Job { plan: Vec<u8> },
    /// The rows of these keys themselves, and those of keys below a number.
    Rows { keys: Vec<u64>, below: u64 },
    /// How many labels the sets of a calibration hold.
    Sizes { calibration: String },
    /// How many rows each group has, and the groups of the rows of these keys.
    Groups { keys: Vec<u64> },
}

impl Asks {
    /// Labels in the sets of a calibration.
    pub(super) fn sizes_of(calibration: &Calibration) -> Result<Self> {
        let slim = calibration.clone().without_reference();
        let text = serde_json::to_string(&slim)
            .map_err(|error| crate::JobError::Calibration(error.to_string()))?;
        Ok(Self::Sizes { calibration: text })
    }

    /// Whether only keys and groups are looked at.
    pub(super) fn reads_groups_only(&self) -> bool {
        matches!(self, Self::Groups { .. })
    }
}

/// What a reader found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Found {
    /// It has seen no row.
    Nothing,
    /// The state of a fit or a check.
    Job(Vec<u8>),
    /// Rows by their keys.
    Rows(BTreeMap<u64, Vec<f64>>),
    /// Labels in the sets of so many rows.
    Sizes { labels: u64, rows: u64 },
    /// Rows of each group; groups of the rows asked for, by their keys.
    Groups { counts: BTreeMap<String, u64>, of: BTreeMap<u64, String> },
}

const OTHER: Error =
    Error::Damaged { what: "the state", why: "it answers something else than was asked" };
pub(super) const TOO_MANY: Error =
    Error::Damaged { what: "the state", why: "it counts more rows than there can be" };

impl Found {
    /// Both, where neither is the state of a job: those are merged by their jobs.
    pub(super) fn merge(self, other: Self) -> evenkeel::Result<Self> {
        Ok(match (self, other) {
            (found, Self::Nothing) | (Self::Nothing, found) => found,
            (Self::Rows(mut mine), Self::Rows(theirs)) => {
                for (key, row) in theirs {
                    put(&mut mine, key, row)?;
                }
                Self::Rows(mine)
            }
            (Self::Sizes { labels, rows }, Self::Sizes { labels: others, rows: more }) => {
                Self::Sizes {
                    labels: labels.checked_add(others).ok_or(TOO_MANY)?,
                    rows: rows.checked_add(more).ok_or(TOO_MANY)?,
                }
            }
            (Self::Groups { mut counts, mut of }, Self::Groups { counts: theirs, of: others }) => {
                for (group, count) in theirs {
                    let place = counts.entry(group).or_default();
                    *place = place.checked_add(count).ok_or(TOO_MANY)?;
                }
                for (key, group) in others {
                    put(&mut of, key, group)?;
                }
                Self::Groups { counts, of }
            }
            _ => return Err(OTHER),
        })
    }

    /// An error unless it can be what was found by a reader that asked this, of rows with so many classes.
    pub(super) fn require(&self, asks: &Asks, classes: usize) -> evenkeel::Result<()> {
        let fits = match (self, asks) {
            (Self::Nothing, _) | (Self::Job(_), Asks::Job { .. }) => true,
            (Self::Sizes { labels, rows }, Asks::Sizes { .. }) => {
                *labels <= rows.saturating_mul(classes as u64)
            }
            (Self::Rows(rows), Asks::Rows { keys, below }) => rows.iter().all(|(key, row)| {
                row.len() == classes && (key < below || keys.binary_search(key).is_ok())
            }),
            (Self::Groups { of, .. }, Asks::Groups { keys }) => {
                of.keys().all(|key| keys.binary_search(key).is_ok())
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err(OTHER) }
    }
}

/// Puts something under its key; another one is there only where rows share a key.
fn put<V>(under: &mut BTreeMap<u64, V>, key: u64, value: V) -> evenkeel::Result<()> {
    match under.insert(key, value) {
        None => Ok(()),
        Some(_) => Err(Error::DuplicateKey { key }),
    }
}

/// A reader on a worker.
#[derive(Debug)]
pub(super) enum Reader {
    Fit(Box<Part>),
    Check(Box<CheckPart>),
    Rows { keys: Vec<u64>, below: u64, found: Found },
    Sizes { calibration: Box<Calibration>, found: Found },
    Groups { keys: Vec<u64>, found: Found },
}

impl Reader {
    /// From what it asks.
    pub(super) fn begin(asks: Asks, classes: usize) -> Result<Self> {
        let found = Found::Nothing;
        let reader = match asks {
            Asks::Rows { keys, below } => Self::Rows { keys, below, found },
            Asks::Groups { keys } => Self::Groups { keys, found },
            Asks::Sizes { calibration } => {
                Self::Sizes { calibration: Box::new(parse_calibration(&calibration)?), found }
            }
            Asks::Job { plan } => match WireJob::kind_of(&plan)?.as_str() {
                "check" => Self::Check(Box::new(CheckPart::begin(&plan)?)),
                _ => Self::Fit(Box::new(Part::begin(&plan)?)),
            },
        };
        let of = match &reader {
            Self::Fit(part) => part.classes(),
            Self::Check(part) => part.classes(),
            Self::Sizes { calibration, .. } => calibration.provenance().classes,
            Self::Rows { .. } | Self::Groups { .. } => classes,
        };
        match of == classes {
            true => Ok(reader),
            false => Err(Error::Damaged {
                what: "the plan",
                why: "its readers are of different classes",
            }
            .into()),
        }
    }

    /// Adds rows.
    pub(super) fn add(
        self,
        keys: RowKeys<'_>,
        (rows, side): (&AnyRows<'_>, SideInputs<'_>),
    ) -> evenkeel::Result<Self> {
        Ok(match self {
            Self::Fit(part) => {
                Self::Fit(Box::new(with_rows!(*rows, |block| part.add(keys, block, side))?))
            }
            Self::Check(part) => {
                // What other methods need stands beside the rows too; a check asks second models alone.
                let beside = SideInputs { second: side.second, ..SideInputs::default() };
                let added = with_rows!(*rows, |block| part.add_beside(keys, block, beside));
                Self::Check(Box::new(added?))
            }
            Self::Rows { keys: wanted, below, found } => {
                let mut kept = BTreeMap::new();
                for (row, key) in keyed(keys, rows.rows()) {
                    if key < below || wanted.binary_search(&key).is_ok() {
                        put(&mut kept, key, widened(rows, row))?;
                    }
                }
                Self::Rows { keys: wanted, below, found: found.merge(Found::Rows(kept))? }
            }
            Self::Sizes { calibration, found } => {
                let sets = with_rows!(*rows, |block| {
                    calibration.predict_keyed(keys, block, SideInputs::default(), None)
                })?;
                let labels = (0..sets.rows()).map(|row| sets.size(row) as u64).sum();
                let found = found.merge(Found::Sizes { labels, rows: sets.rows() as u64 })?;
                Self::Sizes { calibration, found }
            }
            // Groups are counted in a pass of their own, which reads no probabilities.
            counting @ Self::Groups { .. } => counting,
        })
    }

    /// Counts rows by the names of their groups; readers that need probabilities stay as they are.
    pub(super) fn count(self, keys: RowKeys<'_>, names: &[&str]) -> evenkeel::Result<Self> {
        let Self::Groups { keys: wanted, found } = self else { return Ok(self) };
        let (mut counts, mut of) = (BTreeMap::<String, u64>::new(), BTreeMap::new());
        for (row, key) in keyed(keys, names.len()) {
            let name = names[row];
            match counts.get_mut(name) {
                Some(count) => *count += 1,
                None => drop(counts.insert(name.to_owned(), 1)),
            }
            if wanted.binary_search(&key).is_ok() {
                put(&mut of, key, name.to_owned())?;
            }
        }
        Ok(Self::Groups { keys: wanted, found: found.merge(Found::Groups { counts, of })? })
    }

    /// Takes what the same reader found elsewhere.
    pub(super) fn absorb(self, other: Found) -> evenkeel::Result<Self> {
        Ok(match (self, other) {
            (reader, Found::Nothing) => reader,
            (Self::Fit(part), Found::Job(state)) => Self::Fit(Box::new(part.absorb(&state)?)),
            (Self::Check(part), Found::Job(state)) => Self::Check(Box::new(part.absorb(&state)?)),
            (Self::Rows { keys, below, found }, other) => {
                Self::Rows { keys, below, found: found.merge(other)? }
            }
            (Self::Sizes { calibration, found }, other) => {
                Self::Sizes { calibration, found: found.merge(other)? }
            }
            (Self::Groups { keys, found }, other) => {
                Self::Groups { keys, found: found.merge(other)? }
            }
            _ => return Err(OTHER),
        })
    }

    /// What it found so far.
    pub(super) fn found(&self) -> evenkeel::Result<Found> {
        Ok(match self {
            // A group without a row here leaves nothing: its empty sums would only take room.
            Self::Fit(part) if part.rows() == 0 => Found::Nothing,
            Self::Fit(part) => Found::Job(part.state()?),
            Self::Check(part) if part.rows() == 0 => Found::Nothing,
            Self::Check(part) => Found::Job(part.state()?),
            Self::Rows { found, .. } | Self::Sizes { found, .. } | Self::Groups { found, .. } => {
                found.clone()
            }
        })
    }
}

/// Places of rows, with their keys.
fn keyed(keys: RowKeys<'_>, rows: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
    (0..rows).filter_map(move |row| Some((row, key_of(keys, row)?)))
}

fn widened(rows: &AnyRows<'_>, row: usize) -> Vec<f64> {
    fn of<T: Copy + Into<f64>>(values: &[T]) -> Vec<f64> {
        values.iter().map(|value| (*value).into()).collect()
    }
    match rows {
        AnyRows::F32(rows) => of(rows.row(row)),
        AnyRows::F64(rows) => of(rows.row(row)),
    }
}

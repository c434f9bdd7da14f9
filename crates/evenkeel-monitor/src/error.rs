//! Why something could not be done: what was found, where, what to do.

use std::path::PathBuf;

use evenkeel_io::IoError;
use evenkeel_jobs::JobError;

/// Result of everything a monitor does.
pub type Result<T, E = MonitorError> = std::result::Result<T, E>;

/// Why a monitor could not do something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MonitorError {
    /// Something a job found in rows, labels or a calibration.
    #[error("{0}")]
    Job(#[from] JobError),
    /// A setting.
    #[error("{0}")]
    Core(#[from] evenkeel::Error),
    /// A file.
    #[error("{0}")]
    Io(#[from] IoError),
    /// No store where one should be.
    #[error("{}: there is no store; make one with `evenkeel monitor add`", path.display())]
    NoStore {
        /// Where it should be.
        path: PathBuf,
    },
    /// A file that is something else.
    #[error("{}: this is not a store of Evenkeel: {why}; give a file made by `evenkeel monitor add`", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it is, or seems to be.
        why: String,
    },
    /// A store of another version.
    #[error(
        "{}: this store has the form {found}, and this program knows the form {known}; use the version of Evenkeel that wrote it",
        path.display()
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The version this program writes.
        known: i64,
    },
    /// Bytes of a store that cannot be.
    #[error("{}: the store is damaged: {why}; restore a backup (`evenkeel monitor backup` makes one)", path.display())]
    DamagedStore {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Someone else is writing.
    #[error("{}: the store is in use by another program; try again, or end that one", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The database could not do what was asked.
    #[error("{}: the store could not be read or written: {why}; check the disk and its permissions", path.display())]
    Sql {
        /// The file.
        path: PathBuf,
        /// What it said.
        why: String,
    },
    /// A copy of a store under a name that is taken.
    #[error("{}: the file exists; choose a new name for the copy, or remove the file", path.display())]
    CopyExists {
        /// The file.
        path: PathBuf,
    },
    /// A name that cannot be one.
    #[error(
        "{name:?} cannot be the name of a model; use 1 to 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit"
    )]
    BadName {
        /// What was given.
        name: String,
    },
    /// A model that is not there.
    #[error("there is no model {name:?} in the store; {}", known_models(.known))]
    NoSuchModel {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A model that is there already, with another calibration.
    #[error(
        "there is a model {name:?} in the store already, with another calibration; choose another name, or let a proposal change it"
    )]
    ModelExists {
        /// Its name.
        name: String,
    },
    /// A batch, version or proposal that is not there.
    #[error("model {model:?} has no {what} {number}; {hint}")]
    NoSuch {
        /// The model.
        model: String,
        /// "batch", "version", "proposal".
        what: &'static str,
        /// Its number.
        number: u64,
        /// What to do.
        hint: &'static str,
    },
    /// The same key for another batch.
    #[error(
        "the key {key:?} was used for batch {batch}, which has other contents; give every batch a key of its own"
    )]
    KeyReused {
        /// The key.
        key: String,
        /// Number of the batch that has it.
        batch: u64,
    },
    /// No key, or one that is too long.
    #[error(
        "a batch needs a key of 1 to 200 characters, so that it is not counted twice; found {found} characters"
    )]
    BadKey {
        /// Its length.
        found: usize,
    },
    /// A calibration that cannot be watched.
    #[error("{name}: {why}")]
    NotWatchable {
        /// What the caller calls it.
        name: String,
        /// Why, and what to do.
        why: &'static str,
    },
    /// A proposal that was decided on before.
    #[error("proposal {number} was {state} already; only open proposals can be decided on")]
    Decided {
        /// Its number.
        number: u64,
        /// What it is.
        state: &'static str,
    },
    /// A decision without a name or a reason.
    #[error("a decision needs {what}: who decides and why stands in the audit log; give both")]
    NoReason {
        /// "a name" or "a reason".
        what: &'static str,
    },
    /// Labels that cannot be judged.
    #[error("batch {batch}: {why}")]
    NotJudged {
        /// Number of the batch.
        batch: u64,
        /// Why, and what to do.
        why: &'static str,
    },
    /// A row that has another label than before.
    #[error(
        "batch {batch}: row {row} has the label {label}, but {before} came for it before; a label counts once, keep the first"
    )]
    LabeledOtherwise {
        /// Number of the batch.
        batch: u64,
        /// The row, from 0.
        row: u64,
        /// Its label now.
        label: u64,
        /// Its label before.
        before: u64,
    },
    /// A row or label outside the batch.
    #[error("batch {batch}: {what} is {found}, but {expected}")]
    OutsideBatch {
        /// Number of the batch.
        batch: u64,
        /// "a row" or "a label".
        what: &'static str,
        /// What was given.
        found: u64,
        /// What it may be.
        expected: String,
    },
    /// Ids of rows that cannot tell them apart.
    #[error("ids of rows: {why}")]
    RowIds {
        /// What is wrong, and what to do.
        why: String,
    },
    /// An id that no row of a batch has.
    #[error("batch {batch} has no row {id:?}; {}", if *has_ids { "give ids that were sent with the batch" } else { "it came without ids, so number its rows from 0" })]
    NoSuchRow {
        /// Number of the batch.
        batch: u64,
        /// What was given.
        id: String,
        /// Whether the batch came with ids.
        has_ids: bool,
    },
    /// Words that are no date or instant.
    #[error("{given:?} is no time; write it as 2026-11-17 or 2026-11-17T02:00:00Z")]
    BadTime {
        /// What was given.
        given: String,
    },
}

fn known_models(known: &[String]) -> String {
    match known {
        [] => "it has none yet, add one with `evenkeel monitor add`".to_owned(),
        some => format!("it has {}", some.join(", ")),
    }
}

/// What kind of trouble it is: exit codes and HTTP statuses follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What was asked for is not there.
    NotFound,
    /// It contradicts what is there.
    Conflict,
    /// What was given cannot be used.
    Invalid,
    /// Someone else holds the store: trying again may help.
    Busy,
    /// The store cannot be read or written.
    Storage,
}

impl MonitorError {
    /// What kind of trouble it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Job(_)
            | Self::Core(_)
            | Self::Io(_)
            | Self::BadName { .. }
            | Self::BadKey { .. }
            | Self::NotWatchable { .. }
            | Self::NoReason { .. }
            | Self::OutsideBatch { .. }
            | Self::RowIds { .. }
            | Self::NoSuchRow { .. }
            | Self::BadTime { .. } => Kind::Invalid,
            Self::NoSuchModel { .. } | Self::NoSuch { .. } => Kind::NotFound,
            Self::ModelExists { .. }
            | Self::CopyExists { .. }
            | Self::KeyReused { .. }
            | Self::Decided { .. }
            | Self::NotJudged { .. }
            | Self::LabeledOtherwise { .. } => Kind::Conflict,
            Self::Locked { .. } => Kind::Busy,
            Self::NoStore { .. }
            | Self::NotAStore { .. }
            | Self::OtherVersion { .. }
            | Self::DamagedStore { .. }
            | Self::Sql { .. } => Kind::Storage,
        }
    }
}

//! What is kept, behind three small traits.
//!
//! ```text
//! History   models, versions, batches, labels, alarms, proposals, decisions, audit log
//! Outbox    messages that must reach someone        Tokens   who may do what
//! ```

mod network_disk;
mod schema;
mod sqlite;
mod sqlite_batches;
mod sqlite_labels;
mod sqlite_models;
mod sqlite_outbox;
mod sqlite_proposals;
mod sqlite_rows;

use evenkeel::stream::StreamAlarm;
use serde::Serialize;

use crate::alarm::{AlarmRecord, NewAlarm};
use crate::batch::{BatchQuery, BatchRecord, CheckedBatch};
use crate::error::Result;
use crate::instant::Instant;
use crate::labels::{LabelWatch, LabelsReceived, LateLabels};
use crate::model::{Model, ModelName, NewModel, Version};
use crate::proposal::{Decision, NewProposal, Proposal};
use crate::summary::StreamSummary;

pub use sqlite::SqliteStore;

/// Everything a monitor keeps.
pub trait Store: History + Outbox + Tokens + Send {}

impl<T: History + Outbox + Tokens + Send> Store for T {}

/// The alarms of a model since its last decision.
#[derive(Debug, Clone)]
pub struct Watch {
    /// Its number, from 1.
    pub number: u64,
    /// Version of the calibration.
    pub version: u64,
    /// When it began.
    pub started: Instant,
    /// The alarm without labels.
    pub stream: StreamAlarm,
    /// The alarm by labels.
    pub labels: LabelWatch,
}

/// What a batch does to a watch; stored in the transaction of the batch.
#[derive(Debug, Clone)]
pub struct Watched {
    /// The alarm without labels after the batch.
    pub stream: StreamAlarm,
    /// Where it stands, for trends.
    pub summary: StreamSummary,
    /// An alarm that goes off.
    pub alarm: Option<NewAlarm>,
    /// A proposal that is made of it.
    pub proposal: Option<NewProposal>,
}

/// What became of a batch.
#[derive(Debug, Clone)]
pub enum Appended {
    /// It is stored, with the proposal that was made.
    New(Box<BatchRecord>, Option<u64>),
    /// It was there already.
    Duplicate(Box<BatchRecord>),
    /// The calibration changed since it was checked: check it again.
    OtherVersion,
}

/// A line of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditEntry {
    /// Its number.
    pub id: u64,
    /// When.
    pub at: Instant,
    /// Who.
    pub who: String,
    /// What was done: "model added", "proposal approved", ...
    pub what: String,
    /// The model it was done to.
    pub model: Option<String>,
    /// More, in words.
    pub details: String,
}

/// A line to be added to the audit log.
#[derive(Debug, Clone, Copy)]
pub struct NewAudit<'a> {
    /// When.
    pub at: Instant,
    /// Who.
    pub who: &'a str,
    /// What was done.
    pub what: &'a str,
    /// The model it was done to.
    pub model: Option<&'a ModelName>,
    /// More, in words.
    pub details: &'a str,
}

/// Which lines of the audit log.
#[derive(Debug, Clone, Copy)]
pub struct AuditQuery<'a> {
    /// Those of this model, and those of webhooks, which concern all; all if none.
    pub model: Option<&'a ModelName>,
    /// With a smaller number than this: the cursor of the page before.
    pub before: Option<u64>,
    /// At most so many.
    pub limit: u64,
}

/// Models and what happened to them.
pub trait History {
    /// Adds a model with the alarms of its first watch. The same model with the same calibration again changes nothing.
    ///
    /// # Errors
    /// If there is a model of that name with another calibration.
    fn add_model(
        &mut self,
        new: &NewModel<'_>,
        facts: &ModelFacts,
        watch: &StreamAlarm,
    ) -> Result<Model>;

    /// All models, by name.
    ///
    /// # Errors
    /// If the store cannot be read; so of every call.
    fn models(&mut self) -> Result<Vec<Model>>;

    /// One model.
    ///
    /// # Errors
    /// If there is none of that name.
    fn model(&mut self, name: &ModelName) -> Result<Model>;

    /// The calibration in use, or a version of it.
    ///
    /// # Errors
    /// If there is no such version.
    fn version(&mut self, model: &ModelName, version: Option<u64>) -> Result<Version>;

    /// The alarms since the last decision.
    ///
    /// # Errors
    /// If there is no such model.
    fn watch(&mut self, model: &ModelName) -> Result<Watch>;

    /// The batch with a key, if there is one.
    ///
    /// # Errors
    /// If there is no such model.
    fn batch_with_key(&mut self, model: &ModelName, key: &str) -> Result<Option<BatchRecord>>;

    /// Stores a batch in one transaction: `advance` is given the alarms and the number of the batch, and says what it does to
    /// them. Batches of one model are advanced one after the other.
    ///
    /// # Errors
    /// If the key was used for other contents, or `advance` fails; nothing is stored then.
    fn append(
        &mut self,
        batch: &CheckedBatch<'_>,
        advance: &mut dyn FnMut(&Watch, u64) -> Result<Watched>,
    ) -> Result<Appended>;

    /// Batches in the order of their arrival.
    ///
    /// # Errors
    /// If there is no such model.
    fn batches(&mut self, model: &ModelName, query: &BatchQuery) -> Result<Vec<BatchRecord>>;

    /// One batch, with the document of its check.
    ///
    /// # Errors
    /// If there is no such batch.
    fn batch(&mut self, model: &ModelName, number: u64) -> Result<(BatchRecord, String)>;

    /// What was kept of a batch.
    ///
    /// # Errors
    /// If there is no such batch.
    fn kept(&mut self, model: &ModelName, number: u64) -> Result<Kept>;

    /// The rows of a batch that have these ids, in their order.
    ///
    /// # Errors
    /// If an id is none of the batch.
    fn rows_of_ids(&mut self, model: &ModelName, number: u64, ids: &[String]) -> Result<Vec<u64>>;

    /// Counts labels of a batch.
    ///
    /// # Errors
    /// If rows or labels are not of the batch, a row has another label already, or its sets were not kept.
    fn add_labels(&mut self, model: &ModelName, labels: &LateLabels<'_>) -> Result<LabelsReceived>;

    /// Alarms, the last first.
    ///
    /// # Errors
    /// If there is no such model.
    fn alarms(&mut self, model: &ModelName) -> Result<Vec<AlarmRecord>>;

    /// Adds a proposal to a watch; open ones of the same model are superseded. None if the watch is over: somebody decided meanwhile,
    /// and what the proposal would replace is no longer in use.
    ///
    /// # Errors
    /// If there is no such model.
    fn propose(
        &mut self,
        model: &ModelName,
        watch: u64,
        new: &NewProposal,
        at: Instant,
    ) -> Result<Option<u64>>;

    /// Proposals, the last first.
    ///
    /// # Errors
    /// If there is no such model.
    fn proposals(&mut self, model: &ModelName) -> Result<Vec<Proposal>>;

    /// Decides on a proposal; the alarms begin anew.
    ///
    /// # Errors
    /// If it is not open, or has no such number.
    fn decide(&mut self, model: &ModelName, decision: &Decision<'_>) -> Result<Model>;

    /// Adds a line to the audit log.
    ///
    /// # Errors
    /// If it cannot be written.
    fn note(&mut self, entry: &NewAudit<'_>) -> Result<()>;

    /// Lines of the audit log, the last first.
    ///
    /// # Errors
    /// If it cannot be read.
    fn audit(&mut self, query: &AuditQuery<'_>) -> Result<Vec<AuditEntry>>;

    /// Writes a copy of everything to a new file, while others go on reading and writing.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    fn backup(&mut self, to: &std::path::Path) -> Result<()>;

    /// Reads every page and checks it.
    ///
    /// # Errors
    /// If something is damaged.
    fn verify(&mut self) -> Result<()>;
}

/// What a store wants to know of a calibration.
#[derive(Debug, Clone, Copy)]
pub struct ModelFacts {
    /// Miscoverage rate.
    pub alpha: f64,
    /// Number of classes.
    pub classes: u64,
}

/// What was kept of a batch.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Counts of its predictions.
    pub sketch: Vec<u8>,
    /// Its sets, packed.
    pub sets: Option<Vec<u8>>,
    /// Its rows, packed.
    pub rows: Option<Vec<u8>>,
    /// Labels that arrived: row and label.
    pub labels: Vec<(u64, u64)>,
}

/// A message that must reach someone: written with what it tells of, delivered later, at least once.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutboxMessage {
    /// Its number.
    pub id: u64,
    /// The model it is about.
    pub model: String,
    /// When it was written.
    pub created: Instant,
    /// "alarm", "proposal" or "decision".
    pub kind: String,
    /// JSON.
    pub payload: String,
    /// How often it was tried.
    pub attempts: u64,
    /// When to try (again).
    pub due: Instant,
    /// What went wrong last.
    pub error: Option<String>,
}

/// Whether somebody is to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// A server has addresses to send messages to.
    On,
    /// It has none.
    Off,
}

impl Telling {
    /// What the audit log says when it begins.
    pub(crate) fn audited(self) -> &'static str {
        match self {
            Self::On => "webhooks switched on",
            Self::Off => "webhooks switched off",
        }
    }
}

/// Messages to be delivered. They are written by [`History::append`], [`History::add_labels`], [`History::propose`] and [`History::decide`].
pub trait Outbox {
    /// Says whether somebody is to be told from now on. Where it is switched on, messages of the time when it was off are passed over: a
    /// year of old alarms helps nobody. Those of the time before it was switched off are still sent.
    ///
    /// # Errors
    /// As [`due`](Self::due).
    fn set_telling(&mut self, telling: Telling, at: Instant) -> Result<()>;

    /// Messages that are due, the oldest first.
    ///
    /// # Errors
    /// If the store cannot be read or written; so of every call.
    fn due(&mut self, now: Instant, limit: u64) -> Result<Vec<OutboxMessage>>;

    /// A message arrived.
    ///
    /// # Errors
    /// As [`due`](Self::due).
    fn delivered(&mut self, id: u64, at: Instant) -> Result<()>;

    /// A message did not arrive: try again at `next`, or never if none.
    ///
    /// # Errors
    /// As [`due`](Self::due).
    fn failed(&mut self, id: u64, error: &str, next: Option<Instant>) -> Result<()>;

    /// Messages that were given up.
    ///
    /// # Errors
    /// As [`due`](Self::due).
    fn dead(&mut self) -> Result<Vec<OutboxMessage>>;
}

/// Who may do what. The secret is not stored, only its SHA-256.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Token {
    /// Its public part.
    pub id: String,
    /// SHA-256 of the whole token.
    #[serde(skip)]
    pub hash: [u8; 32],
    /// Scopes, separated by commas: ingest, read, approve, admin.
    pub scopes: String,
    /// The models it is for; none is all.
    pub models: Option<Vec<String>>,
    /// When it was made.
    pub created: Instant,
    /// Whose it is, or what for.
    pub note: String,
    /// Since when it is worth nothing.
    pub revoked: Option<Instant>,
}

/// Tokens of a server.
pub trait Tokens {
    /// Stores a token, and says so in the audit log.
    ///
    /// # Errors
    /// If one of that id exists, or the store cannot be written.
    fn add_token(&mut self, token: &Token) -> Result<()>;

    /// All tokens, by id.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn tokens(&mut self) -> Result<Vec<Token>>;

    /// The token of an id.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn token(&mut self, id: &str) -> Result<Option<Token>>;

    /// Makes a token worth nothing from now on, and says so in the audit log; whether there was one.
    ///
    /// # Errors
    /// If the store cannot be written.
    fn revoke(&mut self, id: &str, at: Instant) -> Result<bool>;
}

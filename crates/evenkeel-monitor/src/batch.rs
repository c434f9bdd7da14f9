//! A batch: as it comes, as it was checked, as it is stored.

use evenkeel_jobs::RowSource;
use serde::Serialize;

use crate::alarm::{AlarmRecord, Light};
use crate::instant::Instant;
use crate::model::ModelName;
use crate::summary::{BatchSummary, Measured, StreamSummary};

/// A batch that arrives.
pub struct NewBatch<'a> {
    /// Its key: a batch with a key that is known is not counted again.
    pub key: &'a str,
    /// SHA-256 of what arrived: the same key with other contents is refused.
    pub content: [u8; 32],
    /// What people call it: a file name, or nothing.
    pub name: &'a str,
    /// The moment it is of.
    pub time: Instant,
    /// The clock of the machine that receives it.
    pub received: Instant,
    /// What people call its rows, one for each, by which late labels may name them.
    pub ids: Option<&'a [String]>,
    /// Its rows.
    pub rows: &'a mut dyn RowSource,
}

/// A batch that was checked and is to be stored.
#[derive(Debug, Clone)]
pub struct CheckedBatch<'a> {
    /// The model.
    pub model: &'a ModelName,
    /// Version of the calibration it was checked against.
    pub version: u64,
    /// Its key.
    pub key: &'a str,
    /// SHA-256 of what arrived.
    pub content: [u8; 32],
    /// What people call it.
    pub name: &'a str,
    /// The moment it is of.
    pub time: Instant,
    /// When it was received.
    pub received: Instant,
    /// Number of rows.
    pub rows: u64,
    /// Counts of its predictions, mergeable.
    pub sketch: Vec<u8>,
    /// Its prediction sets, packed; none where they are not kept.
    pub sets: Option<Vec<u8>>,
    /// Its rows, packed; none where they are not kept.
    pub kept: Option<Vec<u8>>,
    /// Ids of its rows; none where they have none, or where labels could not be judged.
    pub ids: Option<&'a [String]>,
    /// The numbers of trends.
    pub summary: BatchSummary,
    /// The document of the check, as JSON.
    pub document: String,
}

/// A batch of the history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BatchRecord {
    /// The model.
    pub model: String,
    /// Its number, from 1, in the order of arrival.
    pub batch: u64,
    /// Its key.
    pub key: String,
    /// SHA-256 of what arrived, in hexadecimal.
    pub content: String,
    /// What people call it.
    pub name: String,
    /// The moment it is of.
    pub time: Instant,
    /// When it was received.
    pub received: Instant,
    /// Number of rows.
    pub rows: u64,
    /// Version of the calibration it was checked against.
    pub version: u64,
    /// Number of the watch it belongs to.
    pub watch: u64,
    /// The numbers of trends.
    pub summary: BatchSummary,
    /// Where the alarm without labels stood after it.
    pub stream: StreamSummary,
    /// Coverage counted on its labels; none before any arrived.
    pub measured: Option<Measured>,
    /// Alarms that went off with it.
    pub alarms: Vec<AlarmRecord>,
}

/// Which batches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BatchQuery {
    /// Of this moment or later.
    pub from: Option<Instant>,
    /// Before this moment.
    pub to: Option<Instant>,
    /// With a larger number than this: the cursor of the page before.
    pub after: u64,
    /// At most so many; all if none.
    pub limit: Option<u64>,
}

/// The answer to a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// The batch as it is stored.
    pub record: BatchRecord,
    /// Whether it had been received before.
    pub duplicate: bool,
    /// The document of the check, as JSON.
    pub document: String,
    /// Number of the proposal that was made; none without an alarm.
    pub proposal: Option<u64>,
}

/// What the answer to a batch holds beside the fields of `check --json`.
#[derive(Debug, Clone, Serialize)]
pub struct ReceivedFields<'a> {
    /// The model.
    pub model: &'a str,
    /// Number of the batch, from 1, in the order of arrival.
    pub batch: u64,
    /// Whether it had been received before: the answer is then the first one's.
    pub duplicate: bool,
    /// Its key.
    pub key: &'a str,
    /// What people call it.
    pub name: &'a str,
    /// The moment it is of.
    pub time: Instant,
    /// When it was received.
    pub received: Instant,
    /// Version of the calibration it was checked against.
    pub version: u64,
    /// Number of the watch it belongs to: one begins with the model and with every decision.
    pub watch: u64,
    /// Green, amber or red, by the coverage that is lost.
    pub light: Light,
    /// Mean number of labels in a set.
    pub set_size_mean: f64,
    /// Where the alarm without labels stands after it.
    pub stream: &'a StreamSummary,
    /// The alarm that went off with it; null if none did.
    pub alarm: Option<&'a AlarmRecord>,
    /// Number of the proposal that was made of it; null if none was.
    pub proposal: Option<u64>,
}

impl Received {
    /// The fields of `check --json`, and beside them what a monitor adds.
    ///
    /// [`ReceivedFields`] are these.
    pub fn json(&self) -> serde_json::Value {
        let record = &self.record;
        let parsed = serde_json::from_str(&self.document);
        let mut fields = match parsed {
            Ok(serde_json::Value::Object(fields)) => fields,
            // Stored by this crate: it is an object.
            _ => serde_json::Map::new(),
        };
        let added = ReceivedFields {
            model: &record.model,
            batch: record.batch,
            duplicate: self.duplicate,
            key: &record.key,
            name: &record.name,
            time: record.time,
            received: record.received,
            version: record.version,
            watch: record.watch,
            light: record.summary.light(),
            set_size_mean: record.summary.mean_size,
            stream: &record.stream,
            alarm: record.alarms.first(),
            proposal: self.proposal,
        };
        // Numbers, words and lists of them: they have a JSON form.
        if let Ok(serde_json::Value::Object(added)) = serde_json::to_value(&added) {
            fields.extend(added);
        }
        serde_json::Value::Object(fields)
    }
}

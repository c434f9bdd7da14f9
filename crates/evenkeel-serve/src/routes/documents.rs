//! The answers as `/openapi.json` describes them. The documents themselves are made by the crates below; the tests of
//! the interface hold one to the other.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::openapi::{
    ContentBuilder, ObjectBuilder, Ref, RefOr, Response, ResponseBuilder, Schema,
};
use utoipa::{IntoResponses, PartialSchema, ToSchema};

/// What `evenkeel calibrate` writes: an object that this interface hands on as it is.
pub(crate) struct CalibrationFile;

impl PartialSchema for CalibrationFile {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().description(Some("What `evenkeel calibrate` writes")).into()
    }
}

impl ToSchema for CalibrationFile {}

/// A model under watch.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelAnswer {
    /// Its name.
    name: String,
    /// When it was made.
    #[schema(format = DateTime)]
    created: String,
    /// Miscoverage rate of its calibration.
    alpha: f64,
    /// Chance of any false alarm over the life of a reference.
    delta: f64,
    /// Number of classes.
    classes: u64,
    /// What is kept of batches: `nothing`, `sets` or `rows`.
    keep: String,
    /// Version of the calibration in use, from 1.
    version: u64,
    /// Number of the watch that is on, from 1: one begins with the model and with every decision.
    watch: u64,
    /// Batches so far.
    batches: u64,
    /// Rows so far.
    rows: u64,
}

/// A model that was made, or was there.
#[derive(Serialize, ToSchema)]
pub(crate) struct MadeModelAnswer {
    /// The model.
    #[serde(flatten)]
    model: ModelAnswer,
    /// What to know about a calibration that was made of rows and labels; none of one that was sent.
    warnings: Vec<String>,
}

/// Models, by name.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelsAnswer {
    /// The models.
    models: Vec<ModelAnswer>,
}

/// Whether the predictions of a batch changed.
#[derive(Serialize, ToSchema)]
pub(crate) struct ShiftAnswer {
    /// Of this batch alone; it is not evidence that adds up over batches.
    p_value: f64,
    /// Whether the batch differs from the calibration data, at the level of the check.
    detected: bool,
}

/// What the check of a batch found: the fields of `evenkeel check --json`, of which these are some, and beside them
/// what a monitor adds.
#[derive(Serialize, ToSchema)]
pub(crate) struct BatchAnswer {
    /// The model.
    model: String,
    /// Number of the batch, from 1.
    #[schema(minimum = 1)]
    batch: u64,
    /// Whether a batch with this key was there already; the answer is then the first one's.
    #[schema(required = false)]
    duplicate: bool,
    /// The moment the batch is of.
    #[schema(format = DateTime)]
    time: String,
    /// Number of rows.
    m: u64,
    /// Whether its predictions changed.
    shift: ShiftAnswer,
    /// `ok`, `watch`, `loss` or `unknown`.
    verdict: String,
    /// `green`, `amber` or `red`, by the coverage that is lost.
    light: String,
    /// Mean number of labels in a set.
    set_size_mean: f64,
    /// The alarm that went off with it, if one did.
    #[schema(value_type = Option<Object>)]
    alarm: (),
    /// Number of the proposal that was made of it.
    #[schema(required = false)]
    proposal: Option<u64>,
}

/// A batch of the history.
#[derive(Serialize, ToSchema)]
pub(crate) struct BatchRecordAnswer {
    /// Number of the batch, from 1.
    batch: u64,
    /// Its key.
    key: String,
    /// The moment it is of.
    #[schema(format = DateTime)]
    time: String,
    /// Number of rows.
    m: u64,
    /// `green`, `amber` or `red`, by the coverage that is lost.
    light: String,
    /// The numbers of trends.
    #[schema(value_type = Object)]
    summary: (),
}

/// A page of the history.
#[derive(Serialize, ToSchema)]
pub(crate) struct HistoryAnswer {
    /// Batches in the order of arrival.
    batches: Vec<BatchRecordAnswer>,
    /// Where the next page begins; null after the last.
    #[schema(required = true)]
    next_cursor: Option<String>,
}

/// What labels show.
#[derive(Serialize, ToSchema)]
pub(crate) struct LabelsAnswer {
    /// Number of the batch.
    batch: u64,
    /// Labels that are new.
    new: u64,
    /// Labels of the batch so far.
    n_labeled: u64,
    /// Share of them that their sets hold.
    coverage: f64,
    /// Interval for the coverage of the batch (Clopper and Pearson).
    #[schema(min_items = 2, max_items = 2)]
    coverage_interval_cp: Vec<f64>,
    /// Evidence since the last decision that coverage is below the level.
    e_value: f64,
    /// The alarm that went off, if one did.
    #[schema(value_type = Option<Object>)]
    alarm: (),
}

/// Proposals of a model.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProposalsAnswer {
    /// The last first.
    proposals: Vec<ProposalAnswer>,
}

/// A recalibration that a person approves or rejects.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProposalAnswer {
    /// Number of the proposal, from 1.
    proposal: u64,
    /// `open`, `approved`, `rejected` or `superseded`.
    state: String,
    /// Method that made it.
    method: String,
    /// Numbers of the batches it was made of.
    from_batches: Vec<u64>,
    /// Threshold in use; null is infinite.
    #[schema(required = true)]
    threshold_before: Option<f64>,
    /// Threshold proposed; null is infinite.
    #[schema(required = true)]
    threshold_after: Option<f64>,
    /// Mean number of labels in a set now.
    set_size_before: f64,
    /// The same if it is approved.
    set_size_after: f64,
    /// What was done and why.
    account: String,
}

/// A page of the audit log.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditAnswer {
    /// Lines, the last first.
    entries: Vec<AuditLine>,
    /// Where the next page begins; null after the last.
    #[schema(required = true)]
    next_cursor: Option<String>,
}

/// A line of the audit log.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditLine {
    /// Its number.
    id: u64,
    /// When.
    #[schema(format = DateTime)]
    at: String,
    /// Who.
    who: String,
    /// What was done.
    what: String,
    /// The model it was done to; null where it concerns several or the server.
    #[schema(required = true)]
    model: Option<String>,
    /// More, in words.
    details: String,
}

/// Answers that are problems.
fn problems(described: &[(u16, &str)]) -> BTreeMap<String, RefOr<Response>> {
    let answer = |(status, words): &(u16, &str)| {
        let schema = Ref::from_schema_name("ProblemDocument");
        let content = ContentBuilder::new().schema(Some(schema)).build();
        let response = ResponseBuilder::new().description(*words);
        let response = response.content("application/problem+json", content).build();
        (status.to_string(), RefOr::T(response))
    };
    described.iter().map(answer).collect()
}

/// What can be wrong with a body.
pub(crate) struct BodyProblems;

impl IntoResponses for BodyProblems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        problems(&[
            (408, "The body took too long to arrive"),
            (413, "More bytes, rows or classes than the server takes"),
            (415, "A Content-Type or Content-Encoding that is not understood"),
            (422, "What the body holds cannot be used"),
        ])
    }
}

/// What can be wrong with who asks, and with the head of what they ask.
pub(crate) struct AccessProblems;

impl IntoResponses for AccessProblems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        problems(&[
            (400, "A part of the address or the head that cannot be understood"),
            (401, "No token of this server"),
            (403, "A token without the scope or for other models, or a page of another site"),
        ])
    }
}

/// Something that is not there.
pub(crate) struct NoSuch;

impl IntoResponses for NoSuch {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        problems(&[(404, "No such model, batch, version or proposal")])
    }
}

/// Something that contradicts what is there.
pub(crate) struct Conflict;

impl IntoResponses for Conflict {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        problems(&[(
            409,
            "It contradicts what is stored: a key of other rows, another label, a decision that was made",
        )])
    }
}

/// More than the server can do now.
pub(crate) struct Busy;

impl IntoResponses for Busy {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        problems(&[(429, "The server is full; send it again after Retry-After seconds")])
    }
}

//! Batches in, history out.

use std::sync::Arc;
use std::time::Instant as Clock;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use evenkeel_io::Values;
use evenkeel_jobs::{AnyRows, MemorySource};
use evenkeel_monitor::{
    BatchQuery, BatchRecord, History as _, Instant, ModelName, NewBatch, Received, bytes_digest,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::IntoParams;

use super::parts::{Asked, InModel, Numbered, cursor_of, limit_of};
use crate::app::App;
use crate::batch_columns::BatchColumns;
use crate::caller::Caller;
use crate::content::{BatchForm, BatchRows, inflated, rows_of};
use crate::problem::Problem;
use crate::tokens::Scope;

/// Name of the header that tells batches apart.
pub(crate) const KEY: &str = "Idempotency-Key";

/// Name of the header that says which column holds the ids of rows.
const ROW_IDS: &str = "X-Row-Ids";

/// Longest key, and name of a column.
const LONGEST_KEY: usize = 200;

/// What a body is called in errors.
const SHOWN: &str = "the body";

/// Sends a batch: it is checked, stored and answered, once for each key.
#[utoipa::path(
    post, path = "/v1/models/{model}/batches", tag = "batches",
    params(
        ("model" = String, Path, description = "Name of the model", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"),
        ("Idempotency-Key" = String, Header, description = "A batch with a key that is known is answered and not counted again", min_length = 1, max_length = 200, pattern = "^[!-~]([ -~]*[!-~])?$"),
        ("X-Batch-Time" = Option<String>, Header, description = "The moment the batch is of; the server's clock if absent", format = DateTime),
        ("X-Row-Ids" = Option<String>, Header, description = "Column of a parquet or Arrow table that holds what its rows are called, so that late labels can name them; JSON has the field `ids`", min_length = 1, max_length = 200, pattern = "^[!-~]([ -~]*[!-~])?$"),
    ),
    request_body(
        description = "Class probabilities, a row for each point",
        content(
            (crate::content::JsonBatch = "application/json"),
            (Vec<u8> = "application/x-npy"),
            (Vec<u8> = "application/vnd.apache.parquet"),
            (Vec<u8> = "application/vnd.apache.arrow.stream"),
        )
    ),
    responses(
        (status = 200, description = "What the check found, and whether an alarm went off", body = super::documents::BatchAnswer),
        super::documents::BodyProblems, super::documents::AccessProblems, super::documents::NoSuch, super::documents::Conflict, super::documents::Busy
    ),
    security(("token" = []))
)]
pub(crate) async fn send(
    State(app): State<Arc<App>>,
    caller: Caller,
    InModel(model): InModel,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Problem> {
    caller.require(Scope::Ingest, Some(model.as_str()))?;
    let key = key_of(&headers)?;
    let time = time_of(&headers)?;
    let form = BatchForm::of(&headers)?;
    let ids = ids_of(&headers)?;
    app.queue.require_room()?;
    app.require_model(&model).await?;
    let received = app.bodies.receive(&headers, body, &app.limits).await?;
    let place = app.queue.place()?;
    let at_work = Arc::clone(&app);
    let answer = app.queue.run(place, move || {
        let content = inflated(&headers, &received.bytes, &at_work.limits)?;
        let columns = BatchColumns::of(&at_work.monitor, &model, ids)?;
        take(&at_work, (&model, &key, time), form, &content, &columns)
    });
    answer.await.map(|received| Json(received.json()))
}

/// Checks and stores a batch. On a thread for such work: it takes milliseconds.
fn take(
    app: &App,
    (model, key, time): (&ModelName, &str, Option<Instant>),
    form: BatchForm,
    content: &[u8],
    columns: &BatchColumns,
) -> Result<Received, Problem> {
    let started = Clock::now();
    let rows = rows_of(form, content, (&app.spool, &app.limits), columns)?;
    let received = store_rows(app, model, (key, ""), time, bytes_digest(content), &rows)?;
    app.metrics.check_seconds.add(started.elapsed());
    Ok(received)
}

/// Checks and stores rows.
pub(crate) fn store_rows(
    app: &App,
    model: &ModelName,
    (key, name): (&str, &str),
    time: Option<Instant>,
    content: [u8; 32],
    rows: &BatchRows,
) -> Result<Received, Problem> {
    let any = match &rows.values {
        Values::F32(values) => AnyRows::f32(values, rows.columns)?,
        Values::F64(values) => AnyRows::f64(values, rows.columns)?,
    };
    let received = Instant::now();
    let mut source = MemorySource::new(SHOWN, any);
    let time = time.unwrap_or(received);
    let ids = rows.ids.as_deref();
    let batch = NewBatch { key, content, name, time, received, ids, rows: &mut source };
    Ok(app.monitor.receive(model, batch)?)
}

fn key_of(headers: &HeaderMap) -> Result<String, Problem> {
    let key = headers.get(KEY).and_then(|key| key.to_str().ok()).map_or("", str::trim);
    if key.is_empty() || key.len() > LONGEST_KEY {
        return Err(Problem::usage(format!(
            "{KEY} is needed, 1 to {LONGEST_KEY} characters of ASCII: a batch that is sent again with its key is not counted \
             twice; found {} characters",
            key.len()
        )));
    }
    Ok(key.to_owned())
}

/// The column that holds the ids of rows.
fn ids_of(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(ROW_IDS) else { return Ok(None) };
    let name = value.to_str().map_or("", str::trim);
    if name.is_empty() || name.len() > LONGEST_KEY {
        return Err(Problem::usage(format!(
            "{ROW_IDS} is the name of a column, 1 to {LONGEST_KEY} characters of ASCII; rename the column, or leave the header out"
        )));
    }
    Ok(Some(name.to_owned()))
}

fn time_of(headers: &HeaderMap) -> Result<Option<Instant>, Problem> {
    let Some(value) = headers.get("X-Batch-Time") else { return Ok(None) };
    let text = value.to_str().map_err(|_| Problem::usage("X-Batch-Time is not ASCII"))?;
    Instant::parse(text).map(Some).map_err(|error| Problem::usage(format!("X-Batch-Time: {error}")))
}

/// Which batches of the history.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct HistoryQuery {
    /// Of this moment or later.
    #[param(format = DateTime)]
    from: Option<String>,
    /// Before this moment.
    #[param(format = DateTime)]
    to: Option<String>,
    /// At most so many.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// `next_cursor` of the page before.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
}

impl HistoryQuery {
    fn query(&self) -> Result<BatchQuery, Problem> {
        let moment = |text: &Option<String>| text.as_deref().map(Instant::parse).transpose();
        let limit = limit_of(self.limit)?;
        let after = cursor_of(self.cursor.as_deref())?.unwrap_or(0);
        let usage = |error: evenkeel_monitor::MonitorError| Problem::usage(error.to_string());
        Ok(BatchQuery {
            from: moment(&self.from).map_err(usage)?,
            to: moment(&self.to).map_err(usage)?,
            after,
            limit: Some(limit),
        })
    }
}

/// The history of a model, in the order of arrival.
#[utoipa::path(
    get, path = "/v1/models/{model}/batches", tag = "batches",
    params(
        ("model" = String, Path, description = "Name of the model", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"),
        HistoryQuery
    ),
    responses(
        (status = 200, description = "Batches, and where the next ones begin", body = super::documents::HistoryAnswer),
        super::documents::AccessProblems, super::documents::NoSuch
    ),
    security(("token" = []))
)]
pub(crate) async fn history(
    State(app): State<Arc<App>>,
    caller: Caller,
    InModel(model): InModel,
    Asked(asked): Asked<HistoryQuery>,
) -> Result<Json<Value>, Problem> {
    caller.require(Scope::Read, Some(model.as_str()))?;
    let query = asked.query()?;
    app.require_model(&model).await?;
    let found = app.read(move |store| store.batches(&model, &query)).await?;
    let is_full = found.len() as u64 == query.limit.unwrap_or(u64::MAX);
    let next = found.last().filter(|_| is_full).map(|batch| batch.batch.to_string());
    let batches: Vec<Value> = found.iter().map(record_json).collect();
    Ok(Json(json!({ "batches": batches, "next_cursor": next })))
}

/// One batch with the whole document of its check.
#[utoipa::path(
    get, path = "/v1/models/{model}/batches/{number}", tag = "batches",
    params(
        ("model" = String, Path, description = "Name of the model", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"),
        ("number" = i64, Path, description = "Number of the batch", minimum = 1)
    ),
    responses(
        (status = 200, description = "The batch, as it was answered when it came", body = super::documents::BatchAnswer),
        super::documents::AccessProblems, super::documents::NoSuch
    ),
    security(("token" = []))
)]
pub(crate) async fn one(
    State(app): State<Arc<App>>,
    caller: Caller,
    Numbered { model, number }: Numbered,
) -> Result<Json<Value>, Problem> {
    caller.require(Scope::Read, Some(model.as_str()))?;
    app.require_model(&model).await?;
    let found = app.read(move |store| {
        let (record, document) = store.batch(&model, number)?;
        Ok(Received { record, duplicate: true, document, proposal: None })
    });
    let mut json = found.await?.json();
    if let Value::Object(fields) = &mut json {
        fields.remove("duplicate");
        fields.remove("proposal");
    }
    Ok(Json(json))
}

/// A batch of the history, with the names that its answer has.
fn record_json(record: &BatchRecord) -> Value {
    let mut fields = match serde_json::to_value(record) {
        Ok(Value::Object(fields)) => fields,
        // A record is an object.
        _ => Map::new(),
    };
    fields.insert("m".into(), record.rows.into());
    fields.insert("light".into(), record.summary.light().as_str().into());
    Value::Object(fields)
}

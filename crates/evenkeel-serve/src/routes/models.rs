//! Models, and the calibrations that serving systems poll.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use evenkeel_monitor::{
    History as _, Instant, Keep, Model, ModelName, MonitorError, NewModel, SqliteStore,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use utoipa::IntoParams;

use super::parts::{Asked, InModel};
use crate::app::App;
use crate::caller::Caller;
use crate::content::{ReferenceBody, inflated};
use crate::form::parts_of;
use crate::problem::Problem;
use crate::sent_reference::{PARTS, SentReference};
use crate::tokens::Scope;

/// Chance of any false alarm where none is given.
const DELTA: f64 = 0.05;

/// How a model is watched.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ModelQuery {
    /// Chance of any false alarm over the life of a reference [default: 0.05].
    #[param(exclusive_minimum = 0, exclusive_maximum = 1)]
    delta: Option<f64>,
    /// What is kept of batches: `nothing`, `sets` (enough for late labels) or `rows` [default: sets].
    #[param(pattern = "^(nothing|sets|rows)$")]
    keep: Option<String>,
}

/// All models that the caller may see.
#[utoipa::path(
    get, path = "/v1/models", tag = "models",
    responses((status = 200, description = "The models, by name", body = super::documents::ModelsAnswer), super::documents::AccessProblems),
    security(("token" = []))
)]
pub(crate) async fn all(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Json<Value>, Problem> {
    caller.require(Scope::Read, None)?;
    let models = app.read(SqliteStore::models).await?;
    let seen: Vec<_> =
        models.into_iter().filter(|model| caller.may_see(model.name.as_str())).collect();
    Ok(Json(json!({ "models": seen })))
}

/// One model.
#[utoipa::path(
    get, path = "/v1/models/{model}", tag = "models",
    params(("model" = String, Path, description = "Name of the model", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")),
    responses((status = 200, description = "The model", body = super::documents::ModelAnswer), super::documents::AccessProblems, super::documents::NoSuch),
    security(("token" = []))
)]
pub(crate) async fn one(
    State(app): State<Arc<App>>,
    caller: Caller,
    InModel(model): InModel,
) -> Result<Json<Value>, Problem> {
    caller.require(Scope::Read, Some(model.as_str()))?;
    let model = app.read(move |store| store.model(&model)).await?;
    Ok(Json(json!(model)))
}

/// Makes a model of a calibration, or of the rows and labels that one is made of. The same once more changes nothing.
#[utoipa::path(
    put, path = "/v1/models/{model}", tag = "models",
    params(
        ("model" = String, Path, description = "Name of the model", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"),
        ModelQuery
    ),
    request_body(
        description = "A file written by `evenkeel calibrate`; or a form with one, or with the calibration data",
        content(
            (super::documents::CalibrationFile = "application/json"),
            (crate::sent_reference::ReferenceForm = "multipart/form-data"),
        )
    ),
    responses(
        (status = 200, description = "There was this model, with this calibration", body = super::documents::MadeModelAnswer),
        (status = 201, description = "The model was made", body = super::documents::MadeModelAnswer),
        super::documents::BodyProblems, super::documents::AccessProblems, super::documents::Conflict, super::documents::Busy
    ),
    security(("token" = []))
)]
pub(crate) async fn put(
    State(app): State<Arc<App>>,
    caller: Caller,
    InModel(name): InModel,
    Asked(asked): Asked<ModelQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    caller.require(Scope::Admin, Some(name.as_str()))?;
    let form = ReferenceBody::of(&headers)?;
    let asked = Watching::of(&asked)?;
    app.queue.require_room()?;
    let received = app.bodies.receive(&headers, body, &app.limits).await?;
    let place = app.queue.place()?;
    let (at_work, who, runtime) = (Arc::clone(&app), caller.name(), Handle::current());
    let made = app.queue.run(place, move || {
        let content = inflated(&headers, &received.bytes, &at_work.limits)?;
        let sent = match form {
            ReferenceBody::Json => SentReference::of_json(&content)?,
            ReferenceBody::Form => {
                // Nothing is waited for: the body is here.
                let parts = runtime.block_on(parts_of(&headers, content.into_owned(), &PARTS))?;
                SentReference::of_form(&parts, (&at_work.spool, &at_work.limits))?
            }
        };
        add(&at_work, name, &asked.with(&sent)?, &sent, &who)
    });
    let (status, model) = made.await?;
    Ok((status, Json(model)).into_response())
}

/// How a model is to be watched, as far as was said.
#[derive(Debug, Clone, Copy)]
struct Watching {
    delta: Option<f64>,
    keep: Option<Keep>,
}

impl Watching {
    /// As the address says.
    fn of(asked: &ModelQuery) -> Result<Self, Problem> {
        let keep = asked.keep.as_deref().map(|word| {
            Keep::from_word(word).ok_or_else(|| Problem::usage("keep is nothing, sets or rows"))
        });
        Ok(Self { delta: asked.delta, keep: keep.transpose()? })
    }

    /// What was asked of a model that is there, and is otherwise: it stays as it was made.
    fn unheeded(self, model: &Model) -> Option<String> {
        let delta = self.delta.is_some_and(|delta| delta != model.delta);
        let keep = self.keep.is_some_and(|keep| keep != model.keep);
        (delta || keep).then(|| {
            format!(
                "the model is there and stays as it is: delta is {}, keep is {}; make one of another name for others",
                model.delta,
                model.keep.as_str()
            )
        })
    }

    /// With what came beside the reference.
    fn with(self, sent: &SentReference) -> Result<Self, Problem> {
        let twice = [
            ("delta", self.delta.is_some() && sent.delta.is_some()),
            ("keep", self.keep.is_some() && sent.keep.is_some()),
        ];
        if let Some((name, _)) = twice.into_iter().find(|(_, is_twice)| *is_twice) {
            return Err(Problem::data(format!(
                "{name} stands in the address and in the form; say it once"
            )));
        }
        Ok(Self { delta: self.delta.or(sent.delta), keep: self.keep.or(sent.keep) })
    }
}

/// Adds the model; the status says whether there was none.
fn add(
    app: &App,
    name: ModelName,
    watching: &Watching,
    sent: &SentReference,
    who: &str,
) -> Result<(StatusCode, Value), Problem> {
    let status = match app.monitor.model(&name) {
        Ok(_) => StatusCode::OK,
        Err(MonitorError::NoSuchModel { .. }) => StatusCode::CREATED,
        Err(error) => return Err(error.into()),
    };
    let new = NewModel {
        name,
        calibration: &sent.calibration,
        delta: watching.delta.unwrap_or(DELTA),
        keep: watching.keep.unwrap_or_default(),
        who,
        at: Instant::now(),
    };
    let model = app.monitor.add_model(&new, None)?;
    let warnings = sent.warnings.iter().cloned().chain(watching.unheeded(&model));
    let warnings: Vec<String> = warnings.collect();
    let mut model = json!(model);
    model["warnings"] = json!(warnings);
    Ok((status, model))
}

/// Which version of a calibration.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct VersionQuery {
    /// Number of the version, from 1 [default: the one in use].
    #[param(minimum = 1, maximum = 9_007_199_254_740_991_u64)]
    version: Option<u64>,
}

/// The calibration in use: the file that `evenkeel predict` reads. Systems that serve a model poll it with its ETag.
#[utoipa::path(
    get, path = "/v1/models/{model}/calibration", tag = "models",
    params(
        ("model" = String, Path, description = "Name of the model", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"),
        VersionQuery,
        ("If-None-Match" = Option<String>, Header, description = "ETag of the calibration that is known")
    ),
    responses(
        (status = 200, description = "The calibration", body = super::documents::CalibrationFile, headers(("ETag" = String, description = "Changes with the calibration"))),
        (status = 304, description = "The caller has it"),
        super::documents::AccessProblems, super::documents::NoSuch
    ),
    security(("token" = []))
)]
pub(crate) async fn calibration(
    State(app): State<Arc<App>>,
    caller: Caller,
    InModel(model): InModel,
    Asked(asked): Asked<VersionQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    caller.require(Scope::Read, Some(model.as_str()))?;
    let version = asked.version;
    if version.is_some_and(|version| version == 0 || i64::try_from(version).is_err()) {
        return Err(Problem::usage("versions are numbered from 1"));
    }
    let found = app.read(move |store| store.version(&model, version)).await?;
    let tag = format!("\"{}\"", found.etag);
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or("");
    let is_known = known
        .split(',')
        .any(|one| [tag.as_str(), "*"].contains(&one.trim().trim_start_matches("W/")));
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(CONTENT_TYPE, "application/json")], found.calibration).into_response(),
    };
    let tag = HeaderValue::from_str(&tag).map_err(|error| Problem::system(&error))?;
    response.headers_mut().insert(ETAG, tag);
    // To be asked each time: a calibration that was replaced must not be used on.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    Ok(response)
}

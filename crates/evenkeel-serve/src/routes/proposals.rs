//! Proposals, and what people decide.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use evenkeel_monitor::{Choice, Decision, History as _, Instant, Model, ModelName, Monitor};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::json_body::{Document, Lane, Sent, SentDocument};
use super::parts::InModel;
use crate::app::App;
use crate::caller::Caller;
use crate::content::parse_json;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::tokens::Scope;

/// Longest name and reason of a decision.
const LONGEST: (usize, usize) = (200, 2000);

/// Who decides, and why: both stand in the audit log.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"who": "A. Nother", "why": "the new camera stays"}))]
pub(crate) struct DecisionBody {
    /// Who decides.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S")]
    pub who: String,
    /// Why.
    #[schema(min_length = 1, max_length = 2000, pattern = r"\S")]
    pub why: String,
}

impl SentDocument for DecisionBody {
    /// The longest name and reason, each letter in the longest way to write it (`\u....\u....`), and some room. Decisions are not
    /// queued, so that large ones could come side by side.
    const MOST_BYTES: Option<usize> = Some(64 << 10);

    fn read(bytes: &[u8], _: &Limits) -> Result<Self, Problem> {
        parse_json(bytes)
    }
}

/// The proposals of a model, the last first.
#[utoipa::path(
    get, path = "/v1/models/{model}/proposals", tag = "proposals",
    params(("model" = String, Path, description = "Name of the model", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")),
    responses((status = 200, description = "Open and decided proposals", body = super::documents::ProposalsAnswer), super::documents::AccessProblems, super::documents::NoSuch),
    security(("token" = []))
)]
pub(crate) async fn all(
    State(app): State<Arc<App>>,
    caller: Caller,
    InModel(model): InModel,
) -> Result<Json<Value>, Problem> {
    caller.require(Scope::Read, Some(model.as_str()))?;
    app.require_model(&model).await?;
    let proposals = app.read(move |store| store.proposals(&model)).await?;
    Ok(Json(json!({ "proposals": proposals })))
}

/// Approves a proposal: its calibration is the one in use from now on.
#[utoipa::path(
    post, path = "/v1/models/{model}/proposals/{number}/approve", tag = "proposals",
    params(
        ("model" = String, Path, description = "Name of the model", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"),
        ("number" = i64, Path, description = "Number of the proposal", minimum = 1)
    ),
    request_body(content = DecisionBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The model, with the new version", body = super::documents::ModelAnswer),
        super::documents::BodyProblems, super::documents::AccessProblems, super::documents::NoSuch, super::documents::Conflict, super::documents::Busy
    ),
    security(("token" = []))
)]
pub(crate) async fn approve(
    State(app): State<Arc<App>>,
    sent: Sent,
) -> Result<Json<Value>, Problem> {
    from_body(app, sent, Choice::Approve).await
}

/// Rejects a proposal: the calibration stays, and the alarms begin anew.
#[utoipa::path(
    post, path = "/v1/models/{model}/proposals/{number}/reject", tag = "proposals",
    params(
        ("model" = String, Path, description = "Name of the model", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"),
        ("number" = i64, Path, description = "Number of the proposal", minimum = 1)
    ),
    request_body(content = DecisionBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The model, with the version it had", body = super::documents::ModelAnswer),
        super::documents::BodyProblems, super::documents::AccessProblems, super::documents::NoSuch, super::documents::Conflict, super::documents::Busy
    ),
    security(("token" = []))
)]
pub(crate) async fn reject(
    State(app): State<Arc<App>>,
    sent: Sent,
) -> Result<Json<Value>, Problem> {
    from_body(app, sent, Choice::Reject).await
}

async fn from_body(app: Arc<App>, sent: Sent, choice: Choice) -> Result<Json<Value>, Problem> {
    let decided = sent.handled(
        app,
        (Scope::Approve, Lane::Beside),
        move |document: Document<DecisionBody>| {
            let Document { app, model, number, content, .. } = document;
            decide(&app.monitor, &model, number, choice, &content)
        },
    );
    Ok(Json(json!(decided.await?)))
}

/// Decides, for the page too.
pub(crate) fn decide(
    monitor: &Monitor,
    model: &ModelName,
    number: u64,
    choice: Choice,
    DecisionBody { who, why }: &DecisionBody,
) -> Result<Model, Problem> {
    let (longest_who, longest_why) = LONGEST;
    for (what, text, longest) in [("who", who, longest_who), ("why", why, longest_why)] {
        let length = text.trim().chars().count();
        if length == 0 || text.chars().count() > longest {
            return Err(Problem::data(format!(
                "{what} has {length} characters; give 1 to {longest}: it stands in the audit log"
            )));
        }
    }
    let decision =
        Decision { proposal: number, choice, who: who.trim(), why: why.trim(), at: Instant::now() };
    Ok(monitor.decide(model, &decision)?)
}

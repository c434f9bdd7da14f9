//! Who did what, for programs.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::parts::{Asked, cursor_of, limit_of};
use crate::app::App;
use crate::audit_lines::audit_lines;
use crate::caller::Caller;
use crate::problem::Problem;
use crate::tokens::Scope;

/// Which lines of the audit log.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    /// At most so many [default: 100].
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// `next_cursor` of the page before.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
}

/// Who did what, the last first: of the models that the caller may see, and for a token of admin and all models also of the server
/// itself (tokens that were made and revoked).
#[utoipa::path(
    get, path = "/v1/audit", tag = "operation",
    params(AuditQuery),
    responses(
        (status = 200, description = "Lines of the audit log, and where the next ones begin", body = super::documents::AuditAnswer),
        super::documents::AccessProblems
    ),
    security(("token" = []))
)]
pub(crate) async fn all(
    State(app): State<Arc<App>>,
    caller: Caller,
    Asked(asked): Asked<AuditQuery>,
) -> Result<Json<Value>, Problem> {
    caller.require(Scope::Read, None)?;
    let (limit, before) = (limit_of(asked.limit)?, cursor_of(asked.cursor.as_deref())?);
    let found = app.read(move |store| audit_lines(store, &caller, before, limit));
    let (entries, next) = found.await?;
    Ok(Json(json!({ "entries": entries, "next_cursor": next.map(|id| id.to_string()) })))
}

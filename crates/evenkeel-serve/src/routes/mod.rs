//! Every address, and what stands before and after each.

mod audit;
pub(crate) mod batches;
mod documents;
mod health;
mod json_body;
mod labels;
mod metrics;
mod models;
mod openapi;
mod parts;
pub(crate) mod proposals;

use std::any::Any;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::{Response as HttpResponse, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Router, body::Body};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::csrf::{CsrfLayer, ProtectionError};

use crate::app::App;
use crate::headers::{require_loopback_name, secure};
use crate::pages;
use crate::problem::{Kind, Problem};
use crate::unread::throw_away;

pub(crate) use parts::{InModel, Numbered};

/// Everything the server answers.
pub(crate) fn routes(app: Arc<App>) -> Router {
    Router::new()
        .route("/v1/models", get(models::all))
        .route("/v1/models/{model}", get(models::one).put(models::put))
        .route("/v1/models/{model}/calibration", get(models::calibration))
        .route("/v1/models/{model}/batches", get(batches::history).post(batches::send))
        .route("/v1/models/{model}/batches/{number}", get(batches::one))
        .route("/v1/models/{model}/batches/{number}/labels", post(labels::send))
        .route("/v1/models/{model}/proposals", get(proposals::all))
        .route("/v1/models/{model}/proposals/{number}/approve", post(proposals::approve))
        .route("/v1/models/{model}/proposals/{number}/reject", post(proposals::reject))
        .route("/v1/audit", get(audit::all))
        .route("/metrics", get(metrics::metrics))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/openapi.json", get(openapi::openapi))
        .merge(pages::routes())
        .fallback(nowhere)
        .method_not_allowed_fallback(other_method)
        .layer(CsrfLayer::new().with_rejection_response(other_site))
        .layer(from_fn_with_state(Arc::clone(&app), only_by_loopback_name))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(throw_away))
        .layer(from_fn(secure))
        .with_state(app)
}

async fn nowhere() -> Problem {
    Problem::not_found("there is nothing at this address; /openapi.json describes what there is")
}

async fn other_method() -> Problem {
    let detail = "this address does not take this method; the header Allow says which it takes";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, Kind::Usage, detail)
}

fn other_site(_: ProtectionError) -> Response {
    Problem::forbidden("a page of another site sent this request; only this server's own pages may")
        .into_response()
}

fn panicked(_: Box<dyn Any + Send>) -> HttpResponse<Body> {
    Problem::system(&"a request panicked; please report it").into_response()
}

/// Names are looked at only where callers are not asked for tokens: a server that is must answer to any name.
async fn only_by_loopback_name(
    axum::extract::State(app): axum::extract::State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    match app.is_open().await {
        Ok(true) => require_loopback_name(request, next).await,
        Ok(false) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

//! Pages for people: rendered here, read without a script, nothing loaded from elsewhere.
//!
//! ```text
//! /                              every model: a light, its coverage, since when, what to do
//! /models/{model}                the same of one; proposals to decide on, trend, alarms, batches, who did what
//! /models/{model}/batches/{n}    one batch in full: the report page
//! /audit                         who did what, of all models and of the server itself
//! /webhooks                      whom alarms are told, and messages that were given up
//! /login /logout                 a token for a cookie, and back
//! ```

mod audit;
mod before;
mod card;
mod decide;
mod files;
mod filled_form;
mod login;
mod model;
mod overview;
mod report;
mod trend;
mod visitor;
mod webhooks;
mod words;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};

use crate::app::App;
use crate::headers::PAGE_POLICY;
use crate::problem::Problem;
use crate::session::{VISIT_COOKIE, set_cookie};
use visitor::Visitor;

/// The addresses of pages.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(overview::page))
        .route("/models/{model}", get(model::page))
        .route("/models/{model}/batches/{number}", get(report::page))
        .route("/models/{model}/batches/{number}/report", get(report::report))
        .route("/models/{model}/proposals/{number}", post(decide::decide))
        .route("/audit", get(audit::page))
        .route("/webhooks", get(webhooks::page))
        .route("/login", get(login::page).post(login::log_in))
        .route("/logout", post(login::log_out))
        .route("/static/style.css", get(files::style))
        .route("/static/page.js", get(files::script))
        .route("/static/icon.svg", get(files::icon))
}

/// A page, with the visit that its forms belong to.
fn page(visitor: &Visitor, status: StatusCode, template: &impl Template) -> Response {
    let text = match template.render() {
        Ok(text) => text,
        Err(error) => return Problem::system(&error).into_response(),
    };
    let mut response = (status, [(CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    if let Some(cookie) =
        visitor.new_visit().and_then(|visit| set_cookie(visitor.headers(), VISIT_COOKIE, visit))
    {
        headers.append(SET_COOKIE, cookie);
    }
    response
}

/// What could not be shown or done, as a page.
#[derive(Template)]
#[template(path = "trouble.html")]
struct Trouble<'a> {
    visitor: &'a Visitor,
    title: &'a str,
    detail: &'a str,
}

fn trouble(visitor: &Visitor, problem: &Problem) -> Response {
    let title = match problem.status() {
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::CONFLICT => "Decided already",
        StatusCode::INTERNAL_SERVER_ERROR => "Something went wrong",
        _ => "This cannot be done",
    };
    page(visitor, problem.status(), &Trouble { visitor, title, detail: problem.detail() })
}

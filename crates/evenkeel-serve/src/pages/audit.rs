//! Who did what, of all models and of the server itself.

use std::sync::Arc;

use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use evenkeel_monitor::AuditEntry;
use serde::Deserialize;

use super::visitor::{Reader, Visitor};
use super::words::minute;
use crate::app::App;
use crate::audit_lines::audit_lines;

/// Lines of a page.
const PAGE: u64 = 100;

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage<'a> {
    visitor: &'a Visitor,
    lines: Vec<Line>,
    older: String,
}

struct Line {
    time: String,
    who: String,
    model: String,
    words: String,
}

impl From<AuditEntry> for Line {
    fn from(entry: AuditEntry) -> Self {
        let (time, words) = (minute(entry.at), words(&entry));
        Self { time, who: entry.who, model: entry.model.unwrap_or_default(), words }
    }
}

/// What was done, with its details.
pub(super) fn words(entry: &AuditEntry) -> String {
    match entry.details.is_empty() {
        true => entry.what.clone(),
        false => format!("{}: {}", entry.what, entry.details),
    }
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct BeforeQuery {
    /// Lines before this number.
    before: Option<u64>,
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    Reader { visitor, caller }: Reader,
    query: Result<Query<BeforeQuery>, QueryRejection>,
) -> Response {
    // A number that is none is no reason to show nothing.
    let before = query.ok().and_then(|Query(query)| query.before);
    let found = app.read(move |store| audit_lines(store, &caller, before, PAGE));
    let (lines, next) = match found.await {
        Ok(found) => found,
        Err(problem) => return super::trouble(&visitor, &problem),
    };
    let page = AuditPage {
        lines: lines.into_iter().map(Line::from).collect(),
        older: next.map_or(String::new(), |before| format!("/audit?before={before}")),
        visitor: &visitor,
    };
    super::page(&visitor, StatusCode::OK, &page)
}

//! Who did what, of all models and of the server itself.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use evenkeel_monitor::AuditEntry;

use super::before::Before;
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

/// A line of the log, as pages show it.
pub(super) struct Line {
    pub time: String,
    pub who: String,
    /// Empty where it concerns several models or the server.
    pub model: String,
    pub words: String,
}

impl From<AuditEntry> for Line {
    fn from(entry: AuditEntry) -> Self {
        let words = match entry.details.is_empty() {
            true => entry.what,
            false => format!("{}: {}", entry.what, entry.details),
        };
        let model = entry.model.unwrap_or_default();
        Self { time: minute(entry.at), who: entry.who, model, words }
    }
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    Reader { visitor, caller }: Reader,
    Before { before }: Before,
) -> Response {
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

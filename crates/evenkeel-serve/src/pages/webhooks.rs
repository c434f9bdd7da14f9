//! Whom alarms are told, and messages that were given up.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use evenkeel_monitor::{Outbox as _, SqliteStore};

use super::visitor::{Reader, Visitor};
use crate::address::{origin, without_paths};
use crate::app::App;

#[derive(Template)]
#[template(path = "webhooks.html")]
struct WebhooksPage<'a> {
    visitor: &'a Visitor,
    /// Addresses, whole for the operator: paths may be secret.
    addresses: Vec<String>,
    letters: Vec<Letter>,
}

struct Letter {
    time: String,
    event: String,
    tries: u64,
    trouble: String,
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    Reader { visitor, caller }: Reader,
) -> Response {
    let dead = match app.read(SqliteStore::dead).await {
        Ok(dead) => dead,
        Err(problem) => return super::trouble(&visitor, &problem),
    };
    let seen = dead.into_iter().filter(|letter| caller.may_see(&letter.model));
    let letters = seen.map(|letter| Letter {
        time: letter.created.to_string(),
        event: format!("{} of {}", letter.kind, letter.model),
        tries: letter.attempts,
        // Written without paths; an older version wrote them.
        trouble: without_paths(&letter.error.unwrap_or_default()),
    });
    let shown = |url: &String| match caller.is_operator() {
        true => url.clone(),
        false => origin(url).to_owned(),
    };
    let addresses = app.webhook_urls.iter().map(shown).collect();
    let page = WebhooksPage { visitor: &visitor, addresses, letters: letters.collect() };
    super::page(&visitor, StatusCode::OK, &page)
}

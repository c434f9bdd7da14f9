//! `/metrics`: the text format of Prometheus.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use evenkeel_monitor::{History as _, prometheus};

use crate::app::App;
use crate::caller::Caller;
use crate::disk::Disk;
use crate::facts::{Facts, facts};
use crate::problem::Problem;
use crate::tokens::Scope;

/// The state of every model that the caller may see, and of the server.
#[utoipa::path(
    get, path = "/metrics", tag = "operation",
    responses(
        (status = 200, description = "Text format 0.0.4 of Prometheus", body = String, content_type = "text/plain"),
        super::documents::AccessProblems
    ),
    security(("token" = []))
)]
pub(crate) async fn metrics(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Response, Problem> {
    caller.require(Scope::Read, None)?;
    let all = app.read(move |store| {
        let models =
            store.models()?.into_iter().filter(|model| caller.may_see(model.name.as_str()));
        let models: Vec<_> = models.collect();
        models.into_iter().map(|model| facts(store, model)).collect::<Result<Vec<Facts>, _>>()
    });
    let all: Vec<_> = all.await?.into_iter().map(|facts| facts.status).collect();
    let mut text = prometheus::text(&all);
    of_server(&app, &mut text);
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

/// Writes a number of the server. Writing to a String cannot fail.
fn one(text: &mut String, name: &str, kind: &str, help: &str, value: u64) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
}

fn of_server(app: &App, text: &mut String) {
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    app.metrics.check_seconds.write(
        "evenkeel_check_seconds",
        "Time to read, check and store a batch, without the wait for its turn.",
        text,
    );
    one(
        text,
        "evenkeel_queue_depth",
        "gauge",
        "Batches that wait or are being checked.",
        app.queue.depth() as u64,
    );
    one(
        text,
        "evenkeel_refused_total",
        "counter",
        "Requests refused because the queue was full.",
        count(&app.queue.refused),
    );
    // A disk that cannot be asked has no number; /readyz says so.
    if let Ok(Some(disk)) = Disk::of(&app.store) {
        let (name, help) = ("evenkeel_disk_free_bytes", "Bytes free on the disk of the store.");
        one(text, name, "gauge", help, disk.free_bytes);
    }
    let (name, help) = ("evenkeel_webhook_failures_total", "Deliveries of webhooks that failed.");
    one(text, name, "counter", help, count(&app.metrics.webhook_failures));
    let (name, help) =
        ("evenkeel_watch_failures_total", "Files of the watched folder that could not be taken.");
    one(text, name, "counter", help, count(&app.metrics.watch_failures));
}

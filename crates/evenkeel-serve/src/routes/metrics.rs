//! `/metrics`: the text format of Prometheus.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use evenkeel_monitor::{AlarmRule, History as _};

use crate::app::App;
use crate::caller::Caller;
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
pub(crate) async fn metrics(State(app): State<Arc<App>>, caller: Caller) -> Result<Response, Problem> {
    caller.require(Scope::Read, None)?;
    let all = app.read(move |store| {
        let models = store.models()?.into_iter().filter(|model| caller.may_see(model.name.as_str()));
        let models: Vec<_> = models.collect();
        models.into_iter().map(|model| facts(store, model)).collect::<Result<Vec<Facts>, _>>()
    });
    let mut text = String::new();
    of_models(&all.await?, &mut text);
    of_server(&app, &mut text);
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

/// A line of a family: labels after the model's, and the value.
type Sample = (String, f64);

/// Writes a family, unless it is empty. Writing to a String cannot fail.
fn family(text: &mut String, name: &str, kind: &str, help: &str, samples: impl Iterator<Item = Sample>) {
    let mut samples = samples.peekable();
    if samples.peek().is_some() {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }
    for (labels, value) in samples {
        let _ = writeln!(text, "{name}{labels} {value}");
    }
}

/// What is known of models. Names of models hold nothing that would have to be escaped.
fn of_models(all: &[Facts], text: &mut String) {
    let of = |facts: &Facts| format!("{{model=\"{}\"}}", facts.model.name);
    let with = |facts: &Facts, more: &str| format!("{{model=\"{}\",{more}}}", facts.model.name);
    let models = || all.iter();
    let last = || all.iter().filter_map(|facts| Some((facts, facts.last.as_ref()?)));
    let measured = || last().filter_map(|(facts, last)| Some((facts, last.measured?)));
    family(text, "evenkeel_batches_total", "counter", "Batches received.", models().map(|f| (of(f), f.model.batches as f64)));
    family(text, "evenkeel_rows_total", "counter", "Rows received.", models().map(|f| (of(f), f.model.rows as f64)));
    family(text, "evenkeel_level", "gauge", "Coverage asked for.", models().map(|f| (of(f), 1.0 - f.model.alpha)));
    family(text, "evenkeel_calibration_version", "gauge", "Version of the calibration in use.", models().map(|f| (of(f), f.model.version as f64)));
    family(text, "evenkeel_last_batch_timestamp_seconds", "gauge", "The moment the last batch is of.", last().map(|(f, b)| (of(f), b.time.seconds() as f64)));
    family(text, "evenkeel_shift_p_value", "gauge", "p-value of the last batch alone.", last().map(|(f, b)| (of(f), b.summary.p_value)));
    family(text, "evenkeel_coverage_estimate", "gauge", "Coverage of the last batch, estimated without labels.", last().map(|(f, b)| (of(f), b.summary.estimate)));
    let estimated = "kind=\"estimated\"";
    let counted = "kind=\"measured\"";
    let lower = last().map(|(f, b)| (with(f, estimated), b.summary.low));
    let lower = lower.chain(measured().map(|(f, m)| (with(f, counted), m.low)));
    family(text, "evenkeel_coverage_lower", "gauge", "Low end of the range of coverage of the last batch.", lower);
    let upper = last().map(|(f, b)| (with(f, estimated), b.summary.high));
    let upper = upper.chain(measured().map(|(f, m)| (with(f, counted), m.high)));
    family(text, "evenkeel_coverage_upper", "gauge", "High end of the range of coverage of the last batch.", upper);
    family(text, "evenkeel_coverage_measured", "gauge", "Coverage counted on labels of the last batch.", measured().map(|(f, m)| (of(f), m.value)));
    family(text, "evenkeel_coverage_loss_points", "gauge", "Estimated loss of coverage, in percentage points.", last().map(|(f, b)| (of(f), b.summary.loss)));
    // Bounded, because graphs have no use for infinity.
    family(text, "evenkeel_e_value", "gauge", "Evidence of late labels against the level, since the last decision.", models().map(|f| (of(f), f.ln_e_value.min(690.0).exp())));
    let alarms = models().flat_map(|f| {
        let standing = move |rule: AlarmRule| f.alarms.iter().any(|alarm| alarm.standing && alarm.rule == rule);
        AlarmRule::ALL.into_iter().map(move |rule| (with(f, &format!("rule=\"{}\"", rule.as_str())), f64::from(u8::from(standing(rule)))))
    });
    family(text, "evenkeel_alarm", "gauge", "1 while an alarm waits for a decision.", alarms);
    family(text, "evenkeel_open_proposals", "gauge", "Proposals that wait for a decision.", models().map(|f| (of(f), f.open_proposals() as f64)));
}

fn of_server(app: &App, text: &mut String) {
    let one = |value: f64| std::iter::once((String::new(), value));
    let count = |counter: &std::sync::atomic::AtomicU64| one(counter.load(Ordering::Relaxed) as f64);
    app.metrics.check_seconds.write("evenkeel_check_seconds", "Time from the body of a batch to its answer.", text);
    family(text, "evenkeel_queue_depth", "gauge", "Batches that wait or are being checked.", one(app.queue.depth() as f64));
    family(text, "evenkeel_refused_total", "counter", "Batches refused because the queue was full.", count(&app.queue.refused));
    family(text, "evenkeel_webhook_failures_total", "counter", "Deliveries of webhooks that failed.", count(&app.metrics.webhook_failures));
    family(text, "evenkeel_watch_failures_total", "counter", "Files of the watched folder that could not be taken.", count(&app.metrics.watch_failures));
}

//! One batch in full.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use evenkeel_monitor::{BatchRecord, History as _, ModelName, MonitorError};
use evenkeel_report::job_pages::{AboutRun, check_page};
use evenkeel_report::{render, warning_html};
use serde_json::Value;

use super::visitor::{Reader, Visitor};
use super::words::{minute, p_value, percent, percent_range, tone};
use crate::app::App;
use crate::headers::REPORT_POLICY;
use crate::problem::Problem;
use crate::routes::Numbered;
use crate::tokens::Scope;

#[derive(Template)]
#[template(path = "batch.html")]
struct BatchPage<'a> {
    visitor: &'a Visitor,
    model: &'a str,
    batch: u64,
    tone: &'static str,
    sign: &'static str,
    verdict: &'static str,
    coverage: String,
    advice: String,
    rows: Vec<(&'static str, String)>,
    /// As HTML.
    warnings: Vec<String>,
    alarms: Vec<String>,
    has_report: bool,
}

/// The numbers of a batch, which are always there.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Reader { visitor, caller }: Reader,
    at: Result<Numbered, Problem>,
) -> Response {
    let found = async {
        let Numbered { model, number } = at?;
        caller.require(Scope::Read, Some(model.as_str()))?;
        app.read(move |store| {
            let (record, document) = store.batch(&model, number)?;
            let has_report = store.kept(&model, number)?.rows.is_some();
            Ok((record, document, has_report))
        })
        .await
    };
    match found.await {
        Ok((record, document, has_report)) => numbers(&visitor, &record, &document, has_report),
        Err(problem) => super::trouble(&visitor, &problem),
    }
}

fn numbers(visitor: &Visitor, record: &BatchRecord, document: &str, has_report: bool) -> Response {
    let summary = &record.summary;
    let (tone, sign, verdict) = tone(summary.light());
    // Written by this program: a document that cannot be read shows no sentences, and the numbers stay.
    let document: Value = serde_json::from_str(document).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let measured = record.measured.as_ref().map(|found| {
        format!(
            "{}, {} of {} labels covered",
            percent_range(found.value, found.low, found.high),
            found.covered,
            found.k
        )
    });
    let mut rows = vec![
        ("Time", minute(record.time)),
        ("Received", minute(record.received)),
        ("Key", record.key.clone()),
        ("Rows", record.rows.to_string()),
        ("Calibration", format!("version {}", record.version)),
        ("Labels in a set", format!("{:.2} on average", summary.mean_size)),
        ("Measured coverage", measured.unwrap_or_else(|| "no labels yet".into())),
        ("Loss", format!("{:.1} points, estimated", summary.loss)),
        ("p, this batch alone", p_value(summary.p_value)),
        ("Confidences moved by", format!("{:.3}", summary.confidence_distance)),
        ("Predicted classes moved by", format!("{:.3}", summary.class_distance)),
    ];
    rows.extend((!record.name.is_empty()).then(|| ("File", record.name.clone())));
    let page = BatchPage {
        visitor,
        model: &record.model,
        batch: record.batch,
        tone,
        sign,
        verdict,
        coverage: format!(
            "Coverage about {}, level {}.",
            percent_range(summary.estimate, summary.low, summary.high),
            percent(summary.level)
        ),
        advice: text(&document["advice"]),
        rows,
        warnings: document["warnings"]
            .as_array()
            .map(|all| all.iter().map(|words| warning_html(&text(words))).collect())
            .unwrap_or_default(),
        alarms: record.alarms.iter().map(|alarm| alarm.reason.clone()).collect(),
        has_report,
    };
    super::page(visitor, StatusCode::OK, &page)
}

/// The report page, made again of the rows that were kept.
pub(super) async fn report(
    State(app): State<Arc<App>>,
    Reader { visitor, caller }: Reader,
    at: Result<Numbered, Problem>,
) -> Response {
    let made = async {
        let Numbered { model, number } = at?;
        caller.require(Scope::Read, Some(model.as_str()))?;
        // A check is made again: among those that wait, and not before them.
        let (place, at_work) = (app.queue.place()?, Arc::clone(&app));
        app.queue.run(place, move || report_of(&at_work, &model, number)).await
    };
    match made.await {
        Ok(text) => {
            let mut response = ([(CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response();
            response
                .headers_mut()
                .insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(REPORT_POLICY));
            response
        }
        Err(problem) => super::trouble(&visitor, &problem),
    }
}

fn report_of(app: &App, model: &ModelName, number: u64) -> Result<String, Problem> {
    let Some((record, checked, reference)) =
        app.monitor.look_again(model, number).map_err(missing)?
    else {
        return Err(Problem::not_found(
            "the rows of this batch were not kept, and its report is made of them",
        ));
    };
    let about = AboutRun {
        run: Some(format!("{model}, batch {number}")),
        date: Some(minute(record.time)),
        calibration: format!("version {} of the calibration", record.version),
        rows: if record.name.is_empty() { record.key } else { record.name },
        class_names: reference.class_names(),
        ..AboutRun::default()
    };
    let score = reference.calibration().provenance().score.name();
    Ok(render(&check_page(&checked, score, &about)?))
}

fn missing(error: MonitorError) -> Problem {
    Problem::from(error)
}

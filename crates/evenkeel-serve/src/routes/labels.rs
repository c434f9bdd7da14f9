//! Labels that arrive late.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use evenkeel_monitor::{Instant, LateLabels};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::json_body::{Document, Lane, Sent, SentDocument};
use crate::app::App;
use crate::content::RowId;
use crate::json_labels::{self, JsonLabels};
use crate::limits::Limits;
use crate::problem::Problem;
use crate::tokens::Scope;

/// Labels of a batch, as they are described to callers; [`json_labels`] reads them. Of all its rows in their order, of those that `rows`
/// numbers, or of those that `ids` names.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "the description of a body")]
#[schema(example = json!({"rows": [0, 17], "labels": [3, 1]}))]
pub(crate) struct LabelsBody {
    /// Rows, from 0; all of them in their order if absent.
    rows: Option<Vec<u32>>,
    /// What the rows were called when the batch was sent; in place of `rows`.
    ids: Option<Vec<RowId>>,
    /// Classes, from 0.
    labels: Vec<u32>,
}

impl SentDocument for JsonLabels {
    const MOST_BYTES: Option<usize> = None;

    fn read(bytes: &[u8], limits: &Limits) -> Result<Self, Problem> {
        json_labels::read(bytes, limits)
    }
}

impl JsonLabels {
    /// Rows and labels; `rows_of_ids` finds the rows of ids.
    fn pairs(
        self,
        rows_of_ids: impl FnOnce(Vec<String>) -> Result<Vec<u64>, Problem>,
    ) -> Result<Vec<(u64, u64)>, Problem> {
        let labels = self.labels.into_iter().map(u64::from);
        let rows: Vec<u64> = match (self.rows, self.ids) {
            (None, None) => return Ok((0..).zip(labels).collect()),
            (Some(rows), None) => rows.into_iter().map(u64::from).collect(),
            (None, Some(ids)) => rows_of_ids(ids)?,
            (Some(_), Some(_)) => {
                return Err(Problem::data("there are rows and ids; send one of them"));
            }
        };
        if rows.len() != labels.len() {
            let (rows, labels) = (rows.len(), labels.len());
            return Err(Problem::data(format!(
                "there are {rows} rows and {labels} labels; send one label for each row"
            )));
        }
        Ok(rows.into_iter().zip(labels).collect())
    }
}

/// Sends labels of a batch. They may come in parts, and again; each row counts once.
#[utoipa::path(
    post, path = "/v1/models/{model}/batches/{number}/labels", tag = "batches",
    params(
        ("model" = String, Path, description = "Name of the model", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"),
        ("number" = i64, Path, description = "Number of the batch", minimum = 1)
    ),
    request_body(content = LabelsBody, content_type = "application/json"),
    responses(
        (status = 200, description = "Coverage counted on the labels, of the batch and since the last decision", body = super::documents::LabelsAnswer),
        super::documents::BodyProblems, super::documents::AccessProblems, super::documents::NoSuch, super::documents::Conflict, super::documents::Busy
    ),
    security(("token" = []))
)]
pub(crate) async fn send(State(app): State<Arc<App>>, sent: Sent) -> Result<Json<Value>, Problem> {
    let counted =
        sent.handled(app, (Scope::Ingest, Lane::Queue), |document: Document<JsonLabels>| {
            let Document { app, model, number, who, content } = document;
            let pairs =
                content.pairs(|ids| Ok(app.monitor.rows_of_ids(&model, number, &ids)?))?;
            if pairs.is_empty() {
                return Err(Problem::data("there are no labels; send at least one"));
            }
            let labels =
                LateLabels { batch: number, labels: &pairs, who: &who, at: Instant::now() };
            Ok(app.monitor.add_labels(&model, &labels)?)
        });
    let counted = counted.await?;
    let (measured, since) = (counted.measured, counted.since_approval);
    Ok(Json(json!({
        "batch": counted.batch,
        "new": counted.new,
        "n_labeled": measured.k,
        "coverage": measured.value,
        "coverage_interval_cp": [measured.low, measured.high],
        "confidence": measured.confidence,
        // Bounded, because JSON has no infinity: evidence beyond 1e300 is as good as any.
        "e_value": since.alarm.ln_e_value.min(690.0).exp(),
        "since_approval": since,
        "alarm": counted.alarm,
    })))
}

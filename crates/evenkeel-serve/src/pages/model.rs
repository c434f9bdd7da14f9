//! One model: what to decide, how it went, who did what.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use evenkeel_monitor::{
    AuditQuery, BatchQuery, BatchRecord, History as _, Proposal, ProposalState,
};
use evenkeel_report::warning_html;

use super::audit::Line;
use super::before::Before;
use super::card::Card;
use super::visitor::{Reader, Visitor};
use super::words::{minute, p_value, percent, percent_range, tone};
use crate::app::App;
use crate::facts::{Facts, facts};
use crate::problem::Problem;
use crate::routes::InModel;
use crate::tokens::Scope;

/// Batches of a page.
const PAGE: u64 = 50;

/// Batches that the trend shows.
const TREND: u64 = 400;

/// Lines of the audit log.
const AUDIT: u64 = 50;

#[derive(Template)]
#[template(path = "model.html")]
struct ModelPage<'a> {
    visitor: &'a Visitor,
    card: Card,
    proposals: Vec<ProposalView>,
    trend: String,
    alarms: Vec<AlarmLine>,
    batches: Vec<BatchView>,
    older: String,
    audit: Vec<Line>,
}

struct Row {
    name: &'static str,
    value: String,
}

struct ProposalView {
    id: u64,
    tone: &'static str,
    title: String,
    state: &'static str,
    rows: Vec<Row>,
    /// As HTML.
    warnings: Vec<String>,
    can_decide: bool,
    next_version: u64,
}

struct BatchView {
    id: u64,
    time: String,
    rows: u64,
    estimate: String,
    measured: String,
    p_value: String,
    tone: &'static str,
    verdict: &'static str,
}

struct AlarmLine {
    time: String,
    /// Number of the batch it went off with; 0 if none.
    batch: u64,
    words: String,
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    Reader { visitor, caller }: Reader,
    name: Result<InModel, Problem>,
    Before { before }: Before,
) -> Response {
    let found = async {
        let InModel(name) = name?;
        caller.require(Scope::Read, Some(name.as_str()))?;
        app.read(move |store| {
            let model = store.model(&name)?;
            let end = before.unwrap_or(u64::MAX).clamp(1, model.batches + 1);
            let from = |count: u64| BatchQuery {
                after: end.saturating_sub(1 + count),
                ..BatchQuery::default()
            };
            let mut batches = store.batches(
                &name,
                &BatchQuery { limit: Some(PAGE.min(end - 1).max(1)), ..from(PAGE) },
            )?;
            batches.retain(|batch| batch.batch < end);
            let recent =
                BatchQuery { after: model.batches.saturating_sub(TREND), ..BatchQuery::default() };
            let trend = store.batches(&name, &recent)?;
            let audit =
                store.audit(&AuditQuery { model: Some(&name), before: None, limit: AUDIT })?;
            let facts = facts(store, model)?;
            Ok((facts, batches, trend, audit))
        })
        .await
    };
    let (facts, batches, trend, audit) = match found.await {
        Ok(found) => found,
        Err(problem) => return super::trouble(&visitor, &problem),
    };
    let may_decide = caller.require(Scope::Approve, Some(facts.status.model.name.as_str())).is_ok();
    let oldest = batches.first().map_or(0, |batch| batch.batch);
    let page = ModelPage {
        card: Card::of(&facts),
        proposals: proposals(&facts, may_decide),
        trend: super::trend::drawn(&facts, &trend),
        alarms: facts
            .alarms
            .iter()
            .map(|alarm| AlarmLine {
                time: minute(alarm.at),
                batch: alarm.batch.unwrap_or(0),
                words: format!("{} ({})", alarm.reason, alarm.severity.as_str()),
            })
            .collect(),
        batches: batches.iter().rev().map(BatchView::of).collect(),
        older: if oldest > 1 {
            format!("/models/{}?before={oldest}#batches", facts.status.model.name)
        } else {
            String::new()
        },
        audit: audit.into_iter().map(Line::from).collect(),
        visitor: &visitor,
    };
    super::page(&visitor, StatusCode::OK, &page)
}

/// Open ones, and the last that was decided on.
fn proposals(facts: &Facts, may_decide: bool) -> Vec<ProposalView> {
    let open = facts.proposals.iter().filter(|proposal| proposal.state == ProposalState::Open);
    let decided = facts.proposals.iter().find(|proposal| proposal.decided.is_some());
    open.chain(decided)
        .map(|proposal| ProposalView::of(proposal, facts.status.model.version, may_decide))
        .collect()
}

impl ProposalView {
    fn of(proposal: &Proposal, version: u64, may_decide: bool) -> Self {
        let threshold = |value: Option<f64>| {
            value.map_or("every label".to_owned(), |value| format!("{value:.4}"))
        };
        let expected = match proposal.expected_coverage {
            Some([value, low, high]) => percent_range(value, low, high),
            None => "cannot be said".into(),
        };
        let batches: Vec<String> = proposal.from_batches.iter().map(u64::to_string).collect();
        let labels = match proposal.labels {
            0 => String::new(),
            labels => format!(", with {labels} labels"),
        };
        let is_open = proposal.state == ProposalState::Open;
        // What was in use when it was made: now, until someone has decided.
        let now = if is_open { "now" } else { "before" };
        let mut rows = vec![
            Row { name: "Expected coverage", value: expected },
            Row {
                name: "Labels in a set",
                value: format!(
                    "{:.2} {now}, {:.2} after",
                    proposal.set_size_before, proposal.set_size_after
                ),
            },
            Row {
                name: "Threshold",
                value: format!(
                    "{} {now}, {} after",
                    threshold(proposal.threshold_before),
                    threshold(proposal.threshold_after)
                ),
            },
            Row {
                name: "Made of",
                value: format!("batch {}{labels}, by {}", batches.join(", "), proposal.method),
            },
            Row { name: "Why", value: proposal.account.clone() },
        ];
        if let (Some(who), Some(why), Some(at)) = (&proposal.who, &proposal.why, proposal.decided) {
            rows.push(Row { name: "Decided", value: format!("{} by {who}: {why}", minute(at)) });
        }
        Self {
            id: proposal.proposal,
            tone: if is_open { "watch" } else { "ok" },
            title: format!("Proposal {} of {}", proposal.proposal, minute(proposal.created)),
            state: proposal.state.as_str(),
            rows: rows.into_iter().filter(|row| !row.value.is_empty()).collect(),
            warnings: match is_open {
                true => proposal.warnings.iter().map(|text| warning_html(text)).collect(),
                false => Vec::new(),
            },
            can_decide: is_open && may_decide,
            next_version: version + 1,
        }
    }
}

impl BatchView {
    fn of(batch: &BatchRecord) -> Self {
        let summary = &batch.summary;
        let (tone, _, verdict) = tone(summary.light());
        Self {
            id: batch.batch,
            time: minute(batch.time),
            rows: batch.rows,
            estimate: percent_range(summary.estimate, summary.low, summary.high),
            measured: batch.measured.as_ref().map_or("\u{2013}".into(), |found| {
                format!("{} of {}", percent(found.value), found.k)
            }),
            p_value: p_value(summary.p_value),
            tone,
            verdict,
        }
    }
}

//! Proposals and decisions.

use evenkeel::level::FailureProbability;
use evenkeel::seed::Seed;
use evenkeel::stream::{PredictionCounts, StreamAlarm};
use rusqlite::{Row, Transaction, params};
use serde::{Deserialize, Serialize};

use super::NewAudit;
use super::sqlite::{SqliteStore, Stopped};
use super::sqlite_models::{etag_of, log, start_watch};
use super::sqlite_outbox::{Message, send};
use super::sqlite_rows::{
    ModelRow, all, count, damaged, find_model, find_watch, instant, number, whole,
};
use crate::error::{MonitorError, Result};
use crate::instant::Instant;
use crate::labels::LabelWatch;
use crate::model::{Model, ModelName};
use crate::proposal::{Choice, Decision, NewProposal, Proposal, ProposalState};

/// What of a proposal is kept as JSON.
#[derive(Serialize, Deserialize)]
struct Document {
    method: String,
    batches: Vec<u64>,
    labels: u64,
    threshold_before: Option<f64>,
    threshold_after: Option<f64>,
    expected: Option<[f64; 3]>,
    mean_size: [f64; 2],
    account: String,
    warnings: Vec<String>,
}

const PROPOSAL: &str = "SELECT number, created, watch, state, document, who, why, decided, id, calibration, baseline FROM proposals";

fn proposal_of(row: &Row<'_>, model: &Model) -> Result<Proposal, Stopped> {
    let (state, document): (String, String) = (row.get(3)?, row.get(4)?);
    let document: Document = serde_json::from_str(&document)
        .map_err(|error| Stopped::Damaged(format!("a proposal: {error}")))?;
    let decided: Option<i64> = row.get(7)?;
    Ok(Proposal {
        proposal: count(row, 0)?,
        model: model.name.to_string(),
        created: instant(row, 1)?,
        watch: count(row, 2)?,
        state: ProposalState::from_word(&state)
            .ok_or_else(|| damaged("the state of a proposal"))?,
        method: document.method,
        from_batches: document.batches,
        labels: document.labels,
        threshold_before: document.threshold_before,
        threshold_after: document.threshold_after,
        expected_coverage: document.expected,
        set_size_before: document.mean_size[0],
        set_size_after: document.mean_size[1],
        account: document.account,
        warnings: document.warnings,
        who: row.get(5)?,
        why: row.get(6)?,
        decided: decided.map(Instant::from_seconds),
    })
}

/// Whether a proposal of the model waits for a decision.
pub(super) fn has_open(transaction: &Transaction<'_>, found: &ModelRow) -> Result<bool, Stopped> {
    let sql = "SELECT 1 FROM proposals WHERE model = ?1 AND state = 'open' LIMIT 1";
    Ok(number(transaction, sql, [found.id])?.is_some())
}

/// Stores a proposal; open ones of the same model give way.
pub(super) fn insert_proposal(
    transaction: &Transaction<'_>,
    found: &ModelRow,
    new: &NewProposal,
    at: Instant,
) -> Result<u64, Stopped> {
    transaction.execute(
        "UPDATE proposals SET state = 'superseded', decided = ?2 WHERE model = ?1 AND state = 'open'",
        params![found.id, at.seconds()],
    )?;
    let last = number(
        transaction,
        "SELECT COALESCE(MAX(number), 0) FROM proposals WHERE model = ?1",
        [found.id],
    )?;
    let next = last.unwrap_or(0) + 1;
    let document = Document {
        method: new.method.clone(),
        batches: new.batches.clone(),
        labels: new.labels,
        threshold_before: new.threshold_before,
        threshold_after: new.threshold_after,
        expected: new.expected,
        mean_size: new.mean_size,
        account: new.account.clone(),
        warnings: new.warnings.clone(),
    };
    let document = serde_json::to_string(&document)
        .map_err(|error| Stopped::Damaged(format!("a proposal has no JSON form: {error}")))?;
    transaction.execute(
        "INSERT INTO proposals (model, number, watch, created, state, document, calibration, baseline) \
         VALUES (?1, ?2, ?3, ?4, 'open', ?5, ?6, ?7)",
        params![found.id, next, whole(found.model.watch)?, at.seconds(), document, new.calibration, new.baseline],
    )?;
    let next = u64::try_from(next).map_err(|_| damaged("the number of a proposal"))?;
    let payload = serde_json::json!({
        "event": "proposal",
        "model": found.model.name,
        "proposal": next,
        "at": at,
        "method": new.method,
        "from_batches": new.batches,
        "labels": new.labels,
        "threshold_before": new.threshold_before,
        "threshold_after": new.threshold_after,
        "expected_coverage": new.expected,
        "set_size_before": new.mean_size[0],
        "set_size_after": new.mean_size[1],
        "account": new.account,
        "warnings": new.warnings,
    });
    send(transaction, &Message { model: &found.model.name, kind: "proposal", payload, at })?;
    Ok(next)
}

impl SqliteStore {
    pub(super) fn add_proposal(
        &mut self,
        model: &ModelName,
        watch: u64,
        new: &NewProposal,
        at: Instant,
    ) -> Result<Option<u64>> {
        self.transaction(|transaction| {
            let found = find_model(transaction, model)?;
            match found.model.watch == watch {
                true => insert_proposal(transaction, &found, new, at).map(Some),
                false => Ok(None),
            }
        })
    }

    pub(super) fn find_proposals(&mut self, model: &ModelName) -> Result<Vec<Proposal>> {
        self.reading(|connection| {
            let found = find_model(connection, model)?;
            let sql = format!("{PROPOSAL} WHERE model = ?1 ORDER BY number DESC");
            all(connection, &sql, [found.id], |row| proposal_of(row, &found.model))
        })
    }

    pub(super) fn settle(&mut self, model: &ModelName, decision: &Decision<'_>) -> Result<Model> {
        for (what, text) in [("a name", decision.who), ("a reason", decision.why)] {
            if text.trim().is_empty() {
                return Err(MonitorError::NoReason { what });
            }
        }
        self.transaction(|transaction| {
            let found = find_model(transaction, model)?;
            let (id, calibration, baseline) = open_proposal(transaction, &found, decision.proposal)?;
            let version = match decision.choice {
                Choice::Approve => found.model.version + 1,
                Choice::Reject => found.model.version,
            };
            let (state, what) = match decision.choice {
                Choice::Approve => (ProposalState::Approved, "proposal approved"),
                Choice::Reject => (ProposalState::Rejected, "proposal rejected"),
            };
            let at = decision.at.seconds();
            if decision.choice == Choice::Approve {
                transaction.execute(
                    "INSERT INTO versions (model, version, created, etag, calibration, who, why, proposal) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                    params![
                        found.id,
                        whole(version)?,
                        at,
                        etag_of(&calibration),
                        calibration,
                        decision.who,
                        decision.why,
                        whole(decision.proposal)?
                    ],
                )?;
            }
            transaction.execute(
                "UPDATE proposals SET state = ?2, who = ?3, why = ?4, decided = ?5 WHERE id = ?1",
                params![id, state.as_str(), decision.who, decision.why, at],
            )?;
            begin_anew(transaction, &found, version, &baseline, decision.at)?;
            let details = format!("proposal {}, version {version}: {}", decision.proposal, decision.why);
            let entry = NewAudit { at: decision.at, who: decision.who, what, model: Some(model), details: &details };
            log(transaction, &entry)?;
            let payload = serde_json::json!({
                "event": "decision",
                "model": model,
                "proposal": decision.proposal,
                "decision": state,
                "version": version,
                "at": decision.at,
                "who": decision.who,
                "why": decision.why,
            });
            send(transaction, &Message { model, kind: "decision", payload, at: decision.at })?;
            Ok(find_model(transaction, model)?.model)
        })
    }
}

/// The key, calibration and baseline of a proposal that waits for a decision.
fn open_proposal(
    transaction: &Transaction<'_>,
    found: &ModelRow,
    wanted: u64,
) -> Result<(i64, String, Vec<u8>), Stopped> {
    let sql = format!("{PROPOSAL} WHERE model = ?1 AND number = ?2");
    let mut statement = transaction.prepare(&sql)?;
    let mut rows = statement.query(params![found.id, whole(wanted).unwrap_or(-1)])?;
    let Some(row) = rows.next()? else {
        return Err(MonitorError::NoSuch {
            model: found.model.name.to_string(),
            what: "proposal",
            number: wanted,
            hint: "`evenkeel monitor status` lists them",
        }
        .into());
    };
    let proposal = proposal_of(row, &found.model)?;
    if proposal.state != ProposalState::Open {
        return Err(MonitorError::Decided { number: wanted, state: proposal.state.as_str() }.into());
    }
    Ok((row.get(8)?, row.get(9)?, row.get(10)?))
}

/// Begins the alarms anew: rows are compared with those of the proposal from now on.
fn begin_anew(
    transaction: &Transaction<'_>,
    found: &ModelRow,
    version: u64,
    baseline: &[u8],
    at: Instant,
) -> Result<(), Stopped> {
    let model = &found.model;
    let before = find_watch(transaction, found.id, model.watch)?;
    let counts = PredictionCounts::from_bytes(baseline)
        .map_err(|error| Stopped::Damaged(error.to_string()))?;
    let delta = FailureProbability::new(model.delta).map_err(MonitorError::from)?;
    // Another seed for each watch: ties are broken independently of those before.
    let seed = Seed::new(before.number).child("watch", before.number);
    let stream = StreamAlarm::new(counts, delta, seed).map_err(MonitorError::from)?;
    let stream = stream.to_bytes().map_err(MonitorError::from)?;
    let labels = LabelWatch::new(model.alpha, model.delta)?.to_bytes()?;
    let next = model.watch + 1;
    start_watch(transaction, found.id, (next, version), at, (&stream, &labels))?;
    transaction.execute(
        "UPDATE models SET version = ?2, watch = ?3 WHERE id = ?1",
        params![found.id, whole(version)?, whole(next)?],
    )?;
    Ok(())
}

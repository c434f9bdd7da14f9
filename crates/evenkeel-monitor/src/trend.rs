//! A model over time, for the page.

use evenkeel_report::trend::{Trend, TrendMark, TrendPoint};

use crate::batch::{BatchQuery, BatchRecord};
use crate::error::Result;
use crate::instant::Instant;
use crate::model::ModelName;
use crate::monitor::Monitor;
use crate::proposal::{Proposal, ProposalState};
use crate::status::ModelStatus;

/// Batches that a page shows: the last ones. Exports have all.
const MOST_POINTS: u64 = 400;

/// Everything the page of a model shows. `commands` says what to type for a decision on a proposal.
///
/// # Errors
/// If there is no such model.
pub fn trend(
    monitor: &Monitor,
    name: &ModelName,
    made: Instant,
    commands: &dyn Fn(&Proposal) -> Vec<String>,
) -> Result<Trend> {
    let status = monitor.status(name)?;
    let after = status.model.batches.saturating_sub(MOST_POINTS);
    let batches = monitor.history(name, &BatchQuery { after, ..BatchQuery::default() })?;
    let proposals = monitor.proposals(name)?;
    Ok(trend_of(&status, &batches, &proposals, made, commands))
}

/// The same of what was read before: the last batches are enough where a history is long.
pub fn trend_of(
    status: &ModelStatus,
    batches: &[BatchRecord],
    proposals: &[Proposal],
    made: Instant,
    commands: &dyn Fn(&Proposal) -> Vec<String>,
) -> Trend {
    let points: Vec<TrendPoint> = batches.iter().map(point).collect();
    let level = 1.0 - status.model.alpha;
    let headline = match points.last() {
        Some(last) => Trend::headline_of(last, level),
        None => "No batch has arrived yet.".to_owned(),
    };
    let mut marks: Vec<TrendMark> =
        proposals.iter().filter_map(|proposal| mark(proposal, batches)).collect();
    marks.reverse();
    Trend {
        model: status.model.name.to_string(),
        made: made.date(),
        level,
        // Of another threshold there is a headline, and no verdict.
        verdict: status
            .light
            .and(status.last.as_ref())
            .map(|last| verdict_of(&last.summary.verdict)),
        headline,
        since: since(status),
        advice: advice(status),
        commands: status.proposal.as_ref().map(commands).unwrap_or_default(),
        facts: facts(status),
        points,
        marks,
    }
}

fn verdict_of(verdict: &evenkeel::reading::Verdict) -> evenkeel_report::Verdict {
    use evenkeel::reading::Verdict;
    match verdict {
        Verdict::Ok => evenkeel_report::Verdict::Ok,
        Verdict::Loss => evenkeel_report::Verdict::Loss,
        Verdict::Unknown => evenkeel_report::Verdict::Unknown,
        _ => evenkeel_report::Verdict::Watch,
    }
}

fn point(batch: &BatchRecord) -> TrendPoint {
    let summary = &batch.summary;
    TrendPoint {
        batch: batch.batch,
        time: minute(batch.time),
        name: batch.name.clone(),
        rows: batch.rows,
        estimate: summary.estimate,
        range: [summary.low, summary.high],
        measured: batch.measured.map(|found| [found.value, found.low, found.high]),
        labels: batch.measured.map_or(0, |found| found.k),
        verdict: verdict_of(&summary.verdict),
        evidence: batch.stream.evidence(),
        p_value: summary.p_value,
        mean_size: summary.mean_size,
        alarms: batch.alarms.iter().map(|alarm| alarm.rule.meaning().to_owned()).collect(),
        link: None,
    }
}

/// `2026-11-17 02:00`.
fn minute(time: Instant) -> String {
    let text = time.to_string().replace('T', " ");
    text.get(..16).unwrap_or(&text).to_owned()
}

/// A decision, after the last batch that had arrived by then.
fn mark(proposal: &Proposal, batches: &[BatchRecord]) -> Option<TrendMark> {
    let word = match proposal.state {
        ProposalState::Approved => "approved",
        ProposalState::Rejected => "rejected",
        ProposalState::Open | ProposalState::Superseded => return None,
    };
    let of_watch = |batch: &&BatchRecord| batch.watch <= proposal.watch;
    let after = batches.iter().filter(of_watch).map(|batch| batch.batch).max().unwrap_or(0);
    Some(TrendMark {
        after,
        time: proposal.decided.map_or_else(String::new, minute),
        what: format!(
            "proposal {} {word} by {}",
            proposal.proposal,
            proposal.who.as_deref().unwrap_or("?")
        ),
        why: proposal.why.clone().unwrap_or_default(),
    })
}

/// Since when, and what stands.
fn since(status: &ModelStatus) -> String {
    let version = format!(
        "Calibration version {}, watched since {}",
        status.model.version,
        minute(status.since)
    );
    match status.alarms.last() {
        None if status.batches_since == 0 && status.last.is_some() => {
            format!(
                "{version}: no batch since then. What stands above is of the batch before the decision."
            )
        }
        None => format!("{version}: {} batches, no alarm.", status.batches_since),
        Some(first) => {
            let batch = first.batch.map_or(String::new(), |batch| format!(" with batch {batch}"));
            format!("{version}. Alarm{batch}, {}: {}.", minute(first.at), first.reason)
        }
    }
}

/// What to do.
pub fn advice(status: &ModelStatus) -> String {
    match (&status.proposal, status.alarms.is_empty()) {
        (Some(proposal), _) => {
            let expected = proposal.expected_coverage.map_or_else(
                || "coverage that only labels can tell".to_owned(),
                |[value, low, high]| {
                    format!("about {:.0} % ({:.0}-{:.0})", 100.0 * value, 100.0 * low, 100.0 * high)
                },
            );
            format!(
                "Decide on proposal {}: {expected}, {:.1} labels a set in place of {:.1}. Nothing changes by itself.",
                proposal.proposal, proposal.set_size_after, proposal.set_size_before
            )
        }
        (None, false) => {
            "Look at the batch of the alarm, and get labels of some of its rows.".to_owned()
        }
        (None, true) => String::new(),
    }
}

fn facts(status: &ModelStatus) -> Vec<(String, String)> {
    let model = &status.model;
    let mut facts = vec![
        ("batches".to_owned(), model.batches.to_string()),
        ("rows".to_owned(), model.rows.to_string()),
        ("classes".to_owned(), model.classes.to_string()),
        ("chance of any false alarm".to_owned(), format!("at most {} %", 100.0 * model.delta)),
        ("kept of batches".to_owned(), model.keep.as_str().to_owned()),
    ];
    if let Some(labels) = &status.labels {
        facts.push(("labels since the last decision".to_owned(), labels.words()));
    }
    if let Some(week) = &status.week {
        facts.push((
            "rows of this week, merged".to_owned(),
            format!("p = {:.2e} against the reference", week.p_value),
        ));
    }
    facts
}

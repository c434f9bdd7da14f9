//! A model in four lines: its light, its coverage, since when, what to do.

use evenkeel_monitor::{BatchRecord, Light};

use super::words::{minute, percent, percent_range, tone};
use crate::facts::Facts;

/// A model as it stands on the first screen.
#[derive(Debug, Clone)]
pub(super) struct Card {
    pub name: String,
    pub tone: &'static str,
    pub sign: &'static str,
    pub verdict: &'static str,
    pub coverage: String,
    pub since: String,
    pub advice: String,
    pub open_proposals: usize,
    /// The worst stand first.
    pub light: Option<Light>,
}

impl Card {
    /// Of what is known about a model.
    pub(super) fn of(facts: &Facts) -> Self {
        let (status, model) = (&facts.status, &facts.status.model);
        let name = model.name.to_string();
        let level = percent(1.0 - model.alpha);
        let Some(last) = &status.last else {
            return Self {
                name,
                tone: "unknown",
                sign: "?",
                verdict: "no batch yet",
                coverage: format!("Nothing is known about its coverage; level {level}."),
                since: format!("Watched since {}.", minute(model.created)),
                advice: "Send the first batch.".into(),
                open_proposals: 0,
                light: None,
            };
        };
        if last.version != model.version {
            // What is known of coverage is known of another threshold.
            return Self {
                name,
                tone: "unknown",
                sign: "?",
                verdict: "no batch since the approval",
                coverage: format!(
                    "Version {} is in use; nothing is known about its coverage yet, level {level}.",
                    model.version
                ),
                since: format!("Approved {}.", minute(status.since)),
                advice: "Wait for the next batch.".into(),
                open_proposals: 0,
                light: None,
            };
        }
        let open = usize::from(status.proposal.is_some());
        let light = status.light.unwrap_or(Light::Amber);
        let (tone, sign, verdict) = tone(light);
        Self {
            name,
            tone,
            sign,
            verdict,
            coverage: coverage_words(last, &level),
            since: since_words(last, facts),
            advice: match status.batches_since {
                // The last batch is what was decided on.
                0 => "Decided on; wait for the next batch.".into(),
                _ => advice_words(light, status.alarms.len(), open).into(),
            },
            open_proposals: open,
            light: Some(light),
        }
    }
}

/// "Coverage now about 84 % (78-89), level 90 %."
fn coverage_words(last: &BatchRecord, level: &str) -> String {
    let summary = &last.summary;
    let estimate = percent_range(summary.estimate, summary.low, summary.high);
    let measured = match &last.measured {
        Some(found) => format!(
            " {} of {} labels covered: {}.",
            found.covered,
            found.k,
            percent_range(found.value, found.low, found.high)
        ),
        None => String::new(),
    };
    format!("Coverage now about {estimate}, level {level}.{measured}")
}

/// Since when it is so: since the batch of the first alarm that stands, or how fresh the good news is.
fn since_words(last: &BatchRecord, facts: &Facts) -> String {
    let fresh = format!("Last batch {}, {} rows.", minute(last.time), last.rows);
    match (facts.alarm_since, facts.status.alarms.last()) {
        (Some(since), Some(alarm)) => {
            format!("Alarm since {}: {}. {fresh}", minute(since), alarm.rule.meaning())
        }
        _ => format!("No alarm. {fresh}"),
    }
}

fn advice_words(light: Light, standing: usize, open: usize) -> &'static str {
    match (light, standing, open) {
        (_, 1.., 1..) => {
            "Decide on the proposal: approve the new threshold, or reject it and keep the old one."
        }
        (Light::Red, 1.., 0) => "Calibrate anew, or label some rows to see what is true.",
        (_, 1.., 0) => "Look at the batches since the alarm; label some rows to see what is true.",
        (Light::Red, 0, _) => {
            "Look at the last batch. No alarm has gone off yet: it may have been that batch alone."
        }
        (Light::Amber, 0, _) => "Nothing to do yet; keep an eye on the next batches.",
        (Light::Green, 0, _) => "Nothing to do.",
    }
}

//! Alarms, and how much they matter: by the coverage that is lost, not by a p-value.

use evenkeel::reading::Verdict;
use evenkeel::stream::{Fired, StreamRule};
use serde::{Deserialize, Serialize};

use crate::instant::Instant;
use crate::summary::BatchSummary;

/// Points of coverage whose loss is serious.
const SERIOUS: f64 = 5.0;

/// What someone on call sees first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Light {
    /// Coverage holds.
    Green,
    /// A small loss, or one that only labels could tell.
    Amber,
    /// Coverage is lost: all readings agree, and it is five points or more.
    Red,
}

impl Light {
    /// By what the readings say and the points lost.
    pub fn of(verdict: Verdict, loss: f64) -> Self {
        match verdict {
            Verdict::Ok => Self::Green,
            Verdict::Loss if loss >= SERIOUS => Self::Red,
            _ => Self::Amber,
        }
    }

    /// The word in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Amber => "amber",
            Self::Red => "red",
        }
    }
}

/// How much an alarm matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The rows changed and coverage holds, as far as can be told.
    Harmless,
    /// Something may be lost: a little, or nobody knows without labels.
    Moderate,
    /// Coverage is lost, five points or more.
    Serious,
}

impl Severity {
    /// The word in documents and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Harmless => "harmless",
            Self::Moderate => "moderate",
            Self::Serious => "serious",
        }
    }

    /// The same from its word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Harmless, Self::Moderate, Self::Serious].into_iter().find(|one| one.as_str() == word)
    }

    /// Of a batch.
    pub fn of(summary: &BatchSummary) -> Self {
        match summary.light() {
            Light::Green => Self::Harmless,
            Light::Amber => Self::Moderate,
            Light::Red => Self::Serious,
        }
    }

    /// Of coverage counted on labels: points below the level.
    pub fn of_loss(points: f64) -> Self {
        if points >= SERIOUS { Self::Serious } else { Self::Moderate }
    }
}

/// Which alarm went off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlarmRule {
    /// The ranks of the confidences are not uniform.
    ConfidenceRanks,
    /// The ranks of the predicted classes are not uniform.
    ClassRanks,
    /// A batch differs from the reference.
    Batch,
    /// A day does.
    Day,
    /// A week does.
    Week,
    /// All rows since the watch began do.
    Since,
    /// Labels show that coverage is below the level.
    Labels,
}

impl AlarmRule {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::ConfidenceRanks,
        Self::ClassRanks,
        Self::Batch,
        Self::Day,
        Self::Week,
        Self::Since,
        Self::Labels,
    ];

    /// The word in documents and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConfidenceRanks => "confidence-ranks",
            Self::ClassRanks => "class-ranks",
            Self::Batch => "batch",
            Self::Day => "day",
            Self::Week => "week",
            Self::Since => "since",
            Self::Labels => "labels",
        }
    }

    /// The same from its word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == word)
    }

    /// What it means, in words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::ConfidenceRanks => "row after row, the model is surer or less sure than before",
            Self::ClassRanks => "row after row, the model says other classes than before",
            Self::Batch => "this batch differs from the reference",
            Self::Day => "the batches of the last day differ from the reference",
            Self::Week => "the batches of the last week differ from the reference",
            Self::Since => "all rows since the last decision differ from the reference",
            Self::Labels => "labels that arrived show coverage below the level",
        }
    }
}

impl From<StreamRule> for AlarmRule {
    fn from(rule: StreamRule) -> Self {
        match rule {
            StreamRule::ConfidenceRanks => Self::ConfidenceRanks,
            StreamRule::ClassRanks => Self::ClassRanks,
            StreamRule::Batch => Self::Batch,
            StreamRule::Day => Self::Day,
            StreamRule::Week => Self::Week,
            StreamRule::Since => Self::Since,
        }
    }
}

/// An alarm that goes off now.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAlarm {
    /// Which one.
    pub rule: AlarmRule,
    /// What was found: a p-value, or one over the wealth or e-value.
    pub value: f64,
    /// What it had to be at most.
    pub limit: f64,
    /// How much it matters.
    pub severity: Severity,
    /// Why, in a sentence.
    pub reason: String,
}

impl NewAlarm {
    /// Of the alarm without labels.
    pub fn of_stream(fired: &Fired, summary: &BatchSummary) -> Self {
        let rule = AlarmRule::from(fired.rule);
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let reason = format!(
            "{} (p = {:.1e}, alarm at {:.1e}); coverage now about {} ({}-{:.0}), level {}",
            rule.meaning(),
            fired.value,
            fired.limit,
            percent(summary.estimate),
            (100.0 * summary.low).round(),
            100.0 * summary.high,
            percent(summary.level),
        );
        Self {
            rule,
            value: fired.value,
            limit: fired.limit,
            severity: Severity::of(summary),
            reason,
        }
    }
}

/// An alarm that went off.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlarmRecord {
    /// Its number in the store.
    pub id: u64,
    /// The model.
    pub model: String,
    /// Number of the watch it belongs to.
    pub watch: u64,
    /// Number of the batch it went off with.
    pub batch: Option<u64>,
    /// When.
    pub at: Instant,
    /// Which one.
    pub rule: AlarmRule,
    /// What was found.
    pub value: f64,
    /// What it had to be at most.
    pub limit: f64,
    /// How much it matters.
    pub severity: Severity,
    /// Why, in a sentence.
    pub reason: String,
    /// Whether it waits for a decision: it belongs to the watch that is on.
    pub standing: bool,
}

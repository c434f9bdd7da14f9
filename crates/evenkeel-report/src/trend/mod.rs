//! `Trend -> HTML`: a model over time: what coverage is now, how it came there, who decided what.
//!
//! One page for people who run a command at night, and the parts of it for a server: [`render_trend`] and [`trend_parts`].

mod figures;
mod page;

pub use page::{TrendParts, render_trend, trend_parts};

use crate::content::Verdict;

/// A batch on the line of time.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendPoint {
    /// Its number, from 1.
    pub batch: u64,
    /// The moment it is of, as people read it: `2026-11-17 02:00`.
    pub time: String,
    /// What people call it; may be empty.
    pub name: String,
    /// Rows in it.
    pub rows: u64,
    /// Coverage estimated without labels.
    pub estimate: f64,
    /// Range of the estimate.
    pub range: [f64; 2],
    /// Coverage counted on labels, with its interval; none before any arrived.
    pub measured: Option<[f64; 3]>,
    /// Labels it was counted on.
    pub labels: u64,
    /// What to make of it.
    pub verdict: Verdict,
    /// Evidence of the alarm without labels, as a share of what sets it off: 1 is the alarm.
    pub evidence: f64,
    /// p-value of this batch alone.
    pub p_value: f64,
    /// Mean number of labels in a set.
    pub mean_size: f64,
    /// Alarms that went off with it, in words.
    pub alarms: Vec<String>,
    /// Address of the page of the batch, where there is one.
    pub link: Option<String>,
}

/// Something that happened between two batches.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendMark {
    /// After this batch; 0 is before the first.
    pub after: u64,
    /// When.
    pub time: String,
    /// What: "version 2 approved by Ada".
    pub what: String,
    /// Why; may be empty.
    pub why: String,
}

/// A model over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend {
    /// Name of the model.
    pub model: String,
    /// When the page was made.
    pub made: String,
    /// The coverage asked for.
    pub level: f64,
    /// What to make of the last batch; none before any.
    pub verdict: Option<Verdict>,
    /// The answer in one sentence.
    pub headline: String,
    /// Since when, and what stands.
    pub since: String,
    /// What to do, in a sentence.
    pub advice: String,
    /// What to type for it.
    pub commands: Vec<String>,
    /// Batches in the order of their arrival.
    pub points: Vec<TrendPoint>,
    /// Decisions.
    pub marks: Vec<TrendMark>,
    /// More facts, by name.
    pub facts: Vec<(String, String)>,
}

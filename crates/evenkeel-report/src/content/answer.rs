//! The verdict, the number, the repair and what to do: what is read in the first minute.

use super::standing::{Estimate, Standing};

/// How much coverage is lost, by size and not by p-value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Coverage is at the level, within its sampling error: nothing to do.
    Ok,
    /// A little may be lost, or a change was found that does no harm yet.
    Watch,
    /// Coverage is lost.
    Loss,
    /// The readings contradict each other: only labels can tell.
    Unknown,
}

impl Verdict {
    /// One word for tables: `ok`, `watch`, `loss`, `unknown`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Watch => "watch",
            Self::Loss => "loss",
            Self::Unknown => "unknown",
        }
    }
}

/// The answer, first thing on the page. Whatever is left out leaves no gap.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Sets the colour. None gives no colour: a comparison of methods has no verdict, and shows its methods unfolded.
    pub verdict: Option<Verdict>,
    /// One line with the number: `Coverage is probably about 53 % (range 46 to 61 %), asked for 90 %.`
    pub headline: String,
    /// First tile: coverage of the sets in use.
    pub now: Option<Estimate>,
    /// Second tile: what the recommended method would do.
    pub repair: Option<Repair>,
    /// Third tile: what to do.
    pub advice: Option<Advice>,
    /// Since what, and how sure.
    pub grounds: Option<Grounds>,
}

impl Answer {
    /// An answer of a verdict and one line.
    pub fn new(verdict: impl Into<Option<Verdict>>, headline: impl Into<String>) -> Self {
        Self { verdict: verdict.into(), headline: headline.into(), ..Self::default() }
    }
}

/// What the recommended method would do.
#[derive(Debug, Clone, PartialEq)]
pub struct Repair {
    /// Its name as typed: `auto`.
    pub method: String,
    /// Coverage expected, or measured where labels exist.
    pub coverage: Option<Estimate>,
    /// Mean number of labels in a set, before and after.
    pub size: MeanSize,
}

/// Mean number of labels in a set.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeanSize {
    /// Of the sets in use.
    pub before: Option<f64>,
    /// With the repair.
    pub after: Option<f64>,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Advice {
    /// One sentence.
    pub sentence: String,
    /// What to type, in full, one command each.
    pub commands: Vec<String>,
}

/// Since what, and how sure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grounds {
    /// What the numbers of the answer are worth.
    pub standing: Standing,
    /// What they rest on, in one sentence; without it the page says what the standing means.
    pub rests_on: Option<String>,
    /// Against what things changed, in one sentence; without it the page says what the shift test found.
    pub since: Option<String>,
}

impl Grounds {
    /// Grounds in the page's own words.
    pub fn new(standing: Standing) -> Self {
        Self { standing, rests_on: None, since: None }
    }
}

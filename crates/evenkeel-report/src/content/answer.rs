//! The answer in words.

/// How bad it is, as a traffic light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to do.
    Fine,
    /// Coverage may be lost, or the answer rests on an assumption.
    Caution,
    /// Coverage is lost, or the answer cannot be trusted.
    Alarm,
}

/// The answer, first thing on the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// How bad it is.
    pub verdict: Verdict,
    /// A few words: `The data shifted and coverage is at risk`.
    pub headline: String,
    /// About three short sentences in words and numbers: shift or not, what coverage to expect, what to do next.
    pub sentences: Vec<String>,
}

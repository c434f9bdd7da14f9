//! The answer in words: verdict, headline, sentences.

/// How serious the finding is, as a traffic light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No shift, or no coverage at risk: nothing to do.
    Fine,
    /// Coverage may be lost, or the answer rests on an assumption.
    Caution,
    /// Coverage is lost, or the answer cannot be trusted.
    Alarm,
}

/// The answer, first thing on the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// How serious the finding is; sets the colour of the headline.
    pub verdict: Verdict,
    /// A few words: `The data shifted and coverage is at risk`.
    pub headline: String,
    /// About three short sentences in words and numbers: shift or not, what coverage to expect, what to do next.
    pub sentences: Vec<String>,
}

//! Proposals of a new calibration, and what people decided.

use serde::Serialize;

use crate::instant::Instant;

/// A recalibration that could be used from now on.
#[derive(Debug, Clone, PartialEq)]
pub struct NewProposal {
    /// The calibration file.
    pub calibration: String,
    /// Method that made it.
    pub method: String,
    /// Numbers of the batches whose rows it was made for.
    pub batches: Vec<u64>,
    /// Labels of these rows that it used.
    pub labels: u64,
    /// Threshold in use; none is infinite.
    pub threshold_before: Option<f64>,
    /// Threshold proposed; none is infinite.
    pub threshold_after: Option<f64>,
    /// Coverage to expect of it, with its range; none where it cannot be said.
    pub expected: Option<[f64; 3]>,
    /// Mean number of labels in a set, before and after.
    pub mean_size: [f64; 2],
    /// What was done and why.
    pub account: String,
    /// What to know before approving.
    pub warnings: Vec<String>,
    /// Counts of the rows it was made for: the reference of the next watch.
    pub baseline: Vec<u8>,
}

/// Where a proposal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProposalState {
    /// It waits for a decision.
    Open,
    /// It is, or was, in use.
    Approved,
    /// The calibration stayed as it was.
    Rejected,
    /// Another proposal took its place.
    Superseded,
}

impl ProposalState {
    /// The word in documents and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Superseded => "superseded",
        }
    }

    /// The same from its word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Open, Self::Approved, Self::Rejected, Self::Superseded]
            .into_iter()
            .find(|state| state.as_str() == word)
    }
}

/// A proposal of the store.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    /// Its number, from 1 for each model.
    pub proposal: u64,
    /// The model.
    pub model: String,
    /// When it was made.
    pub created: Instant,
    /// Number of the watch it ends.
    pub watch: u64,
    /// Where it stands.
    pub state: ProposalState,
    /// Method that made it.
    pub method: String,
    /// Numbers of the batches whose rows it was made for.
    pub from_batches: Vec<u64>,
    /// Labels of these rows that it used.
    pub labels: u64,
    /// Threshold in use; none is infinite.
    pub threshold_before: Option<f64>,
    /// Threshold proposed; none is infinite.
    pub threshold_after: Option<f64>,
    /// Coverage to expect: value, low, high; none where it cannot be said.
    pub expected_coverage: Option<[f64; 3]>,
    /// Mean number of labels in a set now.
    pub set_size_before: f64,
    /// The same if it is approved.
    pub set_size_after: f64,
    /// What was done and why.
    pub account: String,
    /// What to know before approving.
    pub warnings: Vec<String>,
    /// Who decided; none while it is open.
    pub who: Option<String>,
    /// Why.
    pub why: Option<String>,
    /// When.
    pub decided: Option<Instant>,
}

/// What a person may decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The proposed calibration is used from now on.
    Approve,
    /// The calibration stays: it is good enough for the rows that set off the alarm.
    Reject,
}

/// A decision on a proposal. Either way the alarms begin anew, with the rows of the proposal as their reference.
#[derive(Debug, Clone)]
pub struct Decision<'a> {
    /// Number of the proposal.
    pub proposal: u64,
    /// What.
    pub choice: Choice,
    /// Who.
    pub who: &'a str,
    /// Why.
    pub why: &'a str,
    /// When.
    pub at: Instant,
}

//! What pages and metrics show of a model: read in a few short queries, however long its history is.

use evenkeel_monitor::{
    AlarmRecord, BatchQuery, BatchRecord, History as _, Instant, Model, MonitorError, Proposal,
    ProposalState, SqliteStore,
};

/// What is known of a model.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub model: Model,
    /// The batch that arrived last.
    pub last: Option<BatchRecord>,
    /// The last first.
    pub alarms: Vec<AlarmRecord>,
    /// The last first.
    pub proposals: Vec<Proposal>,
    /// When the watch that is on began.
    pub since: Instant,
    /// `ln` of the evidence of late labels since then.
    pub ln_e_value: f64,
}

impl Facts {
    /// Proposals that wait for a decision.
    pub(crate) fn open_proposals(&self) -> usize {
        self.proposals.iter().filter(|proposal| proposal.state == ProposalState::Open).count()
    }
}

/// What is known of a model.
pub(crate) fn facts(store: &mut SqliteStore, model: Model) -> Result<Facts, MonitorError> {
    let name = &model.name;
    let query = BatchQuery { after: model.batches.saturating_sub(1), ..BatchQuery::default() };
    let last = store.batches(name, &query)?.pop();
    let (alarms, proposals) = (store.alarms(name)?, store.proposals(name)?);
    let watch = store.watch(name)?;
    let ln_e_value = watch.labels.state().alarm.ln_e_value;
    Ok(Facts { last, alarms, proposals, since: watch.started, ln_e_value, model })
}

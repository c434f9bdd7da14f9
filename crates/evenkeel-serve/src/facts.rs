//! What pages and metrics show of a model: read in a few short queries, however long its history is.

use evenkeel_monitor::{
    AlarmRecord, BatchQuery, History as _, Instant, Model, ModelStatus, MonitorError, Proposal,
    SqliteStore,
};

/// What is known of a model.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    /// Where it stands. The week is left out: merging its batches takes time that grows with them.
    pub status: ModelStatus,
    /// The moment of the batch with which the first alarm that stands went off.
    pub alarm_since: Option<Instant>,
    /// All alarms, the last first.
    pub alarms: Vec<AlarmRecord>,
    /// All proposals, the last first.
    pub proposals: Vec<Proposal>,
}

/// What is known of a model.
pub(crate) fn facts(store: &mut SqliteStore, model: Model) -> Result<Facts, MonitorError> {
    let name = &model.name;
    let query = BatchQuery { after: model.batches.saturating_sub(1), ..BatchQuery::default() };
    let last = store.batches(name, &query)?.pop();
    let (alarms, proposals) = (store.alarms(name)?, store.proposals(name)?);
    let watch = store.watch(name)?;
    let status = ModelStatus::of(model, &watch, last, (&alarms, &proposals));
    let alarm_since = match status.alarms.last() {
        Some(AlarmRecord { batch: Some(batch), .. }) => {
            Some(store.batch(&status.model.name, *batch)?.0.time)
        }
        Some(alarm) => Some(alarm.at),
        None => None,
    };
    Ok(Facts { status, alarm_since, alarms, proposals })
}

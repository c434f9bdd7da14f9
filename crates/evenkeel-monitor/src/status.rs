//! Where a model stands.

use evenkeel::stream::WindowTest;
use serde::Serialize;

use crate::alarm::{AlarmRecord, AlarmRule, Light, Severity};
use crate::batch::BatchRecord;
use crate::instant::Instant;
use crate::labels::SinceApproval;
use crate::model::Model;
use crate::proposal::{Proposal, ProposalState};
use crate::store::Watch;

/// Where a model stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelStatus {
    /// The model.
    pub model: Model,
    /// Green, amber or red, by the last batch and the alarms that stand; none before the first batch of the calibration in use: what is
    /// known of coverage is then known of another threshold.
    pub light: Option<Light>,
    /// The last batch.
    pub last: Option<BatchRecord>,
    /// When the watch that is on began.
    pub since: Instant,
    /// Batches since then.
    pub batches_since: u64,
    /// Alarms of the watch that is on, the last first.
    pub alarms: Vec<AlarmRecord>,
    /// What labels show since then; none before any arrived.
    pub labels: Option<SinceApproval>,
    /// The proposal that waits for a decision.
    pub proposal: Option<Proposal>,
    /// The rows of this week, merged, beside the reference.
    pub week: Option<WindowTest>,
}

impl ModelStatus {
    /// Of the watch that is on, the last batch, and all alarms and proposals. The week is left out: merging its batches takes time that
    /// grows with them.
    pub fn of(
        model: Model,
        watch: &Watch,
        last: Option<BatchRecord>,
        (alarms, proposals): (&[AlarmRecord], &[Proposal]),
    ) -> Self {
        let alarms: Vec<AlarmRecord> =
            alarms.iter().filter(|alarm| alarm.standing).cloned().collect();
        let labels = watch.labels.state();
        let in_use = last.as_ref().filter(|batch| batch.version == model.version);
        Self {
            light: in_use.map(|batch| light(batch, &alarms)),
            since: watch.started,
            batches_since: watch.stream.batches(),
            labels: (labels.alarm.labels > 0).then_some(labels),
            proposal: proposals.iter().find(|one| one.state == ProposalState::Open).cloned(),
            week: None,
            alarms,
            last,
            model,
        }
    }
}

/// The light of the last batch, and at least amber while an alarm stands. Labels that show a serious loss outweigh what is estimated
/// without them.
fn light(last: &BatchRecord, standing: &[AlarmRecord]) -> Light {
    let by_alarm = standing.iter().map(|alarm| match (alarm.rule, alarm.severity) {
        (AlarmRule::Labels, Severity::Serious) => Light::Red,
        _ => Light::Amber,
    });
    by_alarm.fold(last.summary.light(), Light::max)
}

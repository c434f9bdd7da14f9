//! Labels that arrive late: coverage of their batch, and since the calibration was approved.

use evenkeel::certify::{
    AlarmState, CoverageAlarm, CoverageSequence, Covered, CoveredLabels, SequenceStanding,
    SequenceState, clopper_pearson,
};
use evenkeel::level::{FailureProbability, Miscoverage};
use serde::{Deserialize, Serialize};

use crate::alarm::{AlarmRecord, AlarmRule, NewAlarm, Severity};
use crate::error::{MonitorError, Result};
use crate::instant::Instant;
use crate::mean_coverage::MeanCoverage;
use crate::summary::Measured;

/// Labels of rows of one batch. The same labels may come again; they count once.
#[derive(Debug, Clone)]
pub struct LateLabels<'a> {
    /// Number of the batch.
    pub batch: u64,
    /// Row, from 0, and its label, in the order in which they are counted.
    pub labels: &'a [(u64, u64)],
    /// Who gives them, for the audit log.
    pub who: &'a str,
    /// When they arrive.
    pub at: Instant,
}

/// What labels show since a watch began. Each label is judged by the set that its row had before the label was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelWatch {
    alarm: CoverageAlarm,
    sequence: CoverageSequence,
}

impl LabelWatch {
    /// Nothing seen yet.
    ///
    /// # Errors
    /// If `alpha` or `delta` is not between 0 and 1.
    pub fn new(alpha: f64, delta: f64) -> Result<Self> {
        let failure = FailureProbability::new(delta)?;
        Ok(Self {
            alarm: CoverageAlarm::new(Miscoverage::new(alpha)?, failure),
            sequence: CoverageSequence::new(failure),
        })
    }

    /// Takes the next label. Says whether the alarm went off with it.
    pub fn update(&mut self, covered: Covered) -> LabelStep {
        let before = self.alarm.state().fired_at;
        let after = self.alarm.update(covered).fired_at;
        self.sequence.update(covered);
        if before.is_none() && after.is_some() { LabelStep::Fired } else { LabelStep::Quiet }
    }

    /// What is known.
    pub fn state(&self) -> SinceApproval {
        let (sequence, alarm) = (self.sequence.state(), self.alarm.state());
        let mean = MeanCoverage::of(sequence.labels, sequence.covered, 1.0 - sequence.confidence);
        SinceApproval { mean, sequence, alarm }
    }

    /// As bytes.
    ///
    /// # Errors
    /// None: numbers can always be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        postcard::to_extend(self, Vec::new()).map_err(|_| UNWRITTEN.into())
    }

    /// Reads it back.
    ///
    /// # Errors
    /// If the bytes are damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        postcard::from_bytes(bytes).map_err(|_| {
            let (what, why) = ("the alarm by labels", "its contents cannot be read");
            evenkeel::Error::Damaged { what, why }.into()
        })
    }

    /// The alarm that has just gone off.
    pub fn alarm(&self, alpha: f64) -> NewAlarm {
        let SinceApproval { mean, alarm, .. } = self.state();
        let level = 1.0 - alpha;
        let reason = format!(
            "{}: {} of {} covered, {:.0} % ({:.0}-{:.0}), level {:.0} %",
            AlarmRule::Labels.meaning(),
            alarm.labels - alarm.misses,
            alarm.labels,
            100.0 * mean.value,
            100.0 * mean.low,
            100.0 * mean.high,
            100.0 * level,
        );
        NewAlarm {
            rule: AlarmRule::Labels,
            value: (-alarm.ln_e_value).exp(),
            limit: 1.0 - mean.confidence,
            severity: Severity::of_loss(100.0 * (level - mean.value)),
            reason,
        }
    }
}

const UNWRITTEN: evenkeel::Error =
    evenkeel::Error::Damaged { what: "the alarm by labels", why: "it cannot be written" };

/// Whether the alarm went off with a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelStep {
    /// It did.
    Fired,
    /// It did not.
    Quiet,
}

/// What labels show since a watch began.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SinceApproval {
    /// Mean coverage of the labels so far: its interval holds after every label at once, also while coverage changes.
    pub mean: MeanCoverage,
    /// The interval for a coverage that never changes, narrower where that is so. Where coverage changes it may leave out the share that is
    /// observed; `standing` says when no one coverage explains all labels.
    pub sequence: SequenceState,
    /// The evidence against "coverage is at least the level".
    pub alarm: AlarmState,
}

impl SinceApproval {
    /// `23 of 40 covered, coverage so far 32-81 %`, and that it changed where no one coverage explains the labels.
    pub fn words(&self) -> String {
        let Self { mean, sequence, alarm } = self;
        let changed = match sequence.standing {
            SequenceStanding::Holds => "",
            SequenceStanding::NoCoverageFits => ", and it changed along the way",
        };
        format!(
            "{} of {} covered, coverage so far {:.0}-{:.0} %{changed}",
            alarm.labels - alarm.misses,
            alarm.labels,
            100.0 * mean.low,
            100.0 * mean.high
        )
    }
}

/// The answer to late labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabelsReceived {
    /// Number of the batch.
    pub batch: u64,
    /// Labels of it that are new.
    pub new: u64,
    /// Coverage counted on all labels of the batch.
    pub measured: Measured,
    /// Coverage counted since the watch of the batch began.
    pub since_approval: SinceApproval,
    /// The alarm that went off, if one did.
    pub alarm: Option<AlarmRecord>,
}

/// The share of covered labels with its interval.
///
/// # Errors
/// If more are covered than there are, or there are none.
pub(crate) fn measured(covered: u64, k: u64, delta: f64) -> Result<Measured> {
    let failure = FailureProbability::new(delta)?;
    let found = clopper_pearson(CoveredLabels::new(covered, k)?, failure);
    let [low, high] = [found.low, found.high];
    Ok(Measured {
        k,
        covered,
        value: covered as f64 / k as f64,
        low,
        high,
        confidence: 1.0 - delta,
    })
}

/// An error unless rows and labels are of the batch.
pub(crate) fn require_within(
    labels: &[(u64, u64)],
    batch: u64,
    rows: u64,
    classes: u64,
) -> Result<()> {
    for (row, label) in labels {
        let found = [("a row", *row, rows), ("a label", *label, classes)];
        if let Some((what, found, end)) = found.into_iter().find(|(_, found, end)| found >= end) {
            let expected = match what {
                "a row" => format!("the batch has the rows 0 to {}", end.saturating_sub(1)),
                _ => format!("labels run from 0 to {}", end.saturating_sub(1)),
            };
            return Err(MonitorError::OutsideBatch { batch, what, found, expected });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(parts: &[(u64, u64)]) -> SinceApproval {
        let mut watch = LabelWatch::new(0.1, 0.05).unwrap();
        for (labels, covered) in parts {
            for label in 0..*labels {
                // Spread evenly: `covered` of `labels`.
                let is_covered = (label + 1) * covered / labels > label * covered / labels;
                watch.update(Covered::from(is_covered));
            }
        }
        watch.state()
    }

    /// 242 of 360, of which the first were covered as promised: an interval for one coverage says 72 to 81 %.
    #[test]
    fn what_is_shown_holds_the_share_that_is_observed_while_coverage_drifts() {
        for parts in [
            &[(160, 140), (200, 102)][..],
            &[(120, 108), (120, 84), (120, 50)],
            &[(200, 180), (160, 62)],
        ] {
            let found = watched(parts);
            assert_eq!((found.alarm.labels, found.alarm.labels - found.alarm.misses), (360, 242));
            let MeanCoverage { value, low, high, .. } = found.mean;
            assert!(low < value && value < high && high - low < 0.2, "{found:?}");
            assert!(
                found.words().starts_with("242 of 360 covered, coverage so far 5"),
                "{}",
                found.words()
            );
        }
        let jumped = watched(&[(400, 400), (600, 0)]);
        assert!(!(jumped.sequence.low..=jumped.sequence.high).contains(&jumped.mean.value));
        assert!(jumped.words().ends_with("%, and it changed along the way"), "{}", jumped.words());
    }
}

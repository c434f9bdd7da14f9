//! What a user should know before trusting a plan: data first, words second.
//!
//! ```text
//! histograms moved    tv > tv_expected + 2 tv_deviation
//! confidences moved   ks > 1.36 / sqrt(ks_points),   1 / ks_points = 1/n_w + 1/m
//! ```

use super::evidence::{MatchedEvidence, PlanEvidence};
use super::thresholds::{PlanThreshold, ThresholdSource};
use crate::label_law::{CONFIDENCES_MOVED, HISTOGRAMS_MOVED, LabelShares, Match, POINTS_PER_GROUP};
use crate::level::Miscoverage;
use crate::reading::ReadingName;
use crate::warning::Warning;

/// Confidences carried to their scale on the calibration data that fall by this much say that the model is wrong more often.
const CARRIED_FALL: f64 = 0.1;
/// Confidences as they are that fall by less than this share of it hide that.
const HIDDEN_SHARE: f64 = 0.5;

/// The warnings that apply to the thresholds of a reading at a miscoverage rate, in a fixed order; empty if none does.
pub(super) fn warnings(
    evidence: &PlanEvidence,
    aim: ReadingName,
    threshold: PlanThreshold,
    alpha: Miscoverage,
) -> Vec<Warning> {
    let statistics = &evidence.statistics;
    let confidences_moved = statistics.ks > CONFIDENCES_MOVED / statistics.ks_points.sqrt();
    let noise = statistics.tv_expected + HISTOGRAMS_MOVED * statistics.tv_deviation;
    let histograms_moved = statistics.tv > noise;
    let mut found = Vec::new();
    let (tv, tv_expected, ks) = (statistics.tv, statistics.tv_expected, statistics.ks);
    match &evidence.label_shares {
        Some(shares) if aim == ReadingName::LabelShift => {
            found.push(Warning::LabelShiftTaken { tv, ks: shares.ks, ks_noise: shares.ks_noise });
        }
        // Corruption moves both. Where class shares alone changed, the model predicts other classes and is as sure of them as
        // before; or calibration points with other class shares would have the same outputs.
        shares if shares.is_some() || (histograms_moved && !confidences_moved) => {
            found.push(Warning::LabelShiftSuspected { tv, tv_expected, ks });
        }
        _ => {}
    }
    if threshold.source == ThresholdSource::PlannedLaw {
        found.push(Warning::SupportExhausted {
            reached: evidence.support_reached,
            alpha: alpha.get(),
            threshold: threshold.score,
        });
    }
    if evidence.m < POINTS_PER_GROUP.saturating_mul(evidence.classes as u64) {
        found.push(Warning::FewUnlabeled {
            points: evidence.m,
            classes: evidence.classes,
            groups: evidence.prior.len(),
        });
    }
    if let Some(MatchedEvidence { used, matched: Match::AccuracyUnreachable, .. }) =
        evidence.accuracy
    {
        found.push(Warning::AccuracyUnreachable { accuracy: used });
    }
    let (labeled, target) =
        (statistics.mean_confidence_calibration, statistics.mean_confidence_target);
    // Weighted to the same predicted classes: otherwise a mix with more easy classes would look as
    // if the model had become sure.
    if confidences_moved && target >= labeled {
        found.push(Warning::ConfidentButShifted { ks, labeled, target, carried: None });
    } else if let Some(carried) =
        hidden_fall(evidence).filter(|_| confidences_moved || histograms_moved)
    {
        found.push(Warning::ConfidentButShifted { ks, labeled, target, carried: Some(carried) });
    }
    found
}

/// Mean confidence on the scale of the calibration data, where it fell and confidences as they are did not tell.
fn hidden_fall(evidence: &PlanEvidence) -> Option<f64> {
    // Other classes have other confidences, and that is all there is to it.
    if evidence.label_shares.as_ref().is_some_and(LabelShares::explain) {
        return None;
    }
    let accuracy = evidence.accuracy?.statistics;
    let (fall, shown) =
        (accuracy.calibration - accuracy.carried, accuracy.calibration - accuracy.believed);
    (fall >= CARRIED_FALL && shown < HIDDEN_SHARE * fall).then_some(accuracy.carried)
}

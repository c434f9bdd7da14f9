//! What a user should know before trusting a plan: data first, words second.
//!
//! ```text
//! histograms moved    tv > tv_expected + 2 tv_deviation
//! confidences moved   ks > 1.36 / sqrt(ks_points),   1 / ks_points = 1/n_w + 1/m
//! ```

use super::evidence::{MatchedEvidence, PlanEvidence};
use super::thresholds::{PlanThreshold, ThresholdSource};
use crate::label_law::{Match, POINTS_PER_GROUP};
use crate::level::Miscoverage;
use crate::warning::Warning;

/// Histograms of predicted classes this many standard deviations further apart than noise makes them have changed: with two
/// classes, where the distance is half-normal, the five-percent point.
const HISTOGRAMS_MOVED: f64 = 2.0;
/// Five-percent point of the Kolmogorov-Smirnov distance in units of `sqrt(1/n_w + 1/m)`.
const CONFIDENCES_MOVED: f64 = 1.36;

/// The warnings that apply at a miscoverage rate, in a fixed order; empty if none does.
pub(super) fn warnings(
    evidence: &PlanEvidence,
    threshold: PlanThreshold,
    alpha: Miscoverage,
) -> Vec<Warning> {
    let statistics = &evidence.statistics;
    let confidences_moved = statistics.ks > CONFIDENCES_MOVED / statistics.ks_points.sqrt();
    let noise = statistics.tv_expected + HISTOGRAMS_MOVED * statistics.tv_deviation;
    let histograms_moved = statistics.tv > noise;
    let mut found = Vec::new();
    // Corruption moves both. Where class shares alone changed, the model predicts other classes and
    // is as sure of them as before.
    if histograms_moved && !confidences_moved {
        let (tv, tv_expected, ks) = (statistics.tv, statistics.tv_expected, statistics.ks);
        found.push(Warning::LabelShiftSuspected { tv, tv_expected, ks });
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
        found.push(Warning::ConfidentButShifted { ks: statistics.ks, labeled, target });
    }
    found
}

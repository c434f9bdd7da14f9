//! What a user should know before trusting a plan: data first, words second.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::class_groups::POINTS_PER_GROUP;
use super::evidence::PlanEvidence;
use super::thresholds::{PlanThreshold, ThresholdSource};
use crate::level::Miscoverage;

/// Histograms of predicted classes this many standard deviations further apart than noise makes them have changed: with two
/// classes, where the distance is half-normal, the five-percent point.
const HISTOGRAMS_MOVED: f64 = 2.0;
/// Five-percent point of the Kolmogorov-Smirnov distance in units of `sqrt(1/n_w + 1/m)`.
const CONFIDENCES_MOVED: f64 = 1.36;

/// Something that makes a plan less trustworthy than its numbers look.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PlanWarning {
    /// The predicted classes changed (`tv > tv_expected + 2 tv_deviation`) while confidences within a predicted class did not
    /// (`ks <= 1.36 / sqrt(ks_points)`): the classes themselves may be of other frequencies the target data.
    LabelShiftSuspected {
        /// Distance of the histograms of predicted groups.
        tv: f64,
        /// What noise alone makes of it.
        tv_expected: f64,
        /// Distance of the confidences.
        ks: f64,
    },
    /// The planned law has more than `alpha` of its mass beyond every calibration score.
    SupportExhausted {
        /// The planned law at the largest calibration score.
        reached: f64,
        /// Miscoverage rate asked for.
        alpha: f64,
        /// The threshold that was taken from the planned law itself.
        threshold: f64,
    },
    /// Fewer than ten unlabeled points per class.
    FewUnlabeled {
        /// Unlabeled points.
        points: u64,
        /// Number of classes.
        classes: usize,
        /// Groups the classes were put into.
        groups: usize,
    },
    /// The confidences moved (`ks > 1.36 / sqrt(ks_points)`), but not down: the mean the target data is at least calibration in the
    /// same predicted classes.
    ConfidentButShifted {
        /// Distance of the confidences.
        ks: f64,
        /// Mean confidence of the calibration data.
        labeled: f64,
        /// Mean confidence of the target data.
        target: f64,
    },
}

impl PlanWarning {
    /// A word for files and filters.
    pub fn name(&self) -> &'static str {
        match self {
            Self::LabelShiftSuspected { .. } => "label-shift-suspected",
            Self::SupportExhausted { .. } => "support-exhausted",
            Self::FewUnlabeled { .. } => "few-unlabeled",
            Self::ConfidentButShifted { .. } => "confident-but-shifted",
        }
    }
}

/// The warnings that apply at a miscoverage rate.
pub(super) fn warnings(
    evidence: &PlanEvidence,
    threshold: PlanThreshold,
    alpha: Miscoverage,
) -> Vec<PlanWarning> {
    let statistics = &evidence.statistics;
    let confidences_moved = statistics.ks > CONFIDENCES_MOVED / statistics.ks_points.sqrt();
    let noise = statistics.tv_expected + HISTOGRAMS_MOVED * statistics.tv_deviation;
    let histograms_moved = statistics.tv > noise;
    let mut found = Vec::new();
    if histograms_moved && !confidences_moved {
        let (tv, tv_expected, ks) = (statistics.tv, statistics.tv_expected, statistics.ks);
        found.push(PlanWarning::LabelShiftSuspected { tv, tv_expected, ks });
    }
    if threshold.source == ThresholdSource::PlannedLaw {
        found.push(PlanWarning::SupportExhausted {
            reached: evidence.support_reached,
            alpha: alpha.get(),
            threshold: threshold.score,
        });
    }
    if evidence.m < POINTS_PER_GROUP.saturating_mul(evidence.classes as u64) {
        found.push(PlanWarning::FewUnlabeled {
            points: evidence.m,
            classes: evidence.classes,
            groups: evidence.prior.len(),
        });
    }
    let (labeled, target) =
        (statistics.mean_confidence_calibration, statistics.mean_confidence_target);
    if confidences_moved && target >= labeled {
        found.push(PlanWarning::ConfidentButShifted { ks: statistics.ks, labeled, target });
    }
    found
}

impl fmt::Display for PlanWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LabelShiftSuspected { tv, tv_expected, ks } => write!(
                f,
                "the classes the model predicts changed (distance {tv:.3}, noise alone {tv_expected:.3}) and its confidence \
                 did not ({ks:.3}): classes may be more or less frequent than the calibration data, which this method assumes they \
                 are not; compare with the label-shift method, or label a sample of target points"
            ),
            Self::SupportExhausted { reached, alpha, threshold } => write!(
                f,
                "{:.1} % of target expected scores lie above every calibration score, more than the {:.1} % that may be \
                 missed: the threshold {threshold:.4} comes from the plan alone; collect labeled points as hard as target",
                100.0 * (1.0 - reached),
                100.0 * alpha
            ),
            Self::FewUnlabeled { points, classes, groups } => write!(
                f,
                "{points} unlabeled points are fewer than ten for each of {classes} classes, which were put into {groups} \
                 groups: collect more unlabeled points"
            ),
            Self::ConfidentButShifted { ks, labeled, target } => write!(
                f,
                "the model's confidence moved (distance {ks:.3}) but did not fall (mean {target:.3}, the calibration data {labeled:.3} in \
                 the same predicted classes): a model that is confident and wrong cannot be found out without labels; \
                 label a sample of target points before relying on the sets"
            ),
        }
    }
}

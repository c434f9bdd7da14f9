//! JSON documents with a line for each class or group.

use evenkeel::calibration::Calibration;
use evenkeel::per_group::{PerClassCalibration, PerGroupCalibration};
use evenkeel::reading::CoverageEstimate;
use evenkeel::threshold::Threshold;
use serde::Serialize;

use super::check::CheckedGroup;
use super::sentences::{account_per_class, group_warnings, labels_of, merged_classes};
use super::sets::{EvaluatedGroup, EvaluatedGroups};
use crate::documents::{CalibrateDocument, EvaluateDocument};

/// The threshold of one class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClassThresholdRow<'a> {
    /// Index of the class, from 0.
    pub label: usize,
    /// Its name, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// Its calibration points.
    pub n: u64,
    /// Labels of target rows of the class; absent where there are none of any class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<usize>,
    /// Null is infinite: the class is in every set.
    pub threshold: Option<f64>,
    /// `own`, `rest` (shared by all small classes) or `all-labels`.
    pub standing: &'static str,
    /// What the size of those it shares the threshold with was judged by: points, weight, or expected target rows.
    pub size: f64,
}

/// What `calibrate --per class` says: that of the method, and the thresholds.
#[derive(Debug, Clone, Serialize)]
pub struct CalibratePerClassDocument<'a> {
    /// Of the method with one threshold for all; that threshold and what it covers are left out.
    #[serde(flatten)]
    pub pooled: CalibrateDocument<'a>,
    /// Always `class`.
    pub per: &'static str,
    /// A line for each class.
    pub per_class: Vec<ClassThresholdRow<'a>>,
}

impl<'a> CalibratePerClassDocument<'a> {
    /// Of a calibration and the seconds it took.
    pub fn new(
        calibration: &'a PerClassCalibration,
        seconds: f64,
        class_names: Option<&'a [String]>,
    ) -> Self {
        let mut pooled = CalibrateDocument::new(calibration.pooled(), seconds, class_names);
        // Nobody uses the one threshold, nor what it would cover; nor do bounds on it say anything of a class.
        (pooled.threshold, pooled.coverage_estimate, pooled.certificate) = (None, None, None);
        (pooled.bound_before, pooled.bound_after) = (None, None);
        pooled.account = Some(account_per_class(calibration));
        pooled.warnings.extend(merged_classes(calibration, class_names));
        let thresholds = calibration.thresholds(None);
        let labeled = (0..thresholds.len()).any(|class| labels_of(calibration, class) > 0);
        let row = |(label, threshold): (usize, &Threshold)| {
            let part = calibration.part_of(label);
            ClassThresholdRow {
                label,
                name: class_names.and_then(|names| names.get(label)).map(String::as_str),
                n: calibration.points_of(label),
                labels: labeled.then(|| labels_of(calibration, label)),
                threshold: Some(threshold.get()).filter(|value| value.is_finite()),
                standing: part.map_or("own", |part| part.standing.as_str()),
                size: part.map_or(0.0, |part| part.size),
            }
        };
        let per_class = thresholds.iter().enumerate().map(row).collect();
        Self { pooled, per: "class", per_class }
    }
}

/// The calibration of one group.
#[derive(Debug, Clone, Serialize)]
pub struct GroupRow<'a> {
    /// Its name.
    pub group: &'a str,
    /// Its calibration points and those of the groups it is merged with.
    pub n: u64,
    /// Target rows, likewise.
    pub m: u64,
    /// Null is infinite, or a threshold for each point or label.
    pub threshold: Option<f64>,
    /// `own`, `rest` (shared by all small groups) or `all-labels`.
    pub standing: &'static str,
    /// The method in effect: `auto` with labels in the group is `few-labels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'static str>,
    /// Coverage of the group's target data to expect, where it can be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage_estimate: Option<crate::documents::ExpectedCoverage>,
    /// What a user should know about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What `calibrate` says of groups.
#[derive(Debug, Clone, Serialize)]
pub struct CalibratePerGroupDocument<'a> {
    /// Name of the method.
    pub method: &'static str,
    /// Miscoverage rate asked for.
    pub alpha: f64,
    /// Always null: every group has its own.
    pub threshold: Option<f64>,
    /// Always `group`.
    pub per: &'static str,
    /// What the groups are called together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'a str>,
    /// Seconds of the fits, without reading.
    pub seconds: f64,
    /// Calibration points of all groups.
    pub n: u64,
    /// Target rows of all groups.
    pub m: u64,
    /// What must hold for the coverage to be right.
    pub assumption: &'static str,
    /// Whether rows of other groups are given the threshold of all.
    pub others_pooled: bool,
    /// A line for each group.
    pub per_group: Vec<GroupRow<'a>>,
    /// What a user should know.
    pub warnings: Vec<String>,
}

impl<'a> CalibratePerGroupDocument<'a> {
    /// Of calibrations and the seconds they took.
    pub fn new(calibration: &'a PerGroupCalibration, seconds: f64) -> Self {
        let provenance = calibration.provenance();
        let (mut n, mut m) = (0, 0);
        let mut rows = Vec::new();
        for part in calibration.parts() {
            n += part.points;
            m += part.rows;
            let one = part.calibration.as_ref();
            let document = one.map(|one| CalibrateDocument::new(one, 0.0, None));
            for group in &part.groups {
                rows.push(GroupRow {
                    group,
                    n: part.points,
                    m: part.rows,
                    threshold: document.as_ref().and_then(|document| document.threshold),
                    standing: part.standing.as_str(),
                    method: one.map(|one| one.provenance().method.as_str()),
                    coverage_estimate: document.as_ref().and_then(|found| found.coverage_estimate),
                    warnings: one.map_or_else(Vec::new, Calibration::warnings),
                });
            }
        }
        rows.sort_by(|a, b| a.group.cmp(b.group));
        Self {
            method: provenance.method.as_str(),
            alpha: provenance.alpha.get(),
            threshold: None,
            per: "group",
            by: calibration.by(),
            seconds,
            n,
            m,
            assumption: provenance.method.assumption(),
            others_pooled: calibration.others().is_some(),
            per_group: rows,
            warnings: group_warnings(calibration),
        }
    }
}

/// How the sets of one group did.
#[derive(Debug, Clone, Serialize)]
pub struct GroupEvaluationRow<'a> {
    /// Its name.
    pub group: &'a str,
    /// Its labeled points.
    pub n: u64,
    /// Share of them whose label is in their set.
    pub coverage: f64,
    /// Mean number of labels in a set.
    pub mean_size: f64,
    /// Null is infinite, or more than one.
    pub threshold: Option<f64>,
    /// `own`, `rest` or `all-labels`; absent where one threshold serves all groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<&'static str>,
}

impl<'a> GroupEvaluationRow<'a> {
    fn new(group: &'a EvaluatedGroup) -> Self {
        Self {
            group: &group.group,
            n: group.evaluation.n,
            coverage: group.evaluation.coverage,
            mean_size: group.evaluation.mean_size,
            threshold: group.threshold,
            standing: group.standing.map(evenkeel::per_group::Standing::as_str),
        }
    }
}

/// The document of an evaluation, with the thresholds of classes and a line for each group.
pub(super) fn evaluate_document<'a>(
    evaluated: &'a EvaluatedGroups,
    class_names: Option<&'a [String]>,
) -> EvaluateDocument<'a> {
    let mut document = EvaluateDocument::new(&evaluated.evaluation, class_names);
    for row in &mut document.per_class {
        let threshold = evaluated.class_thresholds.get(row.label);
        row.threshold = threshold.map(|found| Some(found.get()).filter(|at| at.is_finite()));
    }
    document.per_group = evaluated.per_group.iter().map(GroupEvaluationRow::new).collect();
    document
}

/// What a check says of one group.
#[derive(Debug, Clone, Serialize)]
pub struct CheckedGroupRow {
    /// Its name; of small ones that were looked at together, all names.
    pub group: String,
    /// Calibration points.
    pub n: u64,
    /// Target rows.
    pub m: u64,
    /// Share of the calibration points that the threshold in question covers.
    pub coverage: Option<f64>,
    /// Coverage of its target rows at that threshold; null where there are too few points or rows to say.
    pub coverage_estimate: Option<CoverageEstimate>,
    /// `ok`, `watch`, `loss` or `unknown`; null likewise.
    pub verdict: Option<evenkeel::reading::Verdict>,
    /// `own`, `rest` or `all-labels`.
    pub standing: &'static str,
}

impl From<&CheckedGroup> for CheckedGroupRow {
    fn from(found: &CheckedGroup) -> Self {
        Self {
            group: found.groups.join(", "),
            n: found.n,
            m: found.m,
            coverage: found.coverage,
            coverage_estimate: found.estimate,
            verdict: found.verdict,
            standing: found.standing.as_str(),
        }
    }
}

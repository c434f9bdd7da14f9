//! Every JSON document people see, under the names their scripts rely on. Fields may be added, never renamed.

use std::borrow::Cow;

use evenkeel::calibration::{Calibration, Evidence, Rule};
use evenkeel::check::ShiftReport;
use evenkeel::evaluation::{ClassCoverage, Evaluation, SizeCoverage};
use evenkeel::level::Miscoverage;
use evenkeel::method::label_plan::Certificate;
use evenkeel::reading::{CoverageEstimate, CoverageLoss, Verdict};
use evenkeel::threshold::Threshold;
use serde::Serialize;

use crate::check::{
    Checked, CoverageMeasured, ExampleRow, FailedCondition, Recommended, WithLabels,
};
use crate::compare::{Compared, Comparison};
use crate::error::Spell;
use crate::grouped::documents::{CheckedGroupRow, GroupEvaluationRow};
use crate::label::{LabelsFor, LabelsWorth, RowToLabel};
use crate::predict::Predicted;
use crate::sentences;

/// A threshold as JSON has it: null is infinite, or one of many.
fn finite(threshold: Option<Threshold>) -> Option<f64> {
    match threshold {
        Some(Threshold::Finite(score)) => Some(score),
        // JSON has no infinity; both read as null, and the sentences beside it tell them apart.
        Some(Threshold::AllLabels) | None => None,
    }
}

/// What `check` says.
#[derive(Debug, Clone, Serialize)]
pub struct CheckDocument<'a> {
    /// Everything the core's check found; its fields stand in the document itself.
    #[serde(flatten)]
    pub report: Cow<'a, ShiftReport>,
    /// What labels show; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage_measured: Option<CoverageMeasured>,
    /// How labels moved what is believed about coverage; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_labels: Option<&'a WithLabels>,
    /// Conditions the user asked to fail on, and that hold.
    pub failed: Vec<FailedCondition>,
    /// What to do, in one sentence.
    pub advice: String,
    /// What to type for it, in the shell at hand; absent where nothing is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What a user should know.
    pub warnings: Vec<String>,
    /// Coverage of the calibration data at the threshold in question, class by class.
    pub per_class: Vec<ClassRow<'a>>,
    /// What the threshold is worth for each group; absent without groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_group: Vec<CheckedGroupRow>,
    /// Mean number of labels in the sets of the target data at that threshold.
    pub mean_size: f64,
    /// A few target rows with their sets.
    pub examples: &'a [ExampleRow],
    /// What `auto` makes of the target data; absent where no shift was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended: Option<&'a Recommended>,
    /// The same question at every rate asked for, the first included; absent for one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<CheckedLevel>,
}

/// The answer at one of several rates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CheckedLevel {
    /// Miscoverage rate.
    pub alpha: f64,
    /// Threshold in question; null is infinite.
    pub threshold: Option<f64>,
    /// Coverage to expect of the target data.
    pub coverage_estimate: CoverageEstimate,
    /// What to make of it.
    pub verdict: Verdict,
    /// Coverage lost against the level, in percentage points.
    pub loss: CoverageLoss,
    /// What labels show; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage_measured: Option<CoverageMeasured>,
    /// Mean number of labels in the sets of the target data.
    pub mean_size: f64,
}

impl CheckedLevel {
    /// The answer of a document.
    pub fn new(document: &CheckDocument<'_>) -> Self {
        let report = &document.report;
        Self {
            alpha: report.alpha,
            threshold: report.threshold,
            coverage_estimate: report.coverage_estimate,
            verdict: report.verdict,
            loss: report.loss,
            coverage_measured: document.coverage_measured,
            mean_size: document.mean_size,
        }
    }
}

impl<'a> CheckDocument<'a> {
    pub(crate) fn new(
        checked: &'a Checked,
        class_names: Option<&'a [String]>,
        failed: &[FailedCondition],
    ) -> Self {
        let mut report = Cow::Borrowed(&checked.report);
        // Labels that decide have the verdict and the loss; the readings stay beside them as they are.
        if let Some(measured) = checked.decisive() {
            let [value, low, high] = measured.loss(checked.level());
            let report = report.to_mut();
            report.verdict = checked.verdict;
            report.loss = CoverageLoss { value, low, high };
        }
        Self {
            report,
            coverage_measured: checked.measured,
            with_labels: checked.with_labels.as_ref(),
            failed: failed.to_vec(),
            advice: sentences::check::advice(checked),
            command: None,
            warnings: warnings_of(checked, class_names),
            per_class: class_rows(&checked.per_class, class_names),
            per_group: Vec::new(),
            mean_size: checked.mean_size,
            examples: &checked.examples,
            recommended: checked.recommended.as_ref(),
            levels: Vec::new(),
        }
    }
}

impl CheckDocument<'_> {
    /// With the coverage expected of the target rows of each class, and how many rows it is expected to have.
    pub fn with_class_estimates(&mut self, estimates: Option<&[(f64, f64)]>) {
        for row in &mut self.per_class {
            let found = estimates.and_then(|estimates| estimates.get(row.label));
            row.coverage_estimate = found.map(|(_, coverage)| *coverage);
        }
    }
}

/// Everything a user should know: of the data, of an advised repair, of the evidence; each once.
fn warnings_of(checked: &Checked, class_names: Option<&[String]>) -> Vec<String> {
    let mut said = sentences::check::warnings(checked);
    said.extend(checked.class_warning(class_names));
    for warning in checked.repair().into_iter().flat_map(|found| &found.warnings) {
        if !said.contains(warning) {
            said.push(warning.clone());
        }
    }
    said.extend(sentences::evidence::remarks(checked));
    said
}

/// Coverage of the target data to expect, with its range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ExpectedCoverage {
    /// The number.
    pub value: f64,
    /// Low end of its range.
    pub low: f64,
    /// High end.
    pub high: f64,
    /// The reading it rests on, or `few-labels`.
    pub reading: &'static str,
    /// How it is known: never more than assumed.
    pub standing: &'static str,
}

/// Standard deviations on each side of a range: nine in ten, as in the ranges without labels.
const NINE_IN_TEN: f64 = 1.645;

impl ExpectedCoverage {
    /// By a reading of the target data.
    fn of_reading(found: &CoverageEstimate) -> Self {
        let CoverageEstimate { value, low, high, reading, .. } = *found;
        Self { value, low, high, reading: reading.as_str(), standing: "assumed" }
    }

    /// By the posterior of a fit with labels; none for other fits.
    fn with_labels(calibration: &Calibration) -> Option<Self> {
        let Rule::FewLabels { thresholds } = calibration.rule() else { return None };
        let at = calibration.threshold(None).map_or(f64::INFINITY, Threshold::get);
        let found = thresholds.coverage_at(calibration.provenance().alpha, at);
        let half = NINE_IN_TEN * found.deviation;
        Some(Self {
            value: found.value,
            low: (found.value - half).max(0.0),
            high: (found.value + half).min(1.0),
            reading: "few-labels",
            standing: "assumed",
        })
    }
}

/// What `calibrate` says.
#[derive(Debug, Clone, Serialize)]
pub struct CalibrateDocument<'a> {
    /// Name of the method.
    pub method: &'static str,
    /// Miscoverage rate asked for, in `(0, 1)`; the level is one minus it.
    pub alpha: f64,
    /// Null is infinite, or a threshold for each point or label.
    pub threshold: Option<f64>,
    /// `n_w` of the weights.
    pub effective_sample_size: f64,
    /// Bound on the distance of coverage from the level, averaged over levels, at equal weights; null if nothing was minimised.
    pub bound_before: Option<f64>,
    /// The same at the weights found.
    pub bound_after: Option<f64>,
    /// Bound on the total coverage gap at equal weights: coverage on both data sets at the same threshold, averaged over levels;
    /// null if nothing was minimised.
    pub total_gap_bound_before: Option<f64>,
    /// The same at the weights found.
    pub total_gap_bound_after: Option<f64>,
    /// Optimiser steps taken; 0 if nothing was optimised.
    pub steps: usize,
    /// Why the optimiser ended, in one word.
    pub stopped: &'static str,
    /// Seconds of the fit, without reading.
    pub seconds: f64,
    /// Number of calibration points.
    pub n: usize,
    /// The test point's share of the mass.
    pub test_mass: f64,
    /// What must hold for the coverage to be right.
    pub assumption: &'static str,
    /// Coverage of the target data to expect at the threshold, with its range; null where it cannot be said.
    pub coverage_estimate: Option<ExpectedCoverage>,
    /// The reading that was taken of the target data; null where none was.
    pub reading: Option<&'static str>,
    /// Labels of target rows that were used.
    pub labels_used: u64,
    /// Bound on the total coverage gap, as far as its assumption holds; null where there is none.
    pub certificate: Option<Certificate>,
    /// What was done and why, for methods that decide something themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// What the method measured on its way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<&'a Evidence>,
    /// What a user should know.
    pub warnings: Vec<String>,
    /// Names of the classes, if they were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_names: Option<&'a [String]>,
    /// Every rate asked for, with its threshold; absent for one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<CalibratedLevel>,
}

/// One of several rates of a calibration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CalibratedLevel {
    /// Miscoverage rate.
    pub alpha: f64,
    /// Null is infinite, or a threshold for each point or label.
    pub threshold: Option<f64>,
}

impl CalibratedLevel {
    /// The threshold of a calibration at a rate.
    pub fn new(calibration: &Calibration, alpha: Miscoverage) -> Self {
        Self { alpha: alpha.get(), threshold: finite(calibration.threshold(Some(alpha))) }
    }
}

impl<'a> CalibrateDocument<'a> {
    /// Of a calibration and the seconds it took.
    pub fn new(
        calibration: &'a Calibration,
        seconds: f64,
        class_names: Option<&'a [String]>,
    ) -> Self {
        let (provenance, learned) = (calibration.provenance(), calibration.learned());
        let plan = match &learned.evidence {
            Some(Evidence::Auto(decision)) => decision.plan.as_ref(),
            Some(Evidence::LabelPlan { plan, .. }) => Some(&**plan),
            _ => None,
        };
        let kept = match &learned.evidence {
            Some(Evidence::Auto(decision)) => decision.kept.as_ref(),
            _ => None,
        };
        // Where `auto` keeps the threshold, the readings speak of that.
        let corrected = plan.and_then(|plan| plan.corrected.as_ref()).or(kept);
        let estimate = corrected
            .map(|readings| ExpectedCoverage::of_reading(&readings.coverage_estimate))
            .or_else(|| ExpectedCoverage::with_labels(calibration));
        let labels_used = labels_used(learned.evidence.as_ref());
        Self {
            method: provenance.method.as_str(),
            alpha: provenance.alpha.get(),
            threshold: finite(calibration.threshold(None)),
            effective_sample_size: calibration.effective_sample_size(),
            bound_before: learned.bound_before,
            bound_after: learned.bound_after,
            total_gap_bound_before: learned.total_gap_bound_before,
            total_gap_bound_after: learned.total_gap_bound_after,
            steps: learned.steps,
            stopped: learned.stopped.name(),
            seconds,
            n: calibration.scores().len(),
            test_mass: calibration.test_mass().get(),
            assumption: provenance.method.assumption(),
            coverage_estimate: estimate,
            reading: estimate.map(|estimate| estimate.reading),
            labels_used,
            certificate: plan.map(|plan| plan.certificate),
            account: sentences::account(calibration),
            evidence: learned.evidence.as_ref(),
            warnings: sentences::warnings_of(calibration),
            class_names,
            levels: Vec::new(),
        }
    }
}

/// Labels of target rows that a method used.
fn labels_used(evidence: Option<&Evidence>) -> u64 {
    match evidence {
        Some(Evidence::FewLabels(found)) => found.labels as u64,
        _ => 0,
    }
}

/// What `label` says.
#[derive(Debug, Clone, Serialize)]
pub struct LabelDocument<'a> {
    /// Number of target rows; absent where none were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m: Option<u64>,
    /// Rows that were drawn, in the order of the sheet.
    pub drawn: &'a [RowToLabel],
    /// Lines of the sheet, with those that stood on it before.
    pub rows: u64,
    /// Lines that have a label already.
    pub filled: u64,
    /// What a full sheet is worth; absent without a sheet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worth: Option<LabelsWorth>,
    /// How many labels the half-width asked for takes; absent where none was.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub wanted: Option<LabelsFor>,
    /// Root of the randomness that chose the rows.
    pub seed: u64,
    /// What labels are worth at every rate asked for, the first included; absent for one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LabelLevel>,
}

/// What labels are worth at one of several rates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LabelLevel {
    /// Miscoverage rate.
    pub alpha: f64,
    /// What a full sheet is worth; absent without a sheet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worth: Option<LabelsWorth>,
    /// How many labels the half-width asked for takes; absent where none was.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub wanted: Option<LabelsFor>,
}

/// What `predict` says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictDocument {
    /// Number of points, each with one set.
    pub n: u64,
    /// Miscoverage rate they were made for.
    pub alpha: f64,
    /// Null is infinite, or a threshold for each point or label.
    pub threshold: Option<f64>,
    /// Mean number of labels in a set, in `[0, C]`.
    pub mean_size: f64,
    /// Sets without a label.
    pub empty: u64,
    /// Sets with every label.
    pub full: u64,
    /// What a user should know; absent where there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The sets of every rate asked for, the first included; absent for one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<PredictedLevel>,
}

/// The sets of one of several rates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictedLevel {
    /// Miscoverage rate.
    pub alpha: f64,
    /// Null is infinite, or a threshold for each point or label.
    pub threshold: Option<f64>,
    /// Mean number of labels in a set, in `[0, C]`.
    pub mean_size: f64,
    /// Sets without a label.
    pub empty: u64,
    /// Sets with every label.
    pub full: u64,
    /// Where they are, as the shell calls it.
    pub out: String,
}

impl PredictedLevel {
    /// The sets that a document is about, and where they are.
    pub fn new(document: &PredictDocument, out: String) -> Self {
        let PredictDocument { alpha, threshold, mean_size, empty, full, .. } = *document;
        Self { alpha, threshold, mean_size, empty, full, out }
    }
}

impl PredictDocument {
    pub(crate) fn new(predicted: &Predicted) -> Self {
        Self {
            n: predicted.n,
            alpha: predicted.alpha.get(),
            threshold: finite(predicted.threshold),
            // At least one row: an empty source is an error before this.
            mean_size: predicted.labels as f64 / predicted.n as f64,
            empty: predicted.empty,
            full: predicted.full,
            warnings: sentences::low_level(predicted.alpha.get()).into_iter().collect(),
            levels: Vec::new(),
        }
    }
}

/// What `evaluate` says.
#[derive(Debug, Clone, Serialize)]
// In alphabetical order, as it was first written: texts that people compare must not change.
pub struct EvaluateDocument<'a> {
    /// Miscoverage rate the sets were made for.
    pub alpha: f64,
    /// Coverage of every set size that occurs.
    pub by_size: Vec<SizeRow>,
    /// Share of the points whose label is in their set.
    pub coverage: f64,
    /// Sets without a label.
    pub empty: u64,
    /// Sets with every label.
    pub full: u64,
    /// Mean number of labels in a set, in `[0, C]`.
    pub mean_size: f64,
    /// Median number of labels in a set.
    pub median_size: f64,
    /// Number of labeled points evaluated.
    pub n: u64,
    /// Coverage of every class that occurs.
    pub per_class: Vec<ClassRow<'a>>,
    /// Coverage of every group that occurs; absent without groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_group: Vec<GroupEvaluationRow<'a>>,
    /// Measured total coverage gap; null where points have thresholds of their own.
    pub total_coverage_gap: Option<f64>,
    /// What a user should know; absent where there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Every rate asked for; absent for one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<EvaluatedLevel>,
    /// Conditions asked for that hold; absent where none does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedCondition>,
}

/// One of several rates of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EvaluatedLevel {
    /// Miscoverage rate the sets were made for.
    pub alpha: f64,
    /// Share of the points whose label is in their set.
    pub coverage: f64,
    /// Mean number of labels in a set, in `[0, C]`.
    pub mean_size: f64,
    /// Median number of labels in a set.
    pub median_size: f64,
    /// Sets without a label.
    pub empty: u64,
    /// Sets with every label.
    pub full: u64,
}

impl EvaluatedLevel {
    /// Of an evaluation at one rate.
    pub fn new(evaluation: &Evaluation) -> Self {
        Self {
            alpha: evaluation.alpha.get(),
            coverage: evaluation.coverage,
            mean_size: evaluation.mean_size,
            median_size: evaluation.median_size,
            empty: evaluation.empty,
            full: evaluation.full,
        }
    }
}

/// Coverage of one class.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ClassRow<'a> {
    /// Share of its points whose set contains it.
    pub coverage: f64,
    /// Index of the class, from 0.
    pub label: usize,
    /// Number of points of this class.
    pub n: u64,
    /// Its name, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// Its own threshold, null if infinite; absent where one serves all classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Option<f64>>,
    /// Coverage of its target rows at the threshold in question, by the reading of the estimate; absent where it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage_estimate: Option<f64>,
}

/// Classes with their names.
fn class_rows<'a>(
    classes: &[ClassCoverage],
    class_names: Option<&'a [String]>,
) -> Vec<ClassRow<'a>> {
    let row = |class: &ClassCoverage| {
        let name = class_names.and_then(|names| names.get(class.label)).map(String::as_str);
        ClassRow {
            coverage: class.coverage,
            label: class.label,
            n: class.n,
            name,
            threshold: None,
            coverage_estimate: None,
        }
    };
    classes.iter().map(row).collect()
}

/// Coverage of one set size.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct SizeRow {
    /// Share of its points whose label is in their set.
    pub coverage: f64,
    /// Points with a set of this size.
    pub n: u64,
    /// Number of labels that these sets hold.
    pub size: usize,
}

impl<'a> EvaluateDocument<'a> {
    /// The document of an evaluation; classes are named if names are given.
    pub fn new(evaluation: &Evaluation, class_names: Option<&'a [String]>) -> Self {
        let size =
            |row: &SizeCoverage| SizeRow { coverage: row.coverage, n: row.n, size: row.size };
        Self {
            alpha: evaluation.alpha.get(),
            by_size: evaluation.by_size.iter().map(size).collect(),
            coverage: evaluation.coverage,
            empty: evaluation.empty,
            full: evaluation.full,
            mean_size: evaluation.mean_size,
            median_size: evaluation.median_size,
            n: evaluation.n,
            per_class: class_rows(&evaluation.per_class, class_names),
            per_group: Vec::new(),
            total_coverage_gap: evaluation.total_coverage_gap,
            warnings: sentences::low_level(evaluation.alpha.get()).into_iter().collect(),
            levels: Vec::new(),
            failed: Vec::new(),
        }
    }
}

/// What `compare` says.
#[derive(Debug, Clone, Serialize)]
pub struct CompareDocument {
    /// Miscoverage rate asked for, in `(0, 1)`; the level is one minus it.
    pub alpha: f64,
    /// Number of labeled test points.
    pub n: u64,
    /// A row for each method.
    pub rows: Vec<CompareRow>,
    /// What a user should know, each with its method.
    pub warnings: Vec<String>,
    /// How the rows were measured, where that needs a word; absent where not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The same table at every rate asked for, the first included; absent for one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<ComparedLevel>,
}

/// The table at one of several rates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedLevel {
    /// Miscoverage rate.
    pub alpha: f64,
    /// A row for each method.
    pub rows: Vec<CompareRow>,
}

impl CompareDocument {
    pub(crate) fn new(comparison: &Comparison, alpha: f64, spell: Spell<'_>) -> Self {
        let Comparison { compared, left_out } = comparison;
        let reasons = left_out.iter().map(|one| sentences::left_out(one, spell));
        Self {
            alpha,
            // All methods saw the same rows; with none left, none were.
            n: compared.first().map_or(0, |first| first.evaluation.n),
            rows: compared.iter().map(Compared::row).collect(),
            warnings: sentences::low_level(alpha)
                .into_iter()
                .chain(sentences::method_warnings(compared))
                .chain(reasons)
                .collect(),
            notes: sentences::of_oracle(compared).into_iter().collect(),
            levels: Vec::new(),
        }
    }
}

/// One method of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CompareRow {
    /// Name of the method, as every shell spells it.
    pub method: &'static str,
    /// Null is infinite, or a threshold for each point or label.
    pub threshold: Option<f64>,
    /// Share of the test points whose label is in their set.
    pub coverage: f64,
    /// Mean number of labels in a set, in `[0, C]`.
    pub mean_size: f64,
    /// Measured total coverage gap.
    pub total_coverage_gap: Option<f64>,
    /// `n_w` of its weights.
    pub effective_sample_size: f64,
    /// Seconds of fit and test, without reading.
    pub seconds: f64,
    /// What must hold for its coverage to be right.
    pub assumption: &'static str,
    /// Whether every point or label has a threshold of its own.
    #[serde(skip)]
    // Not part of the document: the terminal's table asks for it, scripts have the null threshold.
    pub own_thresholds: bool,
}

impl CompareRow {
    pub(crate) fn new(compared: &Compared) -> Self {
        let Compared { calibration, evaluation, seconds, .. } = compared;
        let (method, threshold) = (calibration.provenance().method, calibration.threshold(None));
        Self {
            method: method.as_str(),
            threshold: finite(threshold),
            coverage: evaluation.coverage,
            mean_size: evaluation.mean_size,
            total_coverage_gap: evaluation.total_coverage_gap,
            effective_sample_size: calibration.effective_sample_size(),
            seconds: *seconds,
            assumption: method.assumption(),
            own_thresholds: threshold.is_none(),
        }
    }
}

//! Is there a shift, how much coverage is at risk, what to do: without labels of the target data.

use evenkeel::calibration::{Calibration, Evidence};
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::check::{Check, CheckEnded, CheckSettings, ShiftReport, TargetLaws};
use evenkeel::evaluation::ClassCoverage;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::label_plan::Certificate;
use evenkeel::method::{Method, MethodName};
use evenkeel::rows::RowKeys;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel::threshold::Threshold;
use serde::Serialize;

use crate::any_rows::with_rows;
use crate::blocks::each_block;
use crate::calibrate::calibrate;
use crate::documents::CheckDocument;
use crate::error::{JobError, Result};
use crate::labeled::LabeledData;
use crate::observer::{Observer, Stage};
use crate::source::RowSource;

/// How a check is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckJob {
    /// Score function of the calibration and the target rows.
    pub score: Score,
    /// Rates, grids and the shift test.
    pub settings: CheckSettings,
}

impl CheckJob {
    /// The defaults at these two rates. The shift test is that of `auto`: a shift found here is found there.
    pub fn new(score: Score, alpha: Miscoverage, delta: FailureProbability, seed: Seed) -> Self {
        Self { score, settings: CheckSettings::new(alpha, delta, seed) }
    }
}

/// What a check found.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The answer as data.
    pub report: ShiftReport,
    /// The laws around the target scores it speaks of.
    pub laws: TargetLaws,
    /// Calibration scores, in the caller's order.
    pub scores: Vec<f64>,
    /// Coverage of the calibration data at the uncorrected threshold, class by class.
    pub per_class: Vec<ClassCoverage>,
    /// What `auto` makes of the target data; none where no shift was found.
    pub recommended: Option<Recommended>,
}

impl Checked {
    /// What people see of it.
    pub fn document<'a>(&'a self, class_names: Option<&'a [String]>) -> CheckDocument<'a> {
        CheckDocument::new(self, class_names)
    }
}

/// What `auto` makes of the target data, once a shift was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommended {
    /// Name of the method advised, as every shell spells it.
    pub method: &'static str,
    /// Its threshold; none is infinite.
    pub threshold: Option<f64>,
    /// `n_w` of its weights.
    pub effective_sample_size: f64,
    /// Bound on the total coverage gap, as far as its assumption holds; none if nothing was corrected.
    pub certificate: Option<Certificate>,
    /// What a user should know.
    pub warnings: Vec<String>,
    /// Level of its shift test and failure probability of its certificate: those of the check.
    #[serde(skip)]
    pub level: f64,
}

impl Recommended {
    fn of(calibration: &Calibration, level: f64) -> Self {
        let value = calibration.threshold(None).map_or(f64::INFINITY, Threshold::get);
        let certificate = match &calibration.learned().evidence {
            Some(Evidence::Auto(decision)) => decision.plan.as_ref().map(|plan| plan.certificate),
            Some(Evidence::LabelPlan { plan, .. }) => Some(plan.certificate),
            _ => None,
        };
        Self {
            method: MethodName::Auto.as_str(),
            threshold: value.is_finite().then_some(value),
            effective_sample_size: calibration.effective_sample_size(),
            certificate,
            warnings: calibration.warnings(),
            level,
        }
    }
}

/// Looks at the labeled data and the unlabeled rows of the target data, and answers.
///
/// Once a shift is found, what is recommended is computed by the very job it names: `calibrate` with `auto` at this
/// check's `delta` and seed, two more passes over the target data.
///
/// # Errors
/// If the settings make no sense, rows are not probabilities, or the observer stops it.
pub fn check(
    job: &CheckJob,
    labeled: &LabeledData<'_>,
    target: &mut dyn RowSource,
    observer: &mut dyn Observer,
) -> Result<Checked> {
    let CheckJob { score, settings } = job;
    let scores = labeled.scores(score)?;
    let evenkeel::check::Checked { report, laws, .. } =
        both_passes(job, labeled, target, observer)?;
    let recommended = match report.shift.detected {
        false => None,
        true => {
            let auto = AutoSettings::new(settings.delta);
            // With the relabelings of `auto` its test is the one just made, which has rejected: what remains of it is its plan.
            let method = match settings.permutations == auto.permutations {
                true => Method::LabelPlan(auto.plan),
                false => Method::Auto(auto),
            };
            let CheckSettings { alpha, seed, delta, .. } = *settings;
            let calibrator = ShiftCalibrator { method, score: *score, alpha, seed };
            let calibrated = calibrate(&calibrator, labeled, target, observer)?;
            Some(Recommended::of(&calibrated.calibration, delta.get()))
        }
    };
    let per_class = coverage_by_class(&scores, labeled, report.threshold);
    Ok(Checked { report, laws, scores, per_class, recommended })
}

/// How often a threshold covers the calibration points of each class that occurs; none is infinite.
fn coverage_by_class(
    scores: &[f64],
    labeled: &LabeledData<'_>,
    threshold: Option<f64>,
) -> Vec<ClassCoverage> {
    let threshold = threshold.unwrap_or(f64::INFINITY);
    let mut counts = vec![(0_u64, 0_u64); labeled.classes()];
    for (score, label) in scores.iter().zip(labeled.labels().as_slice()) {
        counts[*label].0 += 1;
        counts[*label].1 += u64::from(*score <= threshold);
    }
    // Classes without a point have no coverage: 0 / 0 is left out, not shown as 0 %.
    let occurs = counts.into_iter().enumerate().filter(|(_, (n, _))| *n > 0);
    occurs
        .map(|(label, (n, covered))| ClassCoverage {
            label,
            n,
            coverage: covered as f64 / n as f64,
        })
        .collect()
}

/// The core's check, from two passes over the target rows.
fn both_passes(
    job: &CheckJob,
    labeled: &LabeledData<'_>,
    target: &mut dyn RowSource,
    observer: &mut dyn Observer,
) -> Result<evenkeel::check::Checked> {
    let mut check = labeled.begin_check(&job.score, &job.settings)?;
    loop {
        // Taken by every block and given back by all that are added: after an error there is none, and none is needed.
        let mut open = Some(check);
        each_block(target, labeled.classes(), (Stage::Reading, observer), |block| {
            let keys = RowKeys::From(block.first_row as u64);
            let add = |check: Check| with_rows!(block.rows, |rows| check.add(keys, rows));
            open = open.take().map(add).transpose()?;
            Ok(())
        })?;
        let read = open.ok_or_else(|| JobError::NoRows { input: target.name().to_owned() })?;
        let ended = read.end_pass();
        match ended.map_err(|error| JobError::from(error).while_reading(target.name()))? {
            CheckEnded::Again(again) => check = again,
            CheckEnded::Done(checked) => return Ok(*checked),
        }
    }
}

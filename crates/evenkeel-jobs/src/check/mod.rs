//! Is there a shift, how much coverage is at risk, what to do.

mod alarm;
mod examples;
mod learned;
mod measured;
mod recommended;
mod scoring;
mod settled;

pub use alarm::{AlarmConditions, FailedCondition};
pub use examples::ExampleRow;
pub use learned::{BeforeAndWith, ClassShare, CoverageRange, WithLabels};
pub use measured::CoverageMeasured;
pub use recommended::{MeanSizes, Recommended};

pub(crate) use examples::{FirstRows, LOOKED_AT};
pub(crate) use measured::Counting;
pub(crate) use settled::{Labels as LabelsUsed, Repair, Settled};

use evenkeel::calibration::{Calibration, Evidence};
use evenkeel::check::{
    Check, CheckEnded, CheckSettings, CheckShare, ShiftReport, TargetLaws, ThresholdInQuestion,
};
use evenkeel::evaluation::ClassCoverage;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::label_plan::LabelPlan;
use evenkeel::reading::Verdict;
use evenkeel::rows::RowKeys;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel::side_inputs::SideInputs;
use evenkeel::threshold::Threshold;

use crate::any_rows::with_rows;
use crate::calibrate::calibrate;
use crate::documents::CheckDocument;
use crate::error::{JobError, Result};
use crate::fit::fit_begun;
use crate::grouped::undercovered_classes;
use crate::labeled::LabeledData;
use crate::observer::{Observer, Stage};
use crate::source::{Block, RowSource};
use crate::target_labels::TargetLabels;
use crate::turns::each_block_shared;
use scoring::mean_set_size;

/// A label that a threshold was chosen with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedLabel {
    /// Number of its row then.
    pub row: u64,
    /// The label.
    pub label: usize,
    /// Mark of its row's probabilities; none in files that keep none.
    pub mark: Option<u32>,
}

/// How a check is made.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckJob {
    /// Score function of the calibration and the target rows.
    pub score: Score,
    /// The calibration whose label law scores labels, under the plan score.
    pub law_of: Option<Box<Calibration>>,
    /// Rates, grids, the shift test and the threshold in question.
    pub settings: CheckSettings,
    /// Labels of a few target rows; none by default.
    pub labels: TargetLabels,
    /// Labels that the threshold in question was chosen with.
    pub chosen_with: Vec<UsedLabel>,
}

impl CheckJob {
    /// The defaults at these two rates. The shift test is that of `auto`: a shift found here is found there.
    pub fn new(score: Score, alpha: Miscoverage, delta: FailureProbability, seed: Seed) -> Self {
        let settings = CheckSettings::new(alpha, delta, seed);
        let (labels, chosen_with) = (TargetLabels::default(), Vec::new());
        Self { score, law_of: None, settings, labels, chosen_with }
    }

    /// A check of a calibration in use, at its own level unless another is asked for; `name` is the caller's for it.
    ///
    /// # Errors
    /// If points or labels have thresholds of their own: no single threshold is in question.
    pub fn of_calibration(
        calibration: &Calibration,
        name: &str,
        alpha: Option<Miscoverage>,
        delta: FailureProbability,
    ) -> Result<Self> {
        let provenance = calibration.provenance();
        let Some(threshold) = calibration.threshold(alpha) else {
            return Err(JobError::NotCheckable {
                input: name.to_owned(),
                why: "its thresholds differ from point to point or from label to label, and a check asks about one; give \
                      the calibration data instead",
            });
        };
        let by_law = calibration.is_scored_by_a_fitted_law();
        // Where no law was fitted the score plan is lac.
        let score = match provenance.score {
            Score::Plan if !by_law => Score::Lac,
            other => other,
        };
        let alpha = alpha.unwrap_or(provenance.alpha);
        let mut job = Self::new(score, alpha, delta, provenance.seed);
        job.settings.threshold = ThresholdInQuestion::Given(threshold);
        job.law_of = by_law.then(|| Box::new(calibration.clone()));
        if let Some(Evidence::FewLabels(found)) = &calibration.learned().evidence {
            let marks = found.labeled_marks.iter().copied().map(Some);
            let marks = marks.chain(std::iter::repeat(None));
            let used = found.labeled_rows.iter().zip(marks);
            job.chosen_with = used
                .map(|((row, label), mark)| UsedLabel { row: *row, label: *label, mark })
                .collect();
        }
        Ok(job)
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
    /// Coverage of the calibration data at the threshold in question, class by class.
    pub per_class: Vec<ClassCoverage>,
    /// What labels show, where there are any.
    pub measured: Option<CoverageMeasured>,
    /// How labels moved what is believed about coverage, where there are any.
    pub with_labels: Option<WithLabels>,
    /// What to make of it: what the labels say where there are any, what the readings say where not.
    pub verdict: Verdict,
    /// What `auto` makes of the target data, with the labels where there are any; none where it would keep the threshold.
    pub recommended: Option<Recommended>,
    /// Mean number of labels in the sets of the target data, at the threshold in question.
    pub mean_size: f64,
    /// A few target rows with their sets.
    pub examples: Vec<ExampleRow>,
    /// The label plan of the same passes.
    pub(crate) plan: LabelPlan,
}

impl Checked {
    /// What people see of it.
    pub fn document<'a>(
        &'a self,
        class_names: Option<&'a [String]>,
        failed: &[FailedCondition],
    ) -> CheckDocument<'a> {
        CheckDocument::new(self, class_names, failed)
    }

    /// What to know about classes that the threshold in question covers far below the level, by the calibration labels.
    pub fn class_warning(&self, class_names: Option<&[String]>) -> Option<String> {
        let alpha = Miscoverage::new(self.report.alpha).ok()?;
        undercovered_classes(&self.per_class, alpha, class_names)
    }

    /// The level asked for.
    pub fn level(&self) -> f64 {
        1.0 - self.report.alpha
    }

    /// What labels show, where they are enough to decide and look like labels of rows drawn at random.
    pub fn decisive(&self) -> Option<&CoverageMeasured> {
        let estimate = self.report.coverage_estimate.value;
        let counted = self.measured.as_ref().filter(|_| self.labels_look_random());
        counted.filter(|counted| counted.decides(self.level(), estimate))
    }

    /// Whether the labeled rows look like a random draw of the target rows. Coverage counted on rows that were picked says
    /// something about those, and nothing about the others.
    pub fn labels_look_random(&self) -> bool {
        settled::look_random(self.with_labels.as_ref())
    }

    /// Whether the advice is to calibrate anew.
    pub fn repair(&self) -> Option<&Recommended> {
        // A repair that makes no set larger repairs no loss.
        let larger = |found: &&Recommended| found.enlarges;
        self.recommended.as_ref().filter(larger).filter(|_| self.verdict == Verdict::Loss)
    }

    /// What another calibration would mean for the same target rows: coverage to expect, set sizes before and after.
    pub fn with_calibration(&self, calibration: &Calibration) -> Recommended {
        let after = calibration.threshold(None).unwrap_or(Threshold::AllLabels);
        let after = mean_size(&self.laws, self.report.classes, after);
        let sizes = MeanSizes { before: self.mean_size, after };
        Recommended::of_calibration(calibration, sizes, self.report.delta)
    }

    /// The threshold in question.
    pub fn threshold(&self) -> Threshold {
        self.report.threshold.map_or(Threshold::AllLabels, Threshold::Finite)
    }

    /// What the outputs alone say: no labels of target rows, no repair, no examples. Given are the calibration scores, their labels and
    /// the number of classes.
    fn by_outputs(
        found: evenkeel::check::Checked,
        threshold: Threshold,
        (scores, labels, classes): (Vec<f64>, &[usize], usize),
    ) -> Self {
        let evenkeel::check::Checked { report, laws, plan, .. } = found;
        Self {
            per_class: coverage_by_class(&scores, (labels, classes), report.threshold),
            verdict: report.verdict,
            mean_size: mean_size(&laws, classes, threshold),
            measured: None,
            with_labels: None,
            recommended: None,
            examples: Vec::new(),
            report,
            laws,
            scores,
            plan,
        }
    }
}

/// Looks at the labeled data and the rows of the target data, which are read once or twice, and answers.
///
/// Once a shift is found, what is recommended is what `calibrate` with `auto` at this check's `delta` and seed gives.
///
/// # Errors
/// If the settings make no sense, rows are not probabilities, labels do not belong to the rows, or the observer stops it.
pub fn check(
    job: &CheckJob,
    labeled: &LabeledData<'_>,
    target: &mut dyn RowSource,
    observer: &mut dyn Observer,
) -> Result<Checked> {
    let scores = job.scores(labeled)?;
    let begun = job.begin(labeled, &job.settings)?;
    checked((job, begun), (labeled, scores), target, observer)
}

/// A check whose calibration side is done: for services that check many batches against one calibration.
#[derive(Debug, Clone)]
pub struct PreparedCheck {
    job: CheckJob,
    scores: Vec<f64>,
    begun: Check,
}

impl PreparedCheck {
    /// Looks at the calibration data.
    ///
    /// # Errors
    /// If the settings make no sense, or the score does not fit the data.
    pub fn new(job: CheckJob, labeled: &LabeledData<'_>) -> Result<Self> {
        let scores = job.scores(labeled)?;
        let begun = job.begin(labeled, &job.settings)?;
        Ok(Self { job, scores, begun })
    }

    /// How it is made.
    pub fn job(&self) -> &CheckJob {
        &self.job
    }

    /// Checks target rows: the bits of [`check`] with the same job and calibration data, which must be those it was made of.
    ///
    /// # Errors
    /// As [`check`].
    pub fn check(
        &self,
        labeled: &LabeledData<'_>,
        target: &mut dyn RowSource,
        observer: &mut dyn Observer,
    ) -> Result<Checked> {
        let begun = self.begun.clone();
        checked((&self.job, begun), (labeled, self.scores.clone()), target, observer)
    }
}

/// The passes over the target rows, and what they lead to.
fn checked(
    (job, check): (&CheckJob, Check),
    (labeled, scores): (&LabeledData<'_>, Vec<f64>),
    target: &mut dyn RowSource,
    observer: &mut dyn Observer,
) -> Result<Checked> {
    let threshold = check.threshold();
    // Rows that no sample will hold in the end are then only checked.
    let mut check = match target.rows() {
        Some(rows) => check.expecting(rows),
        None => check,
    };
    let mut counting = Some(Counting::new(job, threshold));
    let mut first_rows = FirstRows::default();
    let mut measured = None;
    let mut rows = 0;
    let found = loop {
        let shares = each_block_shared(
            target,
            labeled.classes(),
            (Stage::Reading, observer),
            || Share::new(&check, counting.as_ref()),
            |share, block| share.add(&check, block),
        )?;
        for share in shares {
            check = check.join(share.rows)?;
            first_rows.join(share.first_rows);
            rows = rows.max(share.end);
            if let (Some(counting), Some(counted)) = (&mut counting, &share.counting) {
                counting.join(counted);
            }
        }
        // Labels are counted in the first pass; the second brings the same rows.
        if let Some(counting) = counting.take() {
            measured = counting.finish(rows, job.settings.delta)?;
        }
        let ended = check.end_pass();
        match ended.map_err(|error| JobError::from(error).while_reading(target.name()))? {
            CheckEnded::Again(again) => check = again,
            CheckEnded::Done(checked) => break checked,
        }
    };
    let fitted = match &measured {
        Some(_) => Some(with_labels(job, labeled, (target, observer))?),
        None => None,
    };
    let classes = labeled.classes();
    let settled = Settled::new((*found, threshold, classes), (measured, fitted));
    let mut own = None;
    let recommended = match settled.repair(job)? {
        Repair::None => None,
        Repair::Known(known) => Some(*known),
        Repair::ByOwnLaw(labels) => {
            let of_rows = job.labels.of_rows(classes)?;
            let with = job.labels_for(labels, labeled, &of_rows);
            let made = calibrate(&job.by_plan(), &with, target, observer)?.calibration;
            let after = mean_set_size(&made, (target, observer))?;
            let found = settled.by_own_law(job, &made, after);
            own = Some(made);
            Some(found)
        }
        Repair::Anew => {
            let made = calibrate(&job.by_auto(), labeled, target, observer)?.calibration;
            Some(settled.anew(job, &made))
        }
    };
    let given = (scores, labeled.labels().as_slice());
    settled.conclude(job, given, (recommended, own.as_ref()), &first_rows)
}

/// What one thread has read of a pass.
struct Share<'a> {
    rows: CheckShare,
    /// One past the last of them.
    end: usize,
    first_rows: FirstRows,
    /// In the first pass.
    counting: Option<Counting<'a>>,
}

impl<'a> Share<'a> {
    /// Nothing yet; `counting` has counted nothing either.
    fn new(check: &Check, counting: Option<&Counting<'a>>) -> Self {
        let (rows, counting) = (check.share(), counting.cloned());
        Self { rows, end: 0, first_rows: FirstRows::default(), counting }
    }

    fn add(self, check: &Check, block: &Block<'_>) -> Result<Self> {
        let Self { rows: share, end, mut first_rows, mut counting } = self;
        let keys = RowKeys::From(block.first_row as u64);
        let beside = SideInputs { second: block.side.second, ..SideInputs::default() };
        let rows = with_rows!(block.rows, |rows| check.add_to(share, keys, rows, beside))?;
        first_rows.add(block.first_row, &block.rows);
        if let Some(counting) = &mut counting {
            counting.add(block.first_row, &block.rows)?;
        }
        Ok(Self { rows, end: end.max(block.first_row + block.rows.rows()), first_rows, counting })
    }
}

/// What `calibrate` with `auto` makes of both data sets and the labels, at this check's rates and seed.
fn with_labels(
    job: &CheckJob,
    labeled: &LabeledData<'_>,
    (target, observer): (&mut dyn RowSource, &mut dyn Observer),
) -> Result<Calibration> {
    let labels = job.labels.of_rows(labeled.classes())?;
    let labeled = labeled.clone().with_target_labels(&labels);
    let (begun, steps) = job.begin_with_labels(&labeled)?;
    Ok(fit_begun(begun, (&labeled, steps), target, observer)?.0.calibration)
}

/// Mean number of labels at a threshold: the uniform law counts every label of every row once.
fn mean_size(laws: &TargetLaws, classes: usize, threshold: Threshold) -> f64 {
    match threshold {
        Threshold::Finite(score) => classes as f64 * laws.f_u.upper().cdf(score),
        Threshold::AllLabels => classes as f64,
    }
}

/// Coverage of the calibration points at the threshold of split conformal prediction, class by class.
pub(crate) fn split_coverage_by_class(
    labeled: &LabeledData<'_>,
    score: &Score,
    alpha: Miscoverage,
) -> Result<Vec<ClassCoverage>> {
    let scores = labeled.scores(score)?;
    let mut sorted = scores.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = evenkeel::per_group::conformal_rank(sorted.len(), alpha);
    let threshold = rank.map(|rank| sorted[rank - 1]);
    let given = (labeled.labels().as_slice(), labeled.classes());
    Ok(coverage_by_class(&scores, given, threshold))
}

/// How often a threshold covers the calibration points of each class that occurs; none is infinite.
fn coverage_by_class(
    scores: &[f64],
    (labels, classes): (&[usize], usize),
    threshold: Option<f64>,
) -> Vec<ClassCoverage> {
    let threshold = threshold.unwrap_or(f64::INFINITY);
    let mut counts = vec![(0_u64, 0_u64); classes];
    for (score, label) in scores.iter().zip(labels) {
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

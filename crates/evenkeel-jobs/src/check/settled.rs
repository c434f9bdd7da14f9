//! What follows from the passes over the target rows: the verdict, and what it takes to say what to do.

use evenkeel::calibration::Calibration;
use evenkeel::check::Checked as Found;
use evenkeel::reading::Verdict;
use evenkeel::rows::Rows;
use evenkeel::threshold::Threshold;

use super::examples::FirstRows;
use super::{CheckJob, Checked, CoverageMeasured, Recommended, WithLabels, mean_size};
use crate::error::Result;

/// All that rows are looked at for but what is recommended.
#[derive(Debug)]
pub(crate) struct Settled {
    found: Found,
    threshold: Threshold,
    classes: usize,
    measured: Option<CoverageMeasured>,
    /// The fit with labels, where there are any.
    fitted: Option<Calibration>,
    learned: Option<WithLabels>,
    verdict: Verdict,
    /// Mean number of labels in a set, at the threshold in question.
    before: f64,
}

/// How what is recommended becomes known.
#[derive(Debug)]
pub(crate) enum Repair {
    /// Nothing is.
    None,
    /// It is already.
    Known(Box<Recommended>),
    /// By `auto` under the plan score, whose law is its own: a fit, and a pass for the sizes of its sets.
    ByOwnLaw(Labels),
    /// By a fit of `auto`, whose test is another one than that of the check.
    Anew,
}

/// Whether labels of target rows take part in a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Labels {
    Used,
    LeftOut,
}

impl Settled {
    /// From what the passes found; `fitted` is the fit with labels, where there are any.
    pub(crate) fn new(
        (found, threshold, classes): (Found, Threshold, usize),
        (measured, fitted): (Option<CoverageMeasured>, Option<Calibration>),
    ) -> Self {
        let report = &found.report;
        let estimate = &report.coverage_estimate;
        let learned = fitted
            .as_ref()
            .zip(measured.as_ref())
            .and_then(|(fitted, measured)| WithLabels::of(fitted, threshold, estimate, measured));
        let level = 1.0 - report.alpha;
        // Labels decide as soon as there are enough of them to exclude anything.
        let verdict = measured
            .filter(|counted| counted.decides(level, estimate.value))
            .filter(|_| look_random(learned.as_ref()))
            .map_or(report.verdict, |counted| counted.verdict(level));
        let before = mean_size(&found.laws, classes, threshold);
        Self { found, threshold, classes, measured, fitted, learned, verdict, before }
    }

    /// What it takes to say what to do.
    pub(crate) fn repair(&self, job: &CheckJob) -> Result<Repair> {
        // Labels of rows that were picked would mislead the repair as they would the verdict.
        let fit = self.fitted.as_ref().filter(|_| look_random(self.learned.as_ref()));
        let detected = self.found.report.shift.detected;
        let wanted = match fit {
            // Labels find losses that the outputs do not show.
            Some(_) => detected || self.verdict == Verdict::Loss,
            None => detected,
        };
        if !wanted {
            return Ok(Repair::None);
        }
        let (laws, classes) = (&self.found.laws, self.classes);
        let known = match fit {
            _ if job.law_of.is_some() => {
                let labels = fit.map_or(Labels::LeftOut, |_| Labels::Used);
                return Ok(Repair::ByOwnLaw(labels));
            }
            Some(fitted) => {
                Some(Recommended::with_labels(fitted, job, self.threshold, laws, classes))
            }
            None => Recommended::of_found(job, self.threshold, (&self.found, laws), classes)?,
        };
        Ok(known.map_or(Repair::Anew, |known| Repair::Known(Box::new(known))))
    }

    /// What a fit of `auto` recommends.
    pub(crate) fn anew(&self, job: &CheckJob, calibration: &Calibration) -> Recommended {
        Recommended::with_sizes(calibration, job, self.threshold, (&self.found.laws, self.classes))
    }

    /// What a fit by a law of its own recommends, with sets of `after` labels on average.
    pub(crate) fn by_own_law(
        &self,
        job: &CheckJob,
        calibration: &Calibration,
        after: f64,
    ) -> Recommended {
        Recommended::by_own_law(calibration, job, (self.before, after))
    }

    /// The answer; `own` is the calibration that is recommended where it scores by a law of its own.
    pub(crate) fn conclude(
        self,
        job: &CheckJob,
        (scores, labels): (Vec<f64>, &[usize]),
        (recommended, own): (Option<Recommended>, Option<&Calibration>),
        first_rows: &FirstRows,
    ) -> Result<Checked> {
        let Self { found, threshold, classes, measured, learned, verdict, .. } = self;
        // Sets of a repair that nobody is advised to make would only confuse.
        let after = recommended.as_ref().filter(|_| verdict != Verdict::Ok).map(|found| {
            |rows: Rows<'_, f64>| match own {
                Some(calibration) => calibration.predict(0, rows, None),
                None => job.sets(rows, found.at()),
            }
        });
        let sets = |rows: Rows<'_, f64>| job.sets(rows, threshold);
        let examples = first_rows.examples(classes, sets, after)?;
        let by_outputs = Checked::by_outputs(found, threshold, (scores, labels, classes));
        let with_labels = learned;
        Ok(Checked { measured, with_labels, verdict, recommended, examples, ..by_outputs })
    }
}

/// Whether labeled rows look like a random draw, as far as that was asked.
pub(super) fn look_random(learned: Option<&WithLabels>) -> bool {
    let draw = learned.and_then(|found| found.random_draw.as_ref());
    draw.is_none_or(|draw| draw.warning().is_none())
}

//! What `auto` makes of the target data, once a shift was found.

use evenkeel::calibration::{Calibration, Evidence};
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::check::{CheckSettings, Checked, Stopping, TargetLaws};
use evenkeel::method::label_plan::Certificate;
use evenkeel::method::{Method, MethodName};
use evenkeel::reading::CoverageEstimate;
use evenkeel::score::Score;
use evenkeel::threshold::Threshold;
use serde::Serialize;

use super::scoring::mean_set_size;
use super::{CheckJob, mean_size};
use crate::calibrate::calibrate;
use crate::error::Result;
use crate::labeled::LabeledData;
use crate::observer::Observer;
use crate::source::RowSource;

/// What `auto` makes of the target data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommended {
    /// Name of the method advised, as every shell spells it.
    pub method: &'static str,
    /// Its threshold; none is infinite.
    pub threshold: Option<f64>,
    /// `n_w` of its weights.
    pub effective_sample_size: f64,
    /// Coverage to expect at that threshold, with its range; none where it cannot be said.
    pub coverage_estimate: Option<CoverageEstimate>,
    /// Distance of coverage from the level to expect with labels, as a standard deviation; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_error: Option<f64>,
    /// Mean number of labels in the sets of the target data.
    pub mean_size: MeanSizes,
    /// Bound on the total coverage gap, as far as its assumption holds; none if nothing was corrected.
    pub certificate: Option<Certificate>,
    /// What a user should know.
    pub warnings: Vec<String>,
    /// Level of its shift test and failure probability of its certificate: those of the check.
    #[serde(skip)]
    pub level: f64,
    /// Whether its sets are larger than those in question.
    #[serde(skip)]
    pub(super) enlarges: bool,
}

/// Mean number of labels in a set, before and after a repair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanSizes {
    /// At the threshold in question.
    pub before: f64,
    /// At the recommended threshold.
    pub after: f64,
}

impl Recommended {
    /// From a fit by the plan score, which scores by a law of its own: thresholds of two laws cannot be compared, sizes of sets can.
    pub(super) fn by_a_law_of_its_own(
        job: &CheckJob,
        before: f64,
        labeled: &LabeledData<'_>,
        (target, observer): (&mut dyn RowSource, &mut dyn Observer),
    ) -> Result<(Self, Calibration)> {
        let CheckSettings { alpha, delta, seed, .. } = job.settings;
        let method = Method::Auto(job.settings.auto());
        let calibrator = ShiftCalibrator { method, score: Score::Plan, alpha, seed };
        let calibration = calibrate(&calibrator, labeled, target, observer)?.calibration;
        let after = mean_set_size(&calibration, (target, observer))?;
        let sizes = MeanSizes { before, after };
        let made = Self::of(&calibration, sizes, delta.get()).with_expected_error(&calibration);
        Ok((Self { enlarges: after > before, ..made }, calibration))
    }

    /// From what a check has made already, or by `auto` itself where its test is another one.
    pub(super) fn of_check(
        job: &CheckJob,
        before: Threshold,
        (found, laws): (&Checked, &TargetLaws),
        labeled: &LabeledData<'_>,
        (target, observer): (&mut dyn RowSource, &mut dyn Observer),
    ) -> Result<Self> {
        let CheckSettings { alpha, delta, seed, permutations, stopping, .. } = job.settings;
        let auto = job.settings.auto();
        let method = Method::Auto(auto);
        let calibrator = ShiftCalibrator { method, score: job.score, alpha, seed };
        // With the relabelings of `auto` its test is the one just made, and what it does is known.
        // A test that stops early decides as that of `auto` up to chance, and fitting anew would cost more than the check.
        let same = permutations == auto.permutations || stopping == Stopping::WhenClear;
        let made = match same {
            true => calibrator.of_check(found)?,
            false => None,
        };
        let calibration = match made {
            Some(fitted) => fitted.calibration,
            None => calibrate(&calibrator, labeled, target, observer)?.calibration,
        };
        let after = calibration.threshold(None).unwrap_or(Threshold::AllLabels);
        let classes = labeled.classes();
        let mean_size = MeanSizes {
            before: mean_size(laws, classes, before),
            after: mean_size(laws, classes, after),
        };
        let made = Self::of(&calibration, mean_size, delta.get());
        Ok(Self { enlarges: after.get() > before.get(), ..made })
    }

    /// From a fit that used labels.
    pub(super) fn with_labels(
        calibration: &Calibration,
        job: &CheckJob,
        before: Threshold,
        laws: &TargetLaws,
        classes: usize,
    ) -> Self {
        let after = calibration.threshold(None).unwrap_or(Threshold::AllLabels);
        let mean_size = MeanSizes {
            before: mean_size(laws, classes, before),
            after: mean_size(laws, classes, after),
        };
        let made = Self::of(calibration, mean_size, job.settings.delta.get());
        let made = made.with_expected_error(calibration);
        Self { enlarges: after.get() > before.get(), ..made }
    }

    /// Of a calibration made by any method, with labels or without.
    pub(super) fn of_calibration(
        calibration: &Calibration,
        mean_size: MeanSizes,
        level: f64,
    ) -> Self {
        let made = Self::of(calibration, mean_size, level).with_expected_error(calibration);
        Self { enlarges: mean_size.after > mean_size.before, ..made }
    }

    /// The error to expect with labels, where there are any; the method is then the one that used them.
    fn with_expected_error(self, calibration: &Calibration) -> Self {
        match &calibration.learned().evidence {
            Some(Evidence::FewLabels(found)) => Self {
                method: calibration.provenance().method.as_str(),
                expected_error: Some(found.expected_error),
                ..self
            },
            _ => self,
        }
    }

    fn of(calibration: &Calibration, mean_size: MeanSizes, level: f64) -> Self {
        let value = calibration.threshold(None).map_or(f64::INFINITY, Threshold::get);
        let plan = match &calibration.learned().evidence {
            Some(Evidence::Auto(decision)) => decision.plan.as_ref(),
            Some(Evidence::LabelPlan { plan, .. }) => Some(&**plan),
            _ => None,
        };
        // Where it keeps the threshold, the readings speak of that.
        let kept = match &calibration.learned().evidence {
            Some(Evidence::Auto(decision)) => decision.kept.as_ref(),
            _ => None,
        };
        let corrected = plan.and_then(|plan| plan.corrected.as_ref()).or(kept);
        Self {
            method: MethodName::Auto.as_str(),
            threshold: value.is_finite().then_some(value),
            effective_sample_size: calibration.effective_sample_size(),
            coverage_estimate: corrected.map(|readings| readings.coverage_estimate),
            expected_error: None,
            mean_size,
            certificate: plan.map(|plan| plan.certificate),
            warnings: calibration.warnings(),
            level,
            enlarges: false,
        }
    }

    /// Its threshold.
    pub fn at(&self) -> Threshold {
        self.threshold.map_or(Threshold::AllLabels, Threshold::Finite)
    }
}

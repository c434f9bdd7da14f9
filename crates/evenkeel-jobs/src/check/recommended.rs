//! What `auto` makes of the target data, once a shift was found.

use evenkeel::calibration::{Calibration, Evidence};
use evenkeel::calibrator::Fitted;
use evenkeel::check::{CheckSettings, Checked, Stopping, TargetLaws};
use evenkeel::method::MethodName;
use evenkeel::method::label_plan::Certificate;
use evenkeel::reading::CoverageEstimate;
use evenkeel::threshold::Threshold;
use serde::Serialize;

use super::{CheckJob, mean_size};
use crate::error::Result;

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
    pub(super) fn by_own_law(
        calibration: &Calibration,
        job: &CheckJob,
        (before, after): (f64, f64),
    ) -> Self {
        let sizes = MeanSizes { before, after };
        let made = Self::of(calibration, sizes, job.settings.delta.get());
        Self { enlarges: after > before, ..made.with_expected_error(calibration) }
    }

    /// From what a check has made already; none where the test of `auto` is another one.
    ///
    /// # Errors
    /// If the check is not of so many classes.
    pub(super) fn of_found(
        job: &CheckJob,
        before: Threshold,
        (found, laws): (&Checked, &TargetLaws),
        classes: usize,
    ) -> Result<Option<Self>> {
        let CheckSettings { permutations, stopping, .. } = job.settings;
        // With the relabelings of `auto` its test is the one just made, and what it does is known.
        // A test that stops early decides as that of `auto` up to chance, and fitting anew would cost more than the check.
        let same =
            permutations == job.settings.auto().permutations || stopping == Stopping::WhenClear;
        let made = match same {
            true => job.by_auto().of_check(found)?,
            false => None,
        };
        let sized =
            |fitted: Fitted| Self::with_sizes(&fitted.calibration, job, before, (laws, classes));
        Ok(made.map(sized))
    }

    pub(super) fn with_sizes(
        calibration: &Calibration,
        job: &CheckJob,
        before: Threshold,
        (laws, classes): (&TargetLaws, usize),
    ) -> Self {
        let after = calibration.threshold(None).unwrap_or(Threshold::AllLabels);
        let mean_size = MeanSizes {
            before: mean_size(laws, classes, before),
            after: mean_size(laws, classes, after),
        };
        let made = Self::of(calibration, mean_size, job.settings.delta.get());
        Self { enlarges: after.get() > before.get(), ..made }
    }

    /// From a fit that used labels.
    pub(super) fn with_labels(
        calibration: &Calibration,
        job: &CheckJob,
        before: Threshold,
        laws: &TargetLaws,
        classes: usize,
    ) -> Self {
        let made = Self::with_sizes(calibration, job, before, (laws, classes));
        made.with_expected_error(calibration)
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

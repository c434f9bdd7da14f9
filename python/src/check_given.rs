//! What a check is given, whether its target rows lie here or elsewhere; and calibration data, whoever keeps them.

use evenkeel::calibration::Calibration;
use evenkeel::error::PointSet;
use evenkeel::level::FailureProbability;
use evenkeel::method::label_plan::PlanAssumptions;
use evenkeel_jobs::{CheckJob, JobError, LabeledData, SeenRows};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{LabelArray, Matrix};
use crate::calibration::FittedCalibration;
use crate::errors::Failure;
use crate::methods::Settings;
use crate::points::{Points, SideArrays, seen};

/// Calibration data or a calibration that keeps them, and how to check.
pub(crate) struct CheckGiven<'a, 'py> {
    pub probs: Option<&'a Matrix<'py>>,
    pub labels: Option<&'a LabelArray<'py>>,
    pub calibration: Option<&'a FittedCalibration>,
    /// Miscoverage, none for the calibration's own or 0.1; failure probability.
    pub rates: (Option<f64>, f64),
    pub permutations: Option<usize>,
    pub seed: Option<u64>,
    pub logits: &'a str,
    pub options: &'a Bound<'py, PyDict>,
}

impl<'a> CheckGiven<'a, '_> {
    /// The settings as they were given, and the check they make; without labels of target rows.
    pub(crate) fn job(&self) -> PyResult<(Settings, CheckJob)> {
        let (alpha, delta) = self.rates;
        let settings = Settings::new(alpha.unwrap_or(0.1), self.seed.unwrap_or(0), self.options)?;
        let delta = FailureProbability::new(delta).map_err(Failure::from)?;
        // Options of methods mean nothing to a check; ignored in silence they would seem to have
        // counted.
        settings.options.require_used_by_check().map_err(Failure::from)?;
        let mut job = match self.stored()? {
            Some(calibration) => {
                settings.require_no_score()?;
                let alpha = alpha.map(|_| settings.alpha);
                let mut job = CheckJob::of_calibration(calibration, "calibration", alpha, delta)
                    .map_err(Failure::from)?;
                job.settings.seed = self.seed.map_or(job.settings.seed, |_| settings.seed);
                job
            }
            None => CheckJob::new(settings.score()?, settings.alpha, delta, settings.seed),
        };
        let checked = &mut job.settings;
        checked.permutations = self.permutations.unwrap_or(checked.permutations);
        checked.bound_grid = settings.options.count("bound-grid").unwrap_or(checked.bound_grid);
        checked.assumptions =
            PlanAssumptions::from_options(&settings.options).map_err(Failure::from)?;
        Ok((settings, job))
    }

    fn stored(&self) -> Result<Option<&'a Calibration>, Failure> {
        self.calibration.map(FittedCalibration::one).transpose()
    }

    /// The calibration data; `side` holds what second models say of them.
    pub(crate) fn calibration_side(
        &self,
        side: &'a SideArrays<'_>,
    ) -> Result<CalibrationSide<'a>, Failure> {
        CalibrationSide::of((self.probs, self.labels), self.stored()?, side, self.logits)
    }
}

/// The calibration data of a call, borrowed from the caller's arrays or from a calibration that keeps them; free of the
/// interpreter.
pub(crate) struct CalibrationSide<'a> {
    points: Option<Points<'a>>,
    labels: Option<Vec<usize>>,
    stored: Option<&'a Calibration>,
    second: Vec<f64>,
}

impl<'a> CalibrationSide<'a> {
    /// Arrays, or what a calibration keeps; `side` holds what stands beside them.
    pub(crate) fn of(
        (probs, labels): (Option<&'a Matrix<'_>>, Option<&'a LabelArray<'_>>),
        stored: Option<&'a Calibration>,
        side: &'a SideArrays<'_>,
        logits: &str,
    ) -> Result<Self, Failure> {
        let named = ("probs_cal", PointSet::Calibration);
        let points = probs.map(|probs| Points::new(named, probs, side, logits)).transpose()?;
        let rows = match (probs, stored.and_then(|found| Some((found, found.reference()?)))) {
            (Some(probs), _) => seen("probs_cal", probs)?,
            (None, Some((found, kept))) => SeenRows {
                name: "calibration",
                rows: kept.labels().len(),
                classes: found.provenance().classes,
            },
            // Said where the data are read, as nothing can be compared with.
            (None, None) => SeenRows { name: "calibration", rows: 0, classes: 0 },
        };
        let labels = labels.map(|labels| labels.whole("y_cal")).transpose()?;
        Ok(Self { points, labels, stored, second: side.second(logits, rows)? })
    }

    /// Whether second models were asked.
    pub(crate) fn has_second(&self) -> bool {
        !self.second.is_empty()
    }

    /// As a job reads them. The probabilities of logits are kept in `softmax`.
    pub(crate) fn labeled<'b>(
        &'b self,
        softmax: &'b mut Vec<f64>,
    ) -> Result<LabeledData<'b>, Failure> {
        let labeled = match (&self.points, &self.labels, self.stored) {
            (Some(cal), Some(labels), _) => cal.labeled(softmax, "y_cal", labels.clone())?,
            (_, _, Some(calibration)) => reference_of(calibration)?,
            _ => return Err(Failure::from(nothing_to_compare_with())),
        };
        Ok(labeled.with_second(&self.second)?)
    }
}

/// The calibration data that a calibration keeps.
fn reference_of(calibration: &Calibration) -> Result<LabeledData<'_>, Failure> {
    let classes = calibration.provenance().classes;
    match calibration.reference() {
        Some(reference) => Ok(LabeledData::of_reference("calibration", reference, classes)?),
        None => Err(Failure::from(JobError::NotCheckable {
            input: "calibration".to_owned(),
            why: "it does not keep its calibration data, as files of version 0.1 do not; give probs_cal and y_cal, or \
                  calibrate anew",
        })),
    }
}

fn nothing_to_compare_with() -> JobError {
    JobError::NotCheckable {
        input: "probs_cal".to_owned(),
        why: "there is nothing to compare the target data with; give probs_cal and y_cal, or calibration",
    }
}

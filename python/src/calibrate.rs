//! Probabilities -> a calibration: with one threshold, or with one for each class or group.

use evenkeel::calibration::{Calibration, ClassNames};
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::error::{PointSet, SideInput};
use evenkeel::method::{FewLabelsSettings, Method, MethodName, require_and_refuse};
use evenkeel::per_group::SmallGroups;
use evenkeel::score::Score;
use evenkeel_jobs::grouped::{
    AnyCalibration, GroupJob, MemoryGroups, OtherGroups, calibrate_per_class, calibrate_per_group,
};
use evenkeel_jobs::{JobError, LabeledData, MemorySource, TargetLabels};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{LabelArray, Matrix};
use crate::calibration::FittedCalibration;
use crate::check_given::CalibrationSide;
use crate::detached::{Watcher, detached};
use crate::errors::Failure;
use crate::methods::Settings;
use crate::points::{Points, SideArrays, seen};

/// Whose coverage is to hold: of each class, or of each group where groups are given.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Grouping {
    /// The groups of the calibration rows and of the target rows.
    pub groups: Option<(Vec<String>, Vec<String>)>,
    /// What the groups are called.
    by: Option<String>,
    /// What becomes of small classes and groups.
    pub small: String,
    /// Whether rows of other groups get the threshold of all groups.
    pooled_others: bool,
}

impl Grouping {
    /// How groups are treated.
    pub(crate) fn job(self, small: SmallGroups) -> GroupJob {
        let others = if self.pooled_others { OtherGroups::Pooled } else { OtherGroups::Refuse };
        GroupJob { by: self.by, small, others }
    }
}

/// Learns a calibration from labeled probabilities of the calibration data, or from a calibration that keeps them, and from
/// unlabeled ones of the target data.
#[pyfunction]
#[pyo3(signature = (
    probs_cal, y_cal, calibration, probs_target, target_labels, side_cal, side_target, per, columns, classes, method, alpha, seed,
    logits, options
))]
#[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn calibrate(
    py: Python<'_>,
    probs_cal: Option<Matrix<'_>>,
    y_cal: Option<LabelArray<'_>>,
    calibration: Option<Bound<'_, FittedCalibration>>,
    probs_target: Matrix<'_>,
    target_labels: Vec<(usize, usize)>,
    side_cal: &Bound<'_, PyDict>,
    side_target: &Bound<'_, PyDict>,
    per: Option<Grouping>,
    columns: Option<Vec<String>>,
    classes: Option<Vec<String>>,
    method: &str,
    alpha: f64,
    seed: u64,
    logits: &str,
    options: &Bound<'_, PyDict>,
) -> PyResult<FittedCalibration> {
    let (side_cal, side_target) = (SideArrays::of(side_cal)?, SideArrays::of(side_target)?);
    let settings = Settings::new(alpha, seed, options)?;
    let mut calibrator = settings.calibrator(method, side_cal.known_ratios())?;
    let stored = calibration.as_ref().map(|found| found.get().one()).transpose()?;
    if let Some(stored) = stored {
        calibrator.score = score_of(stored, &settings)?;
    }
    // Before the data are looked at: a wrong argument is the cheaper mistake to report.
    require_sides(&calibrator, (&side_cal, &side_target), !target_labels.is_empty())?;
    let second_target = side_target.second(logits, seen("probs_target", &probs_target)?)?;
    let given = (probs_cal.as_ref(), y_cal.as_ref());
    let cal = CalibrationSide::of(given, stored, &side_cal, logits)?;
    let target =
        Points::new(("probs_target", PointSet::Target), &probs_target, &side_target, logits)?
            .with_second(&second_target);
    let columns_of_target = target.classes();
    let target_labels = TargetLabels::new("y_target", target_labels, columns_of_target)
        .and_then(|labels| labels.of_rows(columns_of_target))
        .map_err(Failure::from)?;
    let names = ClassNames { columns, classes };
    detached(py, |watcher| {
        // Inside the work: the probabilities of logits live as long as the job and no longer.
        let mut softmax = Vec::new();
        let labeled = cal.labeled(&mut softmax)?;
        let labeled = match target_labels.is_empty() {
            true => labeled,
            false => labeled.with_target_labels(&target_labels),
        };
        let mut source = target.source()?;
        if let Some(grouping) = per {
            let made = grouped(&calibrator, grouping, &labeled, &mut source, watcher)?;
            return FittedCalibration::per_group(made).named_by(names);
        }
        let fitted = evenkeel_jobs::calibrate(&calibrator, &labeled, &mut source, watcher)?;
        FittedCalibration::of_job(fitted, labeled.rows(), names)
    })
}

/// The score of a calibration whose data are calibrated anew; an error where another one was asked for, or where it does not
/// keep all of its data.
fn score_of(stored: &Calibration, settings: &Settings) -> Result<Score, Failure> {
    settings.require_no_score()?;
    match stored.reference() {
        Some(kept) if kept.labels().len() < kept.of_rows() => {
            Err(Failure::from(JobError::NotCheckable {
                input: "calibration".to_owned(),
                why: "it does not keep all of its calibration data; give probs_cal and y_cal",
            }))
        }
        _ => Ok(stored.provenance().score),
    }
}

/// An error if the method lacks something that must stand beside the rows, or has no use for what does.
pub(crate) fn require_sides(
    calibrator: &ShiftCalibrator,
    (side_cal, side_target): (&SideArrays<'_>, &SideArrays<'_>),
    labeled: bool,
) -> Result<(), Failure> {
    let auto = calibrator.method.name() == MethodName::Auto;
    for (points, side) in [(PointSet::Calibration, side_cal), (PointSet::Target, side_target)] {
        let mut given = side.given();
        // With labels `auto` is few-labels.
        if points == PointSet::Calibration && labeled && !auto {
            given.push(SideInput::Labels);
        }
        require_and_refuse(&calibrator.method, points, &given)?;
        if auto && labeled {
            // Which asks no other models.
            let few = Method::FewLabels(FewLabelsSettings::default());
            given.extend((points == PointSet::Calibration).then_some(SideInput::Labels));
            require_and_refuse(&few, points, &given)?;
        }
    }
    Ok(())
}

/// A threshold for each class, or a calibration for each group.
fn grouped(
    calibrator: &ShiftCalibrator,
    mut grouping: Grouping,
    labeled: &LabeledData<'_>,
    source: &mut MemorySource<'_>,
    watcher: &mut Watcher<'_>,
) -> Result<AnyCalibration, Failure> {
    let small = SmallGroups::of_name(&grouping.small)?;
    let Some((of_cal, of_target)) = grouping.groups.take() else {
        let made = calibrate_per_class(calibrator, labeled, source, small, watcher)?;
        return Ok(AnyCalibration::PerClass(made.calibration));
    };
    let job = grouping.job(small);
    let mut of_cal = MemoryGroups::new("groups_cal", &of_cal);
    let mut of_target = MemoryGroups::new("groups_target", &of_target);
    let (cal, target) = ((labeled, &mut of_cal as _), (source as _, &mut of_target as _));
    let made = calibrate_per_group(calibrator, &job, cal, target, watcher)?;
    Ok(AnyCalibration::PerGroup(made.calibration))
}

//! Probabilities -> a calibration.

use evenkeel::error::{PointSet, SideInput};
use evenkeel::method::{FewLabelsSettings, Method, MethodName, require_and_refuse};
use evenkeel_jobs::TargetLabels;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{LabelArray, Matrix};
use crate::calibration::FittedCalibration;
use crate::detached::detached;
use crate::errors::Failure;
use crate::methods::Settings;
use crate::points::{Points, SideArrays, seen};

/// Learns a calibration from labeled probabilities of the calibration data and unlabeled ones of the target data.
#[pyfunction]
#[pyo3(signature = (
    probs_cal, y_cal, probs_target, target_labels, side_cal, side_target, method, alpha, seed, logits, options
))]
#[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn calibrate(
    py: Python<'_>,
    probs_cal: Matrix<'_>,
    y_cal: LabelArray<'_>,
    probs_target: Matrix<'_>,
    target_labels: Vec<(usize, usize)>,
    side_cal: &Bound<'_, PyDict>,
    side_target: &Bound<'_, PyDict>,
    method: &str,
    alpha: f64,
    seed: u64,
    logits: &str,
    options: &Bound<'_, PyDict>,
) -> PyResult<FittedCalibration> {
    let (side_cal, side_target) = (SideArrays::of(side_cal)?, SideArrays::of(side_target)?);
    let settings = Settings::new(alpha, seed, options)?;
    let calibrator = settings.calibrator(method, side_cal.known_ratios())?;
    // Before the data are looked at: a wrong argument is the cheaper mistake to report.
    for (points, side) in [(PointSet::Calibration, &side_cal), (PointSet::Target, &side_target)] {
        let mut given = side.given();
        let auto = calibrator.method.name() == MethodName::Auto;
        // With labels `auto` is few-labels.
        if points == PointSet::Calibration && !target_labels.is_empty() && !auto {
            given.push(SideInput::Labels);
        }
        require_and_refuse(&calibrator.method, points, &given).map_err(Failure::from)?;
        if auto && !target_labels.is_empty() {
            // Which asks no other models.
            let few = Method::FewLabels(FewLabelsSettings::default());
            given.extend((points == PointSet::Calibration).then_some(SideInput::Labels));
            require_and_refuse(&few, points, &given).map_err(Failure::from)?;
        }
    }
    let second_cal = side_cal.second(logits, seen("probs_cal", &probs_cal)?)?;
    let second_target = side_target.second(logits, seen("probs_target", &probs_target)?)?;
    let cal = Points::new(("probs_cal", PointSet::Calibration), &probs_cal, &side_cal, logits)?
        .with_second(&second_cal);
    let labels = y_cal.whole("y_cal")?;
    let target =
        Points::new(("probs_target", PointSet::Target), &probs_target, &side_target, logits)?
            .with_second(&second_target);
    let classes = target.classes();
    let target_labels = TargetLabels::new("y_target", target_labels, classes)
        .and_then(|labels| labels.of_rows(classes))
        .map_err(Failure::from)?;
    detached(py, |watcher| {
        // Inside the work: the probabilities of logits live as long as the job and no longer.
        let mut softmax = Vec::new();
        let labeled = cal.labeled(&mut softmax, "y_cal", labels)?;
        let labeled = match target_labels.is_empty() {
            true => labeled,
            false => labeled.with_target_labels(&target_labels),
        };
        let fitted =
            evenkeel_jobs::calibrate(&calibrator, &labeled, &mut target.source()?, watcher)?;
        let said = fitted.class_warning(None);
        Ok(FittedCalibration::new(fitted.calibration, fitted.order, cal.count())
            .with_class_warning(said))
    })
}

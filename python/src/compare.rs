//! Methods side by side on labeled test data.

use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{LabelArray, Matrix, ValueKind, vector};
use crate::calibration::{FittedCalibration, Measured, evaluate, evaluation_dict};
use crate::door::enter;
use crate::errors::Failure;
use crate::fitting::fit;
use crate::methods::{Settings, method_names};

/// Fits every method and measures it: a dict a method, with its calibration, evaluation, gap curve and seconds.
#[pyfunction]
#[pyo3(signature = (
    probs_cal, y_cal, probs_target, probs_test, y_test, methods, alpha, seed, logits, options
))]
#[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    probs_cal: Matrix<'_>,
    y_cal: LabelArray<'_>,
    probs_target: Matrix<'_>,
    probs_test: Matrix<'_>,
    y_test: LabelArray<'_>,
    methods: Vec<String>,
    alpha: f64,
    seed: u64,
    logits: bool,
    options: &Bound<'py, PyDict>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let settings = Settings::new(alpha, seed, options)?;
    let mut calibrators = Vec::new();
    for method in checked(&methods)? {
        calibrators.push(settings.calibrator(method)?);
    }
    let kind = ValueKind::of(logits);
    let yesterday = probs_cal.table("probs_cal", kind)?;
    let labels = y_cal.labels("y_cal", &yesterday)?;
    let today = probs_target.table("probs_target", kind)?;
    let test = probs_test.table("probs_test", kind)?;
    test.require_classes(yesterday.columns())?;
    let test_labels = y_test.labels("y_test", &test)?;
    let compared: Vec<(FittedCalibration, Measured, f64)> = enter(py, |stop| {
        let one = |calibrator| {
            let started = Instant::now();
            let fitted = fit(calibrator, &yesterday, &labels, &today, stop)?;
            let measured =
                evaluate(fitted.calibration(), &test, test_labels.as_slice(), None, stop)?;
            Ok((fitted, measured, started.elapsed().as_secs_f64()))
        };
        calibrators.iter().map(one).collect::<Result<_, Failure>>()
    })?;
    compared.into_iter().map(|one| dict(py, one)).collect()
}

/// Each name once, and known.
fn checked(methods: &[String]) -> Result<Vec<&str>, Failure> {
    let known = method_names();
    for (index, name) in methods.iter().enumerate() {
        if !known.contains(&name.as_str()) {
            return Err(Failure::Setting(format!(
                "methods names \"{name}\"; the methods are {}, or all",
                known.join(", ")
            )));
        }
        if methods[..index].contains(name) {
            return Err(Failure::Setting(format!(
                "methods names \"{name}\" twice; name each once"
            )));
        }
    }
    Ok(methods.iter().map(String::as_str).collect())
}

fn dict<'py>(
    py: Python<'py>,
    (fitted, measured, seconds): (FittedCalibration, Measured, f64),
) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    let curve = &measured.gap_curve;
    row.set_item("alphas", vector(py, curve.iter().map(|point| point.alpha.get()).collect()))?;
    row.set_item("coverages", vector(py, curve.iter().map(|point| point.coverage).collect()))?;
    row.set_item("evaluation", evaluation_dict(py, &measured.evaluation)?)?;
    row.set_item("seconds", seconds)?;
    row.set_item("calibration", Bound::new(py, fitted)?)?;
    Ok(row)
}

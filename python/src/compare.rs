//! Methods side by side on labeled test data.

use std::time::Instant;

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::method::{MethodName, require_a_user_among};
use evenkeel::score::Labels;
use evenkeel::side_inputs::{PointSet, SideInput};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{LabelArray, Matrix, Table, ValueKind, vector};
use crate::calibration::{Asked, FittedCalibration, Measured, evaluate, evaluation_dict};
use crate::detached::enter;
use crate::errors::Failure;
use crate::fitting::{LabelScores, LabeledTable, fit, row_order};
use crate::methods::{Compared, Settings};
use crate::side_inputs::BesideArrays;

/// Fits every method and measures it: a dict a method, with its calibration, evaluation, gap curve and seconds. Without
/// `methods` all that what was given allows; also, in words, which of them could not apply.
#[pyfunction]
#[pyo3(signature = (
    probs_cal, y_cal, probs_target, probs_test, y_test, beside_cal, beside_target, beside_test, methods, alpha, seed,
    logits, options
))]
#[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    probs_cal: Matrix<'_>,
    y_cal: LabelArray<'_>,
    probs_target: Matrix<'_>,
    probs_test: Matrix<'_>,
    y_test: LabelArray<'_>,
    beside_cal: &Bound<'py, PyDict>,
    beside_target: &Bound<'py, PyDict>,
    beside_test: &Bound<'py, PyDict>,
    methods: Option<Vec<String>>,
    alpha: f64,
    seed: u64,
    logits: bool,
    options: &Bound<'py, PyDict>,
) -> PyResult<(Vec<Bound<'py, PyDict>>, Vec<String>)> {
    let settings = Settings::new(alpha, seed, options)?;
    let beside = BesideArrays::of(beside_cal)?;
    let all = methods.is_none();
    let mut calibrators = Vec::new();
    let methods = checked(methods, &beside)?;
    settings.options.require_an_owner_among(&methods).map_err(Failure::from)?;
    require_a_user_among(&methods, PointSet::Calibration, &beside.given())
        .map_err(Failure::from)?;
    for method in methods {
        calibrators.push((settings.compared(method, beside.ratios())?, method.as_str()));
    }
    let kind = ValueKind::of(logits);
    let table = probs_cal.table("probs_cal", kind)?;
    let labels = y_cal.labels("y_cal", &table)?;
    let beside = beside.checked(PointSet::Calibration, &table)?;
    let labeled = LabeledTable { table, labels: &labels, beside };
    let target = probs_target.table("probs_target", kind)?;
    let beside = BesideArrays::of(beside_target)?;
    let target = (target, beside.checked(PointSet::Target, &target)?);
    let test = probs_test.table("probs_test", kind)?;
    test.require_classes(table.columns())?;
    let test_labels = y_test.labels("y_test", &test)?;
    let beside = BesideArrays::of(beside_test)?;
    let beside = beside.checked(PointSet::Test, &test)?;
    let (compared, left_out) = enter(py, |stop| {
        let (mut compared, mut left_out) = (Vec::new(), Vec::new());
        for (method, name) in &calibrators {
            let started = Instant::now();
            let fitted = match method {
                Compared::Method(calibrator) => fit(calibrator, &labeled, target, stop),
                Compared::Oracle(calibrator) => oracle(calibrator, &test, &test_labels),
            };
            let fitted = match fitted {
                Ok(fitted) => fitted,
                // Asked for by name, a method that cannot apply is an error; among all of them it is left out.
                Err(failure) if all && failure.is_about_data() => {
                    left_out.push(format!("{name} is left out: {failure}"));
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            let asked =
                Asked { calibration: fitted.calibration(), beside, alpha: None, first_row: 0 };
            let measured = evaluate(&asked, &test, test_labels.as_slice(), stop)?;
            compared.push((fitted, measured, started.elapsed().as_secs_f64()));
        }
        Ok((compared, left_out))
    })?;
    let rows = compared.into_iter().map(|one| dict(py, one)).collect::<PyResult<_>>()?;
    Ok((rows, left_out))
}

/// Split conformal prediction on the test points' own labels.
fn oracle(
    calibrator: &ShiftCalibrator,
    test: &Table<'_>,
    labels: &Labels,
) -> Result<FittedCalibration, Failure> {
    let score = calibrator.score.with_draws_for("test");
    let scores = test.probabilities(LabelScores { score: &score, labels })?;
    let rows = row_order(calibrator, &scores)?;
    Ok(FittedCalibration::new(calibrator.oracle(&scores, test.columns())?, rows, &scores))
}

/// Each name once, and known; or all that what was given allows.
fn checked(
    names: Option<Vec<String>>,
    beside: &BesideArrays<'_>,
) -> Result<Vec<MethodName>, Failure> {
    let Some(names) = names else {
        let weighted = beside.given().contains(&SideInput::Weights);
        let allowed = |method: &MethodName| *method != MethodName::Fixed || weighted;
        return Ok(MethodName::ALL.into_iter().filter(allowed).collect());
    };
    let mut methods = Vec::new();
    for name in &names {
        let method: MethodName =
            name.parse().map_err(|error| Failure::Setting(format!("methods: {error}")))?;
        if methods.contains(&method) {
            return Err(Failure::Setting(format!(
                "methods names \"{name}\" twice; name each once"
            )));
        }
        methods.push(method);
    }
    Ok(methods)
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

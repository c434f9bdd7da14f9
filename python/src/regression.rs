//! Regression: bins of `y` as candidate labels, and the residual construction for plain regressors.

use evenkeel::calibrator::TargetScores;
use evenkeel::interval::Interval;
use evenkeel::method::KnownRatios;
use evenkeel::sandwich::{LabelBins, residual_candidates};
use evenkeel::score::absolute_residuals;
use evenkeel_jobs::Observer;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{slice, vector};
use crate::calibration::FittedCalibration;
use crate::detached::detached;
use crate::errors::Failure;
use crate::methods::Settings;

/// The bin of every point, and the edges of the bins.
type LabelsAndEdges<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// The bin of every `y`, and the edges of `bins` equal bins over `[low, high]`.
#[pyfunction]
pub(crate) fn bin_labels<'py>(
    py: Python<'py>,
    y: PyReadonlyArray1<'_, f64>,
    low: f64,
    high: f64,
    bins: usize,
) -> PyResult<LabelsAndEdges<'py>> {
    let range = Interval::new(low, high).map_err(Failure::from)?;
    let bins = LabelBins::new(range, bins).map_err(Failure::from)?;
    let labels = slice(&y, "y")?.iter().map(|y| i64::try_from(bins.bin_of(*y)).unwrap_or(i64::MAX));
    let edges = (0..=bins.count()).map(|index| bins.edge(index)).collect();
    Ok((vector(py, labels.collect()), vector(py, edges)))
}

/// Calibrates absolute residuals of a plain regressor: calibration predictions with their `y`, target without.
///
/// Candidate labels are `bins` equal bins over calibration `y`; the residuals placed around each prediction stand for
/// the model's belief.
#[pyfunction]
#[pyo3(signature = (predictions_cal, y_cal, predictions_target, bins, method, alpha, seed, options))]
#[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn calibrate_residuals(
    py: Python<'_>,
    predictions_cal: PyReadonlyArray1<'_, f64>,
    y_cal: PyReadonlyArray1<'_, f64>,
    predictions_target: PyReadonlyArray1<'_, f64>,
    bins: usize,
    method: &str,
    alpha: f64,
    seed: u64,
    options: &Bound<'_, PyDict>,
) -> PyResult<FittedCalibration> {
    let calibrator =
        Settings::new(alpha, seed, options)?.calibrator(method, KnownRatios::Absent)?;
    let predictions = slice(&predictions_cal, "predictions_cal")?;
    let y = slice(&y_cal, "y_cal")?;
    let target = slice(&predictions_target, "predictions_target")?;
    detached(py, |watcher| {
        let scores = absolute_residuals(predictions, y)?;
        let bins = LabelBins::over(y, bins)?;
        // Signed: the residuals stand for what the model gets wrong, in which direction too.
        let residuals: Vec<f64> = y.iter().zip(predictions).map(|(y, p)| y - p).collect();
        let candidates = residual_candidates(target, &residuals, &bins)?;
        let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        // The range must hold every score of both sides: bounds integrate over it, and mass beyond
        // it is lost.
        let mut high = largest(&scores);
        for row in 0..candidates.rows() {
            high = high.max(largest(candidates.row(row)));
        }
        let range = Interval::new(0.0, high)?;
        let fitted = calibrator.fit_scores(
            &scores,
            TargetScores::Candidates(&candidates),
            bins.count(),
            range,
            &mut |point| watcher.reached(point.step as u64),
        )?;
        Ok(FittedCalibration::new(fitted.calibration, fitted.order, scores.len()))
    })
}

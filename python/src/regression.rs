//! Regression: scores, the gate and its readings; bins of `y` as candidate labels, and the residual construction.

use evenkeel::calibrator::{ShiftCalibrator, TargetScores};
use evenkeel::interval::Interval;
use evenkeel::level::{FailureProbability, Level, Miscoverage};
use evenkeel::measure::Weights;
use evenkeel::method::{Guarantee, GuaranteeProbability, KnownRatios, MethodName};
use evenkeel::regression::{
    Assessment, Decision, GateSettings, RegressionFit, RegressionReading, ScoredPoints,
};
use evenkeel::rows::Rows;
use evenkeel::sandwich::{LabelBins, residual_candidates};
use evenkeel::score::{absolute_residuals, conformalised_quantile_scores};
use evenkeel::seed::Seed;
use evenkeel::shift::{CovariateTest, covariate_test};
use evenkeel::threshold::{TestMass, Threshold};
use evenkeel_jobs::{JobError, Observer};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;

use crate::arrays::{cells, slice, vector};
use crate::calibration::FittedCalibration;
use crate::detached::detached;
use crate::errors::Failure;
use crate::json;
use crate::methods::Settings;

/// Two p-values are at or below a level of one per cent: a single relabeling does not decide.
const DRAW_RELABELINGS: usize = 199;

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

/// `|y - prediction|`, or `max(low - y, y - high)` where both ends are given; shape `(n,)`.
#[pyfunction]
pub(crate) fn interval_scores<'py>(
    py: Python<'py>,
    low: PyReadonlyArray1<'_, f64>,
    high: Option<PyReadonlyArray1<'_, f64>>,
    y: PyReadonlyArray1<'_, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (low, y) = (slice(&low, "low")?, slice(&y, "y")?);
    let scores = match &high {
        None => absolute_residuals(low, y),
        Some(high) => conformalised_quantile_scores(low, slice(high, "high")?, y),
    };
    Ok(vector(py, scores.map_err(Failure::from)?))
}

/// What the gate found, as a document.
#[derive(Serialize)]
struct GateDocument {
    n: usize,
    m: usize,
    shift: ShiftDocument,
    decision: Decision,
    /// Share of the readings' change that is followed.
    strength: f64,
    /// Root mean square change of the law of the scores, and what noise alone would change.
    change: f64,
    noise: f64,
    effective_sample_size: f64,
    test_mass: f64,
    assessment: Option<Assessment>,
}

/// The shift test, as a document.
#[derive(Serialize)]
struct ShiftDocument {
    #[serde(flatten)]
    test: CovariateTest,
    detected: bool,
}

/// A table of covariates, `(rows, columns)`.
fn covariates<'a>(
    name: &'static str,
    array: &'a PyReadonlyArray2<'_, f64>,
) -> Result<Rows<'a, f64>, Failure> {
    let empty = || JobError::NoRows { input: name.to_owned() };
    let (values, columns) = cells(array, name)?.ok_or_else(empty)?;
    Ok(Rows::new(name, values, columns)?)
}

/// Weights, the test point's share, and the document of what was found.
type Gated<'py> = (Bound<'py, PyArray1<f64>>, f64, String);

/// Passes scores through the gate. Outputs stand in the first columns of the covariates. With a threshold (infinite for
/// whole lines) the document says what it covers, against the level.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn gate_regression<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray1<'_, f64>,
    covariates_cal: PyReadonlyArray2<'_, f64>,
    covariates_target: PyReadonlyArray2<'_, f64>,
    outputs: usize,
    delta: f64,
    permutations: Option<usize>,
    seed: u64,
    question: Option<(f64, f64)>,
) -> PyResult<Gated<'py>> {
    let delta = FailureProbability::new(delta).map_err(Failure::from)?;
    let mut settings = GateSettings::new(delta, Seed::new(seed));
    settings.permutations = permutations.unwrap_or(settings.permutations);
    let scores = slice(&scores, "scores")?;
    let calibration = covariates("covariates_cal", &covariates_cal)?;
    let target = covariates("covariates_target", &covariates_target)?;
    let (fit, assessment) = detached(py, |_| {
        let points = ScoredPoints::new(scores, calibration, target, outputs)?;
        let fit = RegressionFit::new(&points, settings)?;
        let assessment = question
            .map(|(threshold, level)| {
                let level = Level::new(level)?;
                let at = if threshold == f64::INFINITY {
                    Threshold::AllLabels
                } else {
                    Threshold::Finite(threshold)
                };
                Ok::<_, Failure>(evenkeel::regression::assess(&points, &fit, at, level))
            })
            .transpose()?;
        Ok((fit, assessment))
    })?;
    let document = json(&GateDocument {
        n: scores.len(),
        m: target.rows(),
        shift: ShiftDocument { detected: fit.test.rejects(delta), test: fit.test },
        decision: fit.decision,
        strength: fit.strength,
        change: fit.shrinkage.change,
        noise: fit.shrinkage.noise,
        effective_sample_size: fit.weights.effective_sample_size(),
        test_mass: fit.test_mass.get(),
        assessment,
    })?;
    Ok((vector(py, fit.weights.as_slice().to_vec()), fit.test_mass.get(), document))
}

/// The weights of one reading, "calibrated" or "likelihood-ratio", and the test point's share.
#[pyfunction]
pub(crate) fn reading_weights<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray1<'_, f64>,
    covariates_cal: PyReadonlyArray2<'_, f64>,
    covariates_target: PyReadonlyArray2<'_, f64>,
    outputs: usize,
    reading: &str,
    seed: u64,
) -> PyResult<(Bound<'py, PyArray1<f64>>, f64)> {
    let reading = match reading {
        "calibrated" => RegressionReading::Calibrated,
        "likelihood-ratio" => RegressionReading::LikelihoodRatio,
        other => {
            let message = format!("{other} is no reading; say calibrated or likelihood-ratio");
            return Err(Failure::Setting(message).into());
        }
    };
    let scores = slice(&scores, "scores")?;
    let calibration = covariates("covariates_cal", &covariates_cal)?;
    let target = covariates("covariates_target", &covariates_target)?;
    let weights = detached(py, |_| {
        let points = ScoredPoints::new(scores, calibration, target, outputs)?;
        // The test asks for finite covariates; a reading alone has to.
        evenkeel::shift::covariate_test(calibration, target, 1, Seed::new(seed))?;
        Ok(points.weights(reading, Seed::new(seed))?)
    })?;
    let share = TestMass::from_unnormalised(1.0, weights.effective_sample_size());
    let share = share.map_err(Failure::from)?.get();
    Ok((vector(py, weights.as_slice().to_vec()), share))
}

/// The weights of a label plan over bins of `y`, and the test point's share.
#[pyfunction]
pub(crate) fn binned_plan_weights<'py>(
    py: Python<'py>,
    predictions_cal: PyReadonlyArray1<'_, f64>,
    y_cal: PyReadonlyArray1<'_, f64>,
    predictions_target: PyReadonlyArray1<'_, f64>,
    bins: usize,
) -> PyResult<(Bound<'py, PyArray1<f64>>, f64)> {
    let (predictions, y) = (slice(&predictions_cal, "predictions_cal")?, slice(&y_cal, "y_cal")?);
    let target = slice(&predictions_target, "predictions_target")?;
    let weights = detached(py, |_| {
        Ok(evenkeel::regression::binned_plan_weights(predictions, y, target, bins)?)
    })?;
    // The plan is a law of its own: nothing is left for the test point.
    Ok((vector(py, weights.as_slice().to_vec()), 0.0))
}

/// A calibration of scores with weights: `fixed`, or `uncorrected` where they are equal.
#[pyfunction]
pub(crate) fn calibrate_weighted(
    scores: PyReadonlyArray1<'_, f64>,
    weights: PyReadonlyArray1<'_, f64>,
    test_mass: f64,
    method: &str,
    alpha: f64,
    seed: u64,
) -> PyResult<FittedCalibration> {
    let (scores, weights) = (slice(&scores, "scores")?, slice(&weights, "weights")?);
    let fitted = || -> Result<FittedCalibration, Failure> {
        let method: MethodName = method.parse()?;
        let calibrator = ShiftCalibrator::new(alpha)?.seed(seed);
        let weights = Weights::normalised(weights.to_vec())?;
        let weighted = (&weights, TestMass::new(test_mass)?);
        let fitted = calibrator.fit_weighted(method, scores, weighted, 1)?;
        Ok(FittedCalibration::new(fitted.calibration, fitted.order, scores.len()))
    };
    Ok(fitted()?)
}

/// Scores and weights with those of labeled target points, the test point's share, and how far the labels pull.
type Pulled<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, f64, f64);

/// Weighted scores, pulled toward the scores of labeled target points.
#[pyfunction]
pub(crate) fn pull_to_labels<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray1<'_, f64>,
    weights: PyReadonlyArray1<'_, f64>,
    test_mass: f64,
    labeled: PyReadonlyArray1<'_, f64>,
    alpha: f64,
) -> PyResult<Pulled<'py>> {
    let (scores, weights) = (slice(&scores, "scores")?, slice(&weights, "weights")?);
    let labeled = slice(&labeled, "labeled")?;
    let pulled = || -> Result<_, Failure> {
        let weights = Weights::normalised(weights.to_vec())?;
        let weighted = (&weights, TestMass::new(test_mass)?);
        let alpha = Miscoverage::new(alpha)?;
        Ok(evenkeel::regression::with_labels(scores, weighted, labeled, alpha)?)
    };
    let found = pulled()?;
    let weights = vector(py, found.weights.as_slice().to_vec());
    Ok((vector(py, found.scores), weights, found.test_mass.get(), found.pull))
}

/// How likely rows drawn at random from a table differ from the others as much as the labeled ones do.
#[pyfunction]
pub(crate) fn random_draw_p_value(
    py: Python<'_>,
    labeled: PyReadonlyArray2<'_, f64>,
    others: PyReadonlyArray2<'_, f64>,
    seed: u64,
) -> PyResult<f64> {
    let (labeled, others) = (covariates("labeled", &labeled)?, covariates("others", &others)?);
    // A seed of its own: relabelings of the gate's test would be drawn again.
    let seed = Seed::new(seed).child("random-draw", 0);
    detached(py, |_| Ok(covariate_test(labeled, others, DRAW_RELABELINGS, seed)?.p_value))
}

/// The threshold that labels drawn at random guarantee: on average, or with a probability.
#[pyfunction]
pub(crate) fn guaranteed_threshold(
    labeled: PyReadonlyArray1<'_, f64>,
    alpha: f64,
    probability: Option<f64>,
) -> PyResult<f64> {
    let labeled = slice(&labeled, "labeled")?;
    let found = || -> Result<f64, Failure> {
        let guarantee = match probability {
            None => Guarantee::Average,
            Some(probability) => {
                Guarantee::Probability { probability: GuaranteeProbability::new(probability)? }
            }
        };
        let alpha = Miscoverage::new(alpha)?;
        let threshold = evenkeel::regression::guaranteed_threshold(labeled, alpha, guarantee)?;
        Ok(threshold.map_or(f64::INFINITY, Threshold::get))
    };
    Ok(found()?)
}

//! Probabilities -> a calibration.

use std::ops::ControlFlow;

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{MOST_CANDIDATES, Method, ShiftCalibrator, Today, WeightsChoice};
use evenkeel::reweighting::Halves;
use evenkeel::rows::{Real, Rows};
use evenkeel::sandwich::SandwichSketch;
use evenkeel::score::{CandidateScores, Labels, Probabilities, Score};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{LabelArray, Matrix, RowsWork, Table, ValueKind};
use crate::calibration::{FittedCalibration, ScoredRows};
use crate::door::{Stop, enter};
use crate::errors::Failure;
use crate::methods::Settings;

/// Learns a calibration from labeled probabilities of yesterday and unlabeled ones of today.
#[pyfunction]
#[pyo3(signature = (probs_cal, y_cal, probs_target, method, alpha, seed, logits, options))]
#[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn calibrate(
    py: Python<'_>,
    probs_cal: Matrix<'_>,
    y_cal: LabelArray<'_>,
    probs_target: Matrix<'_>,
    method: &str,
    alpha: f64,
    seed: u64,
    logits: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<FittedCalibration> {
    let calibrator = Settings::new(alpha, seed, options)?.calibrator(method)?;
    let kind = ValueKind::of(logits);
    let yesterday = probs_cal.table("probs_cal", kind)?;
    let labels = y_cal.labels("y_cal", &yesterday)?;
    let today = probs_target.table("probs_target", kind)?;
    enter(py, |stop| fit(&calibrator, &yesterday, &labels, &today, stop))
}

/// The same for checked inputs.
pub(crate) fn fit(
    calibrator: &ShiftCalibrator,
    yesterday: &Table<'_>,
    labels: &Labels,
    today: &Table<'_>,
    stop: &Stop,
) -> Result<FittedCalibration, Failure> {
    let classes = yesterday.columns();
    let score = calibrator.score.with_draws_for("calibration");
    let scores = yesterday.probabilities(LabelScores { score: &score, labels })?;
    today.require_classes(classes)?;
    let calibration = match today_of(calibrator, &scores, today)? {
        TodaySide::Candidates(candidates) => {
            fit_scores(calibrator, &scores, Today::Candidates(&candidates), classes, stop)?
        }
        TodaySide::Sketch(sketch) => {
            // The sketch holds the pair of laws the method asked for, and only that one.
            let sandwich = sketch.min_max().or_else(|_| sketch.model_uniform())?;
            fit_scores(calibrator, &scores, Today::Sandwich(&sandwich), classes, stop)?
        }
    };
    Ok(FittedCalibration::new(calibration, row_order(calibrator, &scores)?))
}

fn fit_scores(
    calibrator: &ShiftCalibrator,
    scores: &[f64],
    today: Today<'_>,
    classes: usize,
    stop: &Stop,
) -> Result<Calibration, Failure> {
    let range = calibrator.score.range(classes);
    let observer = &mut |_: &_| go_on_unless(stop);
    Ok(calibrator.calibrate_observed(scores, today, classes, range, observer)?)
}

/// What an observer of a fit answers.
pub(crate) fn go_on_unless(stop: &Stop) -> ControlFlow<()> {
    if stop.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Today's side: every candidate score, or a sketch of more of them than are kept, as on the command line.
enum TodaySide {
    Candidates(CandidateScores),
    Sketch(SandwichSketch),
}

fn today_of(
    calibrator: &ShiftCalibrator,
    scores: &[f64],
    today: &Table<'_>,
) -> Result<TodaySide, Failure> {
    let classes = today.columns();
    if today.rows() * classes > MOST_CANDIDATES
        && let Some((empty, score)) = calibrator.empty_sketch(scores, classes)?
    {
        return Ok(TodaySide::Sketch(today.probabilities(Sketch { empty, score: &score })?));
    }
    let score = calibrator.score.with_draws_for("today");
    Ok(TodaySide::Candidates(today.probabilities(Candidates { score: &score })?))
}

/// `s(x_i, y_i)`.
pub(crate) struct LabelScores<'a> {
    pub score: &'a Score,
    pub labels: &'a Labels,
}

impl RowsWork for LabelScores<'_> {
    type Output = Vec<f64>;

    fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<Vec<f64>> {
        self.score.label_scores(&Probabilities::from_rows(rows)?, self.labels)
    }
}

struct Candidates<'a> {
    score: &'a Score,
}

impl RowsWork for Candidates<'_> {
    type Output = CandidateScores;

    fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<CandidateScores> {
        self.score.candidate_scores(&Probabilities::from_rows(rows)?)
    }
}

struct Sketch<'a> {
    empty: SandwichSketch,
    score: &'a Score,
}

impl RowsWork for Sketch<'_> {
    type Output = SandwichSketch;

    fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<SandwichSketch> {
        self.empty.add_probabilities(0, rows, self.score)
    }
}

/// The row of the caller's table each stored score belongs to. The core stores scores in increasing order, equal ones
/// as they come, and of a weight function's two halves the one it calibrates on.
pub(crate) fn row_order(
    calibrator: &ShiftCalibrator,
    scores: &[f64],
) -> Result<ScoredRows, Failure> {
    let count = scores.len();
    let mut sorted: Vec<usize> = (0..scores.len()).collect();
    sorted.sort_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    match calibrator.method {
        Method::OptimalTransport(settings) if settings.weights == WeightsChoice::Function => {
            let half = Halves::new(scores.len(), calibrator.seed)?.calibrate;
            let mut rows: Vec<usize> = half.into_iter().map(|index| sorted[index]).collect();
            rows.sort_by(|a, b| scores[*a].total_cmp(&scores[*b]));
            Ok(ScoredRows { of_score: rows, count })
        }
        _ => Ok(ScoredRows { of_score: sorted, count }),
    }
}

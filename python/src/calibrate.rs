//! Probabilities -> a calibration.

use std::ops::ControlFlow;

use evenkeel::calibrator::{Fit, NextPass, ShiftCalibrator};
use evenkeel::learning::Halves;
use evenkeel::method::{Method, WeightsChoice, require_and_refuse};
use evenkeel::rows::{Real, Rows};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::side_inputs::{Labeled, PointSet, SideInputs};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{LabelArray, Matrix, RowsWork, Table, ValueKind};
use crate::calibration::{FittedCalibration, ScoredRows};
use crate::detached::{Stop, enter};
use crate::errors::{Failure, about};
use crate::methods::Settings;
use crate::side_inputs::BesideArrays;

/// Rows of the target data between two looks at Ctrl-C.
const BLOCK_ROWS: usize = 1 << 16;
/// The argument with target rows. Those that are not valid probabilities are found when they are used.
const TODAY: &str = "probs_target";

/// Learns a calibration from labeled probabilities of the calibration data and unlabeled ones of the target data.
#[pyfunction]
#[pyo3(signature = (
    probs_cal, y_cal, probs_target, beside_cal, beside_target, method, alpha, seed, logits, options
))]
#[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn calibrate(
    py: Python<'_>,
    probs_cal: Matrix<'_>,
    y_cal: LabelArray<'_>,
    probs_target: Matrix<'_>,
    beside_cal: &Bound<'_, PyDict>,
    beside_target: &Bound<'_, PyDict>,
    method: &str,
    alpha: f64,
    seed: u64,
    logits: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<FittedCalibration> {
    let beside = BesideArrays::of(beside_cal)?;
    let calibrator = Settings::new(alpha, seed, options)?.calibrator(method, beside.ratios())?;
    let beside_target = BesideArrays::of(beside_target)?;
    for (points, given) in
        [(PointSet::Calibration, beside.given()), (PointSet::Target, beside_target.given())]
    {
        require_and_refuse(&calibrator.method, points, &given).map_err(Failure::from)?;
    }
    let kind = ValueKind::of(logits);
    let table = probs_cal.table("probs_cal", kind)?;
    let labels = y_cal.labels("y_cal", &table)?;
    let beside = beside.checked(PointSet::Calibration, &table)?;
    let labeled = LabeledTable { table, labels: &labels, beside };
    let target = probs_target.table(TODAY, kind)?;
    let target = (target, beside_target.checked(PointSet::Target, &target)?);
    enter(py, |stop| fit(&calibrator, &labeled, target, stop))
}

/// Labeled points of the calibration data.
#[derive(Clone, Copy)]
pub(crate) struct LabeledTable<'a> {
    pub table: Table<'a>,
    pub labels: &'a Labels,
    pub beside: SideInputs<'a>,
}

/// The same for checked inputs.
pub(crate) fn fit(
    calibrator: &ShiftCalibrator,
    labeled: &LabeledTable<'_>,
    (target, beside): (Table<'_>, SideInputs<'_>),
    stop: &Stop,
) -> Result<FittedCalibration, Failure> {
    let LabeledTable { table, labels, .. } = labeled;
    let mut fit = table.probabilities(Begin { calibrator, labeled })?;
    target.require_classes(table.columns())?;
    loop {
        for first in (0..target.rows()).step_by(BLOCK_ROWS) {
            stop.go_on()?;
            let rows = first..target.rows().min(first + BLOCK_ROWS);
            let beside = beside.of_rows(rows.clone())?;
            target.block(first, rows.len(), Add { fit: &mut fit, beside })?;
        }
        if fit.end_pass().map_err(about(TODAY))? == NextPass::Enough {
            break;
        }
    }
    stop.go_on()?;
    let calibration = fit.finish(&mut |_| go_on_unless(stop)).map_err(about(TODAY))?;
    let score = calibrator.score.with_draws_for("calibration");
    let scores = table.probabilities(LabelScores { score: &score, labels })?;
    Ok(FittedCalibration::new(calibration, row_order(calibrator, &scores)?, &scores))
}

/// What an observer of a fit answers.
pub(crate) fn go_on_unless(stop: &Stop) -> ControlFlow<()> {
    if stop.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

struct Begin<'a> {
    calibrator: &'a ShiftCalibrator,
    labeled: &'a LabeledTable<'a>,
}

impl RowsWork for Begin<'_> {
    type Output = Fit;

    fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<Fit> {
        let LabeledTable { labels, beside, .. } = *self.labeled;
        let probabilities = &Probabilities::from_rows(rows)?;
        self.calibrator.begin(&Labeled { probabilities, labels, beside })
    }
}

struct Add<'a> {
    fit: &'a mut Fit,
    beside: SideInputs<'a>,
}

impl RowsWork for Add<'_> {
    type Output = ();

    fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<()> {
        self.fit.add(rows, self.beside)
    }
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

//! A calibration: thresholds, sets, evaluation, file.

use evenkeel::calibration::{Calibration, CalibrationHeader};
use evenkeel::conformal::{LabelSets, label_scores_of_rows};
use evenkeel::evaluation::{
    Evaluation, EvaluationCounts, GapPoint, LabelScoreCounts, percent_rates,
};
use evenkeel::level::Miscoverage;
use evenkeel::rows::{Real, Rows};
use evenkeel::score::{Randomisation, Score};
use evenkeel::side_inputs::{PointSet, SideInputs};
use evenkeel::threshold::Threshold;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::arrays::{LabelArray, Matrix, RowsWork, SHARE_ROWS, Table, ValueKind, matrix, vector};
use crate::detached::{Stop, enter};
use crate::errors::Failure;
use crate::side_inputs::BesideArrays;
use crate::spelling::PythonSpelling;

/// Rows between two looks at Ctrl-C.
const BLOCK_ROWS: usize = 1 << 17;

/// A fitted calibration, and which of the caller's rows its scores belong to.
#[pyclass(frozen, module = "evenkeel._evenkeel")]
pub(crate) struct FittedCalibration {
    calibration: Calibration,
    rows: Option<ScoredRows>,
}

/// Which of the caller's rows the stored scores belong to.
#[derive(Debug, Clone)]
pub(crate) struct ScoredRows {
    /// The row of each stored score.
    pub of_score: Vec<usize>,
    /// How many rows the caller gave.
    pub count: usize,
}

impl ScoredRows {
    /// None unless there is a row for each stored score, and no other.
    fn checked(self, stored: &[f64]) -> Option<Self> {
        let known = self.of_score.iter().all(|row| *row < self.count);
        (known && self.of_score.len() == stored.len()).then_some(self)
    }
}

impl FittedCalibration {
    /// `scores` are those of the caller's rows; where a method stored others, in another order, none is claimed.
    pub(crate) fn new(calibration: Calibration, rows: ScoredRows, scores: &[f64]) -> Self {
        let stored = calibration.scores();
        let rows = rows.checked(stored).filter(|rows| {
            let mut pairs = rows.of_score.iter().zip(stored);
            pairs.all(|(row, score)| {
                scores.get(*row).is_some_and(|own| own.to_bits() == score.to_bits())
            })
        });
        Self { calibration, rows }
    }

    pub(crate) fn calibration(&self) -> &Calibration {
        &self.calibration
    }
}

fn rate(alpha: Option<f64>) -> Result<Option<Miscoverage>, Failure> {
    Ok(alpha.map(Miscoverage::new).transpose()?)
}

#[pymethods]
impl FittedCalibration {
    /// Reads the text of a calibration file.
    #[staticmethod]
    #[pyo3(signature = (text, rows=None, row_count=0))]
    fn from_json(text: &str, rows: Option<Vec<usize>>, row_count: usize) -> PyResult<Self> {
        // What it is comes first: a file of a later version should not be called one with missing fields.
        if let Ok(header) = serde_json::from_str::<CalibrationHeader>(text) {
            header.check().map_err(|error| Failure::Calibration(error.spelled(&PythonSpelling)))?;
        }
        let calibration: Calibration = serde_json::from_str(text).map_err(|error| {
            let reason = format!("{error}; give a file written by `evenkeel calibrate`");
            Failure::Calibration(reason)
        })?;
        let rows = rows.map(|of_score| ScoredRows { of_score, count: row_count });
        let rows = rows.and_then(|rows| rows.checked(calibration.scores()));
        Ok(Self { calibration, rows })
    }

    /// The text of a calibration file.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.calibration)
            .map_err(|error| Failure::Calibration(format!("could not write JSON: {error}")).into())
    }

    #[getter]
    fn method(&self) -> &'static str {
        self.calibration.provenance().method.as_str()
    }

    #[getter]
    fn assumption(&self) -> &'static str {
        self.calibration.provenance().method.assumption()
    }

    #[getter]
    fn score(&self) -> &'static str {
        self.calibration.provenance().score.name()
    }

    /// Whether a score draws a uniform number for every row.
    #[getter]
    fn randomised(&self) -> bool {
        let randomisation = match self.calibration.provenance().score {
            Score::Aps(aps) => aps.randomisation,
            Score::Raps(raps) => raps.randomisation(),
            _ => Randomisation::Deterministic,
        };
        randomisation != Randomisation::Deterministic
    }

    #[getter]
    fn classes(&self) -> usize {
        self.calibration.provenance().classes
    }

    #[getter]
    fn alpha(&self) -> f64 {
        self.calibration.provenance().alpha.get()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.calibration.provenance().seed.get()
    }

    #[getter]
    fn test_mass(&self) -> f64 {
        self.calibration.test_mass().get()
    }

    /// "A threshold for each point" or "... label"; none if there is one for all.
    #[getter]
    fn own_thresholds(&self) -> Option<&'static str> {
        self.calibration.thresholds_differ_by().words()
    }

    #[getter]
    fn effective_sample_size(&self) -> f64 {
        self.calibration.effective_sample_size()
    }

    #[getter]
    fn bound_before(&self) -> Option<f64> {
        self.calibration.learned().bound_before
    }

    #[getter]
    fn bound_after(&self) -> Option<f64> {
        self.calibration.learned().bound_after
    }

    #[getter]
    fn steps(&self) -> usize {
        self.calibration.learned().steps
    }

    #[getter]
    fn stopped(&self) -> &'static str {
        self.calibration.learned().stopped.name()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.calibration.warnings()
    }

    /// What was done and why, for the methods that decide something themselves.
    #[getter]
    fn account(&self) -> Option<String> {
        self.calibration.account()
    }

    /// What the method measured on its way, as JSON.
    #[getter]
    fn evidence(&self) -> PyResult<Option<String>> {
        let evidence = self.calibration.learned().evidence.as_ref().map(serde_json::to_string);
        evidence
            .transpose()
            .map_err(|error| Failure::Calibration(format!("could not write JSON: {error}")).into())
    }

    /// Scores as they are stored, increasing.
    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, self.calibration.scores().to_vec())
    }

    /// Their weights.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, self.calibration.weights().as_slice().to_vec())
    }

    /// The row each stored score belongs to, if it is known.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<i64>>> {
        let rows = &self.rows.as_ref()?.of_score;
        let rows: Vec<i64> = rows.iter().filter_map(|row| i64::try_from(*row).ok()).collect();
        Some(vector(py, rows))
    }

    /// How many rows the caller gave, if that is known.
    #[getter]
    fn row_count(&self) -> usize {
        self.rows.as_ref().map_or(0, |rows| rows.count)
    }

    /// Steps, objective, effective sample size and threshold along the way.
    #[getter]
    #[allow(clippy::type_complexity, reason = "four columns of one table")]
    fn trace<'py>(
        &self,
        py: Python<'py>,
    ) -> (
        Bound<'py, PyArray1<i64>>,
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray1<f64>>,
    ) {
        let points = self.calibration.learned().trace.points();
        let steps = points.iter().map(|point| i64::try_from(point.step).unwrap_or(i64::MAX));
        (
            vector(py, steps.collect()),
            vector(py, points.iter().map(|point| point.objective).collect()),
            vector(py, points.iter().map(|point| point.effective_sample_size).collect()),
            vector(py, points.iter().map(|point| point.threshold.get()).collect()),
        )
    }

    /// The threshold at a miscoverage rate; infinite where every label is in every set, none where points or labels have
    /// their own.
    #[pyo3(signature = (alpha=None))]
    fn threshold(&self, alpha: Option<f64>) -> PyResult<Option<f64>> {
        Ok(self.calibration.threshold(rate(alpha)?).map(Threshold::get))
    }

    /// The sets of rows of probabilities; bool `(n, C)`.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        probs: Matrix<'_>,
        beside: &Bound<'py, PyDict>,
        alpha: Option<f64>,
        logits: bool,
        first_row: usize,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let alpha = rate(alpha)?;
        let table = probs.table("probs", ValueKind::of(logits))?;
        table.require_classes(self.calibration.provenance().classes)?;
        let beside = BesideArrays::of(beside)?;
        let beside = beside.checked(PointSet::Predicted, &table)?;
        let asked = Asked { calibration: &self.calibration, beside, alpha, first_row };
        let sets = enter(py, |stop| predict(&asked, &table, stop))?;
        matrix(py, sets, table.columns())
    }

    /// Coverage, sizes and gap on labeled rows, under the names of the command line's JSON.
    #[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        probs: Matrix<'_>,
        y: LabelArray<'_>,
        beside: &Bound<'py, PyDict>,
        alpha: Option<f64>,
        logits: bool,
        first_row: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let alpha = rate(alpha)?;
        let table = probs.table("probs", ValueKind::of(logits))?;
        table.require_classes(self.calibration.provenance().classes)?;
        let labels = y.labels("y", &table)?;
        let beside = BesideArrays::of(beside)?;
        let beside = beside.checked(PointSet::Predicted, &table)?;
        let asked = Asked { calibration: &self.calibration, beside, alpha, first_row };
        let work = |stop: &Stop| evaluate(&asked, &table, labels.as_slice(), stop);
        evaluation_dict(py, &enter(py, work)?.evaluation)
    }
}

/// What sets are asked for.
pub(crate) struct Asked<'a> {
    pub calibration: &'a Calibration,
    /// Of all rows.
    pub beside: SideInputs<'a>,
    pub alpha: Option<Miscoverage>,
    /// Where the rows begin in the whole stream they are part of: randomised scores draw by position.
    pub first_row: usize,
}

/// Sets of one share of the rows.
struct Sets<'a> {
    asked: &'a Asked<'a>,
    first: usize,
}

impl RowsWork for Sets<'_> {
    type Output = LabelSets;

    fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<LabelSets> {
        let Asked { calibration, beside, alpha, first_row } = self.asked;
        let beside = beside.of_rows(self.first..self.first + rows.rows())?;
        calibration.predict_beside(first_row + self.first, rows, beside, *alpha)
    }
}

/// Row-major membership of every label in every set.
fn predict(asked: &Asked<'_>, table: &Table<'_>, stop: &Stop) -> Result<Vec<bool>, Failure> {
    let (columns, rows) = (table.columns(), table.rows());
    let mut members = vec![false; rows * columns];
    for (block, out) in members.chunks_mut(BLOCK_ROWS * columns).enumerate() {
        stop.go_on()?;
        let start = block * BLOCK_ROWS;
        let part = table.part(start, out.len() / columns);
        let sets = part.shares(|first| Sets { asked, first: start + first });
        let shares = out.par_chunks_mut(SHARE_ROWS * columns);
        sets.zip(shares).try_for_each(|(sets, out)| {
            for (labels, row) in sets?.iter().zip(out.chunks_exact_mut(columns)) {
                for label in labels {
                    row[label] = true;
                }
            }
            Ok::<(), Failure>(())
        })?;
    }
    Ok(members)
}

/// What is counted about one calibration on labeled rows.
pub(crate) struct Measured {
    pub evaluation: Evaluation,
    pub gap_curve: Vec<GapPoint>,
}

struct Count<'a> {
    sets: Sets<'a>,
    labels: &'a [usize],
}

impl RowsWork for Count<'_> {
    type Output = (EvaluationCounts, LabelScoreCounts);

    fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<Self::Output> {
        let Asked { calibration, first_row, .. } = self.sets.asked;
        let first = first_row + self.sets.first;
        let score = calibration.provenance().score.with_draws_for("test");
        let scores = label_scores_of_rows(first, rows, &score, self.labels)?;
        let sets = self.sets.run(rows)?;
        Ok((
            EvaluationCounts::new(rows.columns())?.add(first, &sets, self.labels)?,
            calibration.label_score_counts().add(first, &scores)?,
        ))
    }
}

/// Evaluates a calibration on labeled rows, on all threads; counts are whole, so their number changes nothing.
pub(crate) fn evaluate(
    asked: &Asked<'_>,
    table: &Table<'_>,
    labels: &[usize],
    stop: &Stop,
) -> Result<Measured, Failure> {
    let calibration = asked.calibration;
    let mut counts = EvaluationCounts::new(table.columns())?;
    let mut scores = calibration.label_score_counts();
    for start in (0..table.rows()).step_by(BLOCK_ROWS) {
        stop.go_on()?;
        let end = table.rows().min(start + BLOCK_ROWS);
        let part = table.part(start, end - start);
        let counted = part.shares(|first| {
            let rows = start + first..end.min(start + first + SHARE_ROWS);
            Count { sets: Sets { asked, first: rows.start }, labels: &labels[rows] }
        });
        for share in counted.collect::<Result<Vec<_>, _>>()? {
            counts = counts.merge(&share.0)?;
            scores = scores.merge(&share.1)?;
        }
    }
    let law = scores.law()?;
    let alpha = asked.alpha.unwrap_or(calibration.provenance().alpha);
    Ok(Measured {
        evaluation: counts.finish(alpha, calibration.total_gap(&law))?,
        gap_curve: calibration.gap_curve(&law, &percent_rates()),
    })
}

/// An evaluation under the names of the command line's JSON.
pub(crate) fn evaluation_dict<'py>(
    py: Python<'py>,
    evaluation: &Evaluation,
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("n", evaluation.n)?;
    all.set_item("alpha", evaluation.alpha.get())?;
    all.set_item("coverage", evaluation.coverage)?;
    all.set_item("mean_size", evaluation.mean_size)?;
    all.set_item("median_size", evaluation.median_size)?;
    all.set_item("empty", evaluation.empty)?;
    all.set_item("full", evaluation.full)?;
    all.set_item("total_coverage_gap", evaluation.total_coverage_gap)?;
    let mut per_class = Vec::new();
    for class in &evaluation.per_class {
        let row = PyDict::new(py);
        row.set_item("label", class.label)?;
        row.set_item("n", class.n)?;
        row.set_item("coverage", class.coverage)?;
        per_class.push(row);
    }
    let mut by_size = Vec::new();
    for size in &evaluation.by_size {
        let row = PyDict::new(py);
        row.set_item("size", size.size)?;
        row.set_item("n", size.n)?;
        row.set_item("coverage", size.coverage)?;
        by_size.push(row);
    }
    all.set_item("per_class", per_class)?;
    all.set_item("by_size", by_size)?;
    Ok(all)
}

//! A calibration: thresholds, sets, evaluation, file.

use evenkeel::calibration::{Calibration, ClassNames};
use evenkeel::conformal::LabelSets;
use evenkeel::error::PointSet;
use evenkeel::level::Miscoverage;
use evenkeel::score::{Randomisation, Score};
use evenkeel::side_inputs::SideInput;
use evenkeel::threshold::Threshold;
use evenkeel_jobs::{TargetLabels, parse_calibration, refuse_unused, sentences};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::arrays::{LabelArray, Matrix, matrix, vector};
use crate::detached::detached;
use crate::errors::Failure;
use crate::json;
use crate::points::{Points, SideArrays};

/// A fitted calibration, and which of the caller's rows its scores belong to.
#[pyclass(frozen, module = "evenkeel._evenkeel")]
pub(crate) struct FittedCalibration {
    calibration: Calibration,
    rows: Option<ScoredRows>,
    /// Classes that one threshold covers far below the level; not part of the file.
    class_warning: Option<String>,
}

/// Which of the caller's rows the stored scores belong to.
struct ScoredRows {
    /// The row of each stored score.
    of_score: Vec<usize>,
    /// How many rows the caller gave.
    count: usize,
}

impl FittedCalibration {
    /// `order` are the caller's rows of the stored scores, out of `count`.
    pub(crate) fn new(calibration: Calibration, order: Vec<usize>, count: usize) -> Self {
        let rows = Some(ScoredRows { of_score: order, count });
        Self { calibration, rows, class_warning: None }
    }

    /// With what to know about its classes.
    pub(crate) fn with_class_warning(self, class_warning: Option<String>) -> Self {
        Self { class_warning, ..self }
    }

    /// What it holds.
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
        let calibration = parse_calibration(text).map_err(Failure::from)?;
        let fits = |rows: &ScoredRows| {
            let known = rows.of_score.iter().all(|row| *row < rows.count);
            known && rows.of_score.len() == calibration.scores().len()
        };
        // Rows that do not fit are dropped, not refused: the calibration itself is sound without
        // them.
        let rows = rows.map(|of_score| ScoredRows { of_score, count: row_count }).filter(fits);
        Ok(Self { calibration, rows, class_warning: None })
    }

    /// The calibration with these labels of target rows added to those it was made with.
    fn update(
        &self,
        py: Python<'_>,
        probs_target: Matrix<'_>,
        target_labels: Vec<(usize, usize)>,
        logits: &str,
    ) -> PyResult<Self> {
        let none = SideArrays::default();
        let target = Points::new(("probs_target", PointSet::Target), &probs_target, &none, logits)?;
        let labels = TargetLabels::new("y_target", target_labels, target.classes());
        let labels = labels.map_err(Failure::from)?;
        detached(py, |watcher| {
            let before = ("the calibration", &self.calibration);
            let fitted = evenkeel_jobs::update(before, &labels, &mut target.source()?, watcher)?;
            // The rows are those that it keeps, in their order.
            let count = fitted.calibration.scores().len();
            Ok(Self::new(fitted.calibration, fitted.order, count))
        })
    }

    /// The same with names of the columns and the classes.
    fn named(&self, columns: Option<Vec<String>>, classes: Option<Vec<String>>) -> PyResult<Self> {
        let names = ClassNames { columns, classes };
        let calibration =
            self.calibration.clone().with_class_names(names).map_err(Failure::from)?;
        let rows = self
            .rows
            .as_ref()
            .map(|rows| ScoredRows { of_score: rows.of_score.clone(), count: rows.count });
        Ok(Self { calibration, rows, class_warning: self.class_warning.clone() })
    }

    /// Columns of the tables it was made of.
    #[getter]
    fn columns(&self) -> Option<Vec<String>> {
        self.calibration.class_names().and_then(|names| names.columns.clone())
    }

    /// Names of the classes.
    #[getter]
    fn class_names(&self) -> Option<Vec<String>> {
        self.calibration.class_names().and_then(|names| names.classes.clone())
    }

    /// The text of a calibration file.
    fn to_json(&self) -> PyResult<String> {
        json(&self.calibration)
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
    fn total_gap_bound_before(&self) -> Option<f64> {
        self.calibration.learned().total_gap_bound_before
    }

    #[getter]
    fn total_gap_bound_after(&self) -> Option<f64> {
        self.calibration.learned().total_gap_bound_after
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
        evenkeel_jobs::sentences::warnings_of(&self.calibration)
    }

    /// Which classes one threshold covers far below the level, by the calibration labels; known after a fit.
    #[getter]
    fn class_warning(&self) -> Option<String> {
        self.class_warning.clone()
    }

    /// What was done and why, for the methods that decide something themselves.
    #[getter]
    fn account(&self) -> Option<String> {
        sentences::account(&self.calibration)
    }

    /// What it came to, for people.
    #[getter]
    fn sentences(&self) -> Vec<String> {
        sentences::calibrated(&self.calibration, None)
    }

    /// What the method measured on its way, as JSON.
    #[getter]
    fn evidence(&self) -> PyResult<Option<String>> {
        self.calibration.learned().evidence.as_ref().map(json).transpose()
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
        side: &Bound<'py, PyDict>,
        alpha: Option<f64>,
        logits: &str,
        first_row: usize,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let alpha = rate(alpha)?;
        let side = self.used(side)?;
        let points = Points::new(("probs", PointSet::Predicted), &probs, &side, logits)?;
        let classes = self.calibration.provenance().classes;
        let members = detached(py, |watcher| {
            let mut source = points.source()?.starting_at(first_row);
            let mut members = vec![false; points.count() * classes];
            let mut rest = members.as_mut_slice();
            let sink = &mut |sets: &LabelSets| {
                // Each block is written to its place at once: collecting sets first would double
                // the memory.
                let (block, later) =
                    std::mem::take(&mut rest).split_at_mut(sets.rows() * sets.classes());
                rest = later;
                fill(block, sets);
                Ok(())
            };
            evenkeel_jobs::predict(&self.calibration, alpha, &mut source, sink, watcher)?;
            Ok(members)
        })?;
        matrix(py, members, classes)
    }

    /// Coverage, sizes and gap on labeled rows: the document of `evenkeel evaluate`.
    #[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn evaluate(
        &self,
        py: Python<'_>,
        probs: Matrix<'_>,
        y: LabelArray<'_>,
        side: &Bound<'_, PyDict>,
        alpha: Option<f64>,
        logits: &str,
        first_row: usize,
    ) -> PyResult<String> {
        let alpha = rate(alpha)?;
        let side = self.used(side)?;
        let points = Points::new(("probs", PointSet::Predicted), &probs, &side, logits)?;
        let labels = points.labels("y", y.whole("y")?, self.calibration.provenance().classes)?;
        let evaluated = detached(py, |watcher| {
            let source = points.source()?.starting_at(first_row);
            let mut source = source.with_labels("y", &labels)?;
            Ok(evenkeel_jobs::evaluate(&self.calibration, alpha, &mut source, watcher)?)
        })?;
        json(&evaluated.document(None))
    }
}

impl FittedCalibration {
    /// What stands beside the rows, all of which the calibration must have a use for.
    fn used<'py>(&self, side: &Bound<'py, PyDict>) -> PyResult<SideArrays<'py>> {
        let side = SideArrays::of(side)?;
        let given = side.given();
        let (features, ratios) = (SideInput::Features, SideInput::Ratios);
        refuse_unused(&self.calibration, given.contains(&features), given.contains(&ratios))
            .map_err(Failure::from)?;
        Ok(side)
    }
}

/// Rows of one thread's share.
// Enough that handing a share to a thread costs nothing beside filling it.
const SHARE_ROWS: usize = 2048;

/// Row-major membership of every label in every set.
pub(crate) fn fill(members: &mut [bool], sets: &LabelSets) {
    let classes = sets.classes();
    let shares = members.par_chunks_mut(SHARE_ROWS * classes).enumerate();
    // Threads write to disjoint rows.
    shares.for_each(|(share, members)| sets.write_bools(share * SHARE_ROWS, members));
}

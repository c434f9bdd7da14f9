//! A calibration of any kind: thresholds, sets, evaluation, file.

use evenkeel::calibration::{Calibration, ClassNames};
use evenkeel::conformal::LabelSets;
use evenkeel::error::PointSet;
use evenkeel::level::Miscoverage;
use evenkeel::score::{Randomisation, Score};
use evenkeel::side_inputs::SideInput;
use evenkeel::threshold::Threshold;
use evenkeel_jobs::grouped::{
    AnyCalibration, EvaluatedGroups, GroupColumn, MemoryGroups, evaluate_any,
    parse_any_calibration, predict_any,
};
use evenkeel_jobs::{Calibrated, TargetLabels, sentences};
use numpy::{PyArray1, PyReadonlyArray1, PyReadwriteArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::arrays::{LabelArray, Matrix, Table, slice, vector};
use crate::detached::detached;
use crate::errors::Failure;
use crate::json;
use crate::label_lists::{LabelLists, predict_with_keys};
use crate::pages::{Found, Page};
use crate::per_group;
use crate::points::{Points, SideArrays};
use crate::spelling::in_python;

/// A fitted calibration of any kind, and which of the caller's rows its scores belong to.
#[pyclass(frozen, module = "evenkeel._evenkeel")]
pub(crate) struct FittedCalibration {
    calibration: AnyCalibration,
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
        Self { calibration: AnyCalibration::One(calibration), rows, class_warning: None }
    }

    /// One with a threshold for each class or group, whose rows are not known.
    pub(crate) fn per_group(calibration: AnyCalibration) -> Self {
        Self { calibration, rows: None, class_warning: None }
    }

    /// With what to know about its classes.
    pub(crate) fn with_class_warning(self, class_warning: Option<String>) -> Self {
        Self { class_warning: class_warning.map(in_python), ..self }
    }

    /// With names of the columns and the classes.
    pub(crate) fn named_by(self, names: ClassNames) -> Result<Self, Failure> {
        Ok(Self { calibration: per_group::named(self.calibration, names)?, ..self })
    }

    /// One whose rows are known, named.
    pub(crate) fn of_job(
        fitted: Calibrated,
        count: usize,
        names: ClassNames,
    ) -> Result<Self, Failure> {
        let said = fitted.class_warning(names.classes.as_deref());
        Self::new(fitted.calibration, fitted.order, count).with_class_warning(said).named_by(names)
    }

    /// The calibration where it has one threshold for all; an error where it has more.
    pub(crate) fn one(&self) -> Result<&Calibration, Failure> {
        per_group::one(&self.calibration)
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
        let calibration = parse_any_calibration(text).map_err(Failure::from)?;
        let fits = |rows: &ScoredRows| {
            let known = rows.of_score.iter().all(|row| *row < rows.count);
            known && rows.of_score.len() as u64 == calibration.points()
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
        let one = self.one()?;
        detached(py, |watcher| {
            let before = ("the calibration", one);
            let fitted = evenkeel_jobs::update(before, &labels, &mut target.source()?, watcher)?;
            // The rows are those that it keeps, in their order.
            let count = fitted.calibration.scores().len();
            Ok(Self::new(fitted.calibration, fitted.order, count))
        })
    }

    /// Columns of the tables it was made of.
    #[getter]
    fn columns(&self) -> Option<Vec<String>> {
        self.calibration.class_names().and_then(|names| names.columns.clone())
    }

    /// Names of the classes.
    #[getter]
    fn class_names(&self) -> Option<Vec<String>> {
        per_group::class_names(&self.calibration).map(<[String]>::to_vec)
    }

    /// The text of a calibration file.
    fn to_json(&self) -> PyResult<String> {
        json(&self.calibration)
    }

    /// The same without the data it was made of, which prediction does not need: what travels to many machines.
    fn to_slim_json(&self) -> PyResult<String> {
        match &self.calibration {
            AnyCalibration::One(one) => json(&one.clone().without_reference()),
            other => json(other),
        }
    }

    /// `one`, or `class` or `group` where each has a threshold of its own.
    #[getter]
    fn per(&self) -> &'static str {
        per_group::per(&self.calibration)
    }

    /// The document of `evenkeel calibrate`, with a line for each class or group; without the seconds.
    #[getter]
    fn document(&self) -> PyResult<String> {
        per_group::document(&self.calibration)
    }

    /// Names of the groups, or numbers of the classes, with the threshold of each.
    fn thresholds(&self, alpha: Option<f64>) -> PyResult<Vec<(String, Option<f64>)>> {
        Ok(per_group::thresholds(&self.calibration, rate(alpha)?))
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
    fn test_mass(&self) -> PyResult<f64> {
        Ok(self.one()?.test_mass().get())
    }

    #[getter]
    fn effective_sample_size(&self) -> PyResult<f64> {
        Ok(self.one()?.effective_sample_size())
    }

    #[getter]
    fn bound_before(&self) -> PyResult<Option<f64>> {
        Ok(self.one()?.learned().bound_before)
    }

    #[getter]
    fn bound_after(&self) -> PyResult<Option<f64>> {
        Ok(self.one()?.learned().bound_after)
    }

    #[getter]
    fn total_gap_bound_before(&self) -> PyResult<Option<f64>> {
        Ok(self.one()?.learned().total_gap_bound_before)
    }

    #[getter]
    fn total_gap_bound_after(&self) -> PyResult<Option<f64>> {
        Ok(self.one()?.learned().total_gap_bound_after)
    }

    #[getter]
    fn steps(&self) -> PyResult<usize> {
        Ok(self.one()?.learned().steps)
    }

    #[getter]
    fn stopped(&self) -> PyResult<&'static str> {
        Ok(self.one()?.learned().stopped.name())
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        per_group::warnings(&self.calibration)
    }

    /// Which classes one threshold covers far below the level, by the calibration labels; known after a fit.
    #[getter]
    fn class_warning(&self) -> Option<String> {
        self.class_warning.clone()
    }

    /// What was done and why, for the methods that decide something themselves.
    #[getter]
    fn account(&self) -> PyResult<Option<String>> {
        Ok(sentences::account(self.one()?))
    }

    /// What it came to, for people.
    #[getter]
    fn sentences(&self) -> Vec<String> {
        per_group::said(&self.calibration)
    }

    /// What the method measured on its way, as JSON.
    #[getter]
    fn evidence(&self) -> PyResult<Option<String>> {
        self.one()?.learned().evidence.as_ref().map(json).transpose()
    }

    /// Scores as they are stored, increasing.
    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(vector(py, self.one()?.scores().to_vec()))
    }

    /// Their weights.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(vector(py, self.one()?.weights().as_slice().to_vec()))
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
    ) -> PyResult<(
        Bound<'py, PyArray1<i64>>,
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray1<f64>>,
    )> {
        let points = self.one()?.learned().trace.points();
        let steps = points.iter().map(|point| i64::try_from(point.step).unwrap_or(i64::MAX));
        Ok((
            vector(py, steps.collect()),
            vector(py, points.iter().map(|point| point.objective).collect()),
            vector(py, points.iter().map(|point| point.effective_sample_size).collect()),
            vector(py, points.iter().map(|point| point.threshold.get()).collect()),
        ))
    }

    /// The threshold at a miscoverage rate; infinite where every label is in every set, none where points or labels have
    /// their own.
    #[pyo3(signature = (alpha=None))]
    fn threshold(&self, alpha: Option<f64>) -> PyResult<Option<f64>> {
        Ok(self.one()?.threshold(rate(alpha)?).map(Threshold::get))
    }

    /// Writes the sets of rows of probabilities to `members`, zeros and ones of shape `(n, C)`. A calibration per group needs the
    /// group of each row.
    #[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        probs: Table<'_>,
        members: PyReadwriteArray2<'py, u8>,
        side: &Bound<'py, PyDict>,
        groups: Option<Vec<String>>,
        alpha: Option<f64>,
        logits: &str,
        first_row: usize,
    ) -> PyResult<()> {
        let alpha = rate(alpha)?;
        let side = self.used(side)?;
        let columns = probs.columns("probs")?;
        let table = probs.whole("probs", &columns)?;
        let points = Points::of_table(("probs", PointSet::Predicted), table, &side, logits)?;
        let mut members = members;
        let members = members.as_slice_mut().map_err(|_| Failure::not_contiguous("the sets"))?;
        detached(py, |watcher| {
            // A few blocks in the cache: sets are counted and written out while they are there.
            let rows = table.cached_rows();
            let mut source = points.source()?.starting_at(first_row).in_blocks_of(rows);
            let mut rest = members;
            let sink = &mut |sets: &LabelSets| {
                // Each block is written to its place at once: collecting sets first would double
                // the memory.
                let here = std::mem::take(&mut rest);
                let cells = (sets.rows() * sets.classes()).min(here.len());
                let (block, later) = here.split_at_mut(cells);
                rest = later;
                fill(block, sets);
                Ok(())
            };
            let mut column = groups.as_deref().map(|groups| MemoryGroups::new("groups", groups));
            let column = column.as_mut().map(|column| column as &mut dyn GroupColumn);
            predict_any(&self.calibration, alpha, &mut source, column, sink, watcher)?;
            Ok(())
        })
    }

    /// The same as lists: where each set begins among the labels, and the labels of all sets. `keys` address the draws of
    /// randomised scores, where rows do not follow each other.
    #[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn predict_lists<'py>(
        &self,
        py: Python<'py>,
        probs: Table<'_>,
        keys: Option<PyReadonlyArray1<'_, u64>>,
        side: &Bound<'py, PyDict>,
        groups: Option<Vec<String>>,
        alpha: Option<f64>,
        logits: &str,
        first_row: usize,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyArray1<i32>>)> {
        let alpha = rate(alpha)?;
        let side = self.used(side)?;
        let columns = probs.columns("probs")?;
        let table = probs.whole("probs", &columns)?;
        let points = Points::of_table(("probs", PointSet::Predicted), table, &side, logits)?;
        let keys = keys.as_ref().map(|keys| slice(keys, "key")).transpose()?;
        let mut lists = LabelLists::new(table.rows());
        let lists = detached(py, |watcher| {
            let mut source = points.source()?.starting_at(first_row);
            let sink = &mut |sets: &LabelSets| {
                lists.add(sets);
                Ok(())
            };
            if let Some(keys) = keys {
                predict_with_keys(self.one()?, alpha, &mut source, keys, sink)?;
                return Ok(lists);
            }
            let mut column = groups.as_deref().map(|groups| MemoryGroups::new("groups", groups));
            let column = column.as_mut().map(|column| column as &mut dyn GroupColumn);
            predict_any(&self.calibration, alpha, &mut source, column, sink, watcher)?;
            Ok(lists)
        })?;
        lists.into_arrays(py)
    }

    /// Coverage, sizes and gap on labeled rows: the document of `evenkeel evaluate`, and its page.
    #[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn evaluate(
        &self,
        py: Python<'_>,
        probs: Matrix<'_>,
        y: LabelArray<'_>,
        side: &Bound<'_, PyDict>,
        groups: Option<Vec<String>>,
        alpha: Option<f64>,
        logits: &str,
        first_row: usize,
    ) -> PyResult<(String, Page)> {
        let alpha = rate(alpha)?;
        let side = self.used(side)?;
        let points = Points::new(("probs", PointSet::Predicted), &probs, &side, logits)?;
        let provenance = self.calibration.provenance();
        let labels = points.labels("y", y.whole("y")?, provenance.classes)?;
        let evaluated = detached(py, |watcher| {
            let source = points.source()?.starting_at(first_row);
            let mut source = source.with_labels("y", &labels)?;
            if let (AnyCalibration::One(one), None) = (&self.calibration, &groups) {
                // In one pass; what can be of any kind takes two.
                let found = evenkeel_jobs::evaluate(one, alpha, &mut source, watcher)?;
                let (class_thresholds, per_group) = (Vec::new(), Vec::new());
                let evaluation = found.evaluation;
                return Ok(EvaluatedGroups { evaluation, class_thresholds, per_group });
            }
            let mut column = groups.as_deref().map(|groups| MemoryGroups::new("groups", groups));
            let column = column.as_mut().map(|column| column as &mut dyn GroupColumn);
            Ok(evaluate_any(&self.calibration, alpha, &mut source, column, watcher)?)
        })?;
        let names = per_group::class_names(&self.calibration);
        let document = json(&evaluated.document(names))?;
        let command = match &self.calibration {
            AnyCalibration::One(one) if one.reference().is_some() => {
                Some("evenkeel.calibrate(calibration=calibration, probs_target=probs, y_target=y)")
            }
            AnyCalibration::One(_) => {
                Some("evenkeel.calibrate(probs_cal, y_cal, probs, y_target=y)")
            }
            AnyCalibration::PerClass(_) | AnyCalibration::PerGroup(_) => None,
        };
        let command = command.map(str::to_owned);
        let found = Found::Evaluation { evaluated, points: self.calibration.points() };
        let page = Page::new(found, provenance.seed.get(), names.map(<[String]>::to_vec));
        Ok((document, page.with_command(command)))
    }
}

impl FittedCalibration {
    /// What stands beside the rows, all of which the calibration must have a use for.
    fn used<'py>(&self, side: &Bound<'py, PyDict>) -> PyResult<SideArrays<'py>> {
        let side = SideArrays::of(side)?;
        let given = side.given();
        let (features, ratios) = (SideInput::Features, SideInput::Ratios);
        self.calibration
            .refuse_unused(given.contains(&features), given.contains(&ratios))
            .map_err(Failure::from)?;
        Ok(side)
    }
}

/// Rows of one thread's share.
// Enough that handing a share to a thread costs nothing beside filling it.
const SHARE_ROWS: usize = 2048;

/// Row-major membership of every label in every set.
fn fill(members: &mut [u8], sets: &LabelSets) {
    let classes = sets.classes();
    let shares = members.par_chunks_mut(SHARE_ROWS * classes).enumerate();
    // Threads write to disjoint rows.
    shares.for_each(|(share, members)| sets.write_bytes(share * SHARE_ROWS, members));
}

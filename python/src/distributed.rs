//! Jobs whose rows lie with other processes: drivers, parts, and states as bytes.

use std::ops::ControlFlow;
use std::sync::Mutex;

use evenkeel::calibration::ClassNames;
use evenkeel::error::PointSet;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::label_plan::PlanAssumptions;
use evenkeel::rows::RowKeys;
use evenkeel::side_inputs::TargetLabels;
use evenkeel_jobs::distributed::{
    CheckPassEnded, DistributedCheck, DistributedEvaluation, DistributedFit, FitPassEnded,
    PartRows, ReadyFit, RowsPart,
};
use evenkeel_jobs::grouped::EvaluatedGroups;
use evenkeel_jobs::{CheckJob, Checked, Observer, RowSource};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{LabelArray, Matrix, slice, vector};
use crate::calibrate::require_sides;
use crate::calibration::FittedCalibration;
use crate::check::{Asked, CheckAnswer, Steps, curves, reference_of};
use crate::detached::detached;
use crate::errors::Failure;
use crate::json;
use crate::methods::Settings;
use crate::pages::{Found, Page};
use crate::points::{Points, SideArrays, seen};

/// What a job is held in between calls. Calls take it out and put it back, so that none is left half changed.
type Held<T> = Mutex<Option<T>>;

/// Takes the job out, and puts back what `work` makes of it; after an error there is none.
fn step<T, R>(
    held: &Held<T>,
    work: impl FnOnce(T) -> Result<(Option<T>, R), Failure>,
) -> Result<R, Failure> {
    let mut place = held.lock().map_err(|_| ended())?;
    let (next, result) = work(place.take().ok_or_else(ended)?)?;
    *place = next;
    Ok(result)
}

/// Looks at the job without changing it.
fn look<T, R>(held: &Held<T>, work: impl FnOnce(&T) -> Result<R, Failure>) -> Result<R, Failure> {
    let place = held.lock().map_err(|_| ended())?;
    work(place.as_ref().ok_or_else(ended)?)
}

fn ended() -> Failure {
    Failure::Setting("this job has ended, with its result or with an error; begin a new one".into())
}

fn order(expected: &str) -> Failure {
    Failure::Setting(format!("not at this point of the job; {expected}"))
}

/// A fit on the driver.
#[pyclass(frozen, module = "evenkeel._evenkeel")]
pub(crate) struct RunningFit {
    fit: Held<FitStage>,
    names: ClassNames,
    /// Rows of the calibration data.
    count: usize,
}

enum FitStage {
    Open(Box<DistributedFit>),
    Ready(Box<ReadyFit>),
}

#[pymethods]
impl RunningFit {
    /// Takes the calibration data; `target_labels` are `(key, label)` of target rows.
    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn begin(
        py: Python<'_>,
        probs_cal: Matrix<'_>,
        y_cal: LabelArray<'_>,
        target_labels: Vec<(u64, usize)>,
        side_cal: &Bound<'_, PyDict>,
        side_target: &Bound<'_, PyDict>,
        columns: Option<Vec<String>>,
        classes: Option<Vec<String>>,
        method: &str,
        alpha: f64,
        seed: u64,
        logits: &str,
        rows: Option<u64>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let (side_cal, side_target) = (SideArrays::of(side_cal)?, SideArrays::of(side_target)?);
        let settings = Settings::new(alpha, seed, options)?;
        let calibrator = settings.calibrator(method, side_cal.known_ratios())?;
        require_sides(&calibrator, (&side_cal, &side_target), !target_labels.is_empty())?;
        let second = side_cal.second(logits, seen("probs_cal", &probs_cal)?)?;
        let cal = Points::new(("probs_cal", PointSet::Calibration), &probs_cal, &side_cal, logits)?
            .with_second(&second);
        let labels = y_cal.whole("y_cal")?;
        let target_labels =
            TargetLabels::new(&target_labels, cal.classes()).map_err(Failure::from)?;
        let fit = detached(py, |_| {
            let mut softmax = Vec::new();
            let labeled = cal.labeled(&mut softmax, "y_cal", labels)?;
            let labeled = match target_labels.is_empty() {
                true => labeled,
                false => labeled.with_target_labels(&target_labels),
            };
            Ok(DistributedFit::begin(&calibrator, &labeled, rows)?)
        })?;
        let fit = Mutex::new(Some(FitStage::Open(Box::new(fit))));
        Ok(Self { fit, names: ClassNames { columns, classes }, count: cal.count() })
    }

    /// What workers need for this pass.
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let plan = look(&self.fit, |stage| match stage {
            FitStage::Open(fit) => Ok(fit.plan()?),
            FitStage::Ready(_) => Err(order("the last pass has ended: call finish()")),
        })?;
        Ok(PyBytes::new(py, &plan))
    }

    /// Number of rows merged in this pass.
    #[getter]
    fn rows(&self) -> PyResult<u64> {
        Ok(look(&self.fit, |stage| match stage {
            FitStage::Open(fit) => Ok(fit.rows()),
            FitStage::Ready(_) => Ok(0),
        })?)
    }

    /// Takes the state of a part, or a bundle of states.
    fn merge(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        // Looked at first: a state that is refused leaves the job as it was.
        look(&self.fit, |stage| match stage {
            FitStage::Open(fit) => Ok(fit.require_new(state)?),
            FitStage::Ready(_) => Err(order("the last pass has ended: call finish()")),
        })?;
        detached(py, |_| {
            step(&self.fit, |stage| match stage {
                FitStage::Open(fit) => Ok((Some(FitStage::Open(Box::new(fit.merge(state)?))), ())),
                FitStage::Ready(_) => Err(ended()),
            })
        })
    }

    /// Ends a pass; true if another one is due.
    fn end_pass(&self, py: Python<'_>) -> PyResult<bool> {
        detached(py, |_| {
            step(&self.fit, |stage| match stage {
                FitStage::Open(fit) => Ok(match fit.end_pass()? {
                    FitPassEnded::Again(fit) => (Some(FitStage::Open(fit)), true),
                    FitPassEnded::Done(ready) => (Some(FitStage::Ready(ready)), false),
                }),
                ready @ FitStage::Ready(_) => Ok((Some(ready), false)),
            })
        })
    }

    /// The calibration.
    fn finish(&self, py: Python<'_>) -> PyResult<FittedCalibration> {
        look(&self.fit, |stage| match stage {
            FitStage::Ready(_) => Ok(()),
            FitStage::Open(_) => {
                Err(order("merge the states of all parts and call end_pass() until it gives False"))
            }
        })?;
        detached(py, |watcher| {
            let fitted = step(&self.fit, |stage| match stage {
                FitStage::Ready(ready) => {
                    let go_on = &mut |step: u64| -> ControlFlow<()> { watcher.reached(step) };
                    Ok((None, ready.finish(go_on)?))
                }
                FitStage::Open(_) => Err(ended()),
            })?;
            FittedCalibration::of_job(fitted, self.count, self.names.clone())
        })
    }
}

/// A check on the driver.
#[pyclass(frozen, module = "evenkeel._evenkeel")]
pub(crate) struct RunningCheck {
    check: Held<CheckStage>,
    settings: Settings,
    job: CheckJob,
    /// Whether it is about a calibration in use.
    stored: bool,
    logits: String,
    second: bool,
    classes: Option<Vec<String>>,
}

enum CheckStage {
    Open(Box<DistributedCheck>),
    Done(Box<(Checked, Vec<Steps>)>),
}

#[pymethods]
impl RunningCheck {
    /// Takes the calibration data, or a calibration that keeps them.
    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn begin(
        py: Python<'_>,
        probs_cal: Option<Matrix<'_>>,
        y_cal: Option<LabelArray<'_>>,
        calibration: Option<Bound<'_, FittedCalibration>>,
        side_cal: &Bound<'_, PyDict>,
        classes: Option<Vec<String>>,
        alpha: Option<f64>,
        delta: f64,
        seed: Option<u64>,
        logits: &str,
        rows: Option<u64>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let settings = Settings::new(alpha.unwrap_or(0.1), seed.unwrap_or(0), options)?;
        let delta = FailureProbability::new(delta).map_err(Failure::from)?;
        settings.options.require_used_by_check().map_err(Failure::from)?;
        let stored = calibration.as_ref().map(|fitted| fitted.get().one()).transpose()?;
        let mut job = match stored {
            Some(calibration) => {
                let alpha = alpha.map(|_| settings.alpha);
                let mut job = CheckJob::of_calibration(calibration, "calibration", alpha, delta)
                    .map_err(Failure::from)?;
                job.settings.seed = seed.map_or(job.settings.seed, |_| settings.seed);
                job
            }
            None => CheckJob::new(settings.score()?, settings.alpha, delta, settings.seed),
        };
        let checked = &mut job.settings;
        checked.bound_grid = settings.options.count("bound-grid").unwrap_or(checked.bound_grid);
        checked.assumptions =
            PlanAssumptions::from_options(&settings.options).map_err(Failure::from)?;
        let side = SideArrays::of(side_cal)?;
        let second = match &probs_cal {
            Some(probs) => side.second(logits, seen("probs_cal", probs)?)?,
            None => Vec::new(),
        };
        let cal = match &probs_cal {
            Some(probs) => {
                let named = ("probs_cal", PointSet::Calibration);
                Some(Points::new(named, probs, &side, logits)?.with_second(&second))
            }
            None => None,
        };
        let labels = y_cal.map(|labels| labels.whole("y_cal")).transpose()?;
        let check = detached(py, |_| {
            let mut softmax = Vec::new();
            let labeled = match (&cal, labels, stored) {
                (Some(cal), Some(labels), _) => cal.labeled(&mut softmax, "y_cal", labels)?,
                (_, _, Some(calibration)) => reference_of(calibration)?,
                _ => return Err(order("give probs_cal and y_cal, or calibration")),
            };
            Ok(DistributedCheck::begin(job.clone(), &labeled, rows)?)
        })?;
        Ok(Self {
            check: Mutex::new(Some(CheckStage::Open(Box::new(check)))),
            settings,
            stored: stored.is_some(),
            job,
            logits: logits.to_owned(),
            second: !second.is_empty(),
            classes,
        })
    }

    /// What workers need for this pass.
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let plan = look(&self.check, |stage| match stage {
            CheckStage::Open(check) => Ok(check.plan()?),
            CheckStage::Done(_) => Err(order("the last pass has ended: call finish()")),
        })?;
        Ok(PyBytes::new(py, &plan))
    }

    /// Number of rows merged in this pass.
    #[getter]
    fn rows(&self) -> PyResult<u64> {
        Ok(look(&self.check, |stage| match stage {
            CheckStage::Open(check) => Ok(check.rows()),
            CheckStage::Done(_) => Ok(0),
        })?)
    }

    /// Takes the state of a part, or a bundle of states.
    fn merge(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        look(&self.check, |stage| match stage {
            CheckStage::Open(check) => Ok(check.require_new(state)?),
            CheckStage::Done(_) => Err(order("the last pass has ended: call finish()")),
        })?;
        detached(py, |_| {
            step(&self.check, |stage| match stage {
                CheckStage::Open(check) => {
                    Ok((Some(CheckStage::Open(Box::new(check.merge(state)?))), ()))
                }
                CheckStage::Done(_) => Err(ended()),
            })
        })
    }

    /// Ends a pass; true if another one is due.
    fn end_pass(&self, py: Python<'_>) -> PyResult<bool> {
        detached(py, |_| {
            step(&self.check, |stage| match stage {
                CheckStage::Open(check) => Ok(match check.end_pass()? {
                    CheckPassEnded::Again(check) => (Some(CheckStage::Open(check)), true),
                    CheckPassEnded::Done(checked) => {
                        let laws = curves(&checked)?;
                        (Some(CheckStage::Done(Box::new((*checked, laws)))), false)
                    }
                }),
                done @ CheckStage::Done(_) => Ok((Some(done), false)),
            })
        })
    }

    /// The answer, as `check` gives it.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<CheckAnswer<'py>> {
        let (checked, laws) = look(&self.check, |stage| match stage {
            CheckStage::Done(found) => Ok((**found).clone()),
            CheckStage::Open(_) => {
                Err(order("merge the states of all parts and call end_pass() until it gives False"))
            }
        })?;
        let asked = Asked {
            settings: &self.settings,
            job: &self.job,
            stored: self.stored,
            logits: &self.logits,
            beside: (false, self.second),
            classes: self.classes.clone(),
        };
        asked.answer(py, checked, laws)
    }
}

/// An evaluation on the driver.
#[pyclass(frozen, module = "evenkeel._evenkeel")]
pub(crate) struct RunningEvaluation {
    evaluation: Mutex<DistributedEvaluation>,
    points: u64,
    seed: u64,
    classes: Option<Vec<String>>,
}

#[pymethods]
impl RunningEvaluation {
    /// Of a calibration with one threshold for all.
    #[staticmethod]
    fn begin(calibration: &FittedCalibration, alpha: Option<f64>) -> PyResult<Self> {
        let one = calibration.one()?;
        let alpha = alpha.map(Miscoverage::new).transpose().map_err(Failure::from)?;
        let evaluation = DistributedEvaluation::begin(one, alpha).map_err(Failure::from)?;
        let classes = one.class_names().and_then(|names| names.classes.clone());
        let (points, seed) = (one.scores().len() as u64, one.provenance().seed.get());
        Ok(Self { evaluation: Mutex::new(evaluation), points, seed, classes })
    }

    /// What workers need.
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let evaluation = self.evaluation.lock().map_err(|_| ended())?;
        Ok(PyBytes::new(py, evaluation.plan()))
    }

    /// Takes the state of a part, or a bundle of states.
    fn merge(&self, state: &[u8]) -> PyResult<()> {
        let mut evaluation = self.evaluation.lock().map_err(|_| ended())?;
        Ok(evaluation.merge(state).map_err(Failure::from)?)
    }

    /// The document of `evenkeel evaluate`, and its page.
    fn finish(&self) -> PyResult<(String, Page)> {
        let evaluation = self.evaluation.lock().map_err(|_| ended())?;
        let found = evaluation.finish().map_err(Failure::from)?;
        let (class_thresholds, per_group) = (Vec::new(), Vec::new());
        let evaluated =
            EvaluatedGroups { evaluation: found.evaluation, class_thresholds, per_group };
        let document = json(&evaluated.document(self.classes.as_deref()))?;
        let found = Found::Evaluation { evaluated, points: self.points };
        Ok((document, Page::new(found, self.seed, self.classes.clone())))
    }
}

/// A worker's share of the rows of any job.
#[pyclass(frozen, module = "evenkeel._evenkeel")]
pub(crate) struct RunningPart {
    part: Held<RowsPart>,
    classes: usize,
    needs_labels: bool,
}

#[pymethods]
impl RunningPart {
    /// From the plan of any job.
    #[staticmethod]
    fn begin(plan: &[u8], number: u64) -> PyResult<Self> {
        let part = RowsPart::begin(plan, number).map_err(Failure::from)?;
        let (classes, needs_labels) = (part.classes(), part.needs_labels());
        Ok(Self { part: Mutex::new(Some(part)), classes, needs_labels })
    }

    /// Number of classes of the rows it reads.
    #[getter]
    fn classes(&self) -> usize {
        self.classes
    }

    /// Whether every row needs its label.
    #[getter]
    fn needs_labels(&self) -> bool {
        self.needs_labels
    }

    /// Adds rows with their keys.
    fn add(
        &self,
        py: Python<'_>,
        probs: Matrix<'_>,
        keys: PyReadonlyArray1<'_, u64>,
        side: &Bound<'_, PyDict>,
        labels: Option<LabelArray<'_>>,
        logits: &str,
    ) -> PyResult<()> {
        let side = SideArrays::of(side)?;
        let second = side.second(logits, seen("probs", &probs)?)?;
        let points =
            Points::new(("probs", PointSet::Target), &probs, &side, logits)?.with_second(&second);
        let keys = slice(&keys, "key")?;
        let labels = labels.map(|labels| labels.whole("label")).transpose()?;
        detached(py, |_| {
            let mut source = points.source()?.in_blocks_of(points.count());
            let Some(block) = source.next_block()? else { return Ok(()) };
            let rows = PartRows {
                name: "probs",
                keys: RowKeys::Each(keys),
                rows: block.rows,
                side: block.side,
                labels: labels.as_deref(),
            };
            step(&self.part, |part| Ok((Some(part.add(rows)?), ())))
        })
    }

    /// What the rows left behind.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = look(&self.part, |part| Ok(part.state()?))?;
        Ok(PyBytes::new(py, &state))
    }
}

/// States of one pass as one: added up where the plan is given, put together where it is not.
#[pyfunction]
pub(crate) fn merge_states<'py>(
    py: Python<'py>,
    states: Vec<PyBackedBytes>,
    plan: Option<&[u8]>,
) -> PyResult<Bound<'py, PyBytes>> {
    let states: Vec<&[u8]> = states.iter().map(|state| &state[..]).collect();
    let merged = detached(py, |_| {
        Ok(match plan {
            Some(plan) => evenkeel_jobs::distributed::merge_states(plan, &states)?,
            None => evenkeel_jobs::distributed::pack_states(&states)?,
        })
    })?;
    Ok(PyBytes::new(py, &merged))
}

/// Keys of texts: `offsets` say where each begins in `data`, and where the last ends.
#[pyfunction]
pub(crate) fn keys_of_texts<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'_, i64>,
    data: PyReadonlyArray1<'_, u8>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let (offsets, data) = (slice(&offsets, "key")?, slice(&data, "key")?);
    let text = |pair: &[i64]| -> Option<u64> {
        let (start, end) = (usize::try_from(pair[0]).ok()?, usize::try_from(pair[1]).ok()?);
        Some(evenkeel::rows::key_of_text(data.get(start..end)?))
    };
    let keys: Option<Vec<u64>> = offsets.windows(2).map(text).collect();
    let keys =
        keys.ok_or_else(|| Failure::Data("key: its offsets lie outside its texts".into()))?;
    Ok(vector(py, keys))
}

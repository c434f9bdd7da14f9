//! A check whose target rows lie elsewhere, on the driver.

use std::sync::Mutex;

use evenkeel_jobs::distributed::{CheckPassEnded, DistributedCheck};
use evenkeel_jobs::{CheckJob, Checked, TargetLabels};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::held::{Held, ended, look, order, step};
use crate::arrays::{LabelArray, Matrix};
use crate::calibration::FittedCalibration;
use crate::check::{Asked, CheckAnswer, Steps, curves};
use crate::check_given::CheckGiven;
use crate::detached::detached;
use crate::methods::Settings;
use crate::points::SideArrays;

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
    /// Takes the calibration data, or a calibration that keeps them; `target_labels` are `(key, label)` of target rows.
    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn begin(
        py: Python<'_>,
        probs_cal: Option<Matrix<'_>>,
        y_cal: Option<LabelArray<'_>>,
        calibration: Option<Bound<'_, FittedCalibration>>,
        target_labels: Vec<(usize, usize)>,
        side_cal: &Bound<'_, PyDict>,
        classes: Option<Vec<String>>,
        alpha: Option<f64>,
        delta: f64,
        permutations: Option<usize>,
        seed: Option<u64>,
        logits: &str,
        rows: Option<u64>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let given = CheckGiven {
            probs: probs_cal.as_ref(),
            labels: y_cal.as_ref(),
            calibration: calibration.as_ref().map(Bound::get),
            rates: (alpha, delta),
            permutations,
            seed,
            logits,
            options,
        };
        let (settings, mut job) = given.job()?;
        let side = SideArrays::of(side_cal)?;
        let cal = given.calibration_side(&side)?;
        let check = detached(py, |_| {
            let mut softmax = Vec::new();
            let labeled = cal.labeled(&mut softmax)?;
            job.labels = TargetLabels::new("y_target", target_labels, labeled.classes())?;
            Ok(DistributedCheck::begin(job.clone(), &labeled, rows)?)
        })?;
        Ok(Self {
            check: Mutex::new(Some(CheckStage::Open(Box::new(check)))),
            settings,
            stored: calibration.is_some(),
            job,
            logits: logits.to_owned(),
            second: cal.has_second(),
            classes,
        })
    }

    /// What workers need for this pass.
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let plan = look(&self.check, |stage| match stage {
            CheckStage::Open(check) => Ok(check.plan().to_vec()),
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
            second: self.second,
            classes: self.classes.clone(),
        };
        asked.answer(py, checked, laws)
    }
}

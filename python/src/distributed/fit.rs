//! A calibration whose target rows lie elsewhere, on the driver.

use std::ops::ControlFlow;
use std::sync::Mutex;

use evenkeel::calibration::ClassNames;
use evenkeel::error::PointSet;
use evenkeel::per_group::SmallGroups;
use evenkeel::side_inputs::TargetLabels;
use evenkeel_jobs::Observer;
use evenkeel_jobs::distributed::{DistributedFit, FinishedFit, FitPassEnded, ReadyFit};
use evenkeel_jobs::grouped::MemoryGroups;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::held::{Held, ended, look, order, step};
use crate::arrays::{LabelArray, Matrix};
use crate::calibrate::{Grouping, require_sides};
use crate::calibration::FittedCalibration;
use crate::detached::detached;
use crate::errors::Failure;
use crate::methods::Settings;
use crate::points::{Points, SideArrays, seen};

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
        per: Option<Grouping>,
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
            let Some(mut grouping) = per else {
                return Ok(DistributedFit::begin(&calibrator, &labeled, rows)?);
            };
            let small = SmallGroups::of_name(&grouping.small)?;
            Ok(match grouping.groups.take() {
                None => DistributedFit::begin_per_class(&calibrator, &labeled, small, rows)?,
                Some((of_cal, _)) => {
                    let mut of_cal = MemoryGroups::new("groups_cal", &of_cal);
                    let job = grouping.job(small);
                    let cal = (&labeled, &mut of_cal as _);
                    DistributedFit::begin_per_group(&calibrator, job, cal, rows)?
                }
            })
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

    /// Whether this pass looks at keys and groups only.
    #[getter]
    fn reads_groups_only(&self) -> PyResult<bool> {
        Ok(look(&self.fit, |stage| match stage {
            FitStage::Open(fit) => Ok(fit.reads_groups_only()),
            FitStage::Ready(_) => Ok(false),
        })?)
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
            match fitted {
                FinishedFit::One(made) => {
                    FittedCalibration::of_job(*made, self.count, self.names.clone())
                }
                FinishedFit::Grouped(made) => {
                    FittedCalibration::per_group(*made).named_by(self.names.clone())
                }
            }
        })
    }
}

//! An evaluation whose labeled rows lie elsewhere, on the driver.

use std::sync::Mutex;

use evenkeel::level::Miscoverage;
use evenkeel_jobs::distributed::DistributedEvaluation;
use evenkeel_jobs::grouped::EvaluatedGroups;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::held::ended;
use crate::calibration::FittedCalibration;
use crate::errors::Failure;
use crate::json;
use crate::pages::{Found, Page};

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

    /// The same evaluation without any rows, for another group: its states have the same plan.
    fn again(&self) -> PyResult<Self> {
        let evaluation = self.evaluation.lock().map_err(|_| ended())?;
        let again = evaluation.again().map_err(Failure::from)?;
        let (points, seed, classes) = (self.points, self.seed, self.classes.clone());
        Ok(Self { evaluation: Mutex::new(again), points, seed, classes })
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

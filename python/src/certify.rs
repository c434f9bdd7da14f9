//! What labels certify, and which rows to label.

use evenkeel::certify::{
    self, CoverageAlarm, CoverageSequence, CoveredLabels, HalfWidth, SequenceStanding,
};
use evenkeel::level::{FailureProbability, Level, Miscoverage};
use evenkeel::seed::Seed;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

use crate::arrays::vector;
use crate::detached::detached;
use crate::errors::Failure;
use crate::json;

/// Labels, covered labels, ends, and whether one coverage explains them all.
type SequenceFields = (u64, u64, f64, f64, bool);
/// Labels, misses, evidence, and the label at which the alarm went off.
type AlarmFields = (u64, u64, f64, Option<u64>);

/// Rows to label, in the order in which they were drawn.
#[pyfunction]
pub(crate) fn rows_to_label(
    py: Python<'_>,
    rows: u64,
    budget: u64,
    seed: u64,
) -> PyResult<Bound<'_, PyArray1<i64>>> {
    let drawn = detached(py, |_| Ok(certify::rows_to_label(rows, budget, Seed::new(seed))?))?;
    Ok(vector(py, drawn.into_iter().map(u64::cast_signed).collect()))
}

/// The ends of the exact interval of a coverage.
#[pyfunction]
pub(crate) fn coverage_interval(
    covered: u64,
    labels: u64,
    failure: f64,
    chosen_with_labels: bool,
) -> PyResult<(f64, f64)> {
    let counted = CoveredLabels::new(covered, labels).map_err(Failure::from)?;
    let failure = FailureProbability::new(failure).map_err(Failure::from)?;
    let found = match chosen_with_labels {
        true => certify::same_labels_interval(counted, failure),
        false => certify::clopper_pearson(counted, failure),
    };
    Ok((found.low, found.high))
}

/// Labels that make an interval of at most this half-width.
#[pyfunction]
pub(crate) fn label_budget(half_width: f64, level: f64, failure: f64) -> PyResult<u64> {
    let half_width = HalfWidth::new(half_width).map_err(Failure::from)?;
    let level = Level::new(level).map_err(Failure::from)?;
    let failure = FailureProbability::new(failure).map_err(Failure::from)?;
    Ok(certify::label_budget(half_width, level, failure))
}

/// A running interval.
#[pyclass(module = "evenkeel._evenkeel")]
pub(crate) struct RunningSequence(CoverageSequence);

#[pymethods]
impl RunningSequence {
    #[new]
    fn new(failure: f64) -> PyResult<Self> {
        let failure = FailureProbability::new(failure).map_err(Failure::from)?;
        Ok(Self(CoverageSequence::new(failure)))
    }

    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        stored(text).map(Self)
    }

    fn to_json(&self) -> PyResult<String> {
        json(&self.0)
    }

    /// Takes labels: whether each lay in its set.
    fn update(&mut self, covered: PyReadonlyArray1<'_, bool>) -> PyResult<()> {
        let labels = covered.as_slice().map_err(|_| Failure::not_contiguous("covered"))?;
        for label in labels {
            self.0.update((*label).into());
        }
        Ok(())
    }

    #[getter]
    fn state(&self) -> SequenceFields {
        let found = self.0.state();
        let holds = found.standing == SequenceStanding::Holds;
        (found.labels, found.covered, found.low, found.high, holds)
    }
}

/// An alarm for labels that trickle in.
#[pyclass(module = "evenkeel._evenkeel")]
pub(crate) struct RunningAlarm(CoverageAlarm);

#[pymethods]
impl RunningAlarm {
    #[new]
    fn new(alpha: f64, delta: f64) -> PyResult<Self> {
        let alpha = Miscoverage::new(alpha).map_err(Failure::from)?;
        let delta = FailureProbability::new(delta).map_err(Failure::from)?;
        Ok(Self(CoverageAlarm::new(alpha, delta)))
    }

    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        stored(text).map(Self)
    }

    fn to_json(&self) -> PyResult<String> {
        json(&self.0)
    }

    /// Takes labels: whether each lay in its set.
    fn update(&mut self, covered: PyReadonlyArray1<'_, bool>) -> PyResult<()> {
        let labels = covered.as_slice().map_err(|_| Failure::not_contiguous("covered"))?;
        for label in labels {
            self.0.update((*label).into());
        }
        Ok(())
    }

    #[getter]
    fn state(&self) -> AlarmFields {
        let found = self.0.state();
        (found.labels, found.misses, found.e_value(), found.fired_at)
    }
}

/// What was stored, checked.
fn stored<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    let read = serde_json::from_str(text);
    read.map_err(|error| Failure::Data(format!("this state is damaged: {error}")).into())
}

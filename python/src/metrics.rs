//! What is measured on labeled points, from sets and from scores.

use evenkeel::conformal::LabelSets;
use evenkeel::evaluation;
use evenkeel::measure::{WeightedEmpirical, Weights};
use evenkeel::score::Labels;
use evenkeel_jobs::{JobError, PerRow};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{LabelArray, slice};
use crate::detached::detached;
use crate::errors::{Failure, about};

/// Share of the points whose label is in their set.
#[pyfunction]
pub(crate) fn coverage(
    py: Python<'_>,
    sets: PyReadonlyArray2<'_, bool>,
    y: LabelArray<'_>,
) -> PyResult<f64> {
    let (rows, classes) = (sets.as_array().nrows(), sets.as_array().ncols());
    let members = sets.as_slice().map_err(|_| Failure::not_contiguous("sets"))?;
    let labels = y.whole("y")?;
    // Found before the sets are packed, with both arguments named.
    if labels.len() != rows {
        let (input, matrix, what) = ("y".to_owned(), "sets".to_owned(), PerRow::Label);
        let found = labels.len();
        let count = JobError::Count { input, what, found, matrix, rows, more: false };
        return Err(Failure::from(count).into());
    }
    detached(py, |_| {
        let labels = Labels::new(labels, classes).map_err(about("y"))?;
        let sets = LabelSets::from_bools(members, classes).map_err(about("sets"))?;
        Ok(evaluation::coverage(&sets, &labels)?)
    })
}

/// Measured total coverage gap between the (weighted) calibration scores and labeled test scores.
#[pyfunction]
#[pyo3(signature = (scores_cal, scores_test, weights=None))]
pub(crate) fn total_coverage_gap(
    py: Python<'_>,
    scores_cal: PyReadonlyArray1<'_, f64>,
    scores_test: PyReadonlyArray1<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<f64> {
    let calibration = slice(&scores_cal, "scores_cal")?;
    let test = slice(&scores_test, "scores_test")?;
    let weights = weights.as_ref().map(|weights| slice(weights, "weights")).transpose()?;
    detached(py, |_| {
        let p = match weights {
            None => WeightedEmpirical::uniform(calibration),
            Some(raw) => Weights::normalised(raw.to_vec())
                .and_then(|weights| WeightedEmpirical::new(calibration, &weights)),
        };
        let q = WeightedEmpirical::uniform(test).map_err(about("scores_test"))?;
        Ok(evaluation::total_coverage_gap(&p.map_err(about("scores_cal"))?, &q))
    })
}

//! What workers do: rows in, bytes out; and states put together.

use std::sync::Mutex;

use evenkeel::calibration::ClassNames;
use evenkeel::error::PointSet;
use evenkeel::rows::RowKeys;
use evenkeel_jobs::RowSource;
use evenkeel_jobs::distributed::{GroupCodes, PartRows, RowsPart};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use super::held::{Held, look, step};
use crate::arrays::{LabelArray, Matrix, slice, vector};
use crate::detached::detached;
use crate::errors::Failure;
use crate::points::{Points, SideArrays, seen};

/// A worker's share of the rows of any job.
#[pyclass(frozen, module = "evenkeel._evenkeel")]
pub(crate) struct RunningPart {
    part: Held<RowsPart>,
    classes: usize,
    /// Whether every row needs its label, and its group.
    needs: (bool, bool),
    reads_groups_only: bool,
    /// Of an evaluation: labels may be words, and columns are matched by their names.
    names: Option<ClassNames>,
}

impl RunningPart {
    fn of(part: RowsPart) -> Self {
        let (classes, reads_groups_only) = (part.classes(), part.reads_groups_only());
        let needs = (part.needs_labels(), part.needs_groups());
        let names = part.class_names().cloned();
        Self { part: Mutex::new(Some(part)), classes, needs, reads_groups_only, names }
    }
}

#[pymethods]
impl RunningPart {
    /// From the plan of any job.
    #[staticmethod]
    fn begin(plan: &[u8], number: u64) -> PyResult<Self> {
        Ok(Self::of(RowsPart::begin(plan, number).map_err(Failure::from)?))
    }

    /// Another part of an evaluation, without any rows; the plan is not read again.
    fn again(&self, number: u64) -> PyResult<Self> {
        Ok(Self::of(look(&self.part, |part| Ok(part.again(number)?))?))
    }

    /// Names of the columns of an evaluation's calibration, where it has them.
    #[getter]
    fn columns(&self) -> Option<Vec<String>> {
        self.names.as_ref().and_then(|names| names.columns.clone())
    }

    /// Names of the classes of an evaluation's calibration, where it has them.
    #[getter]
    fn class_names(&self) -> Option<Vec<String>> {
        self.names.as_ref().and_then(|names| names.classes.clone())
    }

    /// Number of classes of the rows it reads.
    #[getter]
    fn classes(&self) -> usize {
        self.classes
    }

    /// Whether every row needs its label.
    #[getter]
    fn needs_labels(&self) -> bool {
        self.needs.0
    }

    /// Whether every row needs its group.
    #[getter]
    fn needs_groups(&self) -> bool {
        self.needs.1
    }

    /// Whether only keys and groups of rows are looked at.
    #[getter]
    fn reads_groups_only(&self) -> bool {
        self.reads_groups_only
    }

    /// Adds rows with their keys; `groups` are names, and the place of its name there for each row.
    #[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn add(
        &self,
        py: Python<'_>,
        probs: Matrix<'_>,
        keys: PyReadonlyArray1<'_, u64>,
        side: &Bound<'_, PyDict>,
        labels: Option<LabelArray<'_>>,
        groups: Option<(Vec<String>, PyReadonlyArray1<'_, u32>)>,
        logits: &str,
    ) -> PyResult<()> {
        let side = SideArrays::of(side)?;
        let second = side.second(logits, seen("probs", &probs)?)?;
        let points =
            Points::new(("probs", PointSet::Target), &probs, &side, logits)?.with_second(&second);
        let keys = slice(&keys, "key")?;
        let labels = labels.map(|labels| labels.whole("label")).transpose()?;
        let codes = groups.as_ref().map(|(_, codes)| slice(codes, "groups")).transpose()?;
        let names = groups.as_ref().map(|(names, _)| names.as_slice());
        let groups = names.zip(codes).map(|(names, codes)| GroupCodes { names, codes });
        detached(py, |_| {
            let mut source = points.source()?.in_blocks_of(points.count());
            let Some(block) = source.next_block()? else { return Ok(()) };
            let rows = PartRows {
                name: "probs",
                keys: RowKeys::Each(keys),
                rows: block.rows,
                side: block.side,
                labels: labels.as_deref(),
                groups,
            };
            step(&self.part, |part| Ok((Some(part.add(rows)?), ())))
        })
    }

    /// Counts rows by their groups, where only keys and groups are looked at.
    fn add_groups(
        &self,
        py: Python<'_>,
        keys: PyReadonlyArray1<'_, u64>,
        groups: (Vec<String>, PyReadonlyArray1<'_, u32>),
    ) -> PyResult<()> {
        let (keys, codes) = (slice(&keys, "key")?, slice(&groups.1, "groups")?);
        let groups = GroupCodes { names: &groups.0, codes };
        detached(py, |_| {
            let keys = RowKeys::Each(keys);
            step(&self.part, |part| Ok((Some(part.add_groups(keys, groups)?), ())))
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

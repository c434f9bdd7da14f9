//! Sets as lists of labels, in the layout of Arrow: offsets and labels, made here and handed over without a copy.

use evenkeel::calibration::Calibration;
use evenkeel::conformal::LabelSets;
use evenkeel::level::Miscoverage;
use evenkeel::rows::{Real, RowKeys, Rows};
use evenkeel::score::Probabilities;
use evenkeel::side_inputs::SideInputs;
use evenkeel_jobs::{AnyRows, JobError, MemorySource, RowSource, counted_from};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::arrays::vector;
use crate::errors::Failure;

/// Labels of sets, one list after the other.
pub(crate) struct LabelLists {
    /// Where each list begins, and the end of the last.
    offsets: Vec<i64>,
    labels: Vec<i32>,
}

impl LabelLists {
    /// No lists yet, with room for the offsets of `rows`.
    pub(crate) fn new(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { offsets, labels: Vec::new() }
    }

    /// Adds the lists of sets.
    pub(crate) fn add(&mut self, sets: &LabelSets) {
        sets.write_lists(&mut self.labels, &mut self.offsets);
    }

    /// Offsets and labels; offsets of 32 bits unless there are more labels than these can count.
    pub(crate) fn into_arrays(
        self,
        py: Python<'_>,
    ) -> PyResult<(Bound<'_, PyAny>, Bound<'_, PyArray1<i32>>)> {
        let offsets = match i32::try_from(self.labels.len()) {
            // None is beyond the last, which has room.
            Ok(last) => {
                let narrow = |offset: &i64| i32::try_from(*offset).unwrap_or(last);
                vector(py, self.offsets.iter().map(narrow).collect()).into_any()
            }
            Err(_) => vector(py, self.offsets).into_any(),
        };
        Ok((offsets, vector(py, self.labels)))
    }
}

/// Sets of rows that have keys of their own, handed to `sink` block by block.
pub(crate) fn predict_with_keys(
    calibration: &Calibration,
    alpha: Option<Miscoverage>,
    source: &mut MemorySource<'_>,
    keys: &[u64],
    sink: &mut dyn FnMut(&LabelSets) -> evenkeel_jobs::Result<()>,
) -> Result<(), Failure> {
    let mut done = 0;
    while let Some(block) = source.next_block()? {
        let these = done..done + block.rows.rows();
        let keys = keys.get(these.clone()).ok_or_else(|| {
            Failure::Data("key: there are fewer keys than rows; give one for each".to_owned())
        })?;
        let keys = RowKeys::Each(keys);
        let sets = match block.rows {
            AnyRows::F32(rows) => keyed(calibration, keys, rows, block.side, alpha),
            AnyRows::F64(rows) => keyed(calibration, keys, rows, block.side, alpha),
        };
        let sets = sets.map_err(|error| {
            // By its place, as in all other errors: keys may be hashes.
            let first = match block.rows {
                AnyRows::F32(rows) => Probabilities::new(rows.values(), rows.columns()).err(),
                AnyRows::F64(rows) => Probabilities::new(rows.values(), rows.columns()).err(),
            };
            let placed = first.map(|first| counted_from(these.start, first));
            Failure::from(JobError::found_in("probs", placed.unwrap_or(error)))
        });
        sink(&sets?)?;
        done = these.end;
    }
    Ok(())
}

fn keyed<T: Real>(
    calibration: &Calibration,
    keys: RowKeys<'_>,
    rows: Rows<'_, T>,
    side: SideInputs<'_>,
    alpha: Option<Miscoverage>,
) -> evenkeel::Result<LabelSets> {
    calibration.predict_keyed(keys, rows, side, alpha)
}

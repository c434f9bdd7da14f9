//! `p[i][k] >= 0`, `sum_k p[i][k] = 1`: rows of class probabilities, validated once and never
//! copied.
//!
//! ```text
//! |sum - 1| <= 1e-12   taken as it is           |sum - 1| <= 1e-3   divided by the sum
//! beyond               refused, with row, column or sum
//! ```

use crate::error::{At, Error, Result};
use crate::numeric::simd::in_widest_registers;
use crate::numeric::softmax_into;
use crate::rows::{AnyRows, Real, Rows, of_their_type, row_number};

/// Rows may miss a sum of one by this much (rounded to three digits on their way here); they are then renormalised.
pub const NORMALISATION_TOLERANCE: f64 = 1e-3;

/// A row whose sum is this close to one is taken as it is: dividing by `1 + 2e-16` would only move its last digits,
/// and a score `1 - p` would no longer be the number the user computes.
const EXACT_TOLERANCE: f64 = 1e-12;

/// A borrowed `(rows, classes)` matrix whose rows are probability vectors.
///
/// Having one is the proof: whoever takes it checks no entry again.
#[derive(Debug, Clone)]
pub struct Probabilities<'a, T> {
    /// As the caller gave them.
    rows: Rows<'a, T>,
    /// `1 / sum` of every row; empty when all rows are taken as they are.
    scales: Vec<f64>,
}

impl<'a, T: Real> Probabilities<'a, T> {
    /// Views `values` as rows of `classes` probabilities.
    ///
    /// Entries must be finite and not negative, and rows sum to one within [`NORMALISATION_TOLERANCE`].
    ///
    /// # Errors
    /// `TooFew` for no classes, `Empty` for no values, `Ragged` unless the values fill whole rows; `NotFinite`,
    /// `Negative` or `NotNormalised` for the first row that is not a probability vector.
    pub fn new(values: &'a [T], classes: usize) -> Result<Self> {
        Self::from_rows(Rows::new("probabilities", values, classes)?)
    }

    /// The same for rows that carry their own name in error messages.
    ///
    /// # Errors
    /// `NotFinite`, `Negative` or `NotNormalised` for the first row that is not a probability vector.
    pub fn from_rows(rows: Rows<'a, T>) -> Result<Self> {
        let mut scales = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let scale = row_scale(rows.what(), index as u64, row)?;
            // Most tables need no scale at all, and then none is kept: a million rows would cost 8 MB for nothing.
            if scale != 1.0 && scales.is_empty() {
                scales.resize(rows.rows(), 1.0);
            }
            if let Some(slot) = scales.get_mut(index) {
                *slot = scale;
            }
        }
        Ok(Self { rows, scales })
    }
    /// The rows as they were given, not renormalised.
    pub(crate) fn table(&self) -> Rows<'a, T> {
        self.rows
    }

    /// Number of rows, one per point.
    pub fn rows(&self) -> usize {
        self.rows.rows()
    }

    /// Number of classes `C`, the columns of the matrix.
    pub fn classes(&self) -> usize {
        self.rows.columns()
    }

    /// Row `index` before it was normalised.
    pub(crate) fn as_given(&self, index: usize) -> &[T] {
        self.rows.row(index)
    }

    /// Writes row `index`, normalised, as `f64`; `out` has shape `(C,)`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn read_row(&self, index: usize, out: &mut [f64]) {
        widen_scaled(self.rows.row(index), self.scales.get(index).copied().unwrap_or(1.0), out);
    }
}

/// `scale * row` as `f64`.
pub(crate) fn scaled<T: Real>(row: &[T], scale: f64) -> impl ExactSizeIterator<Item = f64> + '_ {
    row.iter().map(move |value| (*value).into() * scale)
}

/// Writes `scale * row` as `f64`.
pub(crate) fn widen_scaled<T: Real>(row: &[T], scale: f64, out: &mut [f64]) {
    for (slot, value) in out.iter_mut().zip(scaled(row, scale)) {
        *slot = value;
    }
}

/// What a probability row must be multiplied with to sum to one: exactly 1 for rows that do so up
/// to rounding.
///
/// # Errors
/// `NotFinite`, `Negative` or `NotNormalised`, naming `what` and the row with the key `row`.
pub(crate) fn row_scale<T: Real>(what: &'static str, row: u64, values: &[T]) -> Result<f64> {
    row_extremes(values).scale(what, row, values)
}

/// Smallest entry, largest entry and sum of a row, from one pass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowExtremes {
    /// Negative if any entry is; a NaN may hide here, and shows in the sum.
    pub smallest: f64,
    /// The confidence of the row, before it is scaled.
    pub largest: f64,
    /// In `f64` whatever the entries are: an `f32` table is judged by its entries, not by the
    /// rounding of a sum.
    pub sum: f64,
}

impl RowExtremes {
    /// What the row must be multiplied with to sum to one, if it is a probability vector; `what`, `row` and `values`
    /// are for the error.
    pub(crate) fn scale<T: Real>(&self, what: &'static str, row: u64, values: &[T]) -> Result<f64> {
        // A NaN or infinity anywhere makes the sum NaN or infinite.
        let off = (self.sum - 1.0).abs();
        if self.smallest < 0.0 || off.is_nan() || off > NORMALISATION_TOLERANCE {
            Err(explain_row(what, row, values, self.sum))
        } else if off <= EXACT_TOLERANCE && self.largest <= 1.0 {
            // An entry of 1 + 2e-16 is not left alone: its score 1 - p would fall out of the range [0, 1].
            Ok(1.0)
        } else {
            Ok(1.0 / self.sum)
        }
    }
}

/// Lanes of the row pass: enough independent chains for two-wide to eight-wide vector units.
const LANES: usize = 16;

/// One pass over a row. The sum is added up in `f64` in a fixed order, whatever the entries' type and the machine's
/// vector units, so that every path through the library normalises a row by the same bits.
///
/// Every row of every table passes here, so that this loop is most of the cost of reading one.
#[inline]
pub(crate) fn row_extremes<T: Real>(values: &[T]) -> RowExtremes {
    if values.len() < LANES {
        return short_row_extremes(values);
    }
    row_extremes_in_wide_lanes(values)
}

in_widest_registers! {
    /// [`row_extremes_in_lanes`] in the widest registers there are.
    fn row_extremes_in_wide_lanes[T: Real](values: &[T]) -> RowExtremes {
        row_extremes_in_lanes(values)
    }
}

/// Smallest, largest and sum of at least one value, over sixteen fixed lanes.
///
/// ```text
/// lane l = values[l] + values[l + 16] + ..        sum = lane 0 + lane 1 + .. + lane 15
/// ```
#[inline(always)]
fn row_extremes_in_lanes<T: Real>(values: &[T]) -> RowExtremes {
    let mut smallest = [values[0]; LANES];
    let mut largest = [values[0]; LANES];
    let mut sums = [0.0_f64; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            let value = chunk[lane];
            // Comparisons, not `min` and `max`, whose care for NaN costs extra instructions; the sum finds a NaN
            // anyway.
            smallest[lane] = if value < smallest[lane] { value } else { smallest[lane] };
            largest[lane] = if value > largest[lane] { value } else { largest[lane] };
            sums[lane] += value.into();
        }
    }
    for (lane, value) in rest.iter().enumerate() {
        smallest[lane] = if *value < smallest[lane] { *value } else { smallest[lane] };
        largest[lane] = if *value > largest[lane] { *value } else { largest[lane] };
        sums[lane] += (*value).into();
    }
    let mut extremes =
        RowExtremes { smallest: smallest[0].into(), largest: largest[0].into(), sum: 0.0 };
    for lane in 0..LANES {
        extremes.smallest = extremes.smallest.min(smallest[lane].into());
        extremes.largest = extremes.largest.max(largest[lane].into());
        extremes.sum += sums[lane];
    }
    extremes
}

/// Rows shorter than the lanes: one entry per lane, so the lanes' sum is the plain one.
#[inline]
fn short_row_extremes<T: Real>(values: &[T]) -> RowExtremes {
    let first = values[0].into();
    let mut extremes = RowExtremes { smallest: first, largest: first, sum: 0.0 };
    for value in values {
        let value: f64 = (*value).into();
        extremes.smallest = extremes.smallest.min(value);
        extremes.largest = extremes.largest.max(value);
        extremes.sum += value;
    }
    extremes
}

/// Why a row is not a probability vector, naming the first offending entry. Apart and cold: rows
/// that pass pay nothing for the search.
#[cold]
fn explain_row<T: Real>(what: &'static str, key: u64, values: &[T], sum: f64) -> Error {
    let row = row_number(key);
    for (column, value) in values.iter().enumerate() {
        let value: f64 = (*value).into();
        let at = At::Cell { row, column };
        if !value.is_finite() {
            return Error::NotFinite { what, at, value };
        }
        if value < 0.0 {
            return Error::Negative { what, at, value };
        }
    }
    Error::NotNormalised { what, row, sum, tolerance: NORMALISATION_TOLERANCE }
}

/// `softmax(logits / temperature)` of every row; shape `(rows, classes)`.
///
/// # Errors
/// As for [`softmax_rows_into`].
pub fn softmax_rows<T: Real>(logits: Rows<'_, T>, temperature: f64) -> Result<Vec<f64>> {
    let mut probabilities = Vec::new();
    softmax_rows_into(logits, temperature, &mut probabilities)?;
    Ok(probabilities)
}

/// [`softmax_rows`] into a buffer that is resized to fit, so that a stream of blocks allocates once.
///
/// # Errors
/// `OutOfRange` unless the temperature is positive and finite, `NotFinite` for a logit that is NaN or infinite.
pub fn softmax_rows_into<T: Real>(
    logits: Rows<'_, T>,
    temperature: f64,
    probabilities: &mut Vec<f64>,
) -> Result<()> {
    softmax_any_rows_into(logits.any(), temperature, probabilities)
}

fn softmax_any_rows_into(
    logits: AnyRows<'_>,
    temperature: f64,
    probabilities: &mut Vec<f64>,
) -> Result<()> {
    of_their_type!(logits, rows => softmax_typed_rows_into(rows, temperature, probabilities))
}

fn softmax_typed_rows_into<T: Real>(
    logits: Rows<'_, T>,
    temperature: f64,
    probabilities: &mut Vec<f64>,
) -> Result<()> {
    if !(temperature.is_finite() && temperature > 0.0) {
        return Err(Error::OutOfRange {
            what: "the temperature",
            value: temperature,
            expected: "positive and finite",
        });
    }
    let columns = logits.columns();
    let mut scaled = vec![0.0; columns];
    probabilities.resize(logits.values().len(), 0.0);
    for (row, (logits, out)) in
        logits.iter().zip(probabilities.chunks_exact_mut(columns)).enumerate()
    {
        let mut largest = f64::NEG_INFINITY;
        for (column, (slot, value)) in scaled.iter_mut().zip(logits).enumerate() {
            let value: f64 = (*value).into();
            if !value.is_finite() {
                return Err(Error::NotFinite {
                    what: "logits",
                    at: At::Cell { row, column },
                    value,
                });
            }
            *slot = value;
            largest = largest.max(value);
        }
        // Shift before dividing: a logit of 1e308 at temperature 0.1 would overflow.
        scaled.iter_mut().for_each(|value| *value = (*value - largest) / temperature);
        softmax_into(&scaled, out);
    }
    Ok(())
}

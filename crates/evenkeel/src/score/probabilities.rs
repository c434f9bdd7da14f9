//! `p[i][k] >= 0`, `sum_k p[i][k] = 1`: rows of class probabilities, validated once and never
//! copied.
//!
//! ```text
//! |sum - 1| <= 1e-12   taken as it is           |sum - 1| <= 1e-3   divided by the sum
//! beyond               refused, with row, column or sum
//! ```

#[cfg(target_arch = "x86_64")]
use super::row_extremes_x86::extremes_of_groups;
use crate::error::{At, Error, Result};
use crate::numeric::simd::in_widest_registers;
use crate::numeric::softmax;
#[cfg(target_arch = "x86_64")]
use crate::rows::as_single;
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
#[derive(Debug, Clone, Copy, Default)]
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
pub(super) const LANES: usize = 16;

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

/// Rows that are looked at together.
pub(crate) const ROWS_TOGETHER: usize = 64;

/// [`row_extremes`] of rows that follow each other, side by side; of rows that are not there it says something harmless.
///
/// One look at what the processor can do for many rows, and no row waits for the one before it.
#[derive(Debug, Clone)]
pub(crate) struct ExtremesOfRows {
    pub(super) smallest: [f64; ROWS_TOGETHER],
    pub(super) largest: [f64; ROWS_TOGETHER],
    pub(super) sums: [f64; ROWS_TOGETHER],
    /// What each row must be multiplied with.
    scales: [f64; ROWS_TOGETHER],
    /// `1 - p` of its largest and of its smallest entry, after that.
    ends: [[f64; ROWS_TOGETHER]; 2],
    rows: usize,
}

impl ExtremesOfRows {
    /// Of no rows yet.
    pub(crate) fn new() -> Self {
        let (zeros, ones) = ([0.0; ROWS_TOGETHER], [1.0; ROWS_TOGETHER]);
        Self { smallest: zeros, largest: zeros, sums: ones, scales: ones, ends: [ones; 2], rows: 0 }
    }

    /// Looks at rows of `columns` entries, at most [`ROWS_TOGETHER`]; `what` and `key` name one in errors.
    ///
    /// # Errors
    /// For the first that is not a probability vector.
    pub(crate) fn read<T: Real>(
        &mut self,
        what: &'static str,
        key: impl Fn(usize) -> u64,
        values: &[T],
        columns: usize,
    ) -> Result<()> {
        self.rows = (values.len() / columns).min(ROWS_TOGETHER);
        // Many rows of single precision are put together at the end; the others follow one by one.
        #[cfg(target_arch = "x86_64")]
        let done = as_single(values)
            .map_or(0, |values| extremes_of_groups(values, columns, self.rows, self));
        #[cfg(not(target_arch = "x86_64"))]
        let done = 0;
        for (row, values) in values.chunks_exact(columns).enumerate().take(self.rows).skip(done) {
            let RowExtremes { smallest, largest, sum } = row_extremes(values);
            (self.smallest[row], self.largest[row], self.sums[row]) = (smallest, largest, sum);
        }
        if !scale_rows(self) {
            for (row, values) in values.chunks_exact(columns).enumerate().take(self.rows) {
                self.row(row).scale(what, key(row), values)?;
            }
        }
        Ok(())
    }

    fn row(&self, row: usize) -> RowExtremes {
        let (smallest, largest) = (self.smallest[row], self.largest[row]);
        RowExtremes { smallest, largest, sum: self.sums[row] }
    }

    /// What each row must be multiplied with to sum to one, as [`RowExtremes::scale`] has it.
    pub(crate) fn scales(&self) -> &[f64] {
        &self.scales[..self.rows]
    }

    /// The smallest score `1 - p` of each row.
    pub(crate) fn lowest(&self) -> &[f64] {
        &self.ends[0][..self.rows]
    }

    /// The largest score `1 - p` of each row.
    pub(crate) fn highest(&self) -> &[f64] {
        &self.ends[1][..self.rows]
    }

    /// Whether each row has no zero.
    pub(crate) fn are_positive(&self) -> impl Iterator<Item = bool> + '_ {
        self.smallest[..self.rows].iter().map(|smallest| *smallest > 0.0)
    }
}

in_widest_registers! {
    /// Scales and ends of all rows; whether all are probability vectors.
    fn scale_rows[](rows: &mut ExtremesOfRows) -> bool {
        let ExtremesOfRows { smallest, largest, sums, scales, ends: [lowest, highest], .. } = rows;
        let mut refused = 0_u64;
        for row in 0..ROWS_TOGETHER {
            let off = (sums[row] - 1.0).abs();
            // As in `RowExtremes::scale`; the comparison is false for a NaN too.
            let fits = (smallest[row] >= 0.0) & (off <= NORMALISATION_TOLERANCE);
            refused |= u64::from(!fits);
            let as_it_is = (off <= EXACT_TOLERANCE) & (largest[row] <= 1.0);
            let scale = if as_it_is { 1.0 } else { 1.0 / sums[row] };
            scales[row] = scale;
            lowest[row] = 1.0 - largest[row] * scale;
            highest[row] = 1.0 - smallest[row] * scale;
        }
        refused == 0
    }
}

in_widest_registers! {
    /// [`row_extremes_in_lanes`] of one row, in the widest registers there are.
    fn row_extremes_in_wide_lanes[T: Real](values: &[T]) -> RowExtremes {
        row_extremes_in_lanes(values, values.len())
    }
}

/// Smallest, largest and sum of a row of at least one value, over sixteen fixed lanes. What follows the row may stand behind it.
///
/// ```text
/// lane l = values[l] + values[l + 16] + ..        sum = lane 0 + lane 1 + .. + lane 15
/// ```
#[inline(always)]
fn row_extremes_in_lanes<T: Real>(values: &[T], columns: usize) -> RowExtremes {
    let mut smallest = [values[0]; LANES];
    let mut largest = [values[0]; LANES];
    let mut sums = [0.0_f64; LANES];
    let (chunks, _) = values[..columns].as_chunks::<LANES>();
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
    let rest = &values[chunks.len() * LANES..];
    let left = columns - chunks.len() * LANES;
    if let (1.., Some(chunk)) = (left, rest.first_chunk::<LANES>()) {
        // All lanes, those past the end of the row with what changes nothing: one by one they would cost more than the chunks.
        for lane in 0..LANES {
            let value = if lane < left { chunk[lane] } else { values[0] };
            smallest[lane] = if value < smallest[lane] { value } else { smallest[lane] };
            largest[lane] = if value > largest[lane] { value } else { largest[lane] };
            sums[lane] += if lane < left { chunk[lane].into() } else { 0.0 };
        }
    } else {
        for (lane, value) in rest[..left].iter().enumerate() {
            smallest[lane] = if *value < smallest[lane] { *value } else { smallest[lane] };
            largest[lane] = if *value > largest[lane] { *value } else { largest[lane] };
            sums[lane] += (*value).into();
        }
    }
    // Halves against halves: the order does not matter for these.
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            let (low, high) = (smallest[lane + half], largest[lane + half]);
            smallest[lane] = if low < smallest[lane] { low } else { smallest[lane] };
            largest[lane] = if high > largest[lane] { high } else { largest[lane] };
        }
    }
    // For the sum it does.
    let sum = sums.iter().fold(0.0, |sum, lane| sum + lane);
    RowExtremes { smallest: smallest[0].into(), largest: largest[0].into(), sum }
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
        softmax(&scaled, out);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// What is said of some rows, and the scale and the ends of each, or the error.
    fn read<T: Real>(
        values: &[T],
        columns: usize,
    ) -> (Vec<RowExtremes>, std::result::Result<Vec<[u64; 3]>, String>) {
        let mut rows = ExtremesOfRows::new();
        let read = rows.read("table", |row| row as u64, values, columns);
        let found = (0..values.len() / columns).map(|row| rows.row(row)).collect();
        let scales = rows.scales().iter().zip(rows.lowest()).zip(rows.highest());
        let scales = scales.map(|((scale, low), high)| [*scale, *low, *high].map(f64::to_bits));
        (found, read.map(|()| scales.collect()).map_err(|error| error.to_string()))
    }

    /// Scales and errors are those of the rows by themselves, for sums of any distance from one.
    #[test]
    fn rows_together_are_scaled_and_refused_as_each() {
        let mut stream = Seed::new(4).stream("scales");
        for columns in [1, 2, 5, 10, 16, 17, 40] {
            for round in 0..200 {
                let count = 1 + stream.below(ROWS_TOGETHER);
                let bad = if round % 3 == 0 { stream.below(count) } else { count };
                let mut values: Vec<f64> = Vec::new();
                for row in 0..count {
                    let sum = match stream.below(4) {
                        0 => 1.0,
                        1 => 1.0 + 1e-13 * stream.uniform(),
                        2 => 1.0 + 9e-4 * (2.0 * stream.uniform() - 1.0),
                        _ => 1.0 - 2e-12 * stream.uniform(),
                    };
                    let raw: Vec<f64> = (0..columns).map(|_| stream.uniform().powi(4)).collect();
                    let total = raw.iter().sum::<f64>() / sum;
                    values.extend(raw.iter().map(|value| value / total));
                    if row == bad {
                        let place = row * columns + stream.below(columns);
                        values[place] = [f64::NAN, -0.5, 1.7, f64::INFINITY][stream.below(4)];
                    }
                }
                let single: Vec<f32> = values.iter().map(|value| *value as f32).collect();
                let one_by_one = |values: &[f64]| {
                    let scale = |(row, values): (usize, &[f64])| {
                        let extremes = row_extremes(values);
                        let scale = extremes.scale("table", row as u64, values)?;
                        let ends =
                            [1.0 - extremes.largest * scale, 1.0 - extremes.smallest * scale];
                        Ok([scale, ends[0], ends[1]].map(f64::to_bits))
                    };
                    let rows = values.chunks_exact(columns).enumerate().map(scale);
                    rows.collect::<Result<Vec<_>>>().map_err(|error| error.to_string())
                };
                assert_eq!(read(&values, columns).1, one_by_one(&values), "{columns} columns");
                let wide: Vec<f64> = single.iter().copied().map(f64::from).collect();
                assert_eq!(read(&single, columns).1, one_by_one(&wide), "{columns} columns");
            }
        }
    }

    /// Rows whose sums are one, and an entry of which is negative, among good ones.
    fn negative_entries_are_refused<T: Real>(of: impl Fn(f64) -> T + Copy) {
        for bad in [[1.25, -0.25, 0.0], [0.5, 0.5 + 1e-5, -1e-5], [-0.0, 1.0, 0.0]] {
            for columns in [3, 16, 17, 40] {
                for (count, place) in [(1, 0), (9, 0), (9, 7), (9, 8), (64, 63)] {
                    let mut values = vec![of(1.0 / columns as f64); count * columns];
                    let row = &mut values[place * columns..][..columns];
                    row.fill(of(0.0));
                    // The last entries, among them those behind the last whole register.
                    row[columns - 3..].copy_from_slice(&bad.map(of));
                    let (column, negative) = match bad.iter().position(|value| *value < 0.0) {
                        Some(column) => (columns - 3 + column, true),
                        None => (0, false),
                    };
                    let found = read(&values, columns).1;
                    let extremes = row_extremes(&values[place * columns..][..columns]);
                    let alone = extremes.scale("table", place as u64, &values[place * columns..]);
                    assert_eq!(found.is_err(), negative, "{bad:?} in {columns} columns");
                    assert_eq!(found.err(), alone.err().map(|error| error.to_string()));
                    if negative {
                        let error = row_scale("table", 7, &values[place * columns..][..columns]);
                        let at = At::Cell { row: 7, column };
                        assert!(
                            matches!(error, Err(Error::Negative { at: found, .. }) if found == at)
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_negative_entry_is_refused_though_the_sum_is_one() {
        negative_entries_are_refused(|value| value as f32);
        negative_entries_are_refused(|value| value);
    }

    /// Rows together as rows one by one, to the bit, with whatever follows them: a row's last lanes must not see the next row.
    #[test]
    fn rows_together_have_the_extremes_of_each() {
        let mut stream = Seed::new(3).stream("extremes");
        for columns in (1..70).chain([100, 256, 1000]) {
            let rows = 9;
            let mut values: Vec<f32> =
                (0..rows * columns).map(|_| (stream.uniform() - 0.1) as f32).collect();
            // A row that no table should have: its neighbours are not to blame.
            values[4 * columns..5 * columns].fill(f32::NAN);
            values[6 * columns] = f32::INFINITY;
            let wide: Vec<f64> = values.iter().copied().map(f64::from).collect();
            let (found, found_wide) = (read(&values, columns).0, read(&wide, columns).0);
            for (row, found) in found.iter().zip(&found_wide).enumerate() {
                let one = row_extremes(&values[row * columns..][..columns]);
                let one_wide = row_extremes(&wide[row * columns..][..columns]);
                let bits = |it: &RowExtremes| [it.smallest, it.largest, it.sum].map(f64::to_bits);
                for other in [found.1, &one, &one_wide] {
                    let same = row == 4 && other.sum.is_nan() && found.0.sum.is_nan();
                    assert!(same || bits(other) == bits(found.0), "row {row} of {columns}");
                }
                let plain = wide[row * columns..][..columns].iter().copied();
                if row != 4 {
                    assert_eq!(found.0.smallest, plain.clone().fold(f64::INFINITY, f64::min));
                    assert_eq!(found.0.largest, plain.fold(f64::NEG_INFINITY, f64::max));
                }
            }
        }
    }
}

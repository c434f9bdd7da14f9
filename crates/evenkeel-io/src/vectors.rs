//! `y_i` and `w_i`: one number per row, labels and weights.

use crate::block::Values;
use crate::error::{IoError, Result};
use crate::matrix::{STEP_BYTES, read_all};
use crate::reader::MatrixReader;
use crate::source::MatrixSource;
use evenkeel::error::At;
use std::sync::Arc;

/// `2^53`. Above it `f64` does not hold every integer: a larger label would silently become its neighbour.
const LARGEST_LABEL: f64 = 9_007_199_254_740_992.0;

/// Reads labels: whole numbers from 0, one per row, as integers or floats. With `expected`, there must be exactly that
/// many.
///
/// # Errors
/// [`IoError::NotOneColumn`] for a matrix, [`IoError::WrongCount`] unless there are as many as expected,
/// [`IoError::NotALabel`] for the first value that is not a whole number from 0 to 2^53, and the errors of reading a
/// matrix.
pub fn read_labels(source: &MatrixSource, expected: Option<usize>) -> Result<Vec<usize>> {
    let (origin, values) = read_column(source, "labels", expected)?;
    labels_of(&origin, 0, &values)
}

/// The labels that `values` are; the first of them is row `first_row` of the file.
pub(crate) fn labels_of(origin: &Arc<str>, first_row: usize, values: &[f64]) -> Result<Vec<usize>> {
    let label = |(index, value): (usize, &f64)| {
        // A NaN fails the comparison too.
        if (0.0..=LARGEST_LABEL).contains(value) && value.fract() == 0.0 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
            Ok(*value as usize)
        } else {
            let (origin, row) = (Arc::clone(origin), first_row + index);
            Err(IoError::NotALabel { origin, row, value: *value })
        }
    };
    values.iter().enumerate().map(label).collect()
}

/// Reads weights: finite and not negative, one per row. They need not sum to one.
///
/// # Errors
/// [`IoError::NotOneColumn`] for a matrix, [`IoError::Core`] for the first value that is negative, NaN or infinite, and
/// the errors of reading a matrix.
pub fn read_weights(source: &MatrixSource) -> Result<Vec<f64>> {
    let (origin, values) = read_column(source, "weights", None)?;
    for (row, value) in values.iter().copied().enumerate() {
        let (what, at) = ("weights", At::Index(row));
        if !value.is_finite() {
            let error = evenkeel::Error::NotFinite { what, at, value };
            return Err(IoError::from_core(&origin, 0, error));
        }
        if value < 0.0 {
            let error = evenkeel::Error::Negative { what, at, value };
            return Err(IoError::from_core(&origin, 0, error));
        }
    }
    Ok(values)
}

/// All numbers of a source that must have one column; `what` names them.
fn read_column(
    source: &MatrixSource,
    what: &'static str,
    expected: Option<usize>,
) -> Result<(Arc<str>, Vec<f64>)> {
    let mut reader = open_column(source, what)?;
    let Some(expected) = expected else {
        let origin = Arc::clone(reader.origin());
        return Ok((origin, read_all(&mut reader)?.into_values().into_f64()));
    };
    require_count(&reader, what, expected)?;
    let mut values: Vec<f64> = Vec::new();
    let mut found = 0;
    let rows = reader.rows_within(STEP_BYTES);
    while let Some(block) = reader.next_block(rows)? {
        found += block.row_count();
        // Counted on, but not kept: the error tells how many there are, whatever their number.
        if found <= expected {
            match block.values() {
                Values::F32(more) => values.extend(more.iter().copied().map(f64::from)),
                Values::F64(more) => values.extend_from_slice(more),
            }
        }
    }
    let origin = Arc::clone(reader.origin());
    // A file of labels for other rows would be off by one somewhere, and no later check would see it.
    match found == expected {
        true => Ok((origin, values)),
        false => Err(IoError::WrongCount { origin, what, found, expected }),
    }
}

/// Opens a source that must have one column.
pub(crate) fn open_column(source: &MatrixSource, what: &'static str) -> Result<MatrixReader> {
    let reader = MatrixReader::open(source)?;
    match reader.columns() {
        1 => Ok(reader),
        columns => {
            Err(IoError::NotOneColumn { origin: Arc::clone(reader.origin()), what, columns })
        }
    }
}

/// An error if the header says that there are not as many rows as expected: nothing needs to be read for that.
pub(crate) fn require_count(
    reader: &MatrixReader,
    what: &'static str,
    expected: usize,
) -> Result<()> {
    match reader.rows() {
        Some(found) if found != expected as u64 => Err(IoError::WrongCount {
            origin: Arc::clone(reader.origin()),
            what,
            found: usize::try_from(found).unwrap_or(usize::MAX),
            expected,
        }),
        _ => Ok(()),
    }
}

//! Columns of mean 0 and standard deviation 1, and columns that never change.
//!
//! ```text
//! z = clip((x - mean) / sd, -1e6, 1e6),     sd with divisor N
//! ```

use serde::{Deserialize, Serialize};

use crate::error::{At, Error, Result, require_finite, require_same_length};
use crate::rows::{Real, Rows};

/// Standardised values beyond this are cut: squares of features and products with coefficients stay finite however far
/// a new row lies from those of the fit.
const LARGEST_VALUE: f64 = 1e6;

/// A column whose spread is below this share of its largest entry is constant up to rounding.
const CONSTANT: f64 = 1e-12;

/// `z = (x - mean) / sd`, column by column; 0 for constant columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Standardisation {
    /// Mean of each column; shape `(d,)`.
    means: Vec<f64>,
    /// `1 / sd` of each column, and 0 where it is constant; shape `(d,)`.
    inverse_deviations: Vec<f64>,
}

impl Standardisation {
    /// Over the rows of a flat matrix of finite numbers, shape `(rows, columns)`.
    ///
    /// ```text
    /// mean = 1/N sum x,   sd = sqrt(1/N sum (x - mean)^2)       each relative to max |x|
    /// ```
    /// A column is constant if its spread is a rounding of its size. Its `z` is 0, so that it
    /// enters no fit and a new row that differs in it is not sent to infinity.
    pub(super) fn of(values: &[f64], columns: usize) -> Self {
        let (mut means, mut inverse_deviations) = (vec![0.0; columns], vec![0.0; columns]);
        let rows = (values.len() / columns.max(1)) as f64;
        for column in 0..columns {
            let entries = || values.iter().skip(column).step_by(columns);
            let largest = entries().fold(0.0_f64, |largest, value| largest.max(value.abs()));
            if largest <= 0.0 {
                continue;
            }
            // Relative to the largest entry: sums of entries near 1e308 would be infinite.
            let mean = entries().map(|value| value / largest).sum::<f64>() / rows;
            // About the mean, in a second pass: the difference of two means of squares would lose
            // all digits of a column that is far from zero and narrow.
            let square = entries().map(|value| (value / largest - mean).powi(2)).sum::<f64>();
            let deviation = (square / rows).sqrt();
            means[column] = mean * largest;
            // A deviation below the normal numbers has an inverse that is infinite.
            if deviation > CONSTANT && (deviation * largest).is_normal() {
                inverse_deviations[column] = 1.0 / (deviation * largest);
            }
        }
        Self { means, inverse_deviations }
    }

    /// Number of columns `d` it was made for.
    pub(super) fn columns(&self) -> usize {
        self.means.len()
    }

    /// An error unless it describes `columns` columns by finite numbers.
    pub(super) fn check(&self, columns: usize) -> Result<()> {
        require_same_length("feature means", self.means.len(), "features", columns)?;
        let scales = self.inverse_deviations.len();
        require_same_length("feature scales", scales, "features", columns)?;
        require_finite("feature means", &self.means)?;
        require_finite("feature scales", &self.inverse_deviations)
    }

    /// Writes a standardised row; `out` has as many entries.
    pub(super) fn apply<T: Real>(&self, row: &[T], out: &mut [f64]) {
        let columns = self.means.iter().zip(&self.inverse_deviations);
        for ((slot, value), (mean, inverse)) in out.iter_mut().zip(row).zip(columns) {
            let value: f64 = (*value).into();
            // 0 for constant columns, also where the difference overflows.
            *slot = if *inverse == 0.0 {
                0.0
            } else {
                ((value - mean) * inverse).clamp(-LARGEST_VALUE, LARGEST_VALUE)
            };
        }
    }

    /// All rows of a flat matrix, standardised.
    pub(super) fn applied(&self, values: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; values.len()];
        let columns = self.columns().max(1);
        for (row, slots) in values.chunks_exact(columns).zip(out.chunks_exact_mut(columns)) {
            self.apply(row, slots);
        }
        out
    }
}

/// An error naming the row and column of the first entry that is not finite.
pub(super) fn require_finite_rows<T: Real>(rows: Rows<'_, T>) -> Result<()> {
    for (row, values) in rows.iter().enumerate() {
        for (column, value) in values.iter().enumerate() {
            let value: f64 = (*value).into();
            if !value.is_finite() {
                let at = At::Cell { row, column };
                return Err(Error::NotFinite { what: rows.what(), at, value });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_get_mean_zero_and_deviation_one() {
        let values = [1.0, 10.0, 0.1, 3.0, -10.0, 0.1, 5.0, 30.0, 0.1];
        let standardisation = Standardisation::of(&values, 3);
        let z = standardisation.applied(&values);
        for column in 0..2 {
            let entries = || z.iter().skip(column).step_by(3);
            assert!(entries().sum::<f64>().abs() < 1e-12);
            assert!((entries().map(|v| v * v).sum::<f64>() / 3.0 - 1.0).abs() < 1e-12);
        }
        assert!(z.iter().skip(2).step_by(3).all(|v| *v == 0.0), "a constant column");
    }

    #[test]
    fn huge_and_tiny_entries_stay_finite() {
        for size in [1e308, 1e-308, 5e-324] {
            let values = [size, -size, size, size];
            let standardisation = Standardisation::of(&values, 1);
            assert!(standardisation.check(1).is_ok());
            assert!(standardisation.applied(&[1e308, -1e308]).iter().all(|z| z.is_finite()));
        }
    }
}

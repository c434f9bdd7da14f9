//! The radial kernel between feature rows.
//!
//! ```text
//! K(x, x') = exp(-gamma |x - x'|^2),   in [0, 1],  1 on the diagonal
//! ```

use rayon::prelude::*;

use crate::error::{At, Error, Result};
use crate::numeric::exp_of_negative;
use crate::numeric::simd::in_widest_registers;
use crate::rows::{Real, Rows};

/// Largest number of calibration points whose kernel matrix is kept: 10 000 points are 800 MB.
pub const LARGEST_CALIBRATION: usize = 10_000;

/// Calibration features and the kernel among them, `8 n^2` bytes.
///
/// ```text
/// K(x, x') = exp(-gamma |x - x'|^2),   no ridge
/// ```
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KernelMatrix {
    /// Column after column, so that the distances to all points run over neighbouring numbers.
    transposed: Vec<f64>,
    /// Number `d` of features of a point.
    columns: usize,
    /// Positive: larger is more local.
    gamma: f64,
    /// `K` among the calibration points, row after row; symmetric.
    rows: Vec<f64>,
    /// Number of calibration points, at most 10 000.
    n: usize,
}

impl KernelMatrix {
    /// The kernel among the rows of `features` (row after row, all finite).
    ///
    /// # Errors
    /// `TooMany` beyond [`LARGEST_CALIBRATION`] points.
    pub(super) fn new(features: &[f64], columns: usize, gamma: f64) -> Result<Self> {
        let n = features.len() / columns;
        // Before the matrix is allocated: its size is the square of a number that may come from a
        // file.
        require_size(n)?;
        let mut transposed = vec![0.0; features.len()];
        for (row, values) in features.chunks_exact(columns).enumerate() {
            for (column, value) in values.iter().enumerate() {
                transposed[column * n + row] = *value;
            }
        }
        // All of it, not one triangle: every solve reads whole rows, and mirroring would read
        // columns.
        let mut rows = vec![0.0; n * n];
        rows.par_chunks_exact_mut(n).zip(features.par_chunks_exact(columns)).for_each(
            |(out, point)| {
                kernel_row(&transposed, point, gamma, out);
            },
        );
        Ok(Self { transposed, columns, gamma, rows, n })
    }

    /// Number of calibration points, at least one.
    pub(super) fn n(&self) -> usize {
        self.n
    }

    /// Number of features of a point.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// The kernel's parameter, for the record.
    pub(super) fn gamma(&self) -> f64 {
        self.gamma
    }

    /// The kernel between calibration point `index` and all of them; shape `(n,)`.
    pub(super) fn row(&self, index: usize) -> &[f64] {
        &self.rows[index * self.n..][..self.n]
    }

    /// The kernel between a new point, shape `(d,)`, and all calibration points; `out` has shape
    /// `(n,)`.
    pub(super) fn between(&self, point: &[f64], out: &mut [f64]) {
        kernel_row(&self.transposed, point, self.gamma, out);
    }

    /// The features as they were given, row after row: what a file keeps instead of the matrix.
    pub(super) fn features(&self) -> Vec<f64> {
        let point = |row: usize| {
            (0..self.columns).map(move |column| self.transposed[column * self.n + row])
        };
        (0..self.n).flat_map(point).collect()
    }

    /// `out -= sum of factor * K(point, .)` over `terms`.
    pub(super) fn subtract_rows(&self, terms: &[(usize, f64)], out: &mut [f64]) {
        subtract_rows(&self.rows, terms, out);
    }
}

/// An error beyond [`LARGEST_CALIBRATION`] points, with what to do instead.
pub(super) fn require_size(n: usize) -> Result<()> {
    if n > LARGEST_CALIBRATION {
        return Err(Error::TooMany {
            what: "calibration points of the conditional method",
            found: n,
            most: LARGEST_CALIBRATION,
            instead: "draw a random subset of them: the guarantee holds for any size",
        });
    }
    Ok(())
}

/// Feature rows as `f64`, all finite: one NaN would make every kernel value NaN.
///
/// # Errors
/// `NotFinite` with the row and column of the first that is not.
pub(super) fn finite_features<T: Real>(features: &Rows<'_, T>) -> Result<Vec<f64>> {
    let values: Vec<f64> = features.values().iter().map(|value| (*value).into()).collect();
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(values),
        Some(index) => Err(Error::NotFinite {
            what: features.what(),
            at: At::Cell { row: index / features.columns(), column: index % features.columns() },
            value: values[index],
        }),
    }
}

in_widest_registers! {
    /// `K` between a point and all calibration points, feature by feature. Distances are sums in
    /// the order of the features, so a row has the same bits alone and in the matrix.
    fn kernel_row[](transposed: &[f64], point: &[f64], gamma: f64, out: &mut [f64]) -> () {
        out.fill(0.0);
        for (column, x) in transposed.chunks_exact(out.len()).zip(point) {
            for (sum, value) in out.iter_mut().zip(column) {
                let difference = value - x;
                *sum += difference * difference;
            }
        }
        for value in out.iter_mut() {
            // A distance of 0 stays 0 and one beyond f64 stays infinite: the kernel is 1 and 0.
            *value = exp_of_negative(-gamma * *value);
        }
    }
}

in_widest_registers! {
    /// `out -= sum of factor * row`, the rows in the order of `terms`.
    fn subtract_rows[](rows: &[f64], terms: &[(usize, f64)], out: &mut [f64]) -> () {
        let n = out.len();
        let row = |index: usize| &rows[index * n..][..n];
        // Four rows a pass: `out` is read and written once for the four of them.
        let (fours, rest) = terms.as_chunks::<4>();
        for [a, b, c, d] in fours {
            let (row_a, row_b, row_c, row_d) = (row(a.0), row(b.0), row(c.0), row(d.0));
            for i in 0..n {
                out[i] -= (a.1 * row_a[i] + b.1 * row_b[i]) + (c.1 * row_c[i] + d.1 * row_d[i]);
            }
        }
        for (index, factor) in rest {
            for (out, entry) in out.iter_mut().zip(row(*index)) {
                *out -= factor * entry;
            }
        }
    }
}

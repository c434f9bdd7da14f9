//! Small dense systems: LU with partial pivoting, and the inverse for the condition number.
//!
//! ```text
//! P A = L U,    A x = b  =>  L y = P b,  U x = y           O(n^3) to factor, O(n^2) to solve
//! ```
//! The matrix is as wide as there are classes and factored once, so a library would not pay.

/// `P A = L U` of a square matrix stored row by row; `L` has ones on its diagonal.
pub(super) struct Factored {
    /// `U` on and above the diagonal, `L` below; shape `(n, n)`.
    lu: Vec<f64>,
    /// `order[i]` is the row of `A` that became row `i`.
    order: Vec<usize>,
}

impl Factored {
    /// Factors `matrix`, shape `(n, n)`; the column without a pivot if it is singular.
    ///
    /// # Errors
    /// The index of the first column that is a combination of those before it, up to rounding.
    pub(super) fn new(matrix: &[f64], n: usize) -> Result<Self, usize> {
        let mut lu = matrix.to_vec();
        let mut order: Vec<usize> = (0..n).collect();
        for column in 0..n {
            let size = |row: usize| lu[row * n + column].abs();
            // The largest entry, the first among equals: small pivots blow rounding up, and the
            // choice must not depend on anything but the numbers.
            let pivot = (column..n)
                .fold(column, |best, row| if size(row) > size(best) { row } else { best });
            // Columns are shares that sum to one, so a pivot this small is what rounding leaves of
            // zero.
            if size(pivot) <= f64::EPSILON {
                return Err(column);
            }
            if pivot != column {
                order.swap(pivot, column);
                (0..n).for_each(|k| lu.swap(pivot * n + k, column * n + k));
            }
            let (above, below) = lu.split_at_mut((column + 1) * n);
            let pivot_row = &above[column * n..];
            for row in below.chunks_exact_mut(n) {
                let factor = row[column] / pivot_row[column];
                row[column] = factor;
                for (entry, above) in row[column + 1..].iter_mut().zip(&pivot_row[column + 1..]) {
                    *entry -= factor * above;
                }
            }
        }
        Ok(Self { lu, order })
    }

    /// `x` with `A x = b`; shapes `(n,)`.
    ///
    /// ```text
    /// y_i = (P b)_i - sum_{k < i} L_ik y_k,     x_i = (y_i - sum_{k > i} U_ik x_k) / U_ii
    /// ```
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.order.len();
        let mut x: Vec<f64> = self.order.iter().map(|row| b[*row]).collect();
        let sum = |row: usize, from: usize, to: usize, x: &[f64]| -> f64 {
            (from..to).map(|k| self.lu[row * n + k] * x[k]).sum()
        };
        for row in 0..n {
            x[row] -= sum(row, 0, row, &x);
        }
        for row in (0..n).rev() {
            x[row] = (x[row] - sum(row, row + 1, n, &x)) / self.lu[row * n + row];
        }
        x
    }

    /// The inverse, row by row; only the condition number and the least determined class need it.
    pub(super) fn inverse(&self) -> Vec<f64> {
        let n = self.order.len();
        let mut inverse = vec![0.0; n * n];
        let mut unit = vec![0.0; n];
        for column in 0..n {
            unit[column] = 1.0;
            for (row, value) in self.solve(&unit).into_iter().enumerate() {
                inverse[row * n + column] = value;
            }
            unit[column] = 0.0;
        }
        inverse
    }
}

/// `|A|_1`: the largest sum of absolute entries of a column.
pub(super) fn norm_1(matrix: &[f64], n: usize) -> f64 {
    let column = |column: usize| matrix.iter().skip(column).step_by(n).map(|v| v.abs()).sum();
    (0..n).map(column).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_that_needs_pivoting() {
        let matrix = [0.0, 2.0, 1.0, 1.0, 0.0, 3.0, 4.0, 1.0, 0.0];
        let factored = Factored::new(&matrix, 3).unwrap();
        let x = factored.solve(&[7.0, 10.0, 6.0]);
        for (found, expected) in x.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-14);
        }
        let inverse = factored.inverse();
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| matrix[i * 3 + k] * inverse[k * 3 + j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-14);
            }
        }
        assert_eq!(norm_1(&matrix, 3), 5.0);
    }

    #[test]
    fn a_singular_matrix_names_its_column() {
        assert_eq!(Factored::new(&[1.0, 2.0, 2.0, 4.0], 2).err(), Some(1));
        assert_eq!(Factored::new(&[0.0, 1.0, 0.0, 1.0], 2).err(), Some(0));
    }
}

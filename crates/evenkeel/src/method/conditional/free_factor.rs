//! Cholesky factor of the kernel among the free points, grown and shrunk by one point at a time.
//!
//! ```text
//! append   O(F)      a row that was solved for, and a diagonal
//! remove   O(F^2)    rotations, and ones = L^-1 1 anew
//! solve    O(F^2)    L^-1 x, L'^-1 x
//! ```
//! Factoring anew at every move would be `O(F^3)`, and there are several moves a test point.

use crate::numeric::dot_in_lanes;
use crate::numeric::simd::in_widest_registers;

/// Room for points beyond those present, so that a few more do not move the factor.
const SPARE: usize = 32;

/// Lower triangle `L` with
///
/// ```text
/// L L' = K_FF + 1 1',    ones = L^-1 1
/// ```
/// The all-ones matrix changes nothing on the duals, whose sum is fixed, and bounds the pivots from below by half the
/// curvature of the constrained problem: `K_FF` alone may be singular where that problem is not.
///
/// Stored column after column, so that solves and removals run over neighbouring numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct FreeFactor {
    /// Columns of `stride` numbers each, of which the first `size` are in use.
    values: Vec<f64>,
    /// Numbers that a column has room for, at least `size`.
    stride: usize,
    /// `F`, the number of free points.
    size: usize,
    /// `L^-1 1`, shape `(F,)`: every solve with a constraint on the sum needs it.
    ones: Vec<f64>,
    /// Column of the point that is being taken out.
    removed: Vec<f64>,
}

impl FreeFactor {
    /// No points; keeps the memory.
    pub(super) fn clear(&mut self) {
        self.size = 0;
        self.ones.clear();
    }

    /// Becomes a copy of `other` without giving up its own memory.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.reserve(other.size);
        self.size = other.size;
        self.ones.clone_from(&other.ones);
        // Column by column and below the diagonal only: the strides may differ, and the upper
        // triangle holds whatever was there before.
        for column in 0..self.size {
            let rows = self.size - column;
            let from = column * other.stride + column;
            let to = column * self.stride + column;
            self.values[to..to + rows].copy_from_slice(&other.values[from..from + rows]);
        }
    }

    /// `L^-1 1`; shape `(F,)`.
    pub(super) fn ones(&self) -> &[f64] {
        &self.ones
    }

    /// `x <- L^-1 x`, for `x` no longer than the factor.
    pub(super) fn solve_lower(&self, x: &mut [f64]) {
        solve_lower(&self.values, self.stride, x);
    }

    /// `x <- L'^-1 x`, for `x` no longer than the factor.
    pub(super) fn solve_upper(&self, x: &mut [f64]) {
        solve_upper(&self.values, self.stride, x);
    }

    /// Adds a point whose row of the factor is `row` and whose pivot (the square of the diagonal) is `pivot > 0`.
    pub(super) fn append(&mut self, row: &[f64], pivot: f64) {
        self.reserve(self.size + 1);
        let (size, stride) = (self.size, self.stride);
        for (column, value) in row.iter().enumerate() {
            self.values[column * stride + size] = *value;
        }
        let diagonal = pivot.sqrt();
        self.values[size * stride + size] = diagonal;
        // The new row of `L ones = 1`, solved for its last entry: no need to solve the whole again.
        self.ones.push((1.0 - dot_in_lanes(row, &self.ones)) / diagonal);
        self.size += 1;
    }

    /// Takes out the point at `position`.
    ///
    /// What its column contributed to the points behind it is added back as a rank-one update by rotations, which lose
    /// no accuracy however small the pivots are.
    pub(super) fn remove(&mut self, position: usize) {
        let (size, stride) = (self.size, self.stride);
        for column in 0..position {
            let start = column * stride;
            self.values.copy_within(start + position + 1..start + size, start + position);
        }
        self.removed.clear();
        let start = position * stride;
        self.removed.extend_from_slice(&self.values[start + position + 1..start + size]);
        rotate_out(&mut self.values, stride, size, position, &mut self.removed);
        self.size -= 1;
        // Anew, not updated: rotations change every entry behind the point, and one solve is as
        // cheap.
        self.ones.truncate(self.size);
        self.ones.fill(1.0);
        solve_lower(&self.values, stride, &mut self.ones);
    }

    /// Room for `size` points, by half as much again: points come one at a time.
    fn reserve(&mut self, size: usize) {
        if size <= self.stride {
            return;
        }
        let stride = (size + SPARE).max(self.stride * 3 / 2);
        let mut values = vec![0.0; stride * stride];
        for column in 0..self.size {
            let (from, to) = (column * self.stride, column * stride);
            values[to + column..to + self.size]
                .copy_from_slice(&self.values[from + column..from + self.size]);
        }
        (self.values, self.stride) = (values, stride);
    }
}

in_widest_registers! {
    /// Forward substitution, column by column: the inner loop runs over neighbouring numbers.
    fn solve_lower[](values: &[f64], stride: usize, x: &mut [f64]) -> () {
        let size = x.len();
        for column in 0..size {
            let entries = &values[column * stride + column..column * stride + size];
            let (head, tail) = x[column..].split_at_mut(1);
            head[0] /= entries[0];
            let factor = head[0];
            for (x, entry) in tail.iter_mut().zip(&entries[1..]) {
                *x -= factor * entry;
            }
        }
    }
}

in_widest_registers! {
    /// Backward substitution by dot products along columns of `L`, which are rows of `L'`.
    fn solve_upper[](values: &[f64], stride: usize, x: &mut [f64]) -> () {
        let size = x.len();
        for column in (0..size).rev() {
            let entries = &values[column * stride + column..column * stride + size];
            let sum = dot_in_lanes(&entries[1..], &x[column + 1..]);
            x[column] = (x[column] - sum) / entries[0];
        }
    }
}

in_widest_registers! {
    /// Rotates `removed` into the columns behind `position`, and moves each of them one place up and to the left.
    fn rotate_out[](
        values: &mut [f64],
        stride: usize,
        size: usize,
        position: usize,
        removed: &mut [f64],
    ) -> () {
        for column in position + 1..size {
            let rows = size - column;
            let (left, right) = values.split_at_mut(column * stride);
            let target = &mut left[(column - 1) * stride + column - 1..][..rows];
            let source = &right[column..size];
            let carried = &mut removed[column - position - 1..];
            // Not `hypot`, whose last bit differs between C libraries; entries are at most sqrt(2).
            let diagonal = (source[0] * source[0] + carried[0] * carried[0]).sqrt();
            let (cosine, sine) = (source[0] / diagonal, carried[0] / diagonal);
            target[0] = diagonal;
            for row in 1..rows {
                target[row] = cosine * source[row] + sine * carried[row];
                carried[row] = cosine * carried[row] - sine * source[row];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// The factor after any sequence of additions and removals is that of the points that remain.
    #[test]
    fn points_come_and_go() {
        let mut stream = Seed::new(5).stream("points");
        let points: Vec<f64> = (0..60).map(|_| stream.uniform() * 20.0).collect();
        let kernel = |i: usize, j: usize| 1.0 + (-(points[i] - points[j]).powi(2)).exp();
        let mut factor = FreeFactor::default();
        let mut free: Vec<usize> = Vec::new();
        for step in 0..200 {
            if step % 3 == 2 {
                let position = stream.below(free.len());
                free.remove(position);
                factor.remove(position);
            } else if let Some(next) = (0..60).find(|point| !free.contains(point)) {
                let mut row: Vec<f64> = free.iter().map(|point| kernel(*point, next)).collect();
                factor.solve_lower(&mut row);
                let pivot = 2.0 - dot_in_lanes(&row, &row);
                if pivot < 1e-9 {
                    continue;
                }
                factor.append(&row, pivot);
                free.push(next);
            }
            let mut x = vec![1.0; free.len()];
            factor.solve_lower(&mut x);
            assert!(x.iter().zip(factor.ones()).all(|(a, b)| (a - b).abs() < 1e-9));
            factor.solve_upper(&mut x);
            for i in &free {
                let product: f64 = free.iter().zip(&x).map(|(j, x)| kernel(*i, *j) * x).sum();
                assert!((product - 1.0).abs() < 1e-9, "step {step}: {product}");
            }
        }
    }
}

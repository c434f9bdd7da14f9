//! Ridge-regularised logistic regression by Newton's method.
//!
//! ```text
//! L(b) = 1/N sum_i log(1 + exp(-y_i x_i'b)) + ridge/2 |b|^2,     b <- b - length H^-1 g
//! ```
//! The problems are small and convex, and many are solved in a fit. Newton's method needs no step
//! size and ends where the gradient does, which keeps fits repeatable.

use rayon::prelude::*;

use crate::numeric::exp_of_negative;
use crate::numeric::simd::in_widest_registers;

/// Most Newton steps. A dozen are usual; near-separation takes some more.
const MOST_STEPS: usize = 100;
/// Half the squared Newton decrement, the loss left to gain, at which the fit is done.
const LOSS_LEFT: f64 = 1e-14;
/// Most times a step is halved before it is given up.
const MOST_HALVINGS: usize = 40;
/// Rows are summed in at most this many blocks, cut by their number only, so threads do not change a bit.
const MOST_BLOCKS: usize = 8;
/// Fewer rows than this are one block.
const LEAST_BLOCK: usize = 256;
/// Keeps the intercept's pivot positive when all other weights vanish; far below anything visible in a fit.
const INTERCEPT_RIDGE: f64 = 1e-12;
/// Added to the diagonal of the rows' products, relative to the largest: rows that repeat make them singular.
const GRAM_JITTER: f64 = 1e-13;

/// Rows of a two-class problem: the first `positives` rows are of the numerator. The intercept is the last column.
pub(super) struct Design {
    /// Rows with their intercept, one after the other.
    values: Vec<f64>,
    /// Numbers of a row, the intercept's 1 included.
    columns: usize,
    /// Rows of the numerator; they stand first.
    positives: usize,
}

/// A fitted linear logit and how it was found.
pub(super) struct Solution {
    /// One coefficient per column, the intercept last.
    pub(super) coefficients: Vec<f64>,
    /// Mean logistic loss, without the ridge.
    pub(super) loss: f64,
    /// Newton steps taken, at most 100.
    pub(super) steps: usize,
    /// Whether there was nothing left to gain; otherwise the steps were used up.
    pub(super) converged: bool,
}

impl Design {
    /// From rows without intercept; `fill` expands a row of features into all columns but the intercept's.
    pub(super) fn new(
        numerator: &[f64],
        denominator: &[f64],
        features: usize,
        columns: usize,
        fill: impl Fn(&[f64], &mut [f64]),
    ) -> Self {
        let rows = (numerator.len() + denominator.len()) / features;
        // Ones: the last of each row stays as the intercept.
        let mut values = vec![1.0; rows * (columns + 1)];
        let both = numerator.chunks_exact(features).chain(denominator.chunks_exact(features));
        for (row, slots) in both.zip(values.chunks_exact_mut(columns + 1)) {
            fill(row, &mut slots[..columns]);
        }
        Self { values, columns: columns + 1, positives: numerator.len() / features }
    }

    /// `N`, the rows of both classes.
    fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    /// Minimises the mean logistic loss plus half the ridge times the squared coefficients, the intercept's excepted.
    ///
    /// ```text
    /// L(b)    = 1/N sum_i log(1 + exp(-y_i x_i'b)) + ridge/2 |b|^2,       y_i = 1 in the numerator, -1 otherwise
    /// step    = H^-1 g,   H = 1/N sum_i p_i (1 - p_i) x_i x_i' + ridge I,   halved until the loss falls
    /// ```
    /// The ridge makes the minimiser finite when a plane separates the classes, and unique when columns are collinear.
    pub(super) fn minimise(&self, ridge: f64) -> Solution {
        // Wider than long: the Hessian would be singular but for the ridge, and its factor the
        // whole cost.
        if self.columns - 1 > self.rows()
            && let Some(solution) = self.minimise_in_row_space(ridge)
        {
            return solution;
        }
        self.minimise_directly(ridge)
    }

    /// The same minimum when there are more columns than rows, at the price of a problem with as many columns as rows.
    ///
    /// ```text
    /// X X' = L L',   b = X' L'^-1 c   =>   X b = L c,   |b| = |c|
    /// ```
    /// The ridge keeps the minimiser in the span of the rows, so nothing is lost. A thousand classes on 600 rows would
    /// otherwise factor 2000 x 2000 matrices in every step of every bridge.
    fn minimise_in_row_space(&self, ridge: f64) -> Option<Solution> {
        let (rows, p) = (self.rows(), self.columns - 1);
        let row = |i: usize| &self.values[i * self.columns..][..p];
        let mut gram = vec![0.0; rows * rows];
        gram.par_chunks_mut(rows).enumerate().for_each(|(i, products)| {
            // The lower triangle alone, which is all that a Cholesky factor reads.
            for (j, slot) in products[..=i].iter_mut().enumerate() {
                *slot = dot(row(i), row(j));
            }
        });
        let largest = (0..rows).map(|i| gram[i * rows + i]).fold(0.0, f64::max);
        let factor = cholesky(&gram, rows, GRAM_JITTER * largest)?;
        let mut values = vec![1.0; rows * (rows + 1)];
        for (slots, row) in values.chunks_exact_mut(rows + 1).zip(factor.chunks_exact(rows)) {
            slots[..rows].copy_from_slice(row);
        }
        let reduced = Self { values, columns: rows + 1, positives: self.positives };
        let mut solution = reduced.minimise_directly(ridge);
        let intercept = solution.coefficients.pop()?;
        solve_transposed(&factor, rows, &mut solution.coefficients);
        let mut coefficients = vec![0.0; p];
        for (i, share) in solution.coefficients.iter().enumerate() {
            axpy(*share, row(i), &mut coefficients);
        }
        coefficients.push(intercept);
        Some(Solution { coefficients, ..solution })
    }

    /// Newton's method with as many coefficients as columns, from zero.
    ///
    /// Ends when half the squared decrement `g'H^-1 g / 2`, which is what a quadratic loss would
    /// still gain, is below rounding, or when no step lowers the loss. Both count as converged.
    fn minimise_directly(&self, ridge: f64) -> Solution {
        let mut coefficients = vec![0.0; self.columns];
        let mut at = self.evaluate(&coefficients, ridge);
        for step in 0..MOST_STEPS {
            let Some(direction) = at.newton_direction(self.columns) else {
                return self.solution(coefficients, step, false, ridge);
            };
            let decrement: f64 = direction.iter().zip(&at.gradient).map(|(d, g)| d * g).sum();
            // In units of the loss, so that the end does not depend on the scale of the features.
            if decrement / 2.0 <= LOSS_LEFT {
                return self.solution(coefficients, step, true, ridge);
            }
            // A full step can overshoot where the classes nearly separate: the loss is flat there and H tiny.
            let mut length = 1.0;
            let moved = (0..MOST_HALVINGS).find_map(|_| {
                let moved: Vec<f64> =
                    coefficients.iter().zip(&direction).map(|(c, d)| c - length * d).collect();
                // Armijo's condition: a step must gain a share of what the slope promises. Any fall
                // at all would let the method creep.
                let falls =
                    self.penalised_loss(&moved, ridge) <= at.loss - 1e-4 * length * decrement;
                length /= 2.0;
                falls.then_some(moved)
            });
            // No step lowers the loss any more: rounding is all that is left.
            let Some(moved) = moved else {
                return self.solution(coefficients, step, true, ridge);
            };
            coefficients = moved;
            at = self.evaluate(&coefficients, ridge);
        }
        self.solution(coefficients, MOST_STEPS, false, ridge)
    }

    /// The fit at these coefficients; its loss is given without the ridge, to be compared with
    /// `ln 2`.
    fn solution(
        &self,
        coefficients: Vec<f64>,
        steps: usize,
        converged: bool,
        ridge: f64,
    ) -> Solution {
        let loss = self.penalised_loss(&coefficients, ridge)
            - ridge / 2.0 * squares(&coefficients[..self.columns - 1]);
        Solution { coefficients, loss, steps, converged }
    }

    /// Rows of a block: a function of their number alone.
    fn block(&self) -> usize {
        self.rows().div_ceil(MOST_BLOCKS).max(LEAST_BLOCK)
    }

    /// `L(b)`: what a step must lower.
    fn penalised_loss(&self, coefficients: &[f64], ridge: f64) -> f64 {
        let block = self.block();
        // Collected, then added in the order of the blocks: a reduce would group them as the
        // threads happen to split.
        let parts: Vec<f64> = self
            .values
            .par_chunks(block * self.columns)
            .enumerate()
            .map(|(index, rows)| {
                let first = index * block;
                let losses = rows.chunks_exact(self.columns).enumerate().map(|(offset, row)| {
                    let logit = dot(row, coefficients);
                    softplus(if first + offset < self.positives { -logit } else { logit })
                });
                losses.sum()
            })
            .collect();
        parts.iter().sum::<f64>() / self.rows() as f64
            + ridge / 2.0 * squares(&coefficients[..self.columns - 1])
    }

    /// `L(b)` with its gradient and Hessian.
    fn evaluate(&self, coefficients: &[f64], ridge: f64) -> Evaluation {
        let (block, p) = (self.block(), self.columns);
        let parts: Vec<Evaluation> = self
            .values
            .par_chunks(block * p)
            .enumerate()
            .map(|(index, rows)| {
                let mut part = Evaluation::zero(p);
                for (offset, row) in rows.chunks_exact(p).enumerate() {
                    part.add(row, dot(row, coefficients), index * block + offset < self.positives);
                }
                part
            })
            .collect();
        let mut total = Evaluation::zero(p);
        for part in &parts {
            total.merge(part);
        }
        total.finish(self.rows() as f64, coefficients, ridge);
        total
    }
}

/// Loss, gradient and the lower triangle of the Hessian.
struct Evaluation {
    /// Sum of the rows' losses; after `finish` their mean, with the ridge.
    loss: f64,
    /// `dL/db`; shape `(columns,)`.
    gradient: Vec<f64>,
    /// Shape `(columns, columns)`; above the diagonal nothing is written.
    hessian: Vec<f64>,
}

impl Evaluation {
    /// All zero: what a block begins with.
    fn zero(columns: usize) -> Self {
        Self { loss: 0.0, gradient: vec![0.0; columns], hessian: vec![0.0; columns * columns] }
    }

    /// Adds a row at its logit.
    ///
    /// ```text
    /// loss     += log(1 + exp(logit)), of minus the logit for the numerator
    /// gradient += (p - [positive]) x
    /// hessian  += p (1 - p) x x'
    /// ```
    fn add(&mut self, row: &[f64], logit: f64, positive: bool) {
        let probability = sigmoid(logit);
        self.loss += softplus(if positive { -logit } else { logit });
        let slope = if positive { probability - 1.0 } else { probability };
        axpy(slope, row, &mut self.gradient);
        let weight = probability * (1.0 - probability);
        for (i, value) in row.iter().enumerate() {
            let scaled = weight * value;
            // A row far from the plane has weight 0, and the quadratic loop over it is the cost of
            // a step.
            if scaled != 0.0 {
                axpy(scaled, &row[..=i], &mut self.hessian[i * row.len()..][..=i]);
            }
        }
    }

    /// Adds the sums of another block.
    fn merge(&mut self, other: &Self) {
        self.loss += other.loss;
        axpy(1.0, &other.gradient, &mut self.gradient);
        axpy(1.0, &other.hessian, &mut self.hessian);
    }

    /// From sums to means, with the ridge on everything but the intercept.
    fn finish(&mut self, rows: f64, coefficients: &[f64], ridge: f64) {
        let p = coefficients.len();
        self.loss = self.loss / rows + ridge / 2.0 * squares(&coefficients[..p - 1]);
        self.gradient.iter_mut().for_each(|slope| *slope /= rows);
        axpy(ridge, &coefficients[..p - 1], &mut self.gradient[..p - 1]);
        self.hessian.iter_mut().for_each(|entry| *entry /= rows);
        // The intercept is not shrunk: it carries the sizes of the two data sets, not a difference
        // of laws.
        for i in 0..p {
            self.hessian[i * p + i] += if i + 1 < p { ridge } else { INTERCEPT_RIDGE };
        }
    }

    /// `H^-1 g` by Cholesky; none if the Hessian holds no numbers.
    fn newton_direction(&self, p: usize) -> Option<Vec<f64>> {
        // Rounding can push a tiny pivot of collinear columns below zero; a little more ridge makes the step shorter.
        let scale = (0..p).map(|i| self.hessian[i * p + i]).fold(0.0, f64::max);
        [0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6].into_iter().find_map(|jitter| {
            let factor = cholesky(&self.hessian, p, jitter * scale)?;
            let direction = solve_factored(&factor, p, &self.gradient);
            direction.iter().all(|value| value.is_finite()).then_some(direction)
        })
    }
}

/// Lower factor `L` with `L L' = A + jitter I` of a symmetric matrix given by its lower triangle;
/// none if that is not positive definite. Row by row, each from dot products with the rows above.
fn cholesky(matrix: &[f64], p: usize, jitter: f64) -> Option<Vec<f64>> {
    let mut factor = matrix.to_vec();
    for i in 0..p {
        factor[i * p + i] += jitter;
    }
    for i in 0..p {
        let (above, rest) = factor.split_at_mut(i * p);
        let row = &mut rest[..p];
        for j in 0..i {
            let other = &above[j * p..][..=j];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        // NaN compares as nothing: without asking for it a factor of NaN would pass.
        let pivot = row[i] - squares(&row[..i]);
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        row[i] = pivot.sqrt();
    }
    Some(factor)
}

/// `x` with `L L' x = b`: forward by rows of `L`, then back.
fn solve_factored(factor: &[f64], p: usize, b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    for i in 0..p {
        x[i] = (x[i] - dot(&factor[i * p..][..i], &x[..i])) / factor[i * p + i];
    }
    solve_transposed(factor, p, &mut x);
    x
}

/// `x <- L'^-1 x`, by columns of `L'`, which are rows of `L`.
fn solve_transposed(factor: &[f64], p: usize, x: &mut [f64]) {
    for i in (0..p).rev() {
        x[i] /= factor[i * p + i];
        let (before, after) = x.split_at_mut(i);
        axpy(-after[0], &factor[i * p..][..i], before);
    }
}

in_widest_registers! {
    /// One exponential, fused where the processor can: its loops are of other things.
    fn exp_of_one[](x: f64) -> f64 {
        exp_of_negative(x)
    }
}

/// `1 / (1 + exp(-x))`, in `[0, 1]`; small values keep their digits.
pub(super) fn sigmoid(x: f64) -> f64 {
    // Of the negative side always: `exp(710)` is infinite, and its quotient NaN.
    let e = exp_of_one(-x.abs());
    if x >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// `log(1 + exp(x))`, without overflow: `x` for large `x`, `exp(x)` for very negative.
pub(super) fn softplus(x: f64) -> f64 {
    x.max(0.0) + exp_of_one(-x.abs()).ln_1p()
}

/// `a'b` in a fixed number of lanes, so that the width of the registers changes no bit.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    crate::numeric::dot_in_lanes(a, b)
}

/// `y += a x`, entry by entry: nothing is summed across entries.
pub(super) fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// `|x|^2`, in lanes like every other product here.
fn squares(values: &[f64]) -> f64 {
    dot(values, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn design(rows: usize) -> Design {
        let mut stream = Seed::new(5).stream("newton");
        let mut draw =
            |shift: f64| -> Vec<f64> { (0..3 * rows).map(|_| stream.uniform() + shift).collect() };
        let (numerator, denominator) = (draw(0.2), draw(0.0));
        Design::new(&numerator, &denominator, 3, 3, |row, out| out.copy_from_slice(row))
    }

    #[test]
    fn gradient_and_hessian_agree_with_finite_differences() {
        let (design, ridge, step) = (design(40), 0.01, 1e-5);
        let at = [0.4, -0.3, 0.8, 0.1];
        let evaluation = design.evaluate(&at, ridge);
        for i in 0..4 {
            let moved = |by: f64| {
                let mut moved = at;
                moved[i] += by;
                design.evaluate(&moved, ridge)
            };
            let (up, down) = (moved(step), moved(-step));
            let slope = (up.loss - down.loss) / (2.0 * step);
            assert!((slope - evaluation.gradient[i]).abs() < 1e-9, "gradient {i}");
            for j in i..4 {
                let slope = (up.gradient[j] - down.gradient[j]) / (2.0 * step);
                assert!((slope - evaluation.hessian[j * 4 + i]).abs() < 1e-8, "hessian {i} {j}");
            }
        }
    }

    #[test]
    fn the_minimum_has_no_slope() {
        for rows in [5, 40, 4000] {
            let design = design(rows);
            let solution = design.minimise(1e-6);
            assert!(solution.converged);
            let evaluation = design.evaluate(&solution.coefficients, 1e-6);
            assert!(evaluation.gradient.iter().all(|slope| slope.abs() < 1e-7), "{rows} rows");
        }
    }

    #[test]
    fn separated_and_collinear_columns_stay_finite() {
        let numerator = [1.0, 1.0, 2.0, 2.0];
        let denominator = [-1.0, -1.0, -2.0, -2.0];
        let design =
            Design::new(&numerator, &denominator, 2, 2, |row, out| out.copy_from_slice(row));
        let solution = design.minimise(1e-6);
        assert!(solution.converged);
        assert!((solution.coefficients[0] - solution.coefficients[1]).abs() < 1e-6);
        assert!(solution.coefficients[0] > 1.0 && solution.coefficients[0] < 100.0);
    }

    #[test]
    fn more_columns_than_rows_give_the_same_minimum_in_the_space_of_rows() {
        let mut stream = Seed::new(6).stream("wide");
        let mut draw =
            |rows: usize| -> Vec<f64> { (0..60 * rows).map(|_| stream.uniform()).collect() };
        // A repeated row makes the products singular.
        let (mut numerator, denominator) = (draw(20), draw(25));
        numerator.extend_from_within(..60);
        let wide =
            Design::new(&numerator, &denominator, 60, 60, |row, out| out.copy_from_slice(row));
        for ridge in [0.1, 1e-3] {
            let (direct, reduced) = (wide.minimise_directly(ridge), wide.minimise(ridge));
            assert!(reduced.converged);
            assert!((direct.loss - reduced.loss).abs() < 1e-8);
            for (a, b) in direct.coefficients.iter().zip(&reduced.coefficients) {
                assert!((a - b).abs() < 1e-5, "{a} against {b}");
            }
        }
    }

    #[test]
    fn softplus_and_sigmoid_do_not_overflow() {
        assert_eq!(softplus(1e300), 1e300);
        assert_eq!(softplus(-1e300), 0.0);
        assert_eq!((sigmoid(1e300), sigmoid(-1e300), sigmoid(0.0)), (1.0, 0.0, 0.5));
    }
}

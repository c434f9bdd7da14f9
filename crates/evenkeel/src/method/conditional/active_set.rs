//! The duals: a quadratic program over a box and one sum, by an active-set method.
//!
//! ```text
//! minimise   1/2 e'Ke + t k'e - s'e,     lower <= e_i <= upper,   sum_i e_i + t = 0
//! optimal    G_i = s_i - (Ke)_i - t k_i <= b  where e_i = lower
//!                                       >= b  where e_i = upper
//!                                        = b  where e_i is free
//! ```
//! Between moves all free points have `G_i = b`. A move takes the point that violates the conditions most, and lets its
//! dual run while the free duals follow so that they keep `G_i = b`:
//!
//! ```text
//! K_FF y + beta 1 = k_F,  1'y = 1        e_j += step,   e_F -= step y,   G_j - b falls by d step
//! ```
//! until the violation is gone (the point becomes free), a free dual meets its bound (it is fixed there, and the run goes
//! on with the others), or the point meets its own other bound. Every move lowers the objective, so no state returns.
//! The test point is such a point, too: its dual runs from 0 to `upper` whatever its violation, and the violations left
//! behind are repaired as before. Starting at the optimum without it, few moves are needed.

use super::free_factor::FreeFactor;
use super::program::{Program, ROUNDING};
use super::run::{Block, End, Place, Run};
use crate::error::{Error, Result};
use crate::numeric::dot_in_lanes;

/// Pivots below are rounding noise: the point is a combination of free ones. It then counts as this much apart from them.
const SMALLEST_PIVOT: f64 = 1e-14;
/// How far, as a share of the box, the sum of the duals may be from zero and the test dual from its bound: rounding adds up
/// over the moves, and `(n + 1) alpha = 1` holds up to rounding only.
const OFF_BALANCE: f64 = 1e-8;
/// Moves a point may take on average. Problems of all kinds stay below 5.
const MOVES_PER_POINT: usize = 200;

/// Duals, what follows from them, and the memory to change them.
///
/// `G` is kept up to date by differences: a move changes few duals, and a fresh product `Ke` would
/// cost `n^2` for each. What has changed since `G` was brought up to date is in `touched`.
#[derive(Debug, Clone, Default)]
pub(super) struct ActiveSet {
    /// Calibration duals `e_i`, in `[lower, upper]`; shape `(n,)`.
    pub(super) duals: Vec<f64>,
    /// `G_i = s_i - (Ke)_i - t k_i` at the settled duals.
    pub(super) gradient: Vec<f64>,
    /// The test point's dual `t`; 0 without one, else `upper` at the end.
    pub(super) test_dual: f64,
    /// Moves taken since the start; the evidence of how much work a test point was.
    pub(super) moves: usize,
    /// On which bound each dual is, or that it is free; shape `(n,)`.
    places: Vec<Place>,
    /// The free points, in the order of the rows of the factor.
    free: Vec<usize>,
    /// Cholesky factor of the kernel among them.
    factor: FreeFactor,
    /// `b`, the mean of `G` over the free points; meaningless while there is none.
    intercept: f64,
    /// The duals at which `gradient` was last brought up to date.
    settled: Vec<f64>,
    /// The same of the test point's dual.
    settled_test: f64,
    /// Points whose duals may have moved since; a point may be listed twice.
    touched: Vec<usize>,
    /// Memory of [`settle`](Self::settle): points and by how much their duals moved.
    terms: Vec<(usize, f64)>,
    /// `L^-1 (k_F + 1)` of the running point: its row of the factor, should it become free.
    row: Vec<f64>,
    /// `y`: how fast the free duals follow the running one.
    direction: Vec<f64>,
}

impl ActiveSet {
    /// The optimum without a test point, certified.
    ///
    /// Starts where a constant fit would end: the highest scores at the upper bound, the others at
    /// the lower one. From there a smooth fit is few moves away.
    ///
    /// # Errors
    /// `NotConverged` if the moves are used up or the conditions do not hold in the end.
    pub(super) fn without_test_point(program: &Program<'_>) -> Result<Self> {
        let n = program.n();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|a, b| program.scores[*b].total_cmp(&program.scores[*a]));
        let mut state = Self {
            duals: vec![program.lower; n],
            gradient: program.scores.to_vec(),
            places: vec![Place::Lower; n],
            ..Self::default()
        };
        let width = program.upper - program.lower;
        // The duals sum to zero: what the lower bounds are short of must stand at upper ones.
        let mut missing = -program.lower * n as f64;
        for index in order {
            // A share this small is the rounding of n alpha; as a free dual it would pin the intercept.
            if missing <= 1e-12 * width * n as f64 {
                break;
            }
            // Rounding may leave a hair less than a whole width; such a point is at its bound, not
            // free.
            if missing >= width * (1.0 - 1e-12 * n as f64) {
                (state.duals[index], state.places[index]) = (program.upper, Place::Upper);
            } else {
                state.duals[index] += missing;
                state.free_first(index);
            }
            missing -= width;
        }
        state.settled = vec![0.0; n];
        state.touched = (0..n).collect();
        state.settle(program, &[]);
        state.repair(program, &[])?;
        // Every test point starts here, so this one time the rounding gathered on the way is not left to them.
        state.start_afresh(program, &[])?;
        Ok(state)
    }

    /// The optimum with the test point's dual at `upper`, from the optimum `start` without it; `kernel` is between the
    /// test point and the calibration points.
    ///
    /// # Errors
    /// `NotConverged` if the dual cannot reach its bound, or the conditions do not hold in the end.
    pub(super) fn with_test_point(
        &mut self,
        program: &Program<'_>,
        start: &Self,
        kernel: &[f64],
    ) -> Result<()> {
        self.copy_from(start);
        // An infinite violation never ends the run: whatever the score, the dual goes to its bound.
        let mut run =
            Run { kernel, sign: 1.0, room: program.upper, violation: f64::INFINITY, index: None };
        self.advance(program, kernel, &mut run);
        let (short, slack) =
            (program.upper - self.test_dual, OFF_BALANCE * (program.upper - program.lower));
        if short > slack {
            return Err(self.not_converged(short, slack));
        }
        self.repair(program, kernel)?;
        // Differences gather rounding over the moves. Most points are certified as they are, and
        // the rest pay for one fresh product instead of all of them.
        match self.certify(program) {
            Ok(()) => Ok(()),
            Err(_) => self.start_afresh(program, kernel),
        }
    }

    /// `G` from the duals instead of from differences, then on to the optimum, which is certified.
    fn start_afresh(&mut self, program: &Program<'_>, test_kernel: &[f64]) -> Result<()> {
        self.gradient.copy_from_slice(program.scores);
        self.settled.fill(0.0);
        self.settled_test = 0.0;
        self.touched.extend(0..program.n());
        self.settle(program, test_kernel);
        // Before the repair, which judges all other points by the intercept of the free ones.
        self.refine(program, test_kernel);
        self.repair(program, test_kernel)?;
        self.certify(program)
    }

    /// The optimality conditions told from the duals alone, so that no slip in the bookkeeping of places passes for an
    /// optimum; an error unless they hold.
    ///
    /// # Errors
    /// `NotConverged` with the sum of the duals or the largest violation, whichever is wrong.
    fn certify(&self, program: &Program<'_>) -> Result<()> {
        let sum = self.duals.iter().sum::<f64>() + self.test_dual;
        let slack = OFF_BALANCE * (program.upper - program.lower);
        if sum.is_nan() || sum.abs() > slack {
            return Err(self.not_converged(sum.abs(), slack));
        }
        let (mut above, mut below) = (f64::NEG_INFINITY, f64::INFINITY);
        for (gradient, dual) in self.gradient.iter().zip(&self.duals) {
            if *dual < program.upper && *gradient > above {
                above = *gradient;
            }
            if *dual > program.lower && *gradient < below {
                below = *gradient;
            }
        }
        // Each side may be off by the tolerance of a bound point and that of a free one.
        let tolerance = 4.0 * self.tolerance(program);
        // Written so that a NaN fails.
        if above - below <= tolerance {
            Ok(())
        } else {
            Err(self.not_converged(above - below, tolerance))
        }
    }

    /// The error of a program that does not end, with the moves it has taken.
    fn not_converged(&self, remaining: f64, tolerance: f64) -> Error {
        let what = "the duals of the conditional method";
        Error::NotConverged { what, steps: self.moves, remaining, tolerance }
    }

    /// Becomes `other` without giving up its memory, which the test points of a thread share.
    fn copy_from(&mut self, other: &Self) {
        self.duals.clone_from(&other.duals);
        self.gradient.clone_from(&other.gradient);
        self.test_dual = other.test_dual;
        self.moves = 0;
        self.places.clone_from(&other.places);
        self.free.clone_from(&other.free);
        self.factor.copy_from(&other.factor);
        self.intercept = other.intercept;
        self.settled.clone_from(&other.settled);
        self.settled_test = other.settled_test;
        self.touched.clear();
    }

    /// Moves points until none violates the conditions.
    ///
    /// # Errors
    /// `NotConverged` after [`MOVES_PER_POINT`] moves a point.
    fn repair(&mut self, program: &Program<'_>, test_kernel: &[f64]) -> Result<()> {
        // Every move lowers the objective, so the end is certain in exact arithmetic only.
        let limit = MOVES_PER_POINT * (program.n() + 10);
        loop {
            let tolerance = self.tolerance(program);
            let Some((index, violation)) = self.worst(program, tolerance) else {
                return Ok(());
            };
            if self.moves >= limit {
                return Err(self.not_converged(violation.abs(), tolerance));
            }
            // A violation above b calls for a larger dual, one below for a smaller.
            let sign = violation.signum();
            let target = if sign > 0.0 { program.upper } else { program.lower };
            let mut run = Run {
                kernel: program.kernel.row(index),
                sign,
                room: (target - self.duals[index]).abs(),
                violation: violation.abs(),
                index: Some(index),
            };
            self.advance(program, test_kernel, &mut run);
        }
    }

    /// Violations up to this are none. The bound stands for duals that were large on the way and are not any more.
    pub(super) fn tolerance(&self, program: &Program<'_>) -> f64 {
        let total: f64 = self.duals.iter().map(|dual| dual.abs()).sum();
        program.tolerance + ROUNDING * (total + program.upper)
    }

    /// The point that violates the conditions most and by how much (positive: its dual must grow).
    fn worst(&mut self, program: &Program<'_>, tolerance: f64) -> Option<(usize, f64)> {
        if self.free.is_empty() {
            // Without a free point the intercept is any number between the two sides; if they overlap, the one that
            // is worst among the falling ones becomes free and fixes it.
            let falling = self.lowest_above_lower(program)?;
            let growing = self.highest_below_upper(program)?;
            if self.gradient[growing] - self.gradient[falling] <= tolerance {
                return None;
            }
            self.free_first(falling);
            self.intercept = self.gradient[falling];
            return Some((growing, self.gradient[growing] - self.intercept));
        }
        let mut worst = (0, tolerance);
        for (index, (gradient, place)) in self.gradient.iter().zip(&self.places).enumerate() {
            let excess = gradient - self.intercept;
            let violation = match place {
                Place::Lower => excess,
                Place::Upper => -excess,
                Place::Free => continue,
            };
            if violation > worst.1 {
                worst = (index, violation);
            }
        }
        if worst.1 <= tolerance {
            return None;
        }
        let grows = self.places[worst.0] == Place::Lower;
        Some((worst.0, if grows { worst.1 } else { -worst.1 }))
    }

    /// Lets one point run as far as it should, and puts it where it then belongs: on a bound, or
    /// free.
    ///
    /// ```text
    /// follow   how the free duals go along
    /// step     up to the first obstacle: a free dual at its bound is fixed, and the run goes on
    /// end      the point joins the free ones, arrives at its own bound, or is stuck
    /// ```
    fn advance(&mut self, program: &Program<'_>, test_kernel: &[f64], run: &mut Run<'_>) {
        self.touched.extend_from_slice(&self.free);
        self.touched.extend(run.index);
        let end = loop {
            self.moves += 1;
            // Nothing is left to balance the sum. A calibration point stops here; the test point
            // may take a partner, the one that the conditions let go first.
            if self.free.is_empty() {
                self.settle(program, test_kernel);
                let follower =
                    if run.index.is_some() { None } else { self.lowest_above_lower(program) };
                let Some(index) = follower else { break End::Stuck };
                self.free_first(index);
                self.touched.push(index);
            }
            let curvature = self.follow(run.kernel);
            match self.step(program, run, curvature) {
                // Exactly on the bound: a dual that is off by rounding would count as inside in the
                // certificate.
                Some(Block::Free(position)) => {
                    let index = self.free.remove(position);
                    self.factor.remove(position);
                    let grows = -run.sign * self.direction[position] > 0.0;
                    let (bound, place) = if grows {
                        (program.upper, Place::Upper)
                    } else {
                        (program.lower, Place::Lower)
                    };
                    (self.duals[index], self.places[index]) = (bound, place);
                }
                Some(Block::Room) => break End::Arrives,
                None => break End::Joins,
            }
        };
        if let Some(index) = run.index {
            let strictly_inside =
                self.duals[index] > program.lower && self.duals[index] < program.upper;
            match end {
                End::Arrives if run.sign > 0.0 => {
                    (self.duals[index], self.places[index]) = (program.upper, Place::Upper);
                }
                End::Arrives => {
                    (self.duals[index], self.places[index]) = (program.lower, Place::Lower);
                }
                End::Joins => self.join(index),
                // The last free point met its bound; what is left inside is this one.
                End::Stuck if strictly_inside => self.free_first(index),
                // It met a bound of its own in the same step, up to rounding.
                End::Stuck if self.duals[index] >= program.upper => {
                    (self.duals[index], self.places[index]) = (program.upper, Place::Upper);
                }
                End::Stuck => {
                    (self.duals[index], self.places[index]) = (program.lower, Place::Lower);
                }
            }
        } else if end == End::Arrives {
            self.test_dual = program.upper;
        }
        // Once more: settling on the way has forgotten it, and it was put on its bound since.
        self.touched.extend(run.index);
        self.settle(program, test_kernel);
        self.refine(program, test_kernel);
    }

    /// `direction = y`, `row` = the point's row of the factor; returns the curvature `d`.
    ///
    /// ```text
    /// L row = k_F + 1,   c = (1 - ones'row) / ones'ones,   L'y = row + c ones
    /// d = K(x, x) + 1 - row'row + (1 - ones'row) c
    /// ```
    fn follow(&mut self, kernel: &[f64]) -> f64 {
        self.row.clear();
        self.row.extend(self.free.iter().map(|index| kernel[*index] + 1.0));
        self.factor.solve_lower(&mut self.row);
        // `A^-1` is never formed: `A = L L'`, so products with it are products of solved vectors.
        let ones = self.factor.ones();
        let ones_squared = dot_in_lanes(ones, ones);
        // With A = K_FF + 11' and a = k_F + 1: y = A^-1 a + c A^-1 1, where c makes 1'y = 1.
        let lacking = 1.0 - dot_in_lanes(ones, &self.row);
        let c = lacking / ones_squared;
        self.direction.clear();
        self.direction.extend(self.row.iter().zip(ones).map(|(row, one)| row + c * one));
        self.factor.solve_upper(&mut self.direction);
        let pivot = 2.0 - dot_in_lanes(&self.row, &self.row);
        pivot.max(SMALLEST_PIVOT) + lacking * c
    }

    /// Goes as far as the first obstacle; none if the violation is gone before. Changes the duals
    /// of the running point and of all free ones.
    fn step(&mut self, program: &Program<'_>, run: &mut Run<'_>, curvature: f64) -> Option<Block> {
        let (mut length, mut block) = (run.violation / curvature, None);
        if run.room <= length {
            (length, block) = (run.room, Some(Block::Room));
        }
        for (position, (index, y)) in self.free.iter().zip(&self.direction).enumerate() {
            let speed = -run.sign * y;
            let dual = self.duals[*index];
            let distance = if speed > 0.0 { program.upper - dual } else { dual - program.lower };
            // A product, not a quotient: no division for the many points that stay.
            if distance < length * speed.abs() {
                (length, block) = (distance / speed.abs(), Some(Block::Free(position)));
            }
        }
        for (index, y) in self.free.iter().zip(&self.direction) {
            // The point that blocks would end a rounding beyond its bound without this.
            let moved = self.duals[*index] - run.sign * length * y;
            self.duals[*index] = moved.clamp(program.lower, program.upper);
        }
        run.room -= length;
        run.violation = (run.violation - curvature * length).max(0.0);
        match run.index {
            Some(index) => self.duals[index] += run.sign * length,
            None => self.test_dual += length,
        }
        block
    }

    /// Makes one point the whole free set. Its pivot is `K(x, x) + 1 = 2`.
    fn free_first(&mut self, index: usize) {
        self.free.clear();
        self.factor.clear();
        self.free.push(index);
        self.factor.append(&[], 2.0);
        self.places[index] = Place::Free;
    }

    /// Adds the point whose row [`follow`](Self::follow) has left behind: no second solve.
    fn join(&mut self, index: usize) {
        // A point that doubles a free one has pivot 0 up to rounding; a factor with a zero or
        // negative pivot could not be solved with any more.
        let pivot = 2.0 - dot_in_lanes(&self.row, &self.row);
        self.factor.append(&self.row, pivot.max(SMALLEST_PIVOT));
        self.free.push(index);
        self.places[index] = Place::Free;
    }

    /// Brings `G` and the intercept up to the duals: one row of the kernel for each dual that
    /// moved.
    fn settle(&mut self, program: &Program<'_>, test_kernel: &[f64]) {
        self.terms.clear();
        for index in self.touched.drain(..) {
            let change = self.duals[index] - self.settled[index];
            // A point listed twice has no change left the second time.
            if change != 0.0 {
                self.terms.push((index, change));
                self.settled[index] = self.duals[index];
            }
        }
        program.kernel.subtract_rows(&self.terms, &mut self.gradient);
        let change = self.test_dual - self.settled_test;
        if change > 0.0 {
            for (gradient, kernel) in self.gradient.iter_mut().zip(test_kernel) {
                *gradient -= change * kernel;
            }
            self.settled_test = self.test_dual;
        }
        if !self.free.is_empty() {
            // The mean, not any one of them: free points agree on `b` up to rounding, and none is
            // better.
            let total: f64 = self.free.iter().map(|index| self.gradient[*index]).sum();
            self.intercept = total / self.free.len() as f64;
        }
    }

    /// One step of iterative refinement where rounding has moved the free points apart.
    ///
    /// Updated factors and differences of `G` each lose a digit now and then. Solving once more for
    /// what is left brings the free points back to one `b`, at the cost of one move.
    fn refine(&mut self, program: &Program<'_>, test_kernel: &[f64]) {
        let apart = |index: &usize| (self.gradient[*index] - self.intercept).abs();
        let largest = self.free.iter().map(apart).fold(0.0, f64::max);
        // Well inside the tolerance: the next moves may add as much again before it is checked.
        if largest <= 0.25 * self.tolerance(program) {
            return;
        }
        // K_FF x + beta 1 = G_F - b, 1'x = 0, as in `follow`.
        self.row.clear();
        self.row.extend(self.free.iter().map(|index| self.gradient[*index] - self.intercept));
        self.factor.solve_lower(&mut self.row);
        let ones = self.factor.ones();
        let c = -dot_in_lanes(ones, &self.row) / dot_in_lanes(ones, ones);
        self.direction.clear();
        self.direction.extend(self.row.iter().zip(ones).map(|(row, one)| row + c * one));
        self.factor.solve_upper(&mut self.direction);
        // A correction may reach a bound; going only part of the way keeps the sum of the duals.
        let mut share = 1.0_f64;
        for (index, x) in self.free.iter().zip(&self.direction) {
            let dual = self.duals[*index];
            let distance = if *x > 0.0 { program.upper - dual } else { dual - program.lower };
            if distance < share * x.abs() {
                share = distance / x.abs();
            }
        }
        for (index, x) in self.free.iter().zip(&self.direction) {
            let moved = self.duals[*index] + share * x;
            self.duals[*index] = moved.clamp(program.lower, program.upper);
        }
        self.touched.extend_from_slice(&self.free);
        self.settle(program, test_kernel);
    }

    /// The point that is the first to fall: smallest `G` among those above their lower bound; the
    /// first among equals.
    fn lowest_above_lower(&self, program: &Program<'_>) -> Option<usize> {
        let candidates = (0..program.n()).filter(|index| self.duals[*index] > program.lower);
        candidates.min_by(|a, b| self.gradient[*a].total_cmp(&self.gradient[*b]))
    }

    /// The point that is the first to grow: largest `G` among those below their upper bound; the
    /// last among equals.
    fn highest_below_upper(&self, program: &Program<'_>) -> Option<usize> {
        let candidates = (0..program.n()).filter(|index| self.duals[*index] < program.upper);
        candidates.max_by(|a, b| self.gradient[*a].total_cmp(&self.gradient[*b]))
    }
}

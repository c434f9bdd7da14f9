//! Cutoffs at one rate.
//!
//! ```text
//! C = 1 / (lambda (n + 1)),   duals in [-C alpha, C (1 - alpha)],   test dual t = C (1 - alpha)
//! cutoff = k'e + t + b,   b the ceil((n + 1)(1 - alpha))-th smallest G_i = s_i - (Ke)_i - t k_i
//! ```

use rayon::prelude::*;

use super::active_set::ActiveSet;
use super::model::ConditionalModel;
use super::program::Program;
use super::settings::FlatIntercept;
use crate::error::{Result, require_same_length};
use crate::level::Miscoverage;
use crate::measure::QUANTILE_TOLERANCE;
use crate::numeric::dot_in_lanes;
use crate::rows::{Real, Rows};
use crate::threshold::Threshold;

/// A model at one rate: the solution without a test point, found once, and the way from it to any test point's cutoff.
#[derive(Debug, Clone)]
pub struct ConditionalAtRate<'a> {
    /// Kernel, scores and penalty, whatever the rate.
    model: &'a ConditionalModel,
    /// None if there are too few calibration points for the rate.
    start: Option<Start<'a>>,
}

/// Where the programs of all test points start.
#[derive(Debug, Clone)]
struct Start<'a> {
    /// Kernel, scores and box of the duals at this rate.
    program: Program<'a>,
    /// Its optimum without a test point.
    state: ActiveSet,
    /// Which of the increasing `G_i` is the intercept; beyond `n` if any number above the last one is.
    rank: usize,
}

/// A cutoff with the evidence for it.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionalSolution {
    /// Where the set of this test point is cut.
    pub cutoff: Threshold,
    /// `b`; infinite if the cutoff is.
    pub intercept: f64,
    /// Duals `e` of the calibration points; with [`test_dual`](Self::test_dual) they sum to zero.
    pub duals: Vec<f64>,
    /// The test point's dual, `C (1 - alpha)`.
    pub test_dual: f64,
    /// `max G_i (e_i below its upper bound) - min G_i (e_i above its lower bound)`, or 0 if that is negative, from a fresh
    /// product `G = s - Ke - C (1 - alpha) k`: how far the duals are from optimal, in units of the scores.
    pub violation: f64,
    /// Moves of the active-set method from the solution without the test point.
    pub moves: usize,
}

/// Memory that test points of a thread share, so that not every one of them allocates.
#[derive(Default)]
struct Workspace {
    /// Duals of the test point at hand.
    state: ActiveSet,
    /// Kernel between it and the calibration points; shape `(n,)`.
    kernel: Vec<f64>,
    /// `G` while its rank is looked for.
    sorted: Vec<f64>,
}

impl<'a> ConditionalAtRate<'a> {
    /// Solves the program of the calibration points at this rate.
    ///
    /// # Errors
    /// `NotConverged` if that program does not end.
    pub(super) fn new(model: &'a ConditionalModel, alpha: Miscoverage) -> Result<Self> {
        let Some(rank) = intercept_rank(model.n(), alpha, model.flat_intercept()) else {
            return Ok(Self { model, start: None });
        };
        // n + 1 points, the test point among them: its term must weigh as much as any other's.
        let c = 1.0 / (model.lambda() * (model.n() as f64 + 1.0));
        let (lower, upper) = (-c * alpha.get(), c * (1.0 - alpha.get()));
        let program = Program::new(model.kernel(), model.scores(), lower, upper);
        let state = ActiveSet::without_test_point(&program)?;
        Ok(Self { model, start: Some(Start { program, state, rank }) })
    }

    /// Whether there are enough calibration points for the rate, so that there is a program to solve.
    pub(crate) fn has_program(&self) -> bool {
        self.start.is_some()
    }

    /// The cutoffs of test points with these features, shape `(m, d)`.
    ///
    /// One quadratic program for each, spread over the threads; the result does not depend on their number. If the
    /// calibration points are too few for the rate, `(n + 1) alpha < 1`, every cutoff is
    /// [`AllLabels`](Threshold::AllLabels).
    ///
    /// # Errors
    /// If a feature is not finite, a row has another number of them than the calibration points, or a program does not end.
    pub fn cutoffs<T: Real>(&self, test: Rows<'_, T>) -> Result<Vec<Threshold>> {
        let points = self.model.test_features(&test)?;
        let Some(start) = &self.start else {
            return Ok(vec![Threshold::AllLabels; test.rows()]);
        };
        let solve = |work: &mut Workspace, point: &[f64]| Ok(start.solve(work, point)?.0);
        let cutoffs: Vec<Result<Threshold>> = points
            .par_chunks_exact(self.model.columns())
            .map_init(Workspace::default, solve)
            .collect();
        // In row order, so that the error reported is the first row's for any number of threads.
        cutoffs.into_iter().collect()
    }

    /// The cutoff of one test point with the evidence for it; none if there are too few calibration points for the rate,
    /// so that there is no program to solve.
    ///
    /// # Errors
    /// As [`cutoffs`](Self::cutoffs).
    pub(crate) fn solution(&self, point: &[f64]) -> Result<Option<ConditionalSolution>> {
        let columns = self.model.columns();
        let point = self.model.test_features(&Rows::new("test features", point, columns)?)?;
        require_same_length("the test point", point.len(), "a feature row", columns)?;
        let Some(start) = &self.start else { return Ok(None) };
        let mut work = Workspace::default();
        let (cutoff, intercept) = start.solve(&mut work, &point)?;
        let violation = start.violation(&work);
        let ActiveSet { duals, test_dual, moves, .. } = work.state;
        Ok(Some(ConditionalSolution { cutoff, intercept, duals, test_dual, violation, moves }))
    }
}

impl Start<'_> {
    /// Cutoff and intercept of one test point; the duals stay in the workspace.
    ///
    /// # Errors
    /// `NotConverged` if its program does not end.
    fn solve(&self, work: &mut Workspace, point: &[f64]) -> Result<(Threshold, f64)> {
        let n = self.program.n();
        work.kernel.resize(n, 0.0);
        self.program.kernel.between(point, &mut work.kernel);
        work.state.with_test_point(&self.program, &self.state, &work.kernel)?;
        // After the program, not before: its duals are the evidence, and one that does not end is
        // an error.
        if self.rank > n {
            return Ok((Threshold::AllLabels, f64::INFINITY));
        }
        let intercept = ranked(&work.state.gradient, self.rank, &mut work.sorted);
        // `g(x) = k'e + t K(x, x)`, and the kernel of a point with itself is 1.
        let fitted = dot_in_lanes(&work.kernel, &work.state.duals) + work.state.test_dual;
        Ok((Threshold::Finite(on_a_score(fitted + intercept, self.program.scores)), intercept))
    }

    /// See [`ConditionalSolution::violation`]; `O(n^2)`, for evidence that is asked for point by
    /// point.
    fn violation(&self, work: &Workspace) -> f64 {
        let (program, state) = (&self.program, &work.state);
        let (mut above, mut below) = (f64::NEG_INFINITY, f64::INFINITY);
        for (index, dual) in state.duals.iter().enumerate() {
            let fitted = dot_in_lanes(program.kernel.row(index), &state.duals);
            let gradient = program.scores[index] - fitted - state.test_dual * work.kernel[index];
            if *dual < program.upper {
                above = above.max(gradient);
            }
            if *dual > program.lower {
                below = below.min(gradient);
            }
        }
        (above - below).max(0.0)
    }
}

/// Which of the increasing `G_i` is the intercept; none if the program has no solution.
///
/// ```text
/// ceil((n + 1)(1 - alpha)),  or one more for the largest intercept if (n + 1)(1 - alpha) is whole
/// ```
fn intercept_rank(n: usize, alpha: Miscoverage, end: FlatIntercept) -> Option<usize> {
    let points = n as f64 + 1.0;
    let position = points * (1.0 - alpha.get());
    // A product that is whole in exact arithmetic may miss that number on either side; without the
    // slack a rank would be lost, or one taken too many.
    let slack = QUANTILE_TOLERANCE * points;
    let smallest = (position - slack).ceil().max(1.0) as usize;
    let largest = (position + slack).floor() as usize + 1;
    let rank = match end {
        FlatIntercept::Largest => largest,
        FlatIntercept::Smallest => smallest,
    };
    // (n + 1) alpha < 1: the duals cannot sum to zero with the test point's at its bound.
    (smallest <= n).then_some(rank)
}

/// The `rank`-th smallest `G_i`.
///
/// Given the fitted function the best intercept is a quantile of what it leaves over, as in split conformal prediction:
/// counting ranks instead of asking which duals are inside keeps it exact where none is.
pub(super) fn ranked(gradient: &[f64], rank: usize, sorted: &mut Vec<f64>) -> f64 {
    sorted.clear();
    sorted.extend_from_slice(gradient);
    // Linear time: one rank is needed, not the order.
    let (_, value, _) = sorted.select_nth_unstable_by(rank - 1, f64::total_cmp);
    *value
}

/// A cutoff that is a calibration score up to rounding, made that score: points tied with it, which the exact cutoff admits,
/// would be lost otherwise. A one-hot classifier has nothing but ties.
fn on_a_score(cutoff: f64, scores: &[f64]) -> f64 {
    let next =
        scores.iter().copied().filter(|score| *score >= cutoff).fold(f64::INFINITY, f64::min);
    // Infinite where the cutoff lies above every score.
    let near = next.is_finite() && next - cutoff <= ROUNDING * next.abs().max(1.0);
    if near { next } else { cutoff }
}

/// Cutoffs are solved to this of the larger of 1 and themselves.
const ROUNDING: f64 = 1e-9;

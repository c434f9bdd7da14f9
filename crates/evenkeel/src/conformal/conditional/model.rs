//! The fitted value: calibration points with their kernel, ready for test points at any rate.

use rayon::prelude::*;

use super::active_set::ActiveSet;
use super::cross_validation::choose_lambda;
use super::kernel::{KernelMatrix, finite_features};
use super::program::Program;
use super::settings::{ConditionalSettings, FlatIntercept, LambdaChoice};
use crate::conformal::Threshold;
use crate::error::{Error, Result, require_finite, require_same_length};
use crate::level::Miscoverage;
use crate::measure::{QUANTILE_TOLERANCE, dot_in_lanes};
use crate::rows::{Real, Rows};

/// Calibration features and scores with the kernel among them.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionalModel {
    kernel: KernelMatrix,
    scores: Vec<f64>,
    lambda: f64,
    flat_intercept: FlatIntercept,
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

/// Memory of one thread.
#[derive(Default)]
struct Workspace {
    state: ActiveSet,
    kernel: Vec<f64>,
    sorted: Vec<f64>,
}

impl ConditionalModel {
    /// Calibration features, shape `(n, d)`, with the score of each point.
    ///
    /// Distances are taken in the features as they are: scale them to comparable ranges, of which `gamma` is in units.
    pub fn fit<T: Real>(
        features: Rows<'_, T>,
        scores: &[f64],
        settings: &ConditionalSettings,
    ) -> Result<Self> {
        settings.check()?;
        let columns = features.columns();
        let features = finite_features(&features)?;
        check_scores(scores, features.len() / columns)?;
        let lambda = match &settings.lambda {
            LambdaChoice::Fixed(lambda) => *lambda,
            LambdaChoice::CrossValidated { folds, candidates, alpha, seed } => {
                let split = (*folds, *seed);
                choose_lambda(
                    &features,
                    columns,
                    scores,
                    settings.gamma,
                    candidates,
                    *alpha,
                    split,
                )?
            }
        };
        let kernel = KernelMatrix::new(&features, columns, settings.gamma)?;
        Ok(Self {
            kernel,
            scores: scores.to_vec(),
            lambda,
            flat_intercept: settings.flat_intercept,
        })
    }

    /// Number of calibration points.
    pub fn n(&self) -> usize {
        self.scores.len()
    }

    /// Number of features of a point.
    pub fn columns(&self) -> usize {
        self.kernel.columns()
    }

    /// Calibration features, row after row.
    pub fn features(&self) -> Vec<f64> {
        self.kernel.features()
    }

    /// Calibration scores.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Kernel parameter.
    pub fn gamma(&self) -> f64 {
        self.kernel.gamma()
    }

    /// Penalty: the given one, or the one cross-validation chose.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// Which end of an interval of optimal intercepts is taken.
    pub fn flat_intercept(&self) -> FlatIntercept {
        self.flat_intercept
    }

    /// The cutoffs of test points with these features, shape `(m, d)`.
    ///
    /// One quadratic program for each, spread over the threads; the result does not depend on their number. If the
    /// calibration points are too few for the rate, `(n + 1) alpha < 1`, every cutoff is
    /// [`AllLabels`](Threshold::AllLabels).
    pub fn cutoffs<T: Real>(
        &self,
        test: Rows<'_, T>,
        alpha: Miscoverage,
    ) -> Result<Vec<Threshold>> {
        let points = self.test_features(&test)?;
        let Some(rank) = self.rank(alpha) else {
            return Ok(vec![Threshold::AllLabels; test.rows()]);
        };
        let program = self.program(alpha);
        let start = ActiveSet::without_test_point(&program)?;
        let solve = |work: &mut Workspace, point: &[f64]| {
            let (cutoff, _) = self.solve(work, &program, &start, point, rank)?;
            Ok(cutoff)
        };
        let cutoffs: Vec<Result<Threshold>> =
            points.par_chunks_exact(self.columns()).map_init(Workspace::default, solve).collect();
        // In row order, so that the error reported is the first row's for any number of threads.
        cutoffs.into_iter().collect()
    }

    /// The cutoff of one test point with the evidence for it; none if there are too few calibration points for the rate,
    /// so that there is no program to solve.
    pub fn solution(
        &self,
        point: &[f64],
        alpha: Miscoverage,
    ) -> Result<Option<ConditionalSolution>> {
        let point = self.test_features(&Rows::new("test features", point, self.columns())?)?;
        require_same_length("the test point", point.len(), "a feature row", self.columns())?;
        let Some(rank) = self.rank(alpha) else { return Ok(None) };
        let program = self.program(alpha);
        let start = ActiveSet::without_test_point(&program)?;
        let mut work = Workspace::default();
        let (cutoff, intercept) = self.solve(&mut work, &program, &start, &point, rank)?;
        let Workspace { state, kernel, .. } = work;
        let mut violation = f64::NEG_INFINITY;
        let mut least = f64::INFINITY;
        for (index, dual) in state.duals.iter().enumerate() {
            let gradient = self.scores[index]
                - dot_in_lanes(self.kernel.row(index), &state.duals)
                - state.test_dual * kernel[index];
            if *dual < program.upper {
                violation = violation.max(gradient);
            }
            if *dual > program.lower {
                least = least.min(gradient);
            }
        }
        Ok(Some(ConditionalSolution {
            cutoff,
            intercept,
            violation: (violation - least).max(0.0),
            test_dual: state.test_dual,
            moves: state.moves,
            duals: state.duals,
        }))
    }

    /// Cutoff and intercept of one test point; the duals stay in the workspace.
    fn solve(
        &self,
        work: &mut Workspace,
        program: &Program<'_>,
        start: &ActiveSet,
        point: &[f64],
        rank: usize,
    ) -> Result<(Threshold, f64)> {
        work.kernel.resize(self.n(), 0.0);
        self.kernel.between(point, &mut work.kernel);
        work.state.with_test_point(program, start, &work.kernel)?;
        if rank > self.n() {
            return Ok((Threshold::AllLabels, f64::INFINITY));
        }
        let intercept = intercept(&work.state.gradient, rank, &mut work.sorted);
        let fitted = dot_in_lanes(&work.kernel, &work.state.duals) + work.state.test_dual;
        Ok((Threshold::Finite(fitted + intercept), intercept))
    }

    fn program(&self, alpha: Miscoverage) -> Program<'_> {
        let c = 1.0 / (self.lambda * (self.n() as f64 + 1.0));
        Program::new(&self.kernel, &self.scores, -c * alpha.get(), c * (1.0 - alpha.get()))
    }

    /// Which of the increasing `G_i` is the intercept; beyond `n` if any number above the last one is. None if the program
    /// has no solution.
    ///
    /// ```text
    /// ceil((n + 1)(1 - alpha)),  or one more for the largest intercept if (n + 1)(1 - alpha) is whole
    /// ```
    fn rank(&self, alpha: Miscoverage) -> Option<usize> {
        let points = self.n() as f64 + 1.0;
        let position = points * (1.0 - alpha.get());
        let slack = QUANTILE_TOLERANCE * points;
        let smallest = (position - slack).ceil().max(1.0) as usize;
        let largest = (position + slack).floor() as usize + 1;
        let rank = match self.flat_intercept {
            FlatIntercept::Largest => largest,
            FlatIntercept::Smallest => smallest,
        };
        (smallest <= self.n()).then_some(rank)
    }

    fn test_features<T: Real>(&self, test: &Rows<'_, T>) -> Result<Vec<f64>> {
        require_same_length(
            "a test feature row",
            test.columns(),
            "a calibration feature row",
            self.columns(),
        )?;
        finite_features(test)
    }

    pub(super) fn from_parts(
        features: &[f64],
        columns: usize,
        scores: Vec<f64>,
        (gamma, lambda): (f64, f64),
        flat_intercept: FlatIntercept,
    ) -> Result<Self> {
        let kernel = KernelMatrix::new(features, columns, gamma)?;
        Ok(Self { kernel, scores, lambda, flat_intercept })
    }
}

/// The `rank`-th smallest `G_i`.
///
/// Given the fitted function the best intercept is a quantile of what it leaves over, as in split conformal prediction:
/// counting ranks instead of asking which duals are inside keeps it exact where none is.
pub(super) fn intercept(gradient: &[f64], rank: usize, sorted: &mut Vec<f64>) -> f64 {
    sorted.clear();
    sorted.extend_from_slice(gradient);
    let (_, value, _) = sorted.select_nth_unstable_by(rank - 1, f64::total_cmp);
    *value
}

/// Scores, one for each row, whose differences are finite.
pub(super) fn check_scores(scores: &[f64], rows: usize) -> Result<()> {
    require_same_length("scores", scores.len(), "features", rows)?;
    require_finite("scores", scores)?;
    match scores.iter().find(|score| score.abs() > LARGEST_SCORE) {
        None => Ok(()),
        Some(score) => Err(Error::OutOfRange {
            what: "a score",
            value: *score,
            expected: "between -1e150 and 1e150, so that differences stay finite",
        }),
    }
}

const LARGEST_SCORE: f64 = 1e150;

//! The penalty by cross-validation of the pinball loss.
//!
//! ```text
//! lambda = argmin over candidates of the sum over rows left out of loss(s - g(x) - b)
//! ```
//! The fit of a fold has no test point: it is plain kernel quantile regression on the other folds.

use rayon::prelude::*;

use super::active_set::ActiveSet;
use super::at_rate::ranked;
use super::kernel::KernelMatrix;
use super::program::Program;
use crate::error::{Error, Result};
use crate::level::Miscoverage;
use crate::numeric::dot_in_lanes;
use crate::seed::Seed;

/// The candidate with the smallest mean pinball loss on points left out; among equal ones the largest.
///
/// ```text
/// loss(r) = (1 - alpha) r  if r >= 0,   -alpha r  otherwise,      r = s - g(x) - b
/// ```
/// `features` has shape `(n, columns)`, row after row; `scores` `(n,)`.
///
/// # Errors
/// `TooFew` for fewer points than folds, `Empty` for no candidates, `NotConverged` if a fit does
/// not end.
pub(super) fn choose_lambda(
    features: &[f64],
    columns: usize,
    scores: &[f64],
    gamma: f64,
    candidates: &[f64],
    alpha: Miscoverage,
    (folds, seed): (usize, Seed),
) -> Result<f64> {
    if folds > scores.len() {
        return Err(Error::TooFew {
            what: "calibration points for cross-validation",
            found: scores.len(),
            least: folds,
        });
    }
    let fold_of = shuffled_folds(scores.len(), folds, seed);
    let mut losses = vec![0.0; candidates.len()];
    for fold in 0..folds {
        let rows = |left_out: bool| {
            (0..scores.len()).filter(|row| (fold_of[*row] == fold) == left_out).collect::<Vec<_>>()
        };
        let point = |row: &usize| features[row * columns..(row + 1) * columns].iter().copied();
        let (inside, outside) = (rows(false), rows(true));
        let training: Vec<f64> = inside.iter().flat_map(point).collect();
        let training_scores: Vec<f64> = inside.iter().map(|row| scores[*row]).collect();
        // Once a fold: the penalty scales the box of the duals and leaves the kernel as it is.
        let kernel = KernelMatrix::new(&training, columns, gamma)?;
        let loss = |lambda: &f64| -> Result<f64> {
            let fit = QuantileFit::new(&kernel, &training_scores, *lambda, alpha)?;
            let mut row_kernel = vec![0.0; inside.len()];
            let mut total = 0.0;
            for row in &outside {
                kernel.between(&features[row * columns..(row + 1) * columns], &mut row_kernel);
                let fitted = dot_in_lanes(&row_kernel, &fit.duals) + fit.intercept;
                total += pinball(scores[*row] - fitted, alpha);
            }
            Ok(total)
        };
        // Collected in the order of the candidates and added fold after fold, so that neither the
        // sums nor the error reported depend on the threads.
        let fold_losses: Vec<Result<f64>> = candidates.par_iter().map(loss).collect();
        for (sum, loss) in losses.iter_mut().zip(fold_losses) {
            *sum += loss?;
        }
    }
    let best = candidates
        .iter()
        .zip(&losses)
        // Ties to the largest penalty: of two fits that predict alike, the smoother one.
        .min_by(|a, b| a.1.total_cmp(b.1).then(b.0.total_cmp(a.0)))
        .map(|(lambda, _)| *lambda);
    best.ok_or(Error::Empty { what: "lambda candidates" })
}

/// Kernel quantile regression on the training points of a fold.
struct QuantileFit {
    /// `e` of the training points; the fit is `sum_i e_i K(x_i, .) + b`.
    duals: Vec<f64>,
    /// `b`, a quantile of what the function leaves over.
    intercept: f64,
}

impl QuantileFit {
    /// Fits the points of a kernel matrix at one penalty.
    fn new(kernel: &KernelMatrix, scores: &[f64], lambda: f64, alpha: Miscoverage) -> Result<Self> {
        let n = kernel.n() as f64;
        // n, not n + 1: there is no test point whose term would count.
        let c = 1.0 / (lambda * n);
        let program = Program::new(kernel, scores, -c * alpha.get(), c * (1.0 - alpha.get()));
        let state = ActiveSet::without_test_point(&program)?;
        // No slack for rounding, unlike the rank of a cutoff: a loss may be off by a rank, coverage
        // not.
        let rank = (n * (1.0 - alpha.get())).ceil().clamp(1.0, n) as usize;
        let intercept = ranked(&state.gradient, rank, &mut Vec::new());
        Ok(Self { duals: state.duals, intercept })
    }
}

/// The loss whose minimiser is the `1 - alpha` quantile; not negative.
fn pinball(residual: f64, alpha: Miscoverage) -> f64 {
    if residual >= 0.0 { (1.0 - alpha.get()) * residual } else { -alpha.get() * residual }
}

/// The fold of each point: equal sizes up to one, members at random; shape `(n,)`.
///
/// At random and not in turn: files are often sorted, and a fold of one class would be left out
/// whole.
fn shuffled_folds(n: usize, folds: usize, seed: Seed) -> Vec<usize> {
    // The purpose is part of the draw: another word would choose other folds, and another penalty,
    // for the same seed.
    let mut stream = seed.stream("conditional folds");
    let mut fold_of: Vec<usize> = (0..n).map(|row| row % folds).collect();
    // Fisher-Yates over fold numbers dealt in turn: sizes differ by one at most, whatever is drawn.
    for last in (1..n).rev() {
        fold_of.swap(last, stream.below(last + 1));
    }
    fold_of
}

//! The penalty by cross-validation of the pinball loss.

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
        let fold_losses: Vec<Result<f64>> = candidates.par_iter().map(loss).collect();
        for (sum, loss) in losses.iter_mut().zip(fold_losses) {
            *sum += loss?;
        }
    }
    let best = candidates
        .iter()
        .zip(&losses)
        .min_by(|a, b| a.1.total_cmp(b.1).then(b.0.total_cmp(a.0)))
        .map(|(lambda, _)| *lambda);
    best.ok_or(Error::Empty { what: "lambda candidates" })
}

/// Kernel quantile regression on the training points of a fold.
struct QuantileFit {
    duals: Vec<f64>,
    intercept: f64,
}

impl QuantileFit {
    fn new(kernel: &KernelMatrix, scores: &[f64], lambda: f64, alpha: Miscoverage) -> Result<Self> {
        let n = kernel.n() as f64;
        let c = 1.0 / (lambda * n);
        let program = Program::new(kernel, scores, -c * alpha.get(), c * (1.0 - alpha.get()));
        let state = ActiveSet::without_test_point(&program)?;
        let rank = (n * (1.0 - alpha.get())).ceil().clamp(1.0, n) as usize;
        let intercept = ranked(&state.gradient, rank, &mut Vec::new());
        Ok(Self { duals: state.duals, intercept })
    }
}

fn pinball(residual: f64, alpha: Miscoverage) -> f64 {
    if residual >= 0.0 { (1.0 - alpha.get()) * residual } else { -alpha.get() * residual }
}

/// The fold of each point: equal sizes up to one, members at random.
fn shuffled_folds(n: usize, folds: usize, seed: Seed) -> Vec<usize> {
    let mut stream = seed.stream("conditional folds");
    let mut fold_of: Vec<usize> = (0..n).map(|row| row % folds).collect();
    for last in (1..n).rev() {
        fold_of.swap(last, stream.below(last + 1));
    }
    fold_of
}

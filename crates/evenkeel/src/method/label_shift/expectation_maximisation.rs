//! `Q(y) <- mean_j g_j(y)`: maximum-likelihood class shares by EM \[SLD02\].

use super::class_shares;
use super::weights::{EmStop, LabelShiftEvidence, LabelShiftMethod, LabelWeights};
use crate::error::{Error, Result, require_same_length};
use crate::rows::Real;
use crate::score::{Labels, Probabilities};
use rayon::prelude::*;

/// Rows added up by one task; fixed, so that threads do not change a bit.
const ROWS_PER_TASK: usize = 4096;

/// When the iteration ends. The likelihood is concave in the shares: there is one maximum to end
/// at, or a flat stretch of them.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `tolerance` | 1e-8 | largest change of a class share that counts as none | zero or positive, finite |
/// | `most_iterations` | 10 000 | the end in any case; the likelihood can be very flat | any |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EmSettings {
    /// Largest change of a class share that counts as none; zero or positive, finite.
    pub tolerance: f64,
    /// Most iterations; 0 leaves the shares of the calibration labels.
    pub most_iterations: usize,
}

impl Default for EmSettings {
    /// Shares to eight digits: far below what sampling leaves uncertain.
    fn default() -> Self {
        Self { tolerance: 1e-8, most_iterations: 10_000 }
    }
}

/// `Q(y) / P(y)` from target probabilities and calibration labels.
///
/// ```text
/// g_j(y) = f_j(y) Q(y)/P(y) / sum_k f_j(k) Q(k)/P(k)        E: the classifier's beliefs under the current shares
/// Q(y)   = 1/m sum_j g_j(y)                                 M
/// ```
/// from `Q = P`, until no share moves by more than the tolerance. Maximises the likelihood of target rows if the
/// classifier's probabilities are calibrated under `P`; a miscalibrated classifier biases it, which BBSE is immune to.
///
/// # Errors
/// If a class has no calibration point, a label is not a column, or the tolerance is negative or not finite.
pub fn expectation_maximisation<T: Real>(
    labels: &Labels,
    target: &Probabilities<'_, T>,
    settings: EmSettings,
) -> Result<LabelWeights> {
    if !(settings.tolerance >= 0.0 && settings.tolerance.is_finite()) {
        return Err(Error::OutOfRange {
            what: "the tolerance of EM",
            value: settings.tolerance,
            expected: "zero or positive, and finite",
        });
    }
    let classes = target.classes();
    let calibration_shares = class_shares(labels, classes)?;
    // From P: with no shift this is near the answer already, and no class starts at 0, which EM
    // never leaves.
    let mut shares = calibration_shares.clone();
    let mut stopped = EmStop::MostIterations;
    let mut iterations = 0;
    while iterations < settings.most_iterations {
        let next = reweighted_means(target, &shares, &calibration_shares)?;
        iterations += 1;
        let moved = next.iter().zip(&shares).map(|(new, old)| (new - old).abs());
        // The largest change, not the mean: with a thousand classes a mean hides one that still
        // moves.
        let moved = moved.fold(0.0, f64::max);
        shares = next;
        if moved <= settings.tolerance {
            stopped = EmStop::Converged;
            break;
        }
    }
    LabelWeights::new(LabelShiftEvidence {
        method: LabelShiftMethod::ExpectationMaximisation { iterations, stopped },
        calibration_shares,
        target_shares: shares,
        clipped: Vec::new(),
    })
}

/// Mean over target rows of `f_j(y) r(y)`, normalised row by row, with `r = shares / prior`: one
/// step of EM. Shape `(C,)`, summing to one.
fn reweighted_means<T: Real>(
    target: &Probabilities<'_, T>,
    shares: &[f64],
    prior: &[f64],
) -> Result<Vec<f64>> {
    require_same_length("class shares", shares.len(), "classes", target.classes())?;
    let ratios: Vec<f64> = shares.iter().zip(prior).map(|(q, p)| q / p).collect();
    let tasks = target.rows().div_ceil(ROWS_PER_TASK);
    let parts: Vec<Vec<f64>> = (0..tasks)
        .into_par_iter()
        .map(|task| {
            let (mut row, mut sums) = (vec![0.0; ratios.len()], vec![0.0; ratios.len()]);
            for index in task * ROWS_PER_TASK..((task + 1) * ROWS_PER_TASK).min(target.rows()) {
                target.read_row(index, &mut row);
                let total: f64 = row.iter().zip(&ratios).map(|(p, ratio)| p * ratio).sum();
                // All classes a row believes in may have underflowed to share 0: the row is then taken as it is.
                let scale = if total > 0.0 { 1.0 / total } else { 0.0 };
                for ((sum, p), ratio) in sums.iter_mut().zip(&row).zip(&ratios) {
                    *sum += if scale > 0.0 { p * ratio * scale } else { *p };
                }
            }
            sums
        })
        .collect();
    let mut means = vec![0.0; ratios.len()];
    // In the order of the tasks, whose size is fixed: threads do not change a bit.
    for part in parts {
        means.iter_mut().zip(part).for_each(|(mean, sum)| *mean += sum);
    }
    let total: f64 = means.iter().sum();
    // By their sum, not by the number of rows: rounding must not let the shares drift from one.
    means.iter_mut().for_each(|mean| *mean /= total);
    Ok(means)
}

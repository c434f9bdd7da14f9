//! `label-plan` for bins of `y`: the law of `y` is kept, and the target points are transported onto it.
//!
//! ```text
//! f_j(b)   residuals of the calibration data around prediction_j, by bin
//! pi_b     (count of calibration y in b + 1) / (n + bins)
//! g_j(b) ~ f_j(b) beta_b,    log beta <- log beta + 1/2 (0.9 (log pi + log beta - log mean_j g_j) - log beta)
//! F(t)     1/m sum_j sum_b g_j(b) 1{|centre_b - prediction_j| <= t},   weights: the projection of F on the scores
//! ```
//! It reads a change of the predictions as a fault of the model, not of the world. Under covariate shift that is wrong, and the
//! gate does not choose it; it is there for a model whose inputs broke while `y` is distributed as before.

use crate::error::{Result, require_same_length};
use crate::learning::projection::project;
use crate::measure::Weights;
use crate::numeric::places_in_order;
use crate::sandwich::{LabelBins, residual_candidates};
use crate::score::absolute_residuals;

/// How fully the law of `y` is insisted on.
const RELAXATION: f64 = 0.9;
/// Largest change of a log scaling at which the plan has settled.
const SETTLED: f64 = 1e-4;
/// Most rounds; a few dozen are usual.
const MOST_ROUNDS: usize = 500;
/// Masses below this count as this, so that a bin nobody is predicted in has a logarithm.
const LEAST_MASS: f64 = 1e-12;

/// Weights of the calibration points, in their order; shapes `(n,)`, `(n,)`, `(m,)`.
///
/// # Errors
/// If a list is empty, predictions and `y` differ in number, a number is not finite, or all `y` are equal.
pub fn binned_plan_weights(
    predictions: &[f64],
    y: &[f64],
    target_predictions: &[f64],
    bins: usize,
) -> Result<Weights> {
    let scores = absolute_residuals(predictions, y)?;
    let bins = LabelBins::over(y, bins)?;
    let residuals: Vec<f64> = y.iter().zip(predictions).map(|(y, p)| y - p).collect();
    let candidates = residual_candidates(target_predictions, &residuals, &bins)?;
    let (m, count) = (candidates.rows(), bins.count());
    let mut shares = vec![1.0; count];
    y.iter().for_each(|y| shares[bins.bin_of(*y)] += 1.0);
    let total = (y.len() + count) as f64;
    let log_shares: Vec<f64> = shares.iter().map(|share| (share / total).ln()).collect();

    let mut log_scale = vec![0.0_f64; count];
    let mut plan = vec![0.0; m * count];
    for _ in 0..MOST_ROUNDS {
        let mut mean = vec![0.0; count];
        let scales: Vec<f64> = log_scale.iter().map(|scale| scale.exp()).collect();
        for (row, slots) in plan.chunks_exact_mut(count).enumerate() {
            let believed = candidates.plausibility_row(row).unwrap_or_default();
            require_same_length("plausibilities", believed.len(), "bins", count)?;
            let mut sum = 0.0;
            for ((slot, f), scale) in slots.iter_mut().zip(believed).zip(&scales) {
                *slot = f * scale;
                sum += *slot;
            }
            // A row sums to something positive: its plausibilities sum to one and scales are positive.
            for (slot, mean) in slots.iter_mut().zip(&mut mean) {
                *slot /= sum;
                *mean += *slot / m as f64;
            }
        }
        let mut moved: Vec<f64> = (0..count)
            .map(|bin| {
                RELAXATION * (log_shares[bin] + log_scale[bin] - mean[bin].max(LEAST_MASS).ln())
            })
            .collect();
        let centre = moved.iter().sum::<f64>() / count as f64;
        let mut change = 0.0_f64;
        for (scale, wanted) in log_scale.iter_mut().zip(&mut moved) {
            let step = 0.5 * (*wanted - centre - *scale);
            // Beyond e^300 a scaling says "never" or "always" as well, and its exponential stays finite.
            let next = (*scale + step).clamp(-300.0, 300.0);
            change = change.max((next - *scale).abs());
            *scale = next;
        }
        if change < SETTLED {
            break;
        }
    }

    let order = places_in_order(&scores);
    let sorted: Vec<f64> = order.iter().map(|index| scores[*index]).collect();
    // Masses by the first score that reaches them, then a running sum: increasing by construction.
    let mut masses = vec![0.0; sorted.len() + 1];
    for (row, believed) in plan.chunks_exact(count).enumerate() {
        for (score, mass) in candidates.row(row).iter().zip(believed) {
            masses[sorted.partition_point(|own| own < score)] += mass / m as f64;
        }
    }
    let mut reached = 0.0;
    let cdf: Vec<f64> = masses[..sorted.len()]
        .iter()
        .map(|mass| {
            reached += mass;
            f64::min(reached, 1.0)
        })
        .collect();
    let projected = project(&sorted, &cdf)?;
    let mut weights = vec![0.0; sorted.len()];
    for (index, weight) in order.iter().zip(projected.weights.as_slice()) {
        weights[*index] = *weight;
    }
    Weights::already_normalised(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// A model that says `x` where `y = x + noise`; broken, it says 0.7 x.
    fn world(n: usize, factor: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut stream = Seed::new(seed).stream("world");
        (0..n)
            .map(|_| {
                let x = 10.0 * stream.uniform();
                (factor * x, x + 4.0 * (stream.uniform() - 0.5))
            })
            .unzip()
    }

    #[test]
    fn a_model_that_lost_its_scale_is_read_as_worse() {
        let (predictions, y) = world(400, 1.0, 1);
        let (broken, _) = world(400, 0.7, 2);
        let (sound, _) = world(400, 1.0, 3);
        let scores = absolute_residuals(&predictions, &y).unwrap();
        let mut sorted = scores.clone();
        sorted.sort_by(f64::total_cmp);
        let coverage = |target: &[f64]| {
            let weights = binned_plan_weights(&predictions, &y, target, 50).unwrap();
            let covered = scores.iter().zip(weights.as_slice());
            covered.filter(|(s, _)| **s <= sorted[359]).map(|(_, w)| w).sum::<f64>()
        };
        // Bin centres stand for y, so that a sound model's scores are a little coarser than its residuals.
        assert!(coverage(&sound) > 0.8, "{}", coverage(&sound));
        assert!(coverage(&broken) < coverage(&sound) - 0.03, "{}", coverage(&broken));
    }

    #[test]
    fn what_is_no_data_is_refused() {
        assert!(binned_plan_weights(&[], &[], &[1.0], 5).is_err());
        assert!(binned_plan_weights(&[1.0], &[1.0], &[1.0], 5).is_err());
        assert!(binned_plan_weights(&[1.0, 2.0], &[1.0], &[1.0], 5).is_err());
        assert!(binned_plan_weights(&[1.0, 2.0], &[1.0, 3.0], &[f64::NAN], 5).is_err());
        assert!(binned_plan_weights(&[1.0, 2.0], &[1.0, 3.0], &[1e300], 5).is_ok());
    }
}

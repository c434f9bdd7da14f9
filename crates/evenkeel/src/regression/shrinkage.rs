//! How much of a change of the law of scores is more than noise.
//!
//! ```text
//! d_i = w_i - 1/n,   D(t) = sum_{s_i <= t} d_i                                          the change of the CDF
//! V(t) = sum_i d_i^2 (1{s_i <= t} - F_n(t))^2                                           its sampling variance
//! strength = max(0, 1 - int V dF_n / int D^2 dF_n)
//! ```
//! If the weights had nothing to do with the scores, `D` would have mean zero and variance `V`. A positive-part James-Stein rule:
//! it leaves out the share of the squared change that noise explains, and all of it where noise explains it all. Taken over all levels
//! at once, so that one fit serves every alpha.

use crate::error::{Result, require_increasing, require_same_length};
use crate::measure::Weights;

/// How far weights are followed, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shrinkage {
    /// Share of the change that is kept, in `[0, 1]`.
    pub strength: f64,
    /// Root mean square of the change of the CDF, over the levels.
    pub change: f64,
    /// Root mean square of what noise alone would change.
    pub noise: f64,
}

/// Compares weights of increasing scores with equal ones; shapes `(n,)`.
///
/// # Errors
/// If the scores do not increase, or there is not one weight for each.
pub fn shrinkage(sorted_scores: &[f64], weights: &Weights) -> Result<Shrinkage> {
    require_increasing("sorted scores", sorted_scores)?;
    let n = sorted_scores.len();
    require_same_length("weights", weights.len(), "sorted scores", n)?;
    let each = 1.0 / n as f64;
    let changes: Vec<f64> = weights.as_slice().iter().map(|weight| weight - each).collect();
    let all: f64 = changes.iter().map(|change| change * change).sum();
    let (mut change, mut squares) = (0.0, 0.0);
    let (mut signal, mut noise) = (0.0, 0.0);
    // Tied scores are one place: the CDF has a value after the last of them only, with the mass of all.
    let mut ties = 0;
    for (index, own) in changes.iter().enumerate() {
        change += own;
        squares += own * own;
        ties += 1;
        if sorted_scores.get(index + 1).is_some_and(|next| *next == sorted_scores[index]) {
            continue;
        }
        // Beyond the last score both CDFs are 1: nothing can change there.
        if index + 1 < n {
            let level = (index + 1) as f64 * each;
            let mass = f64::from(ties) * each;
            signal += mass * change * change;
            noise += mass
                * (squares * (1.0 - level) * (1.0 - level)
                    + (all - squares).max(0.0) * level * level);
        }
        ties = 0;
    }
    // No change at all is no reason to change anything; neither is rounding.
    let strength =
        if signal > f64::EPSILON * f64::EPSILON { (1.0 - noise / signal).max(0.0) } else { 0.0 };
    Ok(Shrinkage { strength, change: signal.sqrt(), noise: noise.sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn of(scores: &[f64], raw: Vec<f64>) -> Shrinkage {
        shrinkage(scores, &Weights::normalised(raw).unwrap()).unwrap()
    }

    /// Weights drawn without a look at the scores: change and noise agree on average, and little is kept.
    #[test]
    fn weights_that_ignore_the_scores_are_mostly_dropped() {
        let scores: Vec<f64> = (0..200).map(f64::from).collect();
        let runs = 400;
        let found: Vec<Shrinkage> = (0..runs)
            .map(|seed| {
                let mut stream = Seed::new(seed).stream("weights");
                of(&scores, (0..200).map(|_| stream.uniform().powi(3)).collect())
            })
            .collect();
        let mean =
            |value: fn(&Shrinkage) -> f64| found.iter().map(value).sum::<f64>() / runs as f64;
        let ratio = mean(|s| s.change * s.change) / mean(|s| s.noise * s.noise);
        // The mean of 400 ratios of a variance to its expectation, a few degrees of freedom each.
        assert!((ratio - 1.0).abs() < 0.2, "{ratio}");
        assert!(mean(|s| s.strength) < 0.25, "{}", mean(|s| s.strength));
    }

    #[test]
    fn weights_that_follow_the_scores_are_kept() {
        let scores: Vec<f64> = (0..200).map(f64::from).collect();
        let found = of(&scores, (0..200).map(|i| 1.0 + f64::from(i) / 50.0).collect());
        assert!(found.strength > 0.95 && found.change > 5.0 * found.noise, "{found:?}");
    }

    #[test]
    fn equal_weights_tied_scores_and_one_point_change_nothing() {
        assert_eq!(of(&[1.0, 2.0, 3.0], vec![1.0; 3]).strength, 0.0);
        assert_eq!(of(&[2.0; 4], vec![1.0, 5.0, 1.0, 9.0]).strength, 0.0);
        assert_eq!(of(&[2.0], vec![3.0]).strength, 0.0);
        assert!(shrinkage(&[2.0, 1.0], &Weights::uniform(2).unwrap()).is_err());
        assert!(shrinkage(&[1.0], &Weights::uniform(2).unwrap()).is_err());
    }

    /// Only the total weight of tied scores counts for the change.
    #[test]
    fn ties_are_one_place() {
        let a = of(&[1.0, 2.0, 2.0, 3.0], vec![1.0, 4.0, 2.0, 1.0]);
        let b = of(&[1.0, 2.0, 2.0, 3.0], vec![1.0, 3.0, 3.0, 1.0]);
        assert!((a.change - b.change).abs() < 1e-15 && a.noise > b.noise);
    }
}

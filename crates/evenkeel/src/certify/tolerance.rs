//! Wilks' rank: the score of this rank covers the level with a given probability over the labels.

use crate::level::{FailureProbability, Miscoverage};
use crate::numeric::beta::binomial_tails;

/// The smallest rank `r` in `1..=labels` with `P(Bin(labels, 1 - alpha) <= r - 1) >= 1 - d`; none if the labels are too few.
///
/// With probability at least `1 - d` over labels drawn at random, the `r`-th smallest of their scores covers `1 - alpha` (S. S. Wilks,
/// Determination of sample sizes for setting tolerance limits, 1941).
pub fn tolerance_rank(labels: u64, alpha: Miscoverage, failure: FailureProbability) -> Option<u64> {
    let level = alpha.level().get();
    // The tail beyond keeps its digits where 1 - d does not.
    let holds = |rank: u64| binomial_tails(rank - 1, labels, level).upper <= failure.get();
    if labels == 0 || !holds(labels) {
        return None;
    }
    // Monotone in the rank: bisection.
    let (mut low, mut high) = (0, labels);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_first_rank_that_holds() {
        for (alpha, d) in [(0.1, 0.1), (0.5, 0.01), (0.01, 0.9)] {
            let (rate, failure) =
                (Miscoverage::new(alpha).unwrap(), FailureProbability::new(d).unwrap());
            for labels in 0..300 {
                let first = (1..=labels).find(|rank| {
                    binomial_tails(rank - 1, labels, 1.0 - alpha).lower >= 1.0 - d - 1e-12
                });
                assert_eq!(tolerance_rank(labels, rate, failure), first, "{labels} {alpha} {d}");
            }
        }
    }
}

//! `ceil((n + 1)(1 - alpha))`: the rank of split conformal prediction, and how many points have one.

use crate::level::Miscoverage;
use crate::measure::QUANTILE_TOLERANCE;

/// `k = ceil((n + 1)(1 - alpha))`, the smallest rank with `k / (n + 1) >= 1 - alpha`; none where it exceeds `n`, so that
/// only a threshold above every score reaches the level.
pub fn conformal_rank(n: usize, alpha: Miscoverage) -> Option<usize> {
    let points = n as f64 + 1.0;
    // The slack of every quantile here, in ranks: 0.9 times 10 must be 9, whatever its last bit.
    let rank = (points * (alpha.level().get() - QUANTILE_TOLERANCE)).ceil().max(1.0) as usize;
    (rank <= n).then_some(rank)
}

/// The fewest points with a finite threshold: the smallest `n` with `(n + 1) alpha >= 1`.
pub fn least_points(alpha: Miscoverage) -> usize {
    let near = (1.0 / alpha.get() - 1.0).max(0.0) as usize;
    // Off by one at most by rounding; the rank itself has the last word.
    (near.saturating_sub(1)..near + 3)
        .find(|n| conformal_rank(*n, alpha).is_some())
        .unwrap_or(near + 3)
}

/// Whether weight in place of a number of points is too little: `v / (v + 1) < 1 - alpha`.
pub(super) fn is_too_little(weight: f64, alpha: Miscoverage) -> bool {
    weight / (weight + 1.0) < alpha.level().get() - QUANTILE_TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By whole numbers, for rates in thousandths: `ceil((n + 1)(1000 - a) / 1000)`.
    #[test]
    fn ranks_are_those_of_the_definition_for_all_sizes_up_to_500() {
        for a in [1_usize, 5, 10, 25, 50, 100, 125, 200, 250, 300, 333, 500, 750, 900, 999] {
            let alpha = Miscoverage::new(a as f64 / 1000.0).unwrap();
            for n in 0..=500 {
                let rank = ((n + 1) * (1000 - a)).div_ceil(1000);
                let expected = (rank <= n).then_some(rank);
                assert_eq!(conformal_rank(n, alpha), expected, "n = {n}, alpha = {a} / 1000");
                let small = is_too_little(n as f64, alpha);
                assert_eq!(small, expected.is_none(), "n = {n}, alpha = {a} / 1000");
            }
            let least = (0..2000).find(|n| ((n + 1) * a) >= 1000).unwrap();
            assert_eq!(least_points(alpha), least, "alpha = {a} / 1000");
        }
    }
}

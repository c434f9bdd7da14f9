//! The exact two-sided binomial test.
//!
//! ```text
//! p-value = sum of P(K = k) over all k with P(K = k) <= P(K = found),   K ~ Bin(n, p)
//! ```

/// Counts whose probability exceeds that of the one found by no more than this are as likely: by symmetry many are equal, and
/// rounding would part them.
const AS_LIKELY: f64 = 1e-7;

/// Probability under `Bin(n, p)` of a count no more likely than `found`.
pub(super) fn two_sided_p_value(found: u64, n: u64, p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        let sure = if p <= 0.0 { 0 } else { n };
        return if found == sure { 1.0 } else { 0.0 };
    }
    // Relative to the mode, from which probabilities fall on both sides: no logarithm of a factorial is needed, and what
    // is too small to be a number is too small to count.
    let mode = (((n + 1) as f64 * p) as u64).min(n);
    let odds = p / (1.0 - p);
    let up = |k: u64| (n - k) as f64 / (k + 1) as f64 * odds;
    let (mut total, mut relative) = (1.0, 1.0);
    let mut above: Vec<f64> = Vec::new();
    for k in mode..n {
        relative *= up(k);
        if relative <= 0.0 {
            break;
        }
        above.push(relative);
    }
    let mut below: Vec<f64> = Vec::new();
    relative = 1.0;
    for k in (0..mode).rev() {
        relative /= up(k);
        if relative <= 0.0 {
            break;
        }
        below.push(relative);
    }
    // From the smallest up, so that the tails are not lost in the middle.
    total += above.iter().rev().sum::<f64>() + below.iter().rev().sum::<f64>();
    let side = |values: &[f64], distance: u64| match distance {
        0 => 1.0,
        steps => values.get(steps as usize - 1).copied().unwrap_or(0.0),
    };
    let at = if found >= mode { side(&above, found - mode) } else { side(&below, mode - found) };
    let limit = at * (1.0 + AS_LIKELY);
    let rare = |values: &[f64]| values.iter().rev().filter(|value| **value <= limit).sum::<f64>();
    let centre = if 1.0 <= limit { 1.0 } else { 0.0 };
    ((rare(&above) + rare(&below) + centre) / total).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `P(K = k)` by products of doubles, for few draws.
    fn probability(k: u64, n: u64, p: f64) -> f64 {
        let ways = (0..k).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64);
        ways * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32)
    }

    #[test]
    fn it_is_the_sum_of_what_is_no_more_likely() {
        for n in [1, 2, 7, 30, 80] {
            for p in [0.01, 0.3, 0.5, 0.873, 0.9999] {
                for found in 0..=n {
                    let limit = probability(found, n, p) * (1.0 + 1e-7);
                    let expected: f64 =
                        (0..=n).map(|k| probability(k, n, p)).filter(|value| *value <= limit).sum();
                    let value = two_sided_p_value(found, n, p);
                    assert!((value - expected).abs() < 1e-10, "{found} of {n} at {p}: {value}");
                }
            }
        }
    }

    /// `binom.test` of R.
    #[test]
    fn known_values() {
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
        close(two_sided_p_value(7, 10, 0.5), 0.34375);
        close(two_sided_p_value(5, 10, 0.5), 1.0);
        close(two_sided_p_value(0, 10, 0.5), 0.001953125);
        assert_eq!(two_sided_p_value(3, 3, 1.0), 1.0);
        assert_eq!(two_sided_p_value(2, 3, 1.0), 0.0);
        assert_eq!(two_sided_p_value(0, 3, 0.0), 1.0);
        assert_eq!(two_sided_p_value(1, 3, 0.0), 0.0);
    }

    #[test]
    fn many_draws_are_no_harder() {
        assert!(two_sided_p_value(900_000, 1_000_000, 0.9) > 0.99);
        let three_deviations = two_sided_p_value(900_900, 1_000_000, 0.9);
        assert!((three_deviations - 0.0027).abs() < 1e-4, "{three_deviations}");
        assert_eq!(two_sided_p_value(0, 1_000_000, 0.9), 0.0);
    }

    /// No test at a level rejects more often than the level.
    #[test]
    fn its_level_is_kept() {
        for (n, p, delta) in [(40, 0.9, 0.05), (11, 0.5, 0.1), (200, 0.03, 0.01)] {
            let rejected: f64 = (0..=n)
                .filter(|k| two_sided_p_value(*k, n, p) <= delta)
                .map(|k| probability(k, n, p))
                .sum();
            assert!(rejected <= delta, "{rejected} above {delta}");
        }
    }
}

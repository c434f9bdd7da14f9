//! The incomplete beta function and its inverse: tails of binomial counts, whole or broken, of any size.
//!
//! ```text
//! I_x(a, b) = P(Beta(a, b) <= x),    P(Bin(k, p) >= x) = I_p(x, k - x + 1)
//! ```
//! The continued fraction of Didonato and Morris (Lentz's evaluation) on the side where it converges, in about `sqrt(a + b)`
//! terms; the other side is its complement, and both tails are returned so that a small one keeps its digits.

use super::gamma::binomial_density;

/// Both tails of a law at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tails {
    /// Probability of at most the point.
    pub lower: f64,
    /// Probability of more.
    pub upper: f64,
}

/// `I_x(a, b)` and its complement, for positive `a` and `b`; 0 or 1 outside (0, 1).
pub(crate) fn incomplete_beta(a: f64, b: f64, x: f64) -> Tails {
    if x.is_nan() || x <= 0.0 {
        return Tails { lower: 0.0, upper: 1.0 };
    }
    if x >= 1.0 {
        return Tails { lower: 1.0, upper: 0.0 };
    }
    let y = 1.0 - x;
    // x^a y^b / B(a, b).
    let front = binomial_density(a, b, x, y) * (a * b / (a + b));
    if x <= (a + 1.0) / (a + b + 2.0) {
        let lower = (front * continued_fraction(a, b, x) / a).min(1.0);
        Tails { lower, upper: 1.0 - lower }
    } else {
        let upper = (front * continued_fraction(b, a, y) / b).min(1.0);
        Tails { lower: 1.0 - upper, upper }
    }
}

/// The fraction `1 / (1 + d_1 / (1 + d_2 / ...))` of `I_x(a, b)`.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    // A denominator of zero would make the next one infinite; the value does not depend on what stands in for it.
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    let terms = 200 + 20 * ((a.max(b)).sqrt() as u32);
    for index in 1..=terms {
        let m = f64::from(index);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        value *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// `x` with `I_x(a, b) = probability`, to the rounding of the function itself.
///
/// Newton's steps for `ln I` as a function of `ln x`, which is nearly straight in the tail that is asked for most, inside a
/// bracket that bisection takes over where a step would leave it: some ten evaluations in place of sixty.
pub(crate) fn beta_quantile(a: f64, b: f64, probability: f64) -> f64 {
    if probability.is_nan() || probability <= 0.0 {
        return 0.0;
    }
    if probability >= 1.0 {
        return 1.0;
    }
    let (mut low, mut high, mut x) = (0.0, 1.0, a / (a + b));
    // Bisection alone ends in about 1100 steps, at the smallest number there is.
    for _ in 0..1200 {
        let found = incomplete_beta(a, b, x).lower;
        if found <= probability {
            low = x;
        } else {
            high = x;
        }
        let front = binomial_density(a, b, x, 1.0 - x) * (a * b / (a + b));
        let step = (probability / found).ln() * found * (1.0 - x) / front;
        let newton = x * step.exp();
        let inside = newton > low && newton < high;
        let next = if inside { newton } else { 0.5 * (low + high) };
        let settled = inside && (next - x).abs() <= 2.0 * f64::EPSILON * x;
        if settled || next <= low || next >= high {
            return next.clamp(low, high);
        }
        x = next;
    }
    low
}

/// `P(Bin(count, p) <= successes)` and its complement.
pub(crate) fn binomial_tails(successes: u64, count: u64, p: f64) -> Tails {
    if successes >= count {
        return Tails { lower: 1.0, upper: 0.0 };
    }
    // P(X <= x) = P(Beta(x + 1, k - x) > p).
    let tails = incomplete_beta(successes as f64 + 1.0, (count - successes) as f64, p);
    Tails { lower: tails.upper, upper: tails.lower }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::gamma::ln_gamma;

    #[test]
    fn tails_are_sums_of_the_binomial() {
        for (count, p) in [(1_u64, 0.5), (10, 0.1), (37, 0.93), (200, 0.001), (200, 0.999)] {
            let mut sum = 0.0;
            for x in 0..=count {
                let (k, j) = (count as f64, x as f64);
                let choose = ln_gamma(k + 1.0) - ln_gamma(j + 1.0) - ln_gamma(k - j + 1.0);
                sum += (choose + j * f64::ln(p) + (k - j) * f64::ln_1p(-p)).exp();
                let found = binomial_tails(x, count, p);
                assert!((found.lower - sum).abs() < 1e-12, "{count} {p} {x}: {found:?} {sum}");
                assert!((found.lower + found.upper - 1.0).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn closed_forms_hold_at_the_extremes() {
        // I_x(a, 1) = x^a and I_x(1, b) = 1 - (1 - x)^b.
        for a in [1e-6, 0.5, 3.0, 1e4, 1e9] {
            for x in [1e-12, 0.3, 0.999_999, 1.0 - 1e-12] {
                let found = incomplete_beta(a, 1.0, x).lower;
                let expected = f64::exp(a * f64::ln(x));
                assert!((found - expected).abs() <= 1e-11 * expected, "{a} {x}: {found}");
                let upper = incomplete_beta(1.0, a, 1.0 - x).upper;
                let kept = f64::exp(a * (1.0 - (1.0 - x)).ln());
                assert!((upper - kept).abs() <= 1e-11 * kept, "{a} {x}: {upper}");
            }
        }
        // The middle of a symmetric law, however large.
        for a in [1.0, 1e3, 1e7, 1e12] {
            assert!((incomplete_beta(a, a, 0.5).lower - 0.5).abs() < 1e-9, "{a}");
        }
        for x in [f64::NAN, -1.0, 0.0] {
            assert_eq!(incomplete_beta(2.0, 3.0, x), Tails { lower: 0.0, upper: 1.0 });
        }
        assert_eq!(incomplete_beta(2.0, 3.0, 1.0), Tails { lower: 1.0, upper: 0.0 });
    }

    /// Edgeworth's expansion at the mean: `P(X <= k p) = 1/2 + (1/2 + (1 - 2 p) / 6) / (sd sqrt(2 pi)) + O(sd^-3)`.
    #[test]
    fn large_counts_keep_their_digits() {
        for (count, p) in [(1_000_000_u64, 0.9), (100_000_000, 0.25)] {
            let mean = (count as f64 * p).round();
            let sd = (mean * (1.0 - p)).sqrt();
            let lattice =
                (0.5 + (1.0 - 2.0 * p) / 6.0) / (sd * (2.0 * std::f64::consts::PI).sqrt());
            let found = binomial_tails(mean as u64, count, p).lower;
            assert!((found - 0.5 - lattice).abs() < 1e-7, "{count} {p}: {found}");
        }
    }

    #[test]
    fn quantiles_invert_the_function() {
        for (a, b) in [(1.0, 1.0), (45.0, 6.0), (0.5, 300.0), (1e5, 2e4)] {
            for probability in [1e-9, 0.025, 0.5, 0.975] {
                let x = beta_quantile(a, b, probability);
                let found = incomplete_beta(a, b, x).lower;
                assert!((found - probability).abs() < 1e-11, "{a} {b} {probability}: {found}");
            }
        }
        assert_eq!((beta_quantile(3.0, 4.0, 0.0), beta_quantile(3.0, 4.0, 1.0)), (0.0, 1.0));
        // Tails that few numbers reach, and shapes that no count has.
        for (a, b, probability) in [(2.0, 5.0, 1e-250), (0.1, 1.0, 0.3), (1e9, 3.0, 1e-12)] {
            let found = incomplete_beta(a, b, beta_quantile(a, b, probability)).lower;
            assert!((found / probability - 1.0).abs() < 1e-5, "{a} {b} {probability}: {found}");
        }
    }
}

//! `ln Gamma` and the density of a binomial count, for whole and broken arguments.
//!
//! ```text
//! ln Gamma(x) = (x - 1/2) ln x - x + 1/2 ln 2 pi + d(x),   d(x) = d(x + 1) + (x + 1/2) ln(1 + 1/x) - 1
//! density     = sqrt(n / (2 pi a b)) exp(d(n) - d(a) - d(b) - D(a, n x) - D(b, n (1 - x))),   n = a + b
//! D(a, c)     = a ln(a / c) + c - a
//! ```
//! Written out because the difference of two `ln Gamma` of a million is wrong in the ninth digit, and counts of labels reach
//! that; the deviances `D` are small where the density is not (C. Loader, Fast and accurate computation of binomial
//! probabilities, 2000).

const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_7;
/// From here on six terms of Stirling's series leave less than 1e-17.
const SERIES_FROM: f64 = 15.0;

/// `d(x)` above, for `x > 0`: what Stirling's formula leaves out.
fn stirling_error(x: f64) -> f64 {
    let (mut x, mut carried) = (x, 0.0);
    while x < SERIES_FROM {
        carried += (x + 0.5) * (1.0 / x).ln_1p() - 1.0;
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    let mut series = 0.0;
    for term in
        [-691.0 / 360_360.0, 1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0]
    {
        series = series * z + term;
    }
    carried + series / x
}

/// `ln Gamma(x)` for `x > 0`.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    (x - 0.5) * x.ln() - x + HALF_LN_TWO_PI + stirling_error(x)
}

/// `ln B(a, b)` for positive `a` and `b`.
pub(crate) fn ln_beta(a: f64, b: f64) -> f64 {
    // The large parts of the three logarithms cancel; what is left of them is small when one of a and b is.
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    let total = a + b;
    let errors = stirling_error(small) + stirling_error(large) - stirling_error(total);
    HALF_LN_TWO_PI + errors
        - (small - 0.5) * (large / small).ln_1p()
        - large * (small / large).ln_1p()
        - 0.5 * large.ln()
}

/// `D(a, c) = a ln(a / c) + c - a`, without cancellation where `a` is near `c`.
fn deviance(a: f64, c: f64) -> f64 {
    if (a - c).abs() >= 0.1 * (a + c) {
        return a * (a / c).ln() + c - a;
    }
    let v = (a - c) / (a + c);
    let (mut sum, mut power) = ((a - c) * v, 2.0 * a * v);
    // v is below 0.1: each term is a hundredth of the one before.
    for odd in (3..40).step_by(2) {
        power *= v * v;
        sum += power / f64::from(odd);
    }
    sum
}

/// `Gamma(n + 1) / (Gamma(a + 1) Gamma(b + 1)) x^a y^b` with `n = a + b`, for positive `a`, `b`, and `x`, `y = 1 - x` inside (0, 1).
pub(crate) fn binomial_density(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let n = a + b;
    let exponent = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n * x)
        - deviance(b, n * y);
    exponent.exp() * (n / (a * b)).sqrt() * (-HALF_LN_TWO_PI).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factorials_and_halves_are_exact() {
        let mut factorial = 1.0_f64;
        for n in 1..30 {
            let found = ln_gamma(f64::from(n));
            assert!((found - factorial.ln()).abs() < 1e-13 * (1.0 + factorial.ln()), "{n}");
            factorial *= f64::from(n);
        }
        let half = std::f64::consts::PI.sqrt().ln();
        assert!((ln_gamma(0.5) - half).abs() < 1e-14);
        assert!((ln_gamma(1e-300) - 1e300_f64.ln()).abs() < 1e-10);
        assert!((ln_gamma(1e6) - 12_815_504.569_147_611).abs() < 1e-8);
    }

    #[test]
    fn ln_beta_is_the_sum_of_three() {
        for (a, b) in [(0.5, 0.5), (2.0, 3.0), (1e-3, 40.0), (37.5, 200.0), (5.0, 0.01)] {
            let expected = ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
            assert!((ln_beta(a, b) - expected).abs() < 1e-12 * (1.0 + expected.abs()), "{a} {b}");
        }
        // B(1, b) = 1 / b, where the three terms of b = 1e12 would cancel to nothing.
        assert!((ln_beta(1.0, 1e12) + 1e12_f64.ln()).abs() < 1e-13);
    }

    #[test]
    fn densities_of_small_counts_are_those_of_the_formula() {
        for (a, b, x) in [(1.0, 1.0, 0.5), (3.0, 2.0, 0.1), (10.0, 30.0, 0.3), (7.0, 1.0, 0.999)] {
            let n = a + b;
            let choose = (ln_gamma(n + 1.0) - ln_gamma(a + 1.0) - ln_gamma(b + 1.0)).exp();
            let expected = choose * f64::powf(x, a) * f64::powf(1.0 - x, b);
            let found = binomial_density(a, b, x, 1.0 - x);
            assert!((found - expected).abs() < 1e-13 * expected, "{a} {b} {x}");
        }
    }
}

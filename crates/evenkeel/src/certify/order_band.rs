//! How likely all order statistics of `k` uniform numbers lie above the lower ends of their own Clopper-Pearson ranges: exactly,
//! without simulation.
//!
//! ```text
//! b_r = Beta(r, k + 1 - r) quantile at eta/2;    above: U_(r) >= b_r for all r
//! ```
//! `N(t)`, how many are below `t`, is a Poisson process of rate `k` given that `N(1) = k`. Being above is `N(b_r) < r`, so the
//! law of `N` is carried from one `b_r` to the next and cut there (Moscovich & Nadler 2017). Every number is positive, so nothing
//! cancels. Upper ends are the mirror image: they hold with the same probability.

use crate::numeric::beta::beta_quantile;
use crate::numeric::gamma::ln_gamma;

/// Probability that all `k` order statistics are above their lower ends at local level `eta`.
fn probability_above(k: usize, eta: f64) -> f64 {
    if k == 0 {
        return 1.0;
    }
    // masses[i]: probability of N = first + i, and of having been above so far.
    let (mut first, mut masses, mut now) = (0, vec![1.0_f64], 0.0);
    for rank in 1..=k {
        let time = beta_quantile(rank as f64, (k + 1 - rank) as f64, eta / 2.0);
        let pmf = poisson(k as f64 * (time - now), rank - 1 - first);
        let mut next = vec![0.0; rank - first];
        for (offset, mass) in masses.iter().enumerate() {
            for (place, probability) in next[offset..].iter_mut().zip(&pmf) {
                *place += mass * probability;
            }
        }
        // Counts so low that nothing will ever come of them: with them the work would grow as the square of k.
        let gone = next.iter().position(|mass| *mass > 1e-30).unwrap_or(0);
        next.drain(..gone);
        (first, masses, now) = (first + gone, next, time);
    }
    // What is left must arrive at k by time 1; the whole is given N(1) = k.
    let rest = poisson_log(k as f64 * (1.0 - now));
    let given = poisson_log(k as f64)(k);
    let arrived = masses.iter().enumerate();
    arrived.map(|(i, mass)| mass * (rest(k - first - i) - given).exp()).sum::<f64>().min(1.0)
}

/// `ln P(Poisson(mean) = j)`.
fn poisson_log(mean: f64) -> impl Fn(usize) -> f64 {
    move |j| {
        let count = j as f64;
        let power = if j == 0 { 0.0 } else { count * mean.ln() };
        power - mean - ln_gamma(count + 1.0)
    }
}

/// Probabilities of `0..=most` arrivals, up to where they no longer matter.
fn poisson(mean: f64, most: usize) -> Vec<f64> {
    let mut pmf = vec![(-mean).exp()];
    for j in 1..=most {
        let next = pmf[j - 1] * mean / j as f64;
        if next < 1e-18 && j as f64 > mean {
            break;
        }
        pmf.push(next);
    }
    pmf
}

/// The local level at which all order statistics are above with probability `1 - delta`, to six digits.
pub fn exact_local_level(k: usize, delta: f64) -> f64 {
    // One rank alone: 2 delta. All of them by the union bound: 2 delta / k.
    let (mut low, mut high) = (2.0 * delta / k.max(1) as f64, 2.0 * delta);
    while high - low > 1e-6 * high {
        let middle = (low * high).sqrt();
        if middle <= low || middle >= high {
            break;
        }
        if probability_above(k, middle) >= 1.0 - delta {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn one_number_is_above_with_its_own_probability() {
        for eta in [0.001, 0.05, 0.5] {
            assert!((probability_above(1, eta) - (1.0 - eta / 2.0)).abs() < 1e-12);
        }
        assert!((exact_local_level(1, 0.05) - 0.1).abs() < 1e-6);
    }

    /// Two numbers: the smaller above b_1 and the larger above b_2, an area in closed form.
    #[test]
    fn two_numbers_are_an_area() {
        for eta in [0.02_f64, 0.3] {
            let (smaller, larger) = (1.0 - (1.0 - eta / 2.0).sqrt(), (eta / 2.0).sqrt());
            let area = (1.0 - smaller).powi(2) - (larger - smaller).powi(2);
            assert!((probability_above(2, eta) - area).abs() < 1e-12, "{area}");
        }
    }

    #[test]
    fn simulation_agrees() {
        let (k, eta, draws) = (50_usize, 0.0066, 20_000_u32);
        let ends: Vec<f64> =
            (1..=k).map(|r| beta_quantile(r as f64, (k + 1 - r) as f64, eta / 2.0)).collect();
        let mut stream = Seed::new(11).stream("order-statistics");
        let mut above = 0_u32;
        for _ in 0..draws {
            let mut values: Vec<f64> = (0..k).map(|_| stream.uniform()).collect();
            values.sort_unstable_by(f64::total_cmp);
            above += u32::from((0..k).all(|i| ends[i] <= values[i]));
        }
        let exact = probability_above(k, eta);
        let found = f64::from(above) / f64::from(draws);
        let sd = (exact * (1.0 - exact) / f64::from(draws)).sqrt();
        assert!((found - exact).abs() < 4.0 * sd, "{found} against {exact}");
        assert!((exact - 0.95).abs() < 0.001, "{exact}");
    }
}

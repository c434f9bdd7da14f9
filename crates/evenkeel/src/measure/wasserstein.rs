//! `W1(mu, nu) = integral |F_mu - F_nu|`: the 1-Wasserstein distance on the line, exact, and its gradient in the
//! weights.
//!
//! ```text
//! W1 = sum_j |F_mu(z_j) - F_nu(z_j)| (z_(j+1) - z_j)        z: the atoms of both, merged
//! ```

use super::empirical::WeightedEmpirical;
use crate::error::{Result, require_finite, require_same_length, require_some};
use crate::numeric::{places_in_order, sort_numbers};

/// `W1(mu, nu) = integral |F_mu - F_nu|`, exactly: one merge of the two sorted supports. In the
/// units of the score, not raised to any power.
pub fn wasserstein_1(mu: &WeightedEmpirical, nu: &WeightedEmpirical) -> f64 {
    let (a, b) = (mu.atoms(), nu.atoms());
    let (mut i, mut j) = (0, 0);
    let mut previous = a[0].min(b[0]);
    let mut distance = 0.0;
    // Past the last atom of either side that side's CDF is 1; both loops' ends meet there.
    while i < a.len() || j < b.len() {
        let next = match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => x.min(*y),
            (Some(x), None) => *x,
            (None, Some(y)) => *y,
            (None, None) => break,
        };
        let cdf = |count: usize, of: &WeightedEmpirical| {
            if count == 0 { 0.0 } else { of.cumulative()[count - 1] }
        };
        distance += (cdf(i, mu) - cdf(j, nu)).abs() * (next - previous);
        previous = next;
        while a.get(i).is_some_and(|x| *x <= next) {
            i += 1;
        }
        while b.get(j).is_some_and(|y| *y <= next) {
            j += 1;
        }
    }
    distance
}

/// `w -> W1(sum_i w_i delta(s_i), nu)` for fixed scores and a fixed `nu`, with its gradient.
///
/// The supports are sorted and merged once, here; an evaluation only walks over them.
///
/// ```text
/// W1          = sum_j (z_(j+1) - z_j) |F_w(z_j) - F_nu(z_j)|
/// dW1 / dw_i  = sum over merged points z_j >= s_i of (z_(j+1) - z_j) sgn(F_w(z_j) - F_nu(z_j)),   sgn(0) = 0
/// ```
/// Between two calibration scores `F_w` is constant and `F_nu` increases, so the sum over that stretch is found by
/// bisection in prefix sums: an evaluation costs `O(n log m)` however many atoms `nu` has.
#[derive(Debug, Clone)]
pub struct TransportToFixed {
    /// `order[r]` is the index of the `r`-th smallest score.
    order: Vec<usize>,
    /// Merged intervals `r` from `starts[r]` to `starts[r + 1]` have exactly `r` scores at or below them.
    starts: Vec<usize>,
    /// `F_nu` on every merged interval, increasing in `[0, 1]`.
    nu_cdf: Vec<f64>,
    /// Running sums of the intervals' lengths, one longer than `nu_cdf`, first 0.
    lengths: Vec<f64>,
    /// Running sums of length times `F_nu`, likewise.
    moments: Vec<f64>,
}

impl TransportToFixed {
    /// Prepares the distance from weightings of `scores` to `nu`.
    ///
    /// # Errors
    /// `Empty` for no scores, `NotFinite` for a score that is NaN or infinite.
    pub fn new(scores: &[f64], nu: &WeightedEmpirical) -> Result<Self> {
        require_some("scores", scores)?;
        require_finite("scores", scores)?;
        let order = places_in_order(scores);

        let mut merged: Vec<f64> = scores.iter().chain(nu.atoms()).copied().collect();
        sort_numbers(&mut merged);
        merged.dedup();

        let intervals = merged.len() - 1;
        let nu_cdf = nu.cdf_at_increasing(&merged[..intervals]);
        let mut starts = vec![0];
        let mut below = 0;
        for (j, z) in merged[..intervals].iter().enumerate() {
            while below < order.len() && scores[order[below]] <= *z {
                below += 1;
                starts.push(j);
            }
        }
        starts.resize(scores.len() + 2, intervals);
        // `starts[r]` is now the first interval with r scores at or below it.
        let (mut lengths, mut moments) = (vec![0.0], vec![0.0]);
        let (mut length, mut moment) = (0.0, 0.0);
        for (pair, cdf) in merged.windows(2).zip(&nu_cdf) {
            length += pair[1] - pair[0];
            moment += (pair[1] - pair[0]) * cdf;
            lengths.push(length);
            moments.push(moment);
        }
        Ok(Self { order, starts, nu_cdf, lengths, moments })
    }

    /// `n`, the number of scores, the length of weights and gradient.
    pub(crate) fn scores(&self) -> usize {
        self.order.len()
    }

    /// The distance at `weights`; writes its gradient, in the order of the scores.
    ///
    /// # Errors
    /// `LengthMismatch` unless both slices have one entry per score.
    pub fn value_and_gradient(&self, weights: &[f64], gradient: &mut [f64]) -> Result<f64> {
        require_same_length("weights", weights.len(), "scores", self.scores())?;
        require_same_length("the gradient", gradient.len(), "scores", self.scores())?;
        gradient.fill(0.0);
        Ok(self.accumulate(weights, 1.0, gradient))
    }

    /// Adds `scale` times the gradient to `gradient` and returns the distance. Lengths are the caller's duty.
    ///
    /// `weights` and `gradient` have shape `(n,)`, in the order of the scores, and the weights are
    /// not negative. The distance itself is not scaled.
    pub(crate) fn accumulate(&self, weights: &[f64], scale: f64, gradient: &mut [f64]) -> f64 {
        let n = self.order.len();
        // Not taken to be 1: finite differences move one weight alone.
        let total: f64 = weights.iter().sum();
        // Below all scores `F_w` is 0 whatever the weights are: a distance without a slope.
        let mut value = self.stretch(0, 0.0).0;
        // F_w from the top down, so that the suffix sums of the gradient come out in one pass.
        let mut above = 0.0;
        let mut slope_above = 0.0;
        for r in (1..=n).rev() {
            let (stretch, slope) = self.stretch(r, total - above);
            value += stretch;
            slope_above += slope;
            let i = self.order[r - 1];
            gradient[i] += scale * slope_above;
            above += weights[i];
        }
        // Differences of prefix sums may round below zero where the two laws are all but equal.
        if value < 0.0 { 0.0 } else { value }
    }

    /// Distance and slope contributed by the intervals with exactly `r` scores at or below, where
    /// `F_w = level`: `(int |level - F_nu|, int sgn(level - F_nu))`.
    fn stretch(&self, r: usize, level: f64) -> (f64, f64) {
        let (start, end) = (self.starts[r], self.starts[r + 1]);
        if start == end {
            return (0.0, 0.0);
        }
        let cdf = &self.nu_cdf[start..end];
        let below = start + cdf.partition_point(|nu| *nu < level);
        // Intervals on which the two CDFs are equal have slope 0, a subgradient; either sign would
        // pull weights that are right already.
        let through = below + self.nu_cdf[below..end].partition_point(|nu| *nu <= level);
        let length = |from: usize, to: usize| self.lengths[to] - self.lengths[from];
        let moment = |from: usize, to: usize| self.moments[to] - self.moments[from];
        let under = level * length(start, below) - moment(start, below);
        let over = moment(through, end) - level * length(through, end);
        (under + over, length(start, below) - length(through, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Weights;
    use proptest::prelude::*;

    /// The slow twin: the integral over merged breakpoints with `F` recomputed from scratch at each.
    fn brute_force(mu: &WeightedEmpirical, nu: &WeightedEmpirical) -> f64 {
        let mut points: Vec<f64> = mu.atoms().iter().chain(nu.atoms()).copied().collect();
        points.sort_by(f64::total_cmp);
        let cdf = |of: &WeightedEmpirical, t: f64| -> f64 {
            of.atoms().iter().zip(of.masses()).filter(|(a, _)| **a <= t).map(|(_, m)| m).sum()
        };
        points.windows(2).map(|z| (cdf(mu, z[0]) - cdf(nu, z[0])).abs() * (z[1] - z[0])).sum()
    }

    /// Scores on a coarse lattice, so that ties within and between the measures are common.
    fn sample() -> impl Strategy<Value = Vec<(f64, f64)>> {
        let score = prop_oneof![(0u8..12).prop_map(|k| f64::from(k) / 4.0), -3.0..3.0f64];
        prop::collection::vec((score, 0.0..1.0f64), 1..25)
            .prop_filter("some mass", |s| s.iter().any(|(_, w)| *w > 0.0))
    }

    fn law(sample: &[(f64, f64)]) -> (Vec<f64>, Weights, WeightedEmpirical) {
        let (scores, raw): (Vec<f64>, Vec<f64>) = sample.iter().copied().unzip();
        let weights = Weights::normalised(raw).unwrap();
        let measure = WeightedEmpirical::new(&scores, &weights).unwrap();
        (scores, weights, measure)
    }

    proptest! {
        #[test]
        fn the_merge_matches_the_brute_force_integral(a in sample(), b in sample()) {
            let (_, _, mu) = law(&a);
            let (_, _, nu) = law(&b);
            prop_assert!((wasserstein_1(&mu, &nu) - brute_force(&mu, &nu)).abs() < 1e-12);
        }

        #[test]
        fn the_prepared_distance_equals_the_merge(a in sample(), b in sample()) {
            let (scores, weights, mu) = law(&a);
            let (_, _, nu) = law(&b);
            let prepared = TransportToFixed::new(&scores, &nu).unwrap();
            let mut gradient = vec![0.0; scores.len()];
            let value = prepared.value_and_gradient(weights.as_slice(), &mut gradient).unwrap();
            prop_assert!((value - wasserstein_1(&mu, &nu)).abs() < 1e-12);
        }

        /// W1 is piecewise linear in w: a central difference is exact away from the kinks.
        #[test]
        fn the_gradient_matches_central_differences(a in sample(), b in sample()) {
            let (scores, weights, _) = law(&a);
            let (_, _, nu) = law(&b);
            let prepared = TransportToFixed::new(&scores, &nu).unwrap();
            let n = scores.len();
            let (mut gradient, mut scratch) = (vec![0.0; n], vec![0.0; n]);
            let w = weights.as_slice();
            let value = prepared.value_and_gradient(w, &mut gradient).unwrap();
            let step = 1e-7;
            for i in 0..n {
                let mut at = |delta: f64| {
                    let mut moved = w.to_vec();
                    moved[i] += delta;
                    prepared.value_and_gradient(&moved, &mut scratch).unwrap()
                };
                let (up, down) = (at(step), at(-step));
                let one_sided = ((up - value) / step, (value - down) / step);
                // At a kink the two sides differ and the gradient lies between them.
                let (low, high) = (one_sided.0.min(one_sided.1), one_sided.0.max(one_sided.1));
                prop_assert!(gradient[i] >= low - 1e-6 && gradient[i] <= high + 1e-6,
                    "component {i}: {} not in [{low}, {high}]", gradient[i]);
            }
        }
    }
}

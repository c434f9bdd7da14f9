//! Confidences of target rows, and how far they are from those of calibration rows.
//!
//! ```text
//! ks(F, w)  = max_t |F_w(t) - F_target(t)|          F_w: weights w on the calibration confidences
//! mean      = 1/m sum_j confidence_j
//! ```

use crate::numeric::sort_numbers;

/// The multiset of confidences of target rows, or of a uniform sample of them: in increasing order, so that no bit depends on how they
/// arrived.
#[derive(Debug, Clone)]
pub(crate) struct Confidences(Vec<f64>);

impl Confidences {
    /// From confidences in any order.
    pub(crate) fn new(mut confidences: Vec<f64>) -> Self {
        sort_numbers(&mut confidences);
        Self(confidences)
    }

    /// Mean confidence, in `[0, 1]`. Not a number if there are none.
    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// `max_t |F(t) - F_target(t)|`, where `F` puts masses proportional to weights on confidences: `atoms` are pairs of these in
    /// increasing order of confidence.
    ///
    /// Weights are not negative and need not sum to one: their sum is `total`. The result lies in `[0, 1]`.
    pub(crate) fn kolmogorov_smirnov(&self, atoms: &[(f64, f64)], total: f64) -> f64 {
        exact_distance(atoms, total, &self.0)
    }
}

/// `max_t |F(t) - F_target(t)|` of sorted atoms `(value, mass)` of mass `total` and sorted
/// `target`, by one merge. CDFs are compared after each run of equal values: inside a run neither
/// is reached yet.
fn exact_distance(atoms: &[(f64, f64)], total: f64, target: &[f64]) -> f64 {
    let (mut i, mut j, mut mass, mut largest) = (0, 0, 0.0, 0.0_f64);
    while i < atoms.len() || j < target.len() {
        let at = match (atoms.get(i), target.get(j)) {
            (Some((a, _)), Some(b)) => a.min(*b),
            (Some((a, _)), None) => *a,
            (None, Some(b)) => *b,
            (None, None) => break,
        };
        while atoms.get(i).is_some_and(|(value, _)| *value <= at) {
            mass += atoms[i].1;
            i += 1;
        }
        while target.get(j).is_some_and(|value| *value <= at) {
            j += 1;
        }
        largest = largest.max((mass / total - j as f64 / target.len() as f64).abs());
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{WeightedEmpirical, Weights};
    use crate::seed::Seed;

    #[test]
    fn the_distance_is_the_largest_difference_of_the_cdfs() {
        let mut stream = Seed::new(1).stream("ks");
        for _ in 0..50 {
            let labeled: Vec<f64> = (0..20).map(|_| stream.below(30) as f64 / 30.0).collect();
            let weights: Vec<f64> = (0..20).map(|_| stream.uniform() + 0.1).collect();
            let target: Vec<f64> = (0..25).map(|_| stream.below(30) as f64 / 30.0).collect();
            let law = Weights::normalised(weights.clone()).unwrap();
            let p = WeightedEmpirical::new(&labeled, &law).unwrap();
            let q = WeightedEmpirical::uniform(&target).unwrap();
            let both = labeled.iter().chain(&target);
            let expected = both.map(|t| (p.cdf(*t) - q.cdf(*t)).abs()).fold(0.0, f64::max);
            let found = Confidences::new(target.clone());
            let total = weights.iter().sum();
            let mut atoms: Vec<(f64, f64)> = labeled.into_iter().zip(weights).collect();
            atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!((found.kolmogorov_smirnov(&atoms, total) - expected).abs() < 1e-12);
        }
    }
}

//! Telescoping density-ratio estimation \[RXG20\].
//!
//! ```text
//! waymarks   x_k = sqrt(1 - a_k^2) x_0 + a_k x_m,   a_k = k / bridges,   x_0 from Q, x_m from P, pairs shared by all k
//! bridges    log p_k / p_(k+1)  by logistic regression between neighbouring waymarks
//! ratio      log dQ/dP = sum_k log p_k / p_(k+1)
//! ```
//! When Q and P hardly overlap, one classifier separates them and any sufficiently steep logit is as good as the truth
//! (the density chasm). Neighbouring waymarks overlap, so every bridge is determined.
//!
//! **The bridges' form.** A bridge is fitted between two neighbouring waymarks but evaluated everywhere, so its form
//! decides how it extrapolates. A ReLU network continues along a line. A logit that is *quadratic* in the features is
//! the exact form between Gaussian waymarks, so it is right far away too; and since bridges share no parameter, the
//! mean of their logistic losses is minimised by minimising each: convex problems that Newton's method solves without
//! step sizes, initial values or early stopping. Up to [`MOST_FULL_QUADRATIC_FEATURES`] features all products enter;
//! beyond, squares only, because `d (d + 3) / 2` coefficients would outgrow the data.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::logistic::LOGISTIC_RIDGE;
use super::newton::{Design, Solution, dot};
use super::standardisation::Standardisation;
use crate::error::{Result, require_finite, require_same_length, require_some};
use crate::seed::Stream;

/// Bridges of the paper's baseline: `a_k = k / 10`.
pub(crate) const TELESCOPING_BRIDGES: usize = 10;
/// With more features than this, bridges use squares and no other products.
pub(crate) const MOST_FULL_QUADRATIC_FEATURES: usize = 12;
/// Pairs the bridges are fitted on at most. A quadratic logit of twelve features has 90
/// coefficients, for which these are plenty.
const MOST_PAIRS: usize = 1 << 14;

/// `log p_k / p_(k+1)`: quadratic in features standardised over the two waymarks' own rows.
///
/// Neighbouring waymarks of narrow laws are narrow: in the coordinates of the whole problem the squares would be
/// collinear with the intercept, and the coefficients in the hundreds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Bridge {
    /// Of both waymarks' rows together.
    standardisation: Standardisation,
    /// One for each quadratic feature.
    coefficients: Vec<f64>,
    /// `log p_k / p_(k+1)` where all of them are zero.
    intercept: f64,
}

impl Bridge {
    /// Fits the ratio of two waymarks, given as flat rows.
    fn fit(numerator: &[f64], denominator: &[f64], features: usize) -> (Self, Solution) {
        let both: Vec<f64> = numerator.iter().chain(denominator).copied().collect();
        let standardisation = Standardisation::of(&both, features);
        let (numerator, denominator) =
            (standardisation.applied(numerator), standardisation.applied(denominator));
        let columns = quadratic_columns(features);
        let design = Design::new(&numerator, &denominator, features, columns, quadratic);
        let mut solution = design.minimise(LOGISTIC_RIDGE);
        // As many rows of either waymark: the odds are the ratio.
        let intercept = solution.coefficients.pop().unwrap_or(0.0);
        let coefficients = solution.coefficients.clone();
        (Self { standardisation, coefficients, intercept }, solution)
    }

    /// An error unless it is for this many features and holds finite numbers.
    fn check(&self, features: usize) -> Result<()> {
        self.standardisation.check(features)?;
        let (found, expected) = (self.coefficients.len(), quadratic_columns(features));
        require_same_length("bridge coefficients", found, "quadratic features", expected)?;
        require_finite("bridge coefficients", &self.coefficients)?;
        require_finite("the bridge's intercept", &[self.intercept])
    }

    /// `log p_k / p_(k+1)` at a row standardised over the whole problem.
    fn log_ratio(&self, z: &[f64], scratch: &mut Scratch) -> f64 {
        self.standardisation.apply(z, &mut scratch.own);
        quadratic(&scratch.own, &mut scratch.expanded);
        dot(&self.coefficients, &scratch.expanded) + self.intercept
    }
}

/// Memory of one evaluation, shared by all bridges.
struct Scratch {
    /// The row in a bridge's own coordinates.
    own: Vec<f64>,
    /// Its quadratic features, as the bridge's coefficients order them.
    expanded: Vec<f64>,
}

/// All bridges, from Q to P; their log ratios add up to `log dQ/dP`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Telescope {
    /// In increasing order of `a_k`, at least one.
    bridges: Vec<Bridge>,
}

impl Telescope {
    /// Fits standardised rows of the calibration data (P) and the target data (Q). Returns what the bridges say about their fits.
    pub(super) fn fit(
        labeled: &[f64],
        target: &[f64],
        features: usize,
        bridges: usize,
        stream: &mut Stream,
    ) -> (Self, Vec<Solution>) {
        let pairs = Pairs::draw(labeled, target, features, stream);
        let fitted: Vec<(Bridge, Solution)> = (0..bridges)
            // Bridges share no parameter, so they may be fitted at the same time; they come back in
            // order.
            .into_par_iter()
            .map(|k| {
                let share = |k: usize| k as f64 / bridges as f64;
                Bridge::fit(&pairs.waymark(share(k)), &pairs.waymark(share(k + 1)), features)
            })
            .collect();
        let (bridges, solutions) = fitted.into_iter().unzip();
        (Self { bridges }, solutions)
    }

    /// An error unless there is a bridge and all are for this many features.
    pub(super) fn check(&self, features: usize) -> Result<()> {
        require_some("telescoping bridges", &self.bridges)?;
        self.bridges.iter().try_for_each(|bridge| bridge.check(features))
    }

    /// `sum_k log p_k / p_(k+1)` at a standardised row.
    pub(super) fn log_ratio(&self, z: &[f64]) -> f64 {
        let expanded = vec![0.0; quadratic_columns(z.len())];
        let mut scratch = Scratch { own: vec![0.0; z.len()], expanded };
        self.bridges.iter().map(|bridge| bridge.log_ratio(z, &mut scratch)).sum()
    }
}

/// Pairs of a row of the target data and one of the calibration data. The shorter side is used again in another order.
struct Pairs {
    /// `x_0` of every pair, row after row.
    target: Vec<f64>,
    /// `x_m` of every pair, row after row.
    labeled: Vec<f64>,
}

impl Pairs {
    /// Draws pairs without replacement as long as rows last, then anew.
    fn draw(labeled: &[f64], target: &[f64], features: usize, stream: &mut Stream) -> Self {
        let pairs = labeled.len().max(target.len()).div_ceil(features).min(MOST_PAIRS);
        let mut side = |values: &[f64]| -> Vec<f64> {
            let rows = values.len() / features;
            let mut order: Vec<usize> = (0..rows).collect();
            let mut chosen = Vec::with_capacity(pairs * features);
            for pair in 0..pairs {
                // Fisher-Yates, one place at a time and anew in every round.
                let place = pair % rows;
                order.swap(place, place + stream.below(rows - place));
                chosen.extend_from_slice(&values[order[place] * features..][..features]);
            }
            chosen
        };
        // The target side draws first; the order of the draws is part of the result.
        Self { target: side(target), labeled: side(labeled) }
    }

    /// `sqrt(1 - a^2) x_0 + a x_m` of every pair.
    fn waymark(&self, a: f64) -> Vec<f64> {
        // The last waymark has `a = 1` and keeps nothing; a rounding below 0 would make the root
        // NaN.
        let keep = (1.0 - a * a).max(0.0).sqrt();
        let both = self.target.iter().zip(&self.labeled);
        both.map(|(target, labeled)| keep * target + a * labeled).collect()
    }
}

/// Number of quadratic features: `d (d + 3) / 2` of few features, `2 d` of many.
fn quadratic_columns(features: usize) -> usize {
    if features <= MOST_FULL_QUADRATIC_FEATURES {
        features * (features + 3) / 2
    } else {
        2 * features
    }
}

/// `(z, z_i z_j for i <= j)`, or `(z, z_i^2)` of many features.
fn quadratic(z: &[f64], out: &mut [f64]) {
    let features = z.len();
    let (linear, products) = out.split_at_mut(features.min(out.len()));
    linear.copy_from_slice(z);
    if features <= MOST_FULL_QUADRATIC_FEATURES {
        let pairs = (0..features).flat_map(|i| (i..features).map(move |j| (i, j)));
        for (slot, (i, j)) in products.iter_mut().zip(pairs) {
            *slot = z[i] * z[j];
        }
    } else {
        for (slot, value) in products.iter_mut().zip(z) {
            *slot = value * value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn waymarks_lead_from_target_to_labeled() {
        let (labeled, target) = ([5.0, 6.0, 7.0, 8.0], [1.0, 2.0]);
        let pairs = Pairs::draw(&labeled, &target, 2, &mut Seed::new(1).stream("pairs"));
        assert_eq!(pairs.waymark(0.0), [1.0, 2.0, 1.0, 2.0]);
        let mut last = pairs.waymark(1.0);
        last.sort_by(f64::total_cmp);
        assert_eq!(last, labeled, "every row of the longer side, once");
    }

    #[test]
    fn quadratic_features_hold_all_products_of_few_and_squares_of_many() {
        let mut out = vec![0.0; quadratic_columns(2)];
        quadratic(&[2.0, 3.0], &mut out);
        assert_eq!(out, [2.0, 3.0, 4.0, 6.0, 9.0]);
        let many = vec![2.0; MOST_FULL_QUADRATIC_FEATURES + 1];
        let mut out = vec![0.0; quadratic_columns(many.len())];
        quadratic(&many, &mut out);
        assert_eq!(&out[many.len()..], vec![4.0; many.len()]);
    }
}

//! The weights that minimise the exact bound `L`: an isotonic regression, found in one sweep.
//!
//! ```text
//! L(c)    = const + sum_{i<k} h_i(c_i),   h_i' = g_i - g_(i+1) nondecreasing: separable and convex in the levels c_i
//! H_i(c)  = g_i(c) - g_(i+1)(c) + rho (c - r_i / n),   r_i = number of scores <= s_i
//! c       = argmin under 0 <= c_1 <= .. <= c_(k-1) <= 1:   pool adjacent violators; a pool lies at the root of its sum
//! sum over a pool i = a .. b:   g_a(c) - g_(b+1)(c) + rho ((b - a + 1) c - sum r_i / n)          (it telescopes)
//! ```
//! Steps, learning rate, grid, kernel and seed have no say in it. Where the laws are flat many weightings are as good;
//! the small `rho` takes the one nearest to equal weights, which is split conformal prediction.

use super::objective::{ExactObjective, Objective};
use crate::error::Result;
use crate::measure::Weights;
use crate::sandwich::Sandwich;

/// How strongly flat parts of `L` lean to equal weights: far above rounding, far below the gaps that weights are for.
const LEANING: f64 = 1e-6;

/// The weights of increasing scores, shape `(n,)`, that minimise the exact bound; equal scores get equal weights.
///
/// # Errors
/// `Empty`, `NotFinite` or `NotIncreasing` for scores that are not increasing finite numbers.
pub fn minimise_exactly(sorted_scores: &[f64], sandwich: &Sandwich) -> Result<Weights> {
    let objective = ExactObjective::new(sorted_scores, sandwich)?;
    let ends = objective.ends();
    let mut weights = vec![0.0; objective.len()];
    let mut before = 0.0;
    let mut start = 0;
    for (level, end) in levels(&objective).into_iter().zip(ends) {
        // Ties share their mass: no order among equal scores may matter.
        let share = (level - before) / (end - start) as f64;
        weights[start..*end].fill(share);
        (before, start) = (level, *end);
    }
    Weights::normalised(weights)
}

/// Atoms whose levels the order constraint has made equal.
#[derive(Debug, Clone, Copy)]
struct Pool {
    /// First atom.
    first: usize,
    /// Last atom.
    last: usize,
    /// `sum r_i / n` over the atoms.
    ranks: f64,
    /// The common level `c`.
    level: f64,
}

/// `c_1 <= .. <= c_k = 1`, one for each atom.
fn levels(objective: &ExactObjective) -> Vec<f64> {
    let ends = objective.ends();
    let n = objective.len() as f64;
    let mut pools: Vec<Pool> = Vec::with_capacity(ends.len());
    for (atom, end) in ends.iter().enumerate().take(ends.len() - 1) {
        let mut pool = Pool { first: atom, last: atom, ranks: *end as f64 / n, level: 0.0 };
        pool.level = root(objective, &pool);
        // Each merge removes a pool, so all merges together take O(k).
        while let Some(previous) = pools.pop_if(|previous| previous.level >= pool.level) {
            pool.first = previous.first;
            pool.ranks += previous.ranks;
            pool.level = root(objective, &pool);
        }
        pools.push(pool);
    }
    let mut levels: Vec<f64> = Vec::with_capacity(ends.len());
    for pool in &pools {
        levels.extend((pool.first..=pool.last).map(|_| pool.level));
    }
    // All mass is used: the last level is no choice.
    levels.push(1.0);
    levels
}

/// The root of a pool's sum in `[0, 1]`, or the end it points to.
///
/// The sum is nondecreasing and linear between the four values of the two laws, so the root is exact.
fn root(objective: &ExactObjective, pool: &Pool) -> f64 {
    let atoms = (pool.last - pool.first + 1) as f64;
    let sum = |c: f64| {
        objective.gap(pool.first, c) - objective.gap(pool.last + 1, c)
            + LEANING * (atoms * c - pool.ranks)
    };
    let (first, after) = (objective.laws_at(pool.first), objective.laws_at(pool.last + 1));
    let mut kinks = [first.0, first.1, after.0, after.1, 1.0];
    kinks.sort_unstable_by(f64::total_cmp);
    let (mut left, mut at_left) = (0.0, sum(0.0));
    if at_left >= 0.0 {
        return 0.0;
    }
    for right in kinks {
        // CDFs of a sketch are sums, and can pass 1 by a rounding.
        let right = right.clamp(0.0, 1.0);
        let at_right = sum(right);
        if at_right >= 0.0 {
            return (left + (right - left) * (-at_left / (at_right - at_left))).clamp(left, right);
        }
        (left, at_left) = (right, at_right);
    }
    1.0
}

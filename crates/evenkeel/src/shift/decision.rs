//! The shift test where only its decision is asked for: it stops as soon as the decision is clear.
//!
//! ```text
//! look i = 1, 2, ..   after B_i relabelings, limits c_1 >= c_2 >= ..        p_i = (1 + b_i) / (1 + B_i)
//! p = p_i             at the first look with p_i > c_i, and at the last look
//! P(p <= x) <= x      under no shift, for every x
//! ```
//! Proof. Let `i` be the first look with `c_i < x`, or the last one. Where the test stopped before look `i`, `p` is above a limit
//! that is at least `x`. Elsewhere look `i` was reached: if it stopped there, `p = p_i`, and `p <= x` means `p_i <= x`; if it did
//! not, `p_i <= c_i < x`. So `p <= x` is part of the event `p_i <= x`, whose probability is at most `x`: `p_i` is the p-value of a
//! test with `B_i` relabelings and nothing else.
//!
//! This is the idea of Besag and Clifford (1991), with a few looks in place of one after every relabeling: mean and standard
//! deviation of the distances are taken anew at every look, over the labelings drawn so far.
//!
//! The limits are above the level, so that it is only ever "no shift" that is decided early. Whoever draws all relabelings finds
//! no other decision, but with a probability below `1e-8`: of the first 99 a quarter or more would have to reach the observed
//! statistic where 5 % of all do.

use super::shift_test::{Labelings, Prediction, ShiftTest, require_drawable};
use crate::error::Result;
use crate::level::FailureProbability;
use crate::seed::Seed;

/// Looks before the last one: relabelings, and the limit of the p-value beyond which nothing more is drawn, as a multiple of the
/// level.
const EARLY_LOOKS: [(usize, f64); 2] = [(99, 5.0), (399, 3.0)];
/// No limit is lower: at tiny levels few relabelings could not tell a small p-value from a tiny one.
const LOWEST_LIMITS: [f64; 2] = [0.25, 0.15];

/// Tests at a level whether two samples of predictions come from the same law, with at most `permutations` relabelings.
///
/// Where the test rejects, it is [`shift_test`](super::shift_test()) with all of them, to the bit.
///
/// # Errors
/// As [`shift_test`](super::shift_test()).
pub(crate) fn shift_decision(
    labeled: &[Prediction],
    target: &[Prediction],
    (level, permutations): (FailureProbability, usize),
    seed: Seed,
) -> Result<ShiftTest> {
    require_drawable(permutations)?;
    let mut labelings = Labelings::new(labeled, target, seed)?;
    for ((relabelings, multiple), lowest) in EARLY_LOOKS.into_iter().zip(LOWEST_LIMITS) {
        if relabelings < permutations {
            labelings.draw_up_to(relabelings);
            let test = labelings.test();
            if test.p_value > lowest.max(multiple * level.get()) {
                return Ok(test);
            }
        }
    }
    labelings.draw_up_to(permutations);
    Ok(labelings.test())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shift::shift_test;

    /// Confidences `u^power` of one class or of three.
    fn draws(count: usize, power: f64, classes: usize, seed: u64) -> Vec<Prediction> {
        let mut stream = Seed::new(seed).stream("decisions");
        let mut point = || Prediction {
            confidence: stream.uniform().powf(power),
            class: stream.below(classes) as u32,
        };
        (0..count).map(|_| point()).collect()
    }

    const FIVE: FailureProbability = FailureProbability::FIVE_PERCENT;

    /// The decisions are those of all relabelings; where one is "shift", so are all numbers. Most others come early.
    #[test]
    fn decisions_are_those_of_all_relabelings() {
        let (mut early, mut found) = (0, 0);
        for run in 0..300 {
            let power = 1.0 + f64::from(run as u8 % 4) * 0.12;
            let (a, b) = (draws(100, 1.0, 3, 2 * run), draws(150, power, 3, 2 * run + 1));
            let all = shift_test(&a, &b, 999, Seed::new(run)).unwrap();
            let decided = shift_decision(&a, &b, (FIVE, 999), Seed::new(run)).unwrap();
            assert_eq!(decided.rejects(FIVE), all.rejects(FIVE), "{all:?} {decided:?}");
            if decided.rejects(FIVE) {
                assert_eq!(decided, all);
                found += 1;
            }
            early += usize::from(decided.permutations == 99);
        }
        assert!(found > 20 && early > 100, "{found} found, {early} early");
    }

    /// Under no shift the p-value is at most x in at most a share x of the runs, for x on both sides of every limit.
    #[test]
    fn its_p_value_is_valid() {
        let runs = 4000;
        let found: Vec<f64> = (0..runs)
            .map(|run| {
                let (a, b) = (draws(30, 1.0, 2, 2 * run), draws(40, 1.0, 2, 2 * run + 1));
                shift_decision(&a, &b, (FIVE, 499), Seed::new(run)).unwrap().p_value
            })
            .collect();
        for x in [0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.5, 0.8] {
            let below = found.iter().filter(|p| **p <= x).count() as f64;
            let (mean, spread) = (x * runs as f64, (x * (1.0 - x) * runs as f64).sqrt());
            assert!(below < mean + 4.0 * spread, "{below} at {x}, {mean} expected at most");
        }
    }

    /// Few relabelings leave no room for a look, and a high level nothing to be sure of early.
    #[test]
    fn without_looks_it_is_the_test() {
        let (a, b) = (draws(50, 1.0, 3, 1), draws(50, 1.0, 3, 2));
        for (level, permutations) in [(FIVE, 60), (FailureProbability::new(0.4).unwrap(), 500)] {
            let all = shift_test(&a, &b, permutations, Seed::new(3)).unwrap();
            let decided = shift_decision(&a, &b, (level, permutations), Seed::new(3)).unwrap();
            assert_eq!(decided, all);
        }
    }
}

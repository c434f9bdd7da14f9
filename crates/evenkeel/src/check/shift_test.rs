//! Did the distribution of the model's confidence change?

use rayon::prelude::*;

use crate::error::{Error, Result, require_finite, require_some};
use crate::seed::Seed;

/// Permutations drawn when none are asked for: the smallest p-value is then 0.001.
pub const DEFAULT_PERMUTATIONS: usize = 999;

/// A two-sample permutation test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShiftTest {
    /// Kolmogorov-Smirnov distance of the two samples, `max_t |F_yesterday(t) - F_today(t)|`.
    pub statistic: f64,
    /// `(1 + b) / (1 + B)`: `b` of `B` random relabelings had a statistic at least as large. Exact: under no shift it is at
    /// most `p` with probability at most `p`.
    pub p_value: f64,
    /// `B`.
    pub permutations: usize,
}

/// Tests whether two samples come from the same law.
///
/// Confidences are the natural choice: they need no labels, and what hurts a classifier shows in them first. A shift that
/// leaves the model as confident as before (confident and wrong) is invisible to this test.
pub fn shift_test(
    yesterday: &[f64],
    today: &[f64],
    permutations: usize,
    seed: Seed,
) -> Result<ShiftTest> {
    for (what, sample) in [("yesterday's confidences", yesterday), ("today's confidences", today)] {
        require_some(what, sample)?;
        require_finite(what, sample)?;
    }
    if permutations == 0 {
        return Err(Error::TooFew { what: "permutations", found: 0, least: 1 });
    }
    let mut pooled: Vec<(f64, Side)> = yesterday
        .iter()
        .map(|value| (*value, Side::Yesterday))
        .chain(today.iter().map(|value| (*value, Side::Today)))
        .collect();
    pooled.sort_by(|a, b| a.0.total_cmp(&b.0));
    // After which pooled points the CDFs may be compared: the last of each run of ties.
    let ends: Vec<bool> = (0..pooled.len())
        .map(|i| pooled.get(i + 1).is_none_or(|next| next.0 != pooled[i].0))
        .collect();
    let (n, m) = (yesterday.len(), today.len());
    let mut sides = pooled.iter().map(|(_, side)| *side);
    let observed = largest_difference(&ends, n, m, || sides.next().unwrap_or(Side::Today));

    let at_least = |index: u64| {
        let mut stream = seed.child("shift-test", index).stream("relabeling");
        let (mut left, mut of) = (n, n + m);
        // Walking the pooled sample, the next point is yesterday's with probability left / of: a uniform relabeling.
        let drawn = largest_difference(&ends, n, m, || {
            let side = if stream.below(of) < left { Side::Yesterday } else { Side::Today };
            of -= 1;
            left -= usize::from(side == Side::Yesterday);
            side
        });
        drawn >= observed
    };
    let exceeded =
        (0..permutations as u64).into_par_iter().filter(|index| at_least(*index)).count();
    Ok(ShiftTest {
        statistic: observed as f64 / (n as f64 * m as f64),
        p_value: (1 + exceeded) as f64 / (1 + permutations) as f64,
        permutations,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Yesterday,
    Today,
}

/// `n m max_t |F_yesterday(t) - F_today(t)|` as a whole number, so that equal statistics compare as equal.
fn largest_difference(ends: &[bool], n: usize, m: usize, mut side: impl FnMut() -> Side) -> u128 {
    let (mut difference, mut largest) = (0i128, 0u128);
    for end in ends {
        match side() {
            Side::Yesterday => difference += m as i128,
            Side::Today => difference -= n as i128,
        }
        if *end {
            largest = largest.max(difference.unsigned_abs());
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::WeightedEmpirical;

    fn draws(n: usize, power: i32, seed: u64) -> Vec<f64> {
        let mut stream = Seed::new(seed).stream("confidences");
        (0..n).map(|_| stream.uniform().powi(power)).collect()
    }

    #[test]
    fn the_statistic_is_the_largest_difference_of_the_cdfs() {
        let mut stream = Seed::new(1).stream("ties");
        for _ in 0..50 {
            let mut sample =
                |n: usize| -> Vec<f64> { (0..n).map(|_| stream.below(8) as f64).collect() };
            let (a, b) = (sample(13), sample(17));
            let (f, g) =
                (WeightedEmpirical::uniform(&a).unwrap(), WeightedEmpirical::uniform(&b).unwrap());
            let expected =
                a.iter().chain(&b).map(|t| (f.cdf(*t) - g.cdf(*t)).abs()).fold(0.0, f64::max);
            let found = shift_test(&a, &b, 1, Seed::new(0)).unwrap().statistic;
            assert!((found - expected).abs() < 1e-12, "{found} against {expected}");
        }
    }

    /// Under no shift p <= 0.1 must happen in at most a tenth of the runs, and is exact up to its granularity.
    #[test]
    fn its_false_alarm_rate_is_its_level() {
        let runs = 1500;
        let alarms = (0..runs)
            .filter(|run| {
                let (a, b) = (draws(40, 2, 2 * run), draws(60, 2, 2 * run + 1));
                shift_test(&a, &b, 99, Seed::new(*run)).unwrap().p_value <= 0.1
            })
            .count();
        // 150 expected, standard deviation 11.6.
        assert!(alarms.abs_diff(150) < 47, "{alarms} of {runs}");
    }

    #[test]
    fn it_sees_a_shift() {
        let test = shift_test(&draws(300, 1, 1), &draws(300, 2, 2), 999, Seed::new(0)).unwrap();
        assert_eq!(test.p_value, 0.001);
    }

    #[test]
    fn threads_do_not_change_it() {
        let (a, b) = (draws(200, 1, 1), draws(200, 1, 2));
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| shift_test(&a, &b, 499, Seed::new(4)).unwrap())
        };
        assert_eq!(with(1), with(3));
    }
}

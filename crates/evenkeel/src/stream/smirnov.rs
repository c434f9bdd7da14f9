//! The exact p-value of the distance between two samples (Smirnov), far into its tail.
//!
//! ```text
//! D = max over t of |F_reference(t) - F_window(t)|
//! u(i, j) = share of the orders of i reference and j window points that have touched |i/n - j/m| >= D on their way
//! u(i, j) = 1 if |i/n - j/m| >= D, else i/(i+j) u(i-1, j) + j/(i+j) u(i, j-1);        p = u(n, m)
//! ```
//! (J. Hodges, The significance probability of the Smirnov two-sample test, 1957.) All terms are positive, so that a p-value of
//! `1e-12` has as many good digits as one of `0.5`; `1 - P(D small)` would have none, and permutations would need `10^12` draws.
//! Tied points are compared only where their run ends, which makes `D` smaller and the p-value larger than it could be.
//!
//! Above [`MOST_STEPS`] steps, or [`MOST_POINTS`] points in the smaller sample, a bound stands in, exact enough where one sample is
//! much larger than the other: `p <= 4 exp(-2 D^2 n m / (sqrt n + sqrt m)^2)`, the inequality of Dvoretzky, Kiefer, Wolfowitz and
//! Massart for each sample with `D` divided between them.

use super::prediction_counts::PredictionCounts;

/// Steps of the recursion that are made at most, about a tenth of a second of work.
const MOST_STEPS: f64 = 6.0e7;

/// Points of the smaller sample, of which one number each is held: a megabyte. With more, a distance that needs no more than
/// [`MOST_STEPS`] steps is so small that it is no evidence: `p > 0.9`.
const MOST_POINTS: u64 = 1 << 17;

/// A distance of two samples as a whole number, `n m D`, with their sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Distance {
    n: u64,
    m: u64,
    /// `n m D`.
    times_pairs: u128,
}

impl Distance {
    /// Of the cells of two counts.
    pub(super) fn between(reference: &PredictionCounts, window: &PredictionCounts) -> Self {
        let (n, m) = (reference.rows(), window.rows());
        let (mut ours, mut theirs) = (reference.cells().peekable(), window.cells().peekable());
        let (mut i, mut j, mut largest) = (0_u64, 0_u64, 0_u128);
        loop {
            let next = match (ours.peek(), theirs.peek()) {
                (None, None) => break,
                (Some((cell, _)), None) | (None, Some((cell, _))) => *cell,
                (Some((one, _)), Some((two, _))) => *one.min(two),
            };
            if let Some((_, count)) = ours.next_if(|(cell, _)| *cell == next) {
                i += count;
            }
            if let Some((_, count)) = theirs.next_if(|(cell, _)| *cell == next) {
                j += count;
            }
            let (up, down) = (u128::from(i) * u128::from(m), u128::from(j) * u128::from(n));
            largest = largest.max(up.abs_diff(down));
        }
        Self { n, m, times_pairs: largest }
    }

    /// `D`, in `[0, 1]`; 0 where a sample is empty.
    pub(super) fn value(&self) -> f64 {
        let pairs = self.n as f64 * self.m as f64;
        if pairs > 0.0 { self.times_pairs as f64 / pairs } else { 0.0 }
    }

    /// How often two samples of one law are at least as far apart.
    pub(super) fn p_value(&self) -> f64 {
        if self.times_pairs == 0 {
            return 1.0;
        }
        let (n, m) = (self.n as f64, self.m as f64);
        // Only the points inside the band are visited, and at least one for each point of the larger sample.
        let steps = (n * m * (2.0 * self.value()).min(1.0)).max(n.max(m));
        match steps <= MOST_STEPS && self.n.min(self.m) <= MOST_POINTS {
            true => self.by_recursion(),
            false => self.bound(),
        }
    }

    /// `u(n, m)`, one point of the larger sample after the other, inside the band: a number for each point of the smaller sample is
    /// all that is held.
    fn by_recursion(&self) -> f64 {
        let (few, many) = (self.n.min(self.m), self.n.max(self.m));
        // Touched: |i few - j many| >= limit in whole numbers, for i of the larger sample and j of the smaller one.
        let (a, b, limit) = (i128::from(few), i128::from(many), self.times_pairs.cast_signed());
        // First j with j b > i a - limit, and the first after it with j b >= i a + limit. Both move by one at most with each i, which
        // spares two divisions of large numbers.
        let mut first = Quotient::new(-limit, b);
        let mut end = Quotient::new(limit - 1, b);
        let inside = |first: &Quotient, end: &Quotient| {
            ((first.floor + 1).max(0) as usize, (end.floor + 1).min(a + 1) as usize)
        };
        let mut u = vec![1.0_f64; few as usize + 1];
        let (mut from, mut to) = inside(&first, &end);
        u[from..to].fill(0.0);
        for i in 1..=many {
            first.add(a);
            end.add(a);
            let before = from;
            (from, to) = inside(&first, &end);
            // What lies below the band has touched it; the point before may have left something smaller there.
            u[before..from].fill(1.0);
            if from >= to {
                continue;
            }
            let row = i as f64;
            let mut left = if from == 0 { 0.0 } else { 1.0 };
            for (column, here) in (from..).zip(&mut u[from..to]) {
                let column = column as f64;
                let share = 1.0 / (row + column);
                // The shares do not wait for what lies to the left: only one product and one sum do.
                left = (row * share) * *here + (column * share) * left;
                *here = left;
            }
        }
        u[few as usize].min(1.0)
    }

    fn bound(&self) -> f64 {
        let (n, m, distance) = (self.n as f64, self.m as f64, self.value());
        let roots = n.sqrt() + m.sqrt();
        let exponent = 2.0 * distance * distance * (n / roots) * (m / roots);
        (4.0 * (-exponent).exp()).min(1.0)
    }
}

/// `floor(x / divisor)` for an `x` that grows by less than the divisor at a time.
#[derive(Debug, Clone, Copy)]
struct Quotient {
    floor: i128,
    rest: i128,
    divisor: i128,
}

impl Quotient {
    fn new(x: i128, divisor: i128) -> Self {
        Self { floor: x.div_euclid(divisor), rest: x.rem_euclid(divisor), divisor }
    }

    /// `x + step`, for a step of at most the divisor.
    fn add(&mut self, step: i128) {
        self.rest += step;
        if self.rest >= self.divisor {
            self.rest -= self.divisor;
            self.floor += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use crate::shift::Prediction;

    /// Every order of n and m points, one by one.
    fn by_enumeration(n: u32, m: u32, limit: u128) -> f64 {
        let (mut touched, mut all) = (0_u64, 0_u64);
        for order in 0..1_u64 << (n + m) {
            if order.count_ones() != n {
                continue;
            }
            all += 1;
            let (mut i, mut j, mut largest) = (0_u128, 0_u128, 0);
            for step in 0..n + m {
                match order >> step & 1 {
                    1 => i += 1,
                    _ => j += 1,
                }
                largest = largest.max((i * u128::from(m)).abs_diff(j * u128::from(n)));
            }
            touched += u64::from(largest >= limit);
        }
        touched as f64 / all as f64
    }

    #[test]
    fn it_is_the_share_of_all_orders() {
        for (n, m) in [(1, 1), (3, 4), (5, 5), (7, 2), (2, 9), (8, 6)] {
            for times_pairs in 1..=u128::from(n * m) {
                let distance = Distance { n: n.into(), m: m.into(), times_pairs };
                let expected = by_enumeration(n, m, times_pairs);
                let found = distance.by_recursion();
                assert!(
                    (found - expected).abs() < 1e-13,
                    "{n} {m} {times_pairs}: {found} {expected}"
                );
            }
        }
    }

    /// The recursion as it is written, every point of it in memory.
    fn by_table(distance: &Distance) -> f64 {
        let (n, m) = (distance.n as usize, distance.m as usize);
        let mut u = vec![vec![0.0_f64; m + 1]; n + 1];
        for i in 0..=n {
            for j in 0..=m {
                let apart = (i as u128 * m as u128).abs_diff(j as u128 * n as u128);
                u[i][j] = match (i, j) {
                    _ if apart >= distance.times_pairs => 1.0,
                    (0, 0) => 0.0,
                    _ => {
                        let share = 1.0 / (i as f64 + j as f64);
                        let above = if i > 0 { (i as f64 * share) * u[i - 1][j] } else { 0.0 };
                        let left = if j > 0 { (j as f64 * share) * u[i][j - 1] } else { 0.0 };
                        above + left
                    }
                };
            }
        }
        u[n][m].min(1.0)
    }

    /// To the bit, whichever sample is the larger: samples change places between windows.
    #[test]
    fn a_band_of_one_sample_holds_all_that_is_needed() {
        for (n, m) in [(1, 1), (1, 40), (7, 90), (64, 48), (100, 99), (300, 12)] {
            for share in 1..=60_u64 {
                let times_pairs = u128::from((n * m * share).div_ceil(60));
                let (one, other) =
                    (Distance { n, m, times_pairs }, Distance { n: m, m: n, times_pairs });
                let expected = by_table(&one).to_bits();
                assert_eq!(one.by_recursion().to_bits(), expected, "{one:?}");
                assert_eq!(other.by_recursion().to_bits(), expected, "{other:?}");
            }
        }
    }

    /// Beyond the largest sample that is held, what could be counted is no evidence, and the bound says so.
    #[test]
    fn what_is_not_counted_for_its_size_is_no_evidence() {
        for (n, m) in [(MOST_POINTS + 1, MOST_POINTS + 1), (MOST_POINTS + 1, 1 << 25), (3, 1 << 36)]
        {
            // The largest distance within the steps: that of 6e7 points in the band.
            let times_pairs = (MOST_STEPS / 2.0) as u128;
            let distance = Distance { n, m, times_pairs };
            assert_eq!(distance.p_value(), 1.0, "{distance:?}");
        }
    }

    /// Both samples apart entirely: 2 / (n + m choose n), by far too small for any number of draws.
    #[test]
    fn the_far_tail_keeps_its_digits() {
        let distance = Distance { n: 30, m: 20, times_pairs: 600 };
        // 50 choose 20.
        let expected = 2.0 / 47_129_212_243_960.0;
        assert!((distance.by_recursion() / expected - 1.0).abs() < 1e-10);
    }

    #[test]
    fn the_bound_is_never_below_the_exact_value() {
        for (n, m) in [(50, 50), (500, 40), (2000, 300), (100, 1500)] {
            for share in 1..40_u64 {
                let times_pairs = u128::from(n * m * share / 80);
                let distance = Distance { n, m, times_pairs };
                assert!(distance.bound() >= distance.by_recursion() - 1e-12, "{distance:?}");
            }
        }
    }

    #[test]
    fn the_distance_is_that_of_the_two_laws() {
        let mut stream = Seed::new(8).stream("distance");
        let mut sample = |n: usize, power: i32| -> Vec<Prediction> {
            let one = |_| Prediction { confidence: 1.0 - stream.uniform().powi(power), class: 0 };
            (0..n).map(one).collect()
        };
        let (a, b) = (PredictionCounts::of(&sample(200, 2)), PredictionCounts::of(&sample(90, 3)));
        let below = |counts: &PredictionCounts, t: u32| {
            counts.cells().filter(|(cell, _)| *cell <= t).map(|(_, count)| count).sum::<u64>()
                as f64
                / counts.rows() as f64
        };
        let cells = a.cells().chain(b.cells()).map(|(cell, _)| cell);
        let expected = cells.map(|t| (below(&a, t) - below(&b, t)).abs()).fold(0.0, f64::max);
        let found = Distance::between(&a, &b);
        assert!((found.value() - expected).abs() < 1e-12);
        assert_eq!(Distance::between(&a, &a).p_value(), 1.0);
    }
}

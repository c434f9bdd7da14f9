//! Did the model's predictions change: how sure it is, or what it says?
//!
//! ```text
//! confidence distance   max_t |F_labeled(t) - F_target(t)| of the confidences         (Kolmogorov-Smirnov)
//! class distance        1/2 sum_k |share of k in the calibration data - share of k in the target data|   (total variation)
//! statistic             the larger of the two, each as (distance - mean) / sd over the random relabelings
//! p-value               (1 + b) / (1 + B): b of B relabelings have a statistic at least as large
//! ```
//! One relabeling gives both distances, so that their dependence is accounted for. Mean and standard deviation are taken over
//! the relabelings and the observed labeling together: the statistic is then the same function of each of the `B + 1`,
//! which are exchangeable under no shift, and the p-value is exact, ties included.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::drawn_set::SetDraw;
use super::streams_abreast::{LANES, StreamsAbreast};
use super::walk::{Room, Walk};
use crate::error::{ALLOWED_PERMUTATIONS, Error, Result, require_some};
use crate::level::FailureProbability;
use crate::seed::Seed;

/// Permutations drawn when none are asked for: the smallest p-value is then 0.001.
pub(crate) const DEFAULT_PERMUTATIONS: usize = 999;

/// Most permutations drawn unless told otherwise: smaller levels must ask for more themselves.
const MOST_PERMUTATIONS: f64 = 1e6;

/// Permutations that a test at this level draws unless told otherwise: 999, or as many as put two
/// p-values at or below the level.
///
/// ```text
/// level   0.05 -> 999     0.001 -> 2000     1e-9 -> 1 000 000
/// ```
pub fn permutations_for(level: FailureProbability) -> usize {
    // With a single p-value below the level, one relabeling as extreme as the target data would decide.
    let needed = (2.0 / level.get()).ceil().min(MOST_PERMUTATIONS) as usize;
    DEFAULT_PERMUTATIONS.max(needed)
}

/// An error unless this many relabelings can be drawn and kept.
pub(crate) fn require_drawable(permutations: usize) -> Result<()> {
    match permutations {
        0 => Err(Error::TooFew { what: "permutations", found: 0, least: 1 }),
        1..=ALLOWED_PERMUTATIONS => Ok(()),
        _ => Err(Error::OutOfRange {
            what: "the number of permutations",
            value: permutations as f64,
            expected: "at most 10 000 000: beyond that a p-value hardly gets finer",
        }),
    }
}

/// Fewest permutations with which a p-value can be at or below this level.
pub(crate) fn least_permutations(level: FailureProbability) -> usize {
    // 1 / (1 + B) <= level: the smallest p-value counts the observed labeling itself.
    (1.0 / level.get()).ceil() as usize - 1
}

/// Names of the relabelings' seeds and of their streams: part of every p-value.
const FAMILY: &str = "shift-test";
const RELABELING: &str = "relabeling";

/// Random numbers of a relabeling up to which those of eight are made together, and kept until all eight are drawn.
const MOST_ABREAST: f64 = 65_536.0;

/// What a model says about one point: its most probable class, and how probable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Probability of the predicted class, in `[0, 1]`.
    pub confidence: f64,
    /// The predicted class, the first of equally probable ones.
    pub class: u32,
}

/// A two-sample permutation test of predictions: the observed distances, and how rare they are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShiftTest {
    /// The larger of the two distances, in standard deviations above what relabelings give.
    pub statistic: f64,
    /// Kolmogorov-Smirnov distance of the confidences, in `[0, 1]`.
    pub confidence_distance: f64,
    /// Total variation distance of the predicted classes, in `[0, 1]`.
    pub class_distance: f64,
    /// `(1 + b) / (1 + B)`: `b` of `B` random relabelings had a statistic at least as large. Exact: under no shift it is at
    /// most `p` with probability at most `p`.
    pub p_value: f64,
    /// `B`, the relabelings drawn, at least 1.
    pub permutations: usize,
}

impl ShiftTest {
    /// Whether the test rejects "no shift" at a level.
    pub fn rejects(&self, level: FailureProbability) -> bool {
        self.p_value <= level.get()
    }
}

/// Tests whether two samples of predictions come from the same law.
///
/// Predictions need no labels, and what hurts a classifier shows in them first: in how sure it is, or, when the classes
/// themselves come in other numbers, in what it says. A shift that changes neither is invisible to this test.
///
/// # Errors
/// If either sample is empty, a confidence is not finite, or no permutation is asked for.
pub fn shift_test(
    labeled: &[Prediction],
    target: &[Prediction],
    permutations: usize,
    seed: Seed,
) -> Result<ShiftTest> {
    require_drawable(permutations)?;
    let mut labelings = Labelings::new(labeled, target, seed)?;
    labelings.draw_up_to(permutations);
    Ok(labelings.test())
}

/// The observed labeling and those drawn so far. Drawn in one go or in several, they are the same.
pub(super) struct Labelings {
    pooled: Pooled,
    seed: Seed,
    /// The observed labeling first; the rest in the order of their draws, for any number of threads.
    all: Vec<Distances>,
}

impl Labelings {
    /// The observed one alone.
    ///
    /// # Errors
    /// If either sample is empty or too large, or a confidence is not finite.
    pub(super) fn new(labeled: &[Prediction], target: &[Prediction], seed: Seed) -> Result<Self> {
        let pooled = Pooled::new(labeled, target)?;
        let all = vec![pooled.observed()];
        Ok(Self { pooled, seed, all })
    }

    /// Draws until there are this many relabelings.
    pub(super) fn draw_up_to(&mut self, permutations: usize) {
        let drawn = self.all.len() as u64 - 1;
        let more = self.pooled.relabeled(drawn..permutations as u64, self.seed);
        self.all.extend(more);
    }

    /// The test by the relabelings drawn, at least one.
    pub(super) fn test(&self) -> ShiftTest {
        let Self { pooled, all, .. } = self;
        let standardised = |component: fn(&Distances) -> u64| -> Vec<f64> {
            let values: Vec<f64> =
                all.iter().map(|distances| component(distances) as f64).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            let spread = (squares / values.len() as f64).sqrt();
            // A distance that no relabeling changes (one class, or all confidences equal) has nothing to say.
            let scale = if spread > 0.0 { 1.0 / spread } else { 0.0 };
            values.iter().map(|value| (value - mean) * scale).collect()
        };
        let (confidence, class) = (standardised(|d| d.confidence), standardised(|d| d.class));
        let statistics: Vec<f64> = confidence.iter().zip(&class).map(|(a, b)| a.max(*b)).collect();
        // `>=`: relabelings that tie count against a shift, and the p-value stays valid.
        let exceeded = statistics[1..].iter().filter(|drawn| **drawn >= statistics[0]).count();
        let whole = pooled.pairs;
        ShiftTest {
            statistic: statistics[0],
            confidence_distance: all[0].confidence as f64 / whole,
            class_distance: 0.5 * all[0].class as f64 / whole,
            p_value: (1 + exceeded) as f64 / all.len() as f64,
            permutations: all.len() - 1,
        }
    }
}

/// Both distances times `n m` (and the second doubled), as whole numbers, so that equal ones compare as equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Distances {
    pub(super) confidence: u64,
    pub(super) class: u64,
}

/// Both samples in increasing order of confidence.
/// A labeling of them gives both distances in one walk; which side is which does not matter to them.
struct Pooled {
    /// Calibration points times target points.
    pairs: f64,
    walk: Walk,
    draw: SetDraw,
    /// The points that truly are of the smaller sample.
    observed: Vec<u64>,
}

impl Pooled {
    /// Sorts both samples together once; every relabeling then is a walk over them.
    ///
    /// # Errors
    /// If a side is empty or too large to count pairs of, or a confidence is not finite.
    fn new(labeled: &[Prediction], target: &[Prediction]) -> Result<Self> {
        for (what, sample) in [("calibration confidences", labeled), ("target confidences", target)]
        {
            require_some(what, sample)?;
            if let Some(index) = sample.iter().position(|point| !point.confidence.is_finite()) {
                let (at, value) = (crate::error::At::Index(index), sample[index].confidence);
                return Err(Error::NotFinite { what, at, value });
            }
        }
        let (n, m) = (labeled.len(), target.len());
        // Twice n m must fit a whole number, and the count of a class too.
        if n.max(m) > 1 << 31 || n.checked_mul(m).is_none_or(|product| product > 1 << 61) {
            return Err(Error::OutOfRange {
                what: "the number of points of the shift test",
                value: n as f64 * m as f64,
                expected: "at most 2^31 on each side and 2^61 pairs; give it a sample",
            });
        }
        let (smaller, larger) = if n <= m { (labeled, target) } else { (target, labeled) };
        let mut all: Vec<(Prediction, bool)> = smaller
            .iter()
            .map(|point| (*point, true))
            .chain(larger.iter().map(|point| (*point, false)))
            .collect();
        // Ties may stand in any order: they are compared where their run ends.
        all.sort_unstable_by(|a, b| a.0.confidence.total_cmp(&b.0.confidence));
        // Classes are renumbered by rank: a prediction of class 4 294 967 295 must not ask for that
        // many counts.
        let mut names: Vec<u32> = all.iter().map(|(point, _)| point.class).collect();
        names.sort_unstable();
        names.dedup();
        let mut totals = vec![0; names.len()];
        let points: Vec<(u32, bool)> = (0..all.len())
            .map(|i| {
                let (point, _) = all[i];
                let class = names.partition_point(|name| *name < point.class);
                totals[class] += 1;
                let next = all.get(i + 1);
                (class as u32, next.is_none_or(|next| next.0.confidence != point.confidence))
            })
            .collect();
        let draw = SetDraw::new(all.len(), smaller.len());
        let mut observed = vec![0; draw.words()];
        for (at, (_, member)) in all.iter().enumerate() {
            observed[at / 64] |= u64::from(*member) << (at % 64);
        }
        let walk = Walk::new(&points, totals, (smaller.len() as u32, larger.len() as u32));
        Ok(Self { pairs: n as f64 * m as f64, walk, draw, observed })
    }

    /// The distances of the true labeling.
    fn observed(&self) -> Distances {
        self.walk.distances(&self.observed, &mut self.walk.room())
    }

    /// The distances of relabelings, in the order of their numbers.
    fn relabeled(&self, numbers: Range<u64>, seed: Seed) -> Vec<Distances> {
        // A seed for each relabeling, by its number: threads may draw them in any order.
        let room = || Drawing::new(self);
        if self.draw.expected() > MOST_ABREAST {
            let one = |drawing: &mut Drawing, index: u64| drawing.one(self, seed, index);
            return numbers.into_par_iter().map_init(room, one).collect();
        }
        let (lanes, count) = (LANES as u64, numbers.end.saturating_sub(numbers.start));
        let groups = (0..count.div_ceil(lanes)).into_par_iter();
        let group = |drawing: &mut Drawing, group: u64| {
            drawing.abreast(self, seed, numbers.start + group * lanes)
        };
        let mut found: Vec<Distances> = groups.map_init(room, group).flatten_iter().collect();
        // The last group may have been one of fewer.
        found.truncate(count as usize);
        found
    }
}

/// What a thread draws relabelings with.
struct Drawing {
    streams: StreamsAbreast,
    /// Eight sets, one after the other.
    sets: Vec<u64>,
    room: Room,
}

impl Drawing {
    fn new(pooled: &Pooled) -> Self {
        let sets = vec![0; LANES * pooled.draw.words()];
        Self { streams: StreamsAbreast::new(), sets, room: pooled.walk.room() }
    }

    /// The relabeling of a number.
    fn one(&mut self, pooled: &Pooled, seed: Seed, index: u64) -> Distances {
        let mut stream = seed.child(FAMILY, index).stream(RELABELING);
        let set = &mut self.sets[..pooled.draw.words()];
        pooled.draw.draw(|| stream.bits(), set);
        pooled.walk.distances(set, &mut self.room)
    }

    /// Eight of them from the first number on, whose random numbers are made together.
    fn abreast(&mut self, pooled: &Pooled, seed: Seed, first: u64) -> [Distances; LANES] {
        let Self { streams, sets, room } = self;
        let (draw, thrown, words) = (&pooled.draw, pooled.draw.thrown(), pooled.draw.words());
        streams.restart(seed.children(FAMILY, first), RELABELING);
        draw.throw_abreast(streams.first(thrown), sets);
        std::array::from_fn(|lane| {
            let set = &mut sets[lane * words..][..words];
            draw.mend(streams.numbers_after(thrown, lane), set);
            pooled.walk.distances(set, room)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::WeightedEmpirical;

    /// Confidences `u^power`; classes drawn with the given shares.
    fn draws(n: usize, power: i32, shares: &[f64], seed: u64) -> Vec<Prediction> {
        let mut stream = Seed::new(seed).stream("predictions");
        (0..n)
            .map(|_| {
                let confidence = stream.uniform().powi(power);
                let mut left = stream.uniform();
                let drawn = shares.iter().position(|share| {
                    left -= share;
                    left < 0.0
                });
                let class = drawn.unwrap_or(shares.len() - 1) as u32;
                Prediction { confidence, class }
            })
            .collect()
    }

    const EQUAL: [f64; 4] = [0.25; 4];

    #[test]
    fn the_distances_are_what_they_say() {
        let mut stream = Seed::new(1).stream("ties");
        for _ in 0..50 {
            let mut sample = |n: usize| -> Vec<Prediction> {
                let mut point = || Prediction {
                    confidence: stream.below(8) as f64,
                    class: 3 * stream.below(4) as u32,
                };
                (0..n).map(|_| point()).collect()
            };
            let (a, b) = (sample(13), sample(17));
            let law = |sample: &[Prediction]| {
                let values: Vec<f64> = sample.iter().map(|point| point.confidence).collect();
                WeightedEmpirical::uniform(&values).unwrap()
            };
            let (f, g) = (law(&a), law(&b));
            let points = a.iter().chain(&b).map(|point| point.confidence);
            let expected = points.map(|t| (f.cdf(t) - g.cdf(t)).abs()).fold(0.0, f64::max);
            let found = shift_test(&a, &b, 1, Seed::new(0)).unwrap();
            assert!((found.confidence_distance - expected).abs() < 1e-12);
            let share = |sample: &[Prediction], class: u32| {
                let count = sample.iter().filter(|point| point.class == class).count();
                count as f64 / sample.len() as f64
            };
            let classes = [0, 3, 6, 9];
            let tv: f64 = classes.iter().map(|k| (share(&a, *k) - share(&b, *k)).abs() / 2.0).sum();
            assert!((found.class_distance - tv).abs() < 1e-12);
        }
    }

    /// Eight at a time or one after the other: the same distances, ties, one class and many points included.
    #[test]
    fn relabelings_drawn_together_are_those_drawn_one_by_one() {
        let mut stream = Seed::new(8).stream("lanes");
        // The last one has too many pairs for 32 bits.
        for (n, m) in [(1, 1), (3, 70), (64, 64), (200, 1), (301, 299), (50_000, 50_001)] {
            let mut sample = |size: usize| -> Vec<Prediction> {
                let mut point = || Prediction {
                    confidence: stream.below(40) as f64,
                    class: stream.below(1 + n % 5) as u32,
                };
                (0..size).map(|_| point()).collect()
            };
            let pooled = Pooled::new(&sample(n), &sample(m)).unwrap();
            let seed = Seed::new(n as u64);
            let mut drawing = Drawing::new(&pooled);
            let one_by_one: Vec<Distances> =
                (0..29).map(|index| drawing.one(&pooled, seed, index)).collect();
            assert_eq!(pooled.relabeled(0..29, seed), one_by_one);
            assert_eq!(pooled.relabeled(5..29, seed), one_by_one[5..]);
            assert_eq!(pooled.relabeled(3..3, seed), []);
        }
    }

    /// Under no shift p <= 0.1 must happen in a tenth of the runs: the p-value is exact up to its granularity.
    #[test]
    fn its_false_alarm_rate_is_its_level() {
        let runs = 1500;
        for shares in [&EQUAL[..], &[1.0], &[0.7, 0.1, 0.1, 0.05, 0.05]] {
            let alarms = (0..runs)
                .filter(|run| {
                    let a = draws(40, 2, shares, 2 * run);
                    let b = draws(60, 2, shares, 2 * run + 1);
                    shift_test(&a, &b, 99, Seed::new(*run)).unwrap().p_value <= 0.1
                })
                .count();
            // 150 expected, standard deviation 11.6.
            assert!(alarms.abs_diff(150) < 47, "{alarms} of {runs} with {shares:?}");
        }
    }

    /// All confidences tied, few classes: the level is kept, if not reached.
    #[test]
    fn ties_do_not_raise_the_false_alarm_rate() {
        let runs = 1000;
        let alarms = (0..runs)
            .filter(|run| {
                let round = |mut sample: Vec<Prediction>| {
                    sample.iter_mut().for_each(|point| point.confidence = point.confidence.round());
                    sample
                };
                let a = round(draws(20, 1, &[0.5, 0.5], 2 * run));
                let b = round(draws(30, 1, &[0.5, 0.5], 2 * run + 1));
                shift_test(&a, &b, 99, Seed::new(*run)).unwrap().p_value <= 0.1
            })
            .count();
        // At most 100 expected, standard deviation 9.5.
        assert!(alarms < 138, "{alarms} of {runs}");
    }

    fn power(target_power: i32, shares: &[f64]) -> usize {
        (0..200)
            .filter(|run| {
                let a = draws(100, 1, &EQUAL, 2 * run);
                let b = draws(100, target_power, shares, 2 * run + 1);
                shift_test(&a, &b, 199, Seed::new(*run)).unwrap().p_value <= 0.05
            })
            .count()
    }

    #[test]
    fn its_power_grows_with_the_shift() {
        let found = [power(1, &EQUAL), power(2, &EQUAL), power(3, &EQUAL)];
        assert!(found[0] < 25 && found[0] < found[1] && found[1] <= found[2], "{found:?}");
        assert!(found[2] > 190, "{found:?}");
    }

    /// Classes of other frequencies, the model as sure as ever: the confidences alone would show nothing.
    #[test]
    fn it_sees_a_label_shift_that_leaves_the_confidences_alone() {
        let found =
            [power(1, &EQUAL), power(1, &[0.4, 0.3, 0.2, 0.1]), power(1, &[0.6, 0.3, 0.1, 0.0])];
        assert!(found[0] < found[1] && found[1] < found[2] && found[2] > 190, "{found:?}");
    }

    #[test]
    fn the_smallest_p_value_is_reached() {
        let (a, b) = (draws(300, 1, &EQUAL, 1), draws(300, 2, &EQUAL, 2));
        assert_eq!(shift_test(&a, &b, 999, Seed::new(0)).unwrap().p_value, 0.001);
    }

    #[test]
    fn predictions_that_are_all_the_same_are_no_shift() {
        let same = vec![Prediction { confidence: 0.5, class: 2 }; 10];
        let test = shift_test(&same, &same, 99, Seed::new(0)).unwrap();
        assert_eq!((test.statistic, test.p_value), (0.0, 1.0));
    }

    #[test]
    fn threads_do_not_change_it() {
        let (a, b) = (draws(200, 1, &EQUAL, 1), draws(200, 1, &EQUAL, 2));
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| shift_test(&a, &b, 499, Seed::new(4)).unwrap())
        };
        assert_eq!(with(1), with(3));
    }
}

//! A set of so many points out of all, each such set as likely as any other, from few random numbers.
//!
//! ```text
//! throw    every point joins with probability k / 2^b, 64 points at a time by b random words
//! mend     while the set is too small: a point drawn from all joins;  while it is too large: a point drawn from all leaves
//! ```
//! Neither step knows one point from another, so that every set of the wanted size is equally likely: that is what makes p-values
//! of relabelings exact. A throw of a fair coin for 600 points takes ten random words and misses 300 by ten, where a draw for every
//! point takes six hundred.

use std::ops::{BitAnd, BitOr};

use super::bit_counts::count_ones;
use super::streams_abreast::{LANES, Lanes};

/// Sets of `size` out of `points` points: how they are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SetDraw {
    points: usize,
    size: usize,
    /// `b`: random words for 64 points; none where the set begins empty.
    bits: u32,
    /// `k`.
    of_two_to_bits: u64,
}

/// Most words that are thrown for 64 points.
const MOST_BITS: u32 = 8;

impl SetDraw {
    /// The throw that takes the fewest random numbers; the size is at most half of the points.
    pub(super) fn new(points: usize, size: usize) -> Self {
        let empty = Self { points, size, bits: 0, of_two_to_bits: 0 };
        let thrown = (1..=MOST_BITS).map(|bits| {
            // Rounded down: a point that joins is found at once, one that leaves has to be looked for.
            let of_two_to_bits = ((size as u128) << bits) / points.max(1) as u128;
            Self { bits, of_two_to_bits: of_two_to_bits as u64, ..empty }
        });
        // The first of equals: fewer words.
        thrown.fold(
            empty,
            |best, other| if other.expected() < best.expected() { other } else { best },
        )
    }

    /// Random numbers that a set takes, about.
    pub(super) fn expected(&self) -> f64 {
        let (points, size) = (self.points as f64, self.size as f64);
        let share = self.of_two_to_bits as f64 / f64::from(1_u32 << self.bits);
        let spread = (points * share * (1.0 - share)).sqrt();
        // By how much a throw falls short on average, and by how much it misses to either side beyond that.
        let short = size - points * share;
        let missed = 0.4 * spread;
        // A point drawn from all is outside with about 1 - size / points, and inside with size / points.
        let leaving = if missed > 0.0 { missed * points / size } else { 0.0 };
        f64::from(self.bits) * self.words() as f64 + short + missed + leaving
    }

    /// Words of 64 points that a set takes.
    pub(super) fn words(&self) -> usize {
        self.points.div_ceil(64)
    }

    /// Random numbers of a throw; those after them mend it.
    pub(super) fn thrown(&self) -> usize {
        self.bits as usize * self.words()
    }

    /// Draws a set, a bit for each point; bits beyond the last point are zero.
    pub(super) fn draw(&self, mut number: impl FnMut() -> u64, set: &mut [u64]) {
        for word in &mut *set {
            *word = (0..self.bits).fold(0, |joined, bit| self.join(joined, number(), bit));
        }
        self.mend(number, set);
    }

    /// The throws of eight sets at a time, by the low and high halves of their numbers. Sets stand one after the other.
    pub(super) fn throw_abreast(&self, numbers: &[[Lanes; 2]], sets: &mut [u64]) {
        let (bits, words) = (self.bits as usize, self.words());
        for word in 0..words {
            let mut joined = [[0_u32; LANES]; 2];
            for (bit, number) in numbers[word * bits..][..bits].iter().enumerate() {
                for (joined, half) in joined.iter_mut().zip(number) {
                    for lane in 0..LANES {
                        joined[lane] = self.join(joined[lane], half[lane], bit as u32);
                    }
                }
            }
            let [low, high] = joined;
            for lane in 0..LANES {
                sets[lane * words + word] = u64::from(low[lane]) | u64::from(high[lane]) << 32;
            }
        }
    }

    /// From the lowest digit of `k` on: points join whose random digits are below its own.
    #[inline(always)]
    fn join<W: BitAnd<Output = W> + BitOr<Output = W>>(&self, joined: W, digits: W, bit: u32) -> W {
        match self.of_two_to_bits >> bit & 1 {
            0 => joined & digits,
            _ => joined | digits,
        }
    }

    /// Makes a throw a set of the wanted size.
    pub(super) fn mend(&self, mut number: impl FnMut() -> u64, set: &mut [u64]) {
        if let Some(last) = set.last_mut().filter(|_| !self.points.is_multiple_of(64)) {
            *last &= (1 << (self.points % 64)) - 1;
        }
        let mut members = count_ones(set) as usize;
        // Multiply-shift (Lemire), as in `Stream::below`: the bias is below points / 2^64.
        let points = self.points as u128;
        let mut place = || ((u128::from(number()) * points) >> 64) as usize;
        while members < self.size {
            let at = place();
            let (word, bit) = (&mut set[at / 64], 1 << (at % 64));
            members += usize::from(*word & bit == 0);
            *word |= bit;
        }
        while members > self.size {
            let at = place();
            let (word, bit) = (&mut set[at / 64], 1 << (at % 64));
            members -= usize::from(*word & bit != 0);
            *word &= !bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::seed::Seed;

    fn drawn(draw: &SetDraw, seed: u64) -> Vec<u64> {
        let mut stream = Seed::new(seed).stream("sets");
        let mut set = vec![0; draw.words()];
        draw.draw(|| stream.bits(), &mut set);
        set
    }

    /// All sets of the size occur equally often, whatever is thrown first.
    #[test]
    fn every_set_is_equally_likely() {
        for (points, size, sets) in [(6, 3, 20), (7, 2, 21), (5, 1, 5), (8, 4, 70)] {
            for bits in 0..=3_u32 {
                for of_two_to_bits in 0..=1_u64 << bits {
                    let draw = SetDraw { points, size, bits, of_two_to_bits };
                    let mut counts = BTreeMap::<u64, f64>::new();
                    let runs = 400 * sets;
                    for seed in 0..runs {
                        *counts.entry(drawn(&draw, seed)[0]).or_default() += 1.0;
                    }
                    assert_eq!(counts.len() as u64, sets);
                    assert!(counts.keys().all(|set| set.count_ones() as usize == size));
                    let squares: f64 = counts.values().map(|found| (found - 400.0).powi(2)).sum();
                    let (chi, freedom) = (squares / 400.0, sets as f64 - 1.0);
                    assert!(chi < freedom + 5.0 * (2.0 * freedom).sqrt(), "{draw:?}: {chi}");
                }
            }
        }
    }

    /// Two points of a large set are members together as often as any two, across words and within.
    #[test]
    fn pairs_of_points_are_equally_likely() {
        let (points, size, runs) = (150, 40, 20_000);
        let draw = SetDraw::new(points, size);
        let pairs = [(0, 1), (3, 64), (63, 64), (70, 149), (148, 149)];
        let mut together = [0.0; 5];
        for seed in 0..runs {
            let set = drawn(&draw, seed);
            let member = |at: usize| set[at / 64] >> (at % 64) & 1 == 1;
            for (count, (one, other)) in together.iter_mut().zip(pairs) {
                *count += f64::from(u8::from(member(one) && member(other)));
            }
        }
        let share = (size * (size - 1)) as f64 / (points * (points - 1)) as f64;
        let spread = (runs as f64 * share * (1.0 - share)).sqrt();
        for count in together {
            assert!((count - runs as f64 * share).abs() < 4.0 * spread, "{together:?}");
        }
    }

    #[test]
    fn sets_have_their_size_and_nothing_beyond_the_points() {
        for (points, size) in
            [(1, 0), (2, 1), (64, 32), (65, 1), (600, 300), (2300, 300), (9999, 7)]
        {
            let draw = SetDraw::new(points, size);
            for seed in 0..50 {
                let set = drawn(&draw, seed);
                let members: u32 = set.iter().map(|word| word.count_ones()).sum();
                assert_eq!(members as usize, size);
                assert!((points..64 * set.len()).all(|at| set[at / 64] >> (at % 64) & 1 == 0));
            }
        }
    }

    /// Few numbers where few do: halves by a coin, a few out of many one by one.
    #[test]
    fn throws_are_chosen_by_what_they_take() {
        let throw = |points, size| {
            let SetDraw { bits, of_two_to_bits, .. } = SetDraw::new(points, size);
            (bits, of_two_to_bits)
        };
        assert_eq!(throw(600, 300), (1, 1));
        assert_eq!(throw(2300, 300), (3, 1));
        assert_eq!(throw(20_000, 20), (0, 0));
        assert!(SetDraw::new(600, 300).expected() < 40.0);
    }
}

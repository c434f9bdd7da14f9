//! `(seed, purpose, position) -> random number`: randomness enters the library here and nowhere else.
//!
//! A [`Seed`] opens one named stream per purpose, so that adding a draw in one place never changes another.
//! Draws are addressed by position, so results do not depend on chunking or on the number of threads.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// Root of all randomness of a run: equal seeds give equal results, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(u64);

impl Seed {
    /// A seed from any number; neighbouring numbers give unrelated streams.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The number it was made from, as files store it.
    pub fn get(self) -> u64 {
        self.0
    }

    /// The stream of random numbers for one purpose.
    ///
    /// The purpose is part of the numbers: renaming one changes every result that draws from it.
    /// Streams of different purposes are independent.
    pub fn stream(self, purpose: &str) -> Stream {
        // A generator whose output is fixed by its specification and can be read from any position;
        // that of a library's default may change with its version.
        let mut generator = ChaCha8Rng::seed_from_u64(self.0);
        generator.set_stream(fnv_1a(purpose.as_bytes()));
        Stream { generator }
    }

    /// The seed of the `index`-th member of a family of runs (simulation, cell, restart).
    ///
    /// Addressed by index, so that run 7 is the same whether or not runs 0 to 6 were made.
    pub fn child(self, family: &str, index: u64) -> Self {
        let mut stream = self.stream(family);
        stream.seek(index);
        Self(stream.generator.next_u64())
    }

    /// The seeds of `N` neighbouring members of a family, from one reading of its stream.
    pub(crate) fn children<const N: usize>(self, family: &str, first: u64) -> [Self; N] {
        let mut stream = self.stream(family);
        stream.seek(first);
        std::array::from_fn(|_| Self(stream.generator.next_u64()))
    }
}

/// What the numbers of a stream follow from, for whoever makes those of several streams at a time.
pub(crate) struct StreamAddress {
    /// Key of the generator.
    pub key: [u8; 32],
    /// Its stream: the purpose.
    pub stream: u64,
}

/// A stream of random numbers that can be read from any position.
#[derive(Debug, Clone)]
pub struct Stream {
    /// Seeded, on its stream, at its present position.
    generator: ChaCha8Rng,
}

impl Stream {
    /// Moves to the `index`-th number of the stream.
    pub(crate) fn seek(&mut self, index: u64) {
        // One number is two 32-bit words of the generator's output.
        self.generator.set_word_pos(u128::from(index) * 2);
    }

    /// The next number, uniform on `[0, 1)` with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        // 53 bits are all that an f64 in [0, 1) holds; dividing 64 of them would round up to 1 at
        // times.
        (self.generator.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Key and stream of the generator.
    pub(crate) fn address(&self) -> StreamAddress {
        StreamAddress { key: self.generator.get_seed(), stream: self.generator.get_stream() }
    }

    /// The next 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// The next number, uniform on `0..bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // Multiply-shift (Lemire): the bias is below bound / 2^64, invisible at any sample size.
        ((u128::from(self.generator.next_u64()) * bound as u128) >> 64) as usize
    }
}

/// FNV-1a: names a stream by its purpose. Written out because `DefaultHasher` may change between releases.
fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_independent_of_each_other_and_repeatable() {
        let draws = |seed: u64, purpose: &str| {
            let mut stream = Seed::new(seed).stream(purpose);
            [stream.uniform(), stream.uniform(), stream.uniform()]
        };
        assert_eq!(draws(1, "a"), draws(1, "a"));
        assert_ne!(draws(1, "a"), draws(1, "b"));
        assert_ne!(draws(1, "a"), draws(2, "a"));
    }

    #[test]
    fn a_stream_can_be_read_from_any_position() {
        let mut sequential = Seed::new(7).stream("x");
        let drawn: Vec<f64> = (0..100).map(|_| sequential.uniform()).collect();
        let mut sought = Seed::new(7).stream("x");
        for index in [99, 0, 17, 16, 63, 64] {
            sought.seek(index as u64);
            assert_eq!(sought.uniform(), drawn[index]);
        }
    }

    #[test]
    fn neighbouring_children_are_those_of_their_numbers() {
        let seed = Seed::new(5);
        for first in [0, 3, 30, 1000] {
            let expected: [Seed; 9] = std::array::from_fn(|at| seed.child("f", first + at as u64));
            assert_eq!(seed.children("f", first), expected);
        }
    }

    /// Guards the promise that a seed gives the same bytes in every release.
    #[test]
    fn the_first_draws_are_frozen() {
        let mut stream = Seed::new(0).stream("frozen");
        assert_eq!(stream.uniform(), 0.285_502_320_512_450_06);
    }

    #[test]
    fn below_is_uniform() {
        let mut stream = Seed::new(3).stream("below");
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7)] += 1;
        }
        // Standard deviation of each count is about 93.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 500), "{counts:?}");
    }
}

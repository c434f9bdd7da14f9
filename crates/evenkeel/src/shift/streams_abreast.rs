//! The random bits of eight streams at a time.
//!
//! ```text
//! block = 16 words of each stream        number i of a stream = word 2 i + 2^32 word (2 i + 1)
//! ```
//! The numbers are those of [`Stream`](crate::seed::Stream): ChaCha of eight rounds, here with a stream in each lane of a
//! vector register. A generator that fills registers from one stream has to turn its numbers round before lanes can use
//! them, and that took longer than making them.

use crate::numeric::simd::in_widest_registers;
use crate::seed::{Seed, StreamAddress};

/// Streams read at a time.
pub(super) const LANES: usize = 8;
/// Numbers of a stream in a block.
pub(super) const BLOCK_NUMBERS: usize = 8;

/// A word for each stream.
pub(super) type Lanes = [u32; LANES];

/// Sixteen words of each stream, eight numbers.
pub(super) type Block = [Lanes; 2 * BLOCK_NUMBERS];

/// Double rounds: ChaCha8 has four.
const DOUBLE_ROUNDS: usize = 4;
/// "expand 32-byte k", the words every state of ChaCha begins with.
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Eight streams that are read together, from their beginning.
pub(super) struct StreamsAbreast {
    /// State before the next block; words 12 and 13 count the blocks.
    state: Block,
    /// Blocks read so far.
    blocks: u64,
}

impl StreamsAbreast {
    /// The streams of eight seeds for one purpose.
    pub(super) fn new(seeds: [Seed; LANES], purpose: &str) -> Self {
        let mut state = [[0; LANES]; 2 * BLOCK_NUMBERS];
        for (word, constant) in state.iter_mut().zip(CONSTANTS) {
            *word = [constant; LANES];
        }
        for (lane, seed) in seeds.into_iter().enumerate() {
            let StreamAddress { key, stream } = seed.stream(purpose).address();
            for (word, bytes) in state[4..12].iter_mut().zip(key.as_chunks::<4>().0) {
                word[lane] = u32::from_le_bytes(*bytes);
            }
            (state[14][lane], state[15][lane]) = (stream as u32, (stream >> 32) as u32);
        }
        Self { state, blocks: 0 }
    }

    /// The next words of every stream, block after block.
    pub(super) fn read(&mut self, out: &mut [Block]) {
        for block in out {
            let (low, high) = (self.blocks as u32, (self.blocks >> 32) as u32);
            (self.state[12], self.state[13]) = ([low; LANES], [high; LANES]);
            chacha8(&self.state, block);
            self.blocks += 1;
        }
    }
}

in_widest_registers! {
    fn chacha8[](state: &Block, out: &mut Block) -> () {
        let mut words = *state;
        for _ in 0..DOUBLE_ROUNDS {
            // Down the columns of the square of words, then down its diagonals.
            quarter_round(&mut words, [0, 4, 8, 12]);
            quarter_round(&mut words, [1, 5, 9, 13]);
            quarter_round(&mut words, [2, 6, 10, 14]);
            quarter_round(&mut words, [3, 7, 11, 15]);
            quarter_round(&mut words, [0, 5, 10, 15]);
            quarter_round(&mut words, [1, 6, 11, 12]);
            quarter_round(&mut words, [2, 7, 8, 13]);
            quarter_round(&mut words, [3, 4, 9, 14]);
        }
        for ((out, word), before) in out.iter_mut().zip(&words).zip(state) {
            for lane in 0..LANES {
                out[lane] = word[lane].wrapping_add(before[lane]);
            }
        }
    }
}

#[inline(always)]
fn quarter_round(words: &mut Block, [a, b, c, d]: [usize; 4]) {
    add_then_turn(words, a, b, d, 16);
    add_then_turn(words, c, d, b, 12);
    add_then_turn(words, a, b, d, 8);
    add_then_turn(words, c, d, b, 7);
}

/// `sum += term`, then `mixed = (mixed ^ sum)` with its bits turned to the left.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "three rows of one array are walked together")]
fn add_then_turn(words: &mut Block, sum: usize, term: usize, mixed: usize, bits: u32) {
    for lane in 0..LANES {
        words[sum][lane] = words[sum][lane].wrapping_add(words[term][lane]);
        words[mixed][lane] = (words[mixed][lane] ^ words[sum][lane]).rotate_left(bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit the numbers of each stream by itself, far beyond the first block.
    #[test]
    fn they_are_the_numbers_of_each_stream() {
        let seeds = std::array::from_fn(|lane| Seed::new(lane as u64 * 7919 + 3));
        let mut abreast = StreamsAbreast::new(seeds, "some purpose");
        let mut alone = seeds.map(|seed| seed.stream("some purpose"));
        let mut blocks = [[[0; LANES]; 2 * BLOCK_NUMBERS]; 5];
        for _ in 0..9 {
            abreast.read(&mut blocks);
            for number in blocks.as_flattened().as_chunks::<2>().0 {
                for (lane, stream) in alone.iter_mut().enumerate() {
                    let found = u64::from(number[0][lane]) | u64::from(number[1][lane]) << 32;
                    assert_eq!(found, stream.bits());
                }
            }
        }
    }
}

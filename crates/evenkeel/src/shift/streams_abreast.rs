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
const BLOCK_NUMBERS: usize = 8;

/// A word for each stream.
pub(super) type Lanes = [u32; LANES];

/// Sixteen words of each stream, eight numbers.
type Block = [Lanes; 2 * BLOCK_NUMBERS];

/// Double rounds: ChaCha8 has four.
const DOUBLE_ROUNDS: usize = 4;
/// "expand 32-byte k", the words every state of ChaCha begins with.
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Eight streams that are read together, from their beginning.
pub(super) struct StreamsAbreast {
    /// State before the next block; words 12 and 13 count the blocks.
    state: Block,
    /// What was read so far.
    blocks: Vec<Block>,
}

impl StreamsAbreast {
    /// Streams of nothing yet.
    pub(super) fn new() -> Self {
        Self { state: [[0; LANES]; 2 * BLOCK_NUMBERS], blocks: Vec::new() }
    }

    /// The streams of eight seeds for one purpose, in place of those before.
    pub(super) fn restart(&mut self, seeds: [Seed; LANES], purpose: &str) {
        for (word, constant) in self.state.iter_mut().zip(CONSTANTS) {
            *word = [constant; LANES];
        }
        for (lane, seed) in seeds.into_iter().enumerate() {
            let StreamAddress { key, stream } = seed.stream(purpose).address();
            for (word, bytes) in self.state[4..12].iter_mut().zip(key.as_chunks::<4>().0) {
                word[lane] = u32::from_le_bytes(*bytes);
            }
            (self.state[14][lane], self.state[15][lane]) = (stream as u32, (stream >> 32) as u32);
        }
        self.blocks.clear();
    }

    /// The first numbers of all streams, in halves: the low words, then the high ones.
    pub(super) fn first(&mut self, numbers: usize) -> &[[Lanes; 2]] {
        while self.blocks.len() * BLOCK_NUMBERS < numbers {
            self.read_block();
        }
        &self.blocks.as_flattened().as_chunks::<2>().0[..numbers]
    }

    /// The numbers of one of the streams after some. The others' are made beside them.
    pub(super) fn numbers_after(&mut self, some: usize, lane: usize) -> impl FnMut() -> u64 + '_ {
        let mut at = some;
        move || {
            while at / BLOCK_NUMBERS >= self.blocks.len() {
                self.read_block();
            }
            let block = &self.blocks[at / BLOCK_NUMBERS];
            let word = 2 * (at % BLOCK_NUMBERS);
            at += 1;
            u64::from(block[word][lane]) | u64::from(block[word + 1][lane]) << 32
        }
    }

    fn read_block(&mut self) {
        let count = self.blocks.len() as u64;
        (self.state[12], self.state[13]) = ([count as u32; LANES], [(count >> 32) as u32; LANES]);
        let mut block = [[0; LANES]; 2 * BLOCK_NUMBERS];
        fill(&self.state, &mut block);
        self.blocks.push(block);
    }
}

/// The block that follows from a state, by the fastest way this processor has.
fn fill(state: &Block, out: &mut Block) {
    #[cfg(target_arch = "x86_64")]
    if let Some(chacha8) = avx2::if_faster() {
        chacha8(state, out);
        return;
    }
    chacha8(state, out);
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

/// The same with a register for each word, as the compiler does not find it by itself: half the instructions.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_or_si256, _mm256_setr_epi8, _mm256_setr_epi32,
        _mm256_shuffle_epi8, _mm256_slli_epi32, _mm256_srli_epi32, _mm256_xor_si256,
    };

    use super::{Block, DOUBLE_ROUNDS, Lanes};
    use crate::numeric::simd::has_avx512;

    /// The way through AVX2; none on processors without, nor on those with registers of 512 bits, which turn bits by one instruction.
    pub(super) fn if_faster() -> Option<fn(&Block, &mut Block)> {
        if has_avx512() || !std::arch::is_x86_feature_detected!("avx2") {
            return None;
        }
        #[expect(unsafe_code, reason = "the processor has just said that it knows AVX2")]
        // SAFETY: `chacha8` is safe code that needs AVX2 and nothing else, and a processor does not lose it.
        Some(|state, out| unsafe { chacha8(state, out) })
    }

    #[target_feature(enable = "avx2")]
    fn chacha8(state: &Block, out: &mut Block) {
        let before = state.each_ref().map(|word| load(word));
        let mut x = before;
        for _ in 0..DOUBLE_ROUNDS {
            quarter_round(&mut x, [0, 4, 8, 12]);
            quarter_round(&mut x, [1, 5, 9, 13]);
            quarter_round(&mut x, [2, 6, 10, 14]);
            quarter_round(&mut x, [3, 7, 11, 15]);
            quarter_round(&mut x, [0, 5, 10, 15]);
            quarter_round(&mut x, [1, 6, 11, 12]);
            quarter_round(&mut x, [2, 7, 8, 13]);
            quarter_round(&mut x, [3, 4, 9, 14]);
        }
        for ((out, word), before) in out.iter_mut().zip(x).zip(before) {
            *out = store(_mm256_add_epi32(word, before));
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn quarter_round(x: &mut [__m256i; 16], [a, b, c, d]: [usize; 4]) {
        // Turned by whole bytes: a shuffle.
        let sixteen = _mm256_setr_epi8(
            2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11,
            8, 9, 14, 15, 12, 13,
        );
        let eight = _mm256_setr_epi8(
            3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14, 3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9,
            10, 15, 12, 13, 14,
        );
        x[a] = _mm256_add_epi32(x[a], x[b]);
        x[d] = _mm256_shuffle_epi8(_mm256_xor_si256(x[d], x[a]), sixteen);
        x[c] = _mm256_add_epi32(x[c], x[d]);
        x[b] = turned::<12, 20>(_mm256_xor_si256(x[b], x[c]));
        x[a] = _mm256_add_epi32(x[a], x[b]);
        x[d] = _mm256_shuffle_epi8(_mm256_xor_si256(x[d], x[a]), eight);
        x[c] = _mm256_add_epi32(x[c], x[d]);
        x[b] = turned::<7, 25>(_mm256_xor_si256(x[b], x[c]));
    }

    /// Turned to the left by `LEFT` bits; `RIGHT` is 32 less that.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn turned<const LEFT: i32, const RIGHT: i32>(x: __m256i) -> __m256i {
        _mm256_or_si256(_mm256_slli_epi32::<LEFT>(x), _mm256_srli_epi32::<RIGHT>(x))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load(lanes: &Lanes) -> __m256i {
        let v = lanes.map(u32::cast_signed);
        _mm256_setr_epi32(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7])
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn store(register: __m256i) -> Lanes {
        #[expect(unsafe_code, reason = "a register as the numbers that it holds")]
        // SAFETY: both are 32 bytes, of which any are valid for either.
        unsafe {
            std::mem::transmute(register)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loop for any processor and the one for this give the same words.
    #[test]
    fn both_ways_are_one() {
        let seeds = std::array::from_fn(|lane| Seed::new(lane as u64 + 11));
        let mut streams = StreamsAbreast::new();
        streams.restart(seeds, "both ways");
        let mut state = streams.state;
        for round in 0..50_u32 {
            (state[12], state[13]) = ([round; LANES], [round.wrapping_mul(0x9e37_79b9); LANES]);
            let mut ways = [[[0; LANES]; 2 * BLOCK_NUMBERS]; 2];
            fill(&state, &mut ways[0]);
            chacha8(&state, &mut ways[1]);
            assert_eq!(ways[0], ways[1]);
        }
    }

    /// Bit by bit the numbers of each stream by itself, far beyond the first block.
    #[test]
    fn they_are_the_numbers_of_each_stream() {
        let seeds = std::array::from_fn(|lane| Seed::new(lane as u64 * 7919 + 3));
        let mut abreast = StreamsAbreast::new();
        // Twice: what was read of other streams must not be left.
        for purpose in ["some purpose", "another"] {
            abreast.restart(seeds, purpose);
            for (lane, seed) in seeds.into_iter().enumerate() {
                let mut stream = seed.stream(purpose);
                let low = |number: &[Lanes; 2]| u64::from(number[0][lane]);
                let high = |number: &[Lanes; 2]| u64::from(number[1][lane]) << 32;
                for number in abreast.first(13) {
                    assert_eq!(low(number) | high(number), stream.bits());
                }
                let mut number = abreast.numbers_after(13, lane);
                // Some lanes read further than those before them, some less far.
                for at in 0..300 + 70 * (lane % 3) {
                    assert_eq!(number(), stream.bits(), "{at} of {lane}");
                }
            }
        }
    }
}

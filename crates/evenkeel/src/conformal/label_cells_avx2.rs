//! Zeros and ones of sets over many labels, in the 256-bit registers of x86-64 processors.
//!
//! ```text
//! one window = 32 labels: their bits in every group of 4 bytes, byte k / 8 moved to lane k, its bit k % 8 compared, 1 store
//! ```

use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_set1_epi8, _mm256_set1_epi32,
    _mm256_set1_epi64x, _mm256_setr_epi8, _mm256_shuffle_epi8, _mm256_storeu_si256,
};

use super::label_sets::WORD;

/// Labels in a register.
const LANES: usize = 32;

/// Writes whole rows of zeros and ones from their words, over so many labels.
type Write = fn(&[u64], usize, &mut [u8]);

/// The way through AVX2 for sets over so many labels, where it is the faster one and the processor has it.
pub(super) fn if_faster(classes: usize) -> Option<Write> {
    if classes < LANES || !std::arch::is_x86_feature_detected!("avx2") {
        return None;
    }
    #[expect(unsafe_code, reason = "the processor has just said that it knows AVX2")]
    // SAFETY: `write` is safe code that needs AVX2 and nothing else, and a processor does not lose it.
    Some(|words, classes, members| unsafe { write(words, classes, members) })
}

/// Whole rows; the last window of a row ends with its last label, and writes some labels again.
#[target_feature(enable = "avx2")]
fn write(words: &[u64], classes: usize, members: &mut [u8]) {
    let rows = members.chunks_exact_mut(classes);
    for (words, row) in words.chunks_exact(classes.div_ceil(WORD)).zip(rows) {
        for (word, labels) in words.iter().zip(row.chunks_mut(WORD)) {
            let (windows, _) = labels.as_chunks_mut::<LANES>();
            for (k, window) in windows.iter_mut().enumerate() {
                store(spread((*word >> (k * LANES)) as u32), window);
            }
        }
        if !classes.is_multiple_of(LANES)
            && let Some(window) = row.last_chunk_mut::<LANES>()
        {
            store(spread(bits_from(words, classes - LANES)), window);
        }
    }
}

/// The bits of the labels from `first` on.
#[inline]
fn bits_from(words: &[u64], first: usize) -> u32 {
    let (word, shift) = (first / WORD, first % WORD);
    let next = words.get(word + 1).copied().unwrap_or(0);
    let both = u128::from(words[word]) | u128::from(next) << WORD;
    (both >> shift) as u32
}

/// Each bit as a byte.
#[target_feature(enable = "avx2")]
#[inline]
fn spread(bits: u32) -> __m256i {
    // Bytes move within halves of the register, each of which holds all four.
    let bytes = _mm256_setr_epi8(
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, // the first half
        2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, // the second
    );
    let own = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
    let moved = _mm256_shuffle_epi8(_mm256_set1_epi32(bits.cast_signed()), bytes);
    let set = _mm256_cmpeq_epi8(_mm256_and_si256(moved, own), own);
    _mm256_and_si256(set, _mm256_set1_epi8(1))
}

/// Writes a register to a window.
#[target_feature(enable = "avx2")]
#[inline]
fn store(values: __m256i, window: &mut [u8; LANES]) {
    #[expect(unsafe_code, reason = "a store takes an address")]
    // SAFETY: the window has the 32 bytes of the register, and the store may lie anywhere.
    unsafe {
        _mm256_storeu_si256(window.as_mut_ptr().cast(), values);
    }
}

//! [`add_labels`](super::whole_parts::add_labels) in 512-bit registers: eight labels at a time, and one addition a label.

use std::arch::x86_64::*;

use super::sketched_law::UNIT;
use super::whole_parts::{COARSE, FINE, PartSums, add_each};
use crate::numeric::turned_x86::turned_eight;

/// Adds the parts of labels of these probabilities, each to the sums of its bin; there is a bin for each of them.
#[target_feature(enable = "avx512f")]
pub(super) fn add_labels(probabilities: &[f64], uniform: f64, bins: &[u32], sums: &mut [PartSums]) {
    let (unit, one) = (_mm512_set1_pd(UNIT), _mm512_set1_pd(1.0));
    let share = _mm512_set1_pd(uniform);
    let (eights, rest) = bins.as_chunks::<8>();
    let (probability_eights, last) = probabilities[..bins.len()].as_chunks::<8>();
    for (bins, probabilities) in eights.iter().zip(probability_eights) {
        let probability = numbers(probabilities);
        let score = _mm512_sub_pd(one, probability);
        let moment = _mm512_mul_pd(_mm512_mul_pd(score, probability), unit);
        let uniform_moment = _mm512_mul_pd(_mm512_mul_pd(score, share), unit);
        let [a, b] = parts_of(_mm512_mul_pd(probability, unit));
        let [c, d] = parts_of(moment);
        let [e, f] = parts_of(uniform_moment);
        let last = [_mm512_set1_epi64(1), _mm512_setzero_si512()];
        let labels = turned_eight!(
            [a, b, c, d, e, f, last[0], last[1]],
            _mm512_unpacklo_epi64,
            _mm512_unpackhi_epi64,
            _mm512_shuffle_i64x2
        );
        for (bin, more) in bins.iter().zip(labels) {
            add(&mut sums[*bin as usize], more);
        }
    }
    add_each(last, uniform, rest, sums);
}

/// [`parts_of`](super::whole_parts::parts_of) eight numbers.
#[target_feature(enable = "avx512f")]
#[inline]
fn parts_of(number: __m512d) -> [__m512i; 2] {
    const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    let coarse = _mm512_set1_pd(COARSE);
    let rounded = _mm512_add_pd(number, coarse);
    let rest = _mm512_sub_pd(number, _mm512_sub_pd(rounded, coarse));
    // The sum has no room for anything below one: rounded down, it is that of the whole part.
    let fine = _mm512_add_round_pd::<DOWN>(rest, _mm512_set1_pd(FINE));
    [_mm512_castpd_si512(rounded), _mm512_castpd_si512(fine)]
}

#[target_feature(enable = "avx512f")]
#[inline]
fn numbers(numbers: &[f64; 8]) -> __m512d {
    #[expect(unsafe_code, reason = "vector registers are loaded by address")]
    // SAFETY: eight numbers are the 64 bytes that are read, and they need not be aligned.
    unsafe {
        _mm512_loadu_pd(numbers.as_ptr())
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn add(sums: &mut PartSums, more: __m512i) {
    let place = std::ptr::from_mut(sums).cast();
    #[expect(unsafe_code, reason = "vector registers are loaded and stored by address")]
    // SAFETY: the sums are the 64 bytes that are read and written; every pattern of bits is one of them.
    unsafe {
        _mm512_storeu_si512(place, _mm512_add_epi64(_mm512_loadu_si512(place), more));
    }
}

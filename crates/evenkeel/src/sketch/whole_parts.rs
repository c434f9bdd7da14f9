//! Sums of whole parts of numbers, four or all eight numbers of a label in one vector register.
//!
//! ```text
//! x in [0, 2^62]      floor(x) = 2^32 high + low      |low| <= 2^31
//! high   bits of x + 2^84, whose last bit is worth 2^32      less those of 2^84
//! low    bits of floor(rest) + 1.5 2^52                      less those of 1.5 2^52
//! ```
//! Bits are summed as they stand, modulo `2^64`; what stands there besides the parts is the same for every label and is taken away
//! once, from their number. Conversions to whole numbers, which AVX2 does one by one, and carries to a second word are not needed.

use super::sketched_law::UNIT;
#[cfg(target_arch = "x86_64")]
use crate::numeric::simd::{has_avx2, has_avx512};

/// A number whose last bit is worth `2^32`.
pub(super) const COARSE: f64 = (1_u128 << 84) as f64;
/// A number whose last bit is worth one, with room on both sides.
pub(super) const FINE: f64 = 6_755_399_441_055_744.0;

/// Bits that hold the high and the low part of `floor(number)`, for numbers in `[0, 2^62]`.
#[inline(always)]
pub(super) fn parts_of(number: f64) -> [u64; 2] {
    let rounded = number + COARSE;
    // Exact: what is left has no bit that the number had not, and is smaller.
    let rest = number - (rounded - COARSE);
    [rounded.to_bits(), (rest.floor() + FINE).to_bits()]
}

/// Sums of the parts of some labels, and their number, in one cache line; the last place is empty.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct PartSums([[u64; 4]; 2]);

impl PartSums {
    #[inline(always)]
    fn add(&mut self, numbers: [f64; 3]) {
        let [[a_high, a_low], [b_high, b_low], [c_high, c_low]] = numbers.map(parts_of);
        let more = [[a_high, a_low, b_high, b_low], [c_high, c_low, 1, 0]];
        for (sum, more) in self.0.as_flattened_mut().iter_mut().zip(more.as_flattened()) {
            *sum = sum.wrapping_add(*more);
        }
    }

    /// The number of labels, at most `2^31`, and the sums of the whole parts of their three numbers.
    pub(super) fn wholes(&self) -> (u64, [u128; 3]) {
        let [[a_high, a_low, b_high, b_low], [c_high, c_low, count, _]] = self.0;
        let sum = |high: u64, low: u64| {
            let high = high.wrapping_sub(count.wrapping_mul(COARSE.to_bits()));
            let low = low.wrapping_sub(count.wrapping_mul(FINE.to_bits())).cast_signed();
            // Not negative: it is a sum of whole parts that are not.
            ((i128::from(high) << 32) + i128::from(low)).cast_unsigned()
        };
        (count, [sum(a_high, a_low), sum(b_high, b_low), sum(c_high, c_low)])
    }
}

/// Three numbers of a label of probability `p`, in units: its mass `p`, its moment `s p` and its uniform moment `s u`.
#[inline(always)]
fn numbers_of(probability: f64, uniform: f64) -> [f64; 3] {
    let score = 1.0 - probability;
    // In this order, which is that of a law's own `add`: another one rounds differently.
    [probability * UNIT, score * probability * UNIT, score * uniform * UNIT]
}

/// Adds the parts of labels of these probabilities, each to the sums of its bin; there is a bin for each of them.
pub(super) fn add_labels(probabilities: &[f64], uniform: f64, bins: &[u32], sums: &mut [PartSums]) {
    #[cfg(target_arch = "x86_64")]
    {
        use super::whole_parts_avx512 as wide;
        #[expect(unsafe_code, reason = "the processor is asked right before each")]
        // SAFETY: each function needs the instructions that were asked for and no others.
        unsafe {
            if has_avx512() {
                wide::add_labels(probabilities, uniform, bins, sums);
                return;
            } else if has_avx2() {
                in_registers::add_labels(probabilities, uniform, bins, sums);
                return;
            }
        }
    }
    add_each(probabilities, uniform, bins, sums);
}

#[inline(always)]
pub(super) fn add_each(probabilities: &[f64], uniform: f64, bins: &[u32], sums: &mut [PartSums]) {
    for (bin, probability) in bins.iter().zip(probabilities) {
        sums[*bin as usize].add(numbers_of(*probability, uniform));
    }
}

#[cfg(target_arch = "x86_64")]
mod in_registers {
    use std::arch::x86_64::{
        __m256d, __m256i, _mm256_add_epi64, _mm256_add_pd, _mm256_castpd_si256, _mm256_floor_pd,
        _mm256_loadu_pd, _mm256_loadu_si256, _mm256_mul_pd, _mm256_permute2x128_si256,
        _mm256_set1_epi64x, _mm256_set1_pd, _mm256_setzero_si256, _mm256_storeu_si256,
        _mm256_sub_pd, _mm256_unpackhi_epi64, _mm256_unpacklo_epi64,
    };

    use super::{COARSE, FINE, PartSums, UNIT};
    use crate::numeric::turned_x86::turned_four;

    /// Four labels at a time: their parts are made, turned round and added without leaving the registers, two additions of four
    /// words a label. The compiler, left to itself, would turn the square of four labels word by word.
    #[target_feature(enable = "avx2")]
    pub(super) fn add_labels(
        probabilities: &[f64],
        uniform: f64,
        bins: &[u32],
        sums: &mut [PartSums],
    ) {
        let (unit, one) = (_mm256_set1_pd(UNIT), _mm256_set1_pd(1.0));
        let share = _mm256_set1_pd(uniform);
        let (fours, rest) = bins.as_chunks::<4>();
        let (probability_fours, last) = probabilities[..bins.len()].as_chunks::<4>();
        for (bins, probabilities) in fours.iter().zip(probability_fours) {
            let probability = numbers(probabilities);
            let score = _mm256_sub_pd(one, probability);
            let moment = _mm256_mul_pd(_mm256_mul_pd(score, probability), unit);
            let uniform_moment = _mm256_mul_pd(_mm256_mul_pd(score, share), unit);
            let [a, b] = parts_of(_mm256_mul_pd(probability, unit));
            let [c, d] = parts_of(moment);
            let [e, f] = parts_of(uniform_moment);
            let first = turned_four!(
                [a, b, c, d],
                _mm256_unpacklo_epi64,
                _mm256_unpackhi_epi64,
                _mm256_permute2x128_si256
            );
            let second = turned_four!(
                [e, f, _mm256_set1_epi64x(1), _mm256_setzero_si256()],
                _mm256_unpacklo_epi64,
                _mm256_unpackhi_epi64,
                _mm256_permute2x128_si256
            );
            for ((bin, first), second) in bins.iter().zip(first).zip(second) {
                let [first_sums, second_sums] = &mut sums[*bin as usize].0;
                add(first_sums, first);
                add(second_sums, second);
            }
        }
        super::add_each(last, uniform, rest, sums);
    }

    /// [`parts_of`](super::parts_of) four numbers.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn parts_of(number: __m256d) -> [__m256i; 2] {
        let coarse = _mm256_set1_pd(COARSE);
        let rounded = _mm256_add_pd(number, coarse);
        let rest = _mm256_sub_pd(number, _mm256_sub_pd(rounded, coarse));
        let fine = _mm256_add_pd(_mm256_floor_pd(rest), _mm256_set1_pd(FINE));
        [_mm256_castpd_si256(rounded), _mm256_castpd_si256(fine)]
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn numbers(numbers: &[f64; 4]) -> __m256d {
        #[expect(unsafe_code, reason = "vector registers are loaded by address")]
        // SAFETY: four numbers are the 32 bytes that are read, and they need not be aligned.
        unsafe {
            _mm256_loadu_pd(numbers.as_ptr())
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn add(sums: &mut [u64; 4], more: __m256i) {
        let place = sums.as_mut_ptr().cast();
        #[expect(unsafe_code, reason = "vector registers are loaded and stored by address")]
        // SAFETY: four words are the 32 bytes that are read and written, and they need not be aligned.
        unsafe {
            _mm256_storeu_si256(place, _mm256_add_epi64(_mm256_loadu_si256(place), more));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Whole parts of small, large, whole and half numbers.
    #[test]
    fn parts_are_those_of_the_whole_part() {
        let mut stream = Seed::new(8).stream("parts");
        let largest = (1_u64 << 62) as f64;
        for round in 0..300_000 {
            let number = match round % 7 {
                0 => 0.0,
                1 => largest,
                2 => largest * stream.uniform(),
                3 => (stream.bits() >> (2 + stream.below(60))) as f64,
                4 => (stream.bits() >> 40) as f64 + 0.5,
                5 => largest * stream.uniform().powi(60),
                _ => ((stream.bits() >> (33 + stream.below(20))) as f64 * 4294967296.0)
                    .min(largest)
                    .next_down()
                    .max(0.0),
            };
            let [high, low] = parts_of(number);
            let high = high.wrapping_sub(COARSE.to_bits()).cast_signed();
            let low = low.wrapping_sub(FINE.to_bits()).cast_signed();
            assert_eq!((i128::from(high) << 32) + i128::from(low), number.floor() as i128);
        }
    }

    /// Sums of whole parts, with and without vector registers, of any number of labels.
    #[test]
    fn sums_of_parts_are_sums_of_whole_parts() {
        let mut stream = Seed::new(9).stream("parts");
        for round in 0..300 {
            let uniform = 1.0 / (1 + stream.below(2000)) as f64;
            let labels = if round % 2 == 0 { 256 } else { stream.below(257) };
            let probabilities: Vec<f64> = (0..labels)
                .map(|_| match stream.below(5) {
                    0 => 0.0,
                    1 => 1.0,
                    2 => stream.uniform(),
                    3 => stream.uniform().powi(60),
                    _ => f64::from(stream.uniform() as f32).next_up().min(1.0),
                })
                .collect();
            let bins: Vec<u32> = (0..labels).map(|_| stream.below(5) as u32).collect();
            let mut expected = [(0_u64, [0_u128; 3]); 5];
            for (bin, probability) in bins.iter().zip(&probabilities) {
                let (count, sums) = &mut expected[*bin as usize];
                *count += 1;
                for (sum, number) in sums.iter_mut().zip(numbers_of(*probability, uniform)) {
                    *sum += u128::from(number as u64);
                }
            }
            let made = |add: &dyn Fn(&mut [PartSums])| {
                let mut sums = [PartSums::default(); 5];
                add(&mut sums);
                sums.map(|sums| sums.wholes())
            };
            let added = made(&|sums| add_labels(&probabilities, uniform, &bins, sums));
            assert_eq!(added, expected);
            assert_eq!(made(&|sums| add_each(&probabilities, uniform, &bins, sums)), expected);
            #[cfg(target_arch = "x86_64")]
            if has_avx2() {
                let narrow = |sums: &mut [PartSums]| {
                    #[expect(unsafe_code, reason = "the processor was asked two lines above")]
                    // SAFETY: the function needs these instructions and no others.
                    unsafe {
                        in_registers::add_labels(&probabilities, uniform, &bins, sums);
                    }
                };
                assert_eq!(made(&narrow), expected);
            }
        }
    }
}

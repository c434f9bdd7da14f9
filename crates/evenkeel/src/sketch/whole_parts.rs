//! Sums of whole parts of numbers, four numbers of a label in one vector register.
//!
//! ```text
//! x in [0, 2^62]      floor(x) = 2^32 high + low      |low| <= 2^31
//! high   bits of x + 2^84, whose last bit is worth 2^32      less those of 2^84
//! low    bits of floor(rest) + 1.5 2^52                      less those of 1.5 2^52
//! ```
//! Bits are summed as they stand, modulo `2^64`; what stands there besides the parts is the same for every label and is taken away
//! once, from their number. Conversions to whole numbers, which AVX2 does one by one, and carries to a second word are not needed.

/// A number whose last bit is worth `2^32`.
const COARSE: f64 = (1_u128 << 84) as f64;
/// A number whose last bit is worth one, with room on both sides.
const FINE: f64 = 6_755_399_441_055_744.0;

/// Bits that hold the high and the low part of `floor(number)`, for numbers in `[0, 2^62]`.
#[inline(always)]
pub(super) fn parts_of(number: f64) -> [u64; 2] {
    let rounded = number + COARSE;
    // Exact: what is left has no bit that the number had not, and is smaller.
    let rest = number - (rounded - COARSE);
    [rounded.to_bits(), (rest.floor() + FINE).to_bits()]
}

/// Labels whose parts are made together.
pub(super) const TOGETHER: usize = 256;

/// Parts of three numbers of each label: high, low, high, low, high, low.
pub(super) type Parts = [[u64; TOGETHER]; 6];

/// Sums of the parts of some labels, and their number, in one cache line; the last place is empty.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct PartSums([[u64; 4]; 2]);

impl PartSums {
    #[inline(always)]
    fn add(&mut self, parts: &Parts, label: usize) {
        let [first, second] = &mut self.0;
        for (place, sum) in first.iter_mut().enumerate() {
            *sum = sum.wrapping_add(parts[place][label]);
        }
        second[0] = second[0].wrapping_add(parts[4][label]);
        second[1] = second[1].wrapping_add(parts[5][label]);
        second[2] += 1;
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

/// Adds the parts of the first labels, each to the sums of its bin; there is a bin for each of them.
pub(super) fn add_to_bins(parts: &Parts, bins: &[u32], sums: &mut [PartSums]) {
    #[cfg(target_arch = "x86_64")]
    if crate::numeric::simd::has_avx2() {
        #[expect(unsafe_code, reason = "the processor was asked on the line above")]
        // SAFETY: the function needs these instructions and no others, and this processor has them.
        return unsafe { in_registers::add_to_bins(parts, bins, sums) };
    }
    add_from(0, parts, bins, sums);
}

#[inline(always)]
fn add_from(first: usize, parts: &Parts, bins: &[u32], sums: &mut [PartSums]) {
    for (label, bin) in bins.iter().enumerate().take(TOGETHER).skip(first) {
        sums[*bin as usize].add(parts, label);
    }
}

#[cfg(target_arch = "x86_64")]
mod in_registers {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi64, _mm256_loadu_si256, _mm256_permute2x128_si256,
        _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_storeu_si256, _mm256_unpackhi_epi64,
        _mm256_unpacklo_epi64,
    };

    use super::{PartSums, Parts, TOGETHER};

    /// Two additions of four words a label. Left to the compiler, the square of four labels is turned round word by word.
    #[target_feature(enable = "avx2")]
    pub(super) fn add_to_bins(parts: &Parts, bins: &[u32], sums: &mut [PartSums]) {
        let (fours, rest) = bins[..bins.len().min(TOGETHER)].as_chunks::<4>();
        for (at, bins) in fours.iter().enumerate() {
            let part = |place: usize| load(&parts[place].as_chunks::<4>().0[at]);
            let first = turned([part(0), part(1), part(2), part(3)]);
            let second = turned([part(4), part(5), _mm256_set1_epi64x(1), _mm256_setzero_si256()]);
            for ((bin, first), second) in bins.iter().zip(first).zip(second) {
                let [first_sums, second_sums] = &mut sums[*bin as usize].0;
                add(first_sums, first);
                add(second_sums, second);
            }
        }
        super::add_from(4 * fours.len(), parts, &bins[..4 * fours.len() + rest.len()], sums);
    }

    #[target_feature(enable = "avx2")]
    fn load(words: &[u64; 4]) -> __m256i {
        #[expect(unsafe_code, reason = "vector registers are loaded by address")]
        // SAFETY: four words are the 32 bytes that are read, and they need not be aligned.
        unsafe {
            _mm256_loadu_si256(words.as_ptr().cast())
        }
    }

    #[target_feature(enable = "avx2")]
    fn add(sums: &mut [u64; 4], more: __m256i) {
        let sum = _mm256_add_epi64(load(sums), more);
        #[expect(unsafe_code, reason = "vector registers are stored by address")]
        // SAFETY: four words are the 32 bytes that are written, and they need not be aligned.
        unsafe {
            _mm256_storeu_si256(sums.as_mut_ptr().cast(), sum);
        }
    }

    /// Rows of a square as its columns.
    #[target_feature(enable = "avx2")]
    fn turned(rows: [__m256i; 4]) -> [__m256i; 4] {
        let even = [0, 2].map(|row| _mm256_unpacklo_epi64(rows[row], rows[row + 1]));
        let odd = [0, 2].map(|row| _mm256_unpackhi_epi64(rows[row], rows[row + 1]));
        [
            _mm256_permute2x128_si256::<0x20>(even[0], even[1]),
            _mm256_permute2x128_si256::<0x20>(odd[0], odd[1]),
            _mm256_permute2x128_si256::<0x31>(even[0], even[1]),
            _mm256_permute2x128_si256::<0x31>(odd[0], odd[1]),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Whole parts of small, large, whole and half numbers, with and without vector registers, of any number of labels.
    #[test]
    fn sums_of_parts_are_sums_of_whole_parts() {
        let mut stream = Seed::new(8).stream("parts");
        let largest = (1_u64 << 62) as f64;
        let mut numbers = [[0.0; TOGETHER]; 3];
        for round in 0..300 {
            for number in numbers.iter_mut().flatten() {
                *number = match stream.below(7) {
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
            }
            let labels = if round % 2 == 0 { TOGETHER } else { stream.below(TOGETHER + 1) };
            let bins: Vec<u32> = (0..labels).map(|_| stream.below(5) as u32).collect();
            let mut parts: Parts = [[0; TOGETHER]; 6];
            let mut expected = [(0_u64, [0_u128; 3]); 5];
            for label in 0..TOGETHER {
                for (place, numbers) in numbers.iter().enumerate() {
                    let [high, low] = parts_of(numbers[label]);
                    parts[2 * place][label] = high;
                    parts[2 * place + 1][label] = low;
                }
                let Some(bin) = bins.get(label) else { continue };
                let (count, sums) = &mut expected[*bin as usize];
                *count += 1;
                for (sum, numbers) in sums.iter_mut().zip(&numbers) {
                    *sum += u128::from(numbers[label] as u64);
                }
            }
            let (mut wide, mut narrow) = ([PartSums::default(); 5], [PartSums::default(); 5]);
            add_to_bins(&parts, &bins, &mut wide);
            add_from(0, &parts, &bins, &mut narrow);
            assert_eq!(wide.map(|sums| sums.wholes()), expected);
            assert_eq!(narrow.map(|sums| sums.wholes()), expected);
        }
    }
}

//! The smallest entry, the largest and the sum of eight rows of `f32` at once, in the vector registers of x86-64 processors.
//!
//! ```text
//! a row     16 lanes   smallest, largest, sum of entries l, l + 16, ..        what is past the end of the row is masked
//! 8 rows               turned round: a register holds one lane of all rows, and lanes are put together for all at once
//! ```
//! The same numbers as [`row_extremes_in_lanes`](super::probabilities): sums run in the same order. A row by itself would spend
//! more time on its last sixteen numbers than on all its entries.

use std::arch::x86_64::*;

use super::probabilities::{ExtremesOfRows, LANES, ROWS_TOGETHER};
use crate::numeric::simd::{has_avx2, has_avx512};
use crate::numeric::turned_x86::{turned_eight, turned_four};

/// Rows taken at a time.
const ABREAST: usize = 8;

/// Looks at as many of the first `rows` as come in whole groups of eight, `columns` entries each, and gives their number: none where the
/// processor lacks the instructions.
pub(super) fn extremes_of_groups(
    values: &[f32],
    columns: usize,
    rows: usize,
    out: &mut ExtremesOfRows,
) -> usize {
    let (width, groups) = (ABREAST * columns, rows.min(ROWS_TOGETHER) / ABREAST);
    if columns == 0 || values.len() < groups * width || !has_avx2() {
        return 0;
    }
    let is_wide = has_avx512();
    for (group, values) in values.chunks_exact(width).take(groups).enumerate() {
        #[expect(unsafe_code, reason = "the processor was asked above")]
        // SAFETY: each function needs the instructions that were asked for and no others.
        let found = unsafe {
            if is_wide {
                wide::extremes(values, columns)
            } else {
                narrow::extremes(values, columns)
            }
        };
        found.write(group, out);
    }
    groups * ABREAST
}

/// Has what stands some rows behind a chunk brought near: between the groups of rows other work is done, and the processor, which
/// fetches ahead by itself, begins anew each time.
#[inline(always)]
fn prefetch_ahead(chunk: &[f32]) {
    const AHEAD: usize = 8192;
    #[expect(unsafe_code, reason = "prefetching takes an address")]
    // SAFETY: every x86-64 processor has the instruction, which reads nothing that a program could see, whatever the address.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(chunk.as_ptr().cast::<i8>().wrapping_add(AHEAD));
    }
}

/// What was found of eight rows.
struct Found {
    smallest: [f32; ABREAST],
    largest: [f32; ABREAST],
    sums: [f64; ABREAST],
}

impl Found {
    #[inline(always)]
    fn write(&self, group: usize, out: &mut ExtremesOfRows) {
        let rows = group * ABREAST..(group + 1) * ABREAST;
        out.smallest[rows.clone()].copy_from_slice(&self.smallest.map(f64::from));
        out.largest[rows.clone()].copy_from_slice(&self.largest.map(f64::from));
        out.sums[rows].copy_from_slice(&self.sums);
    }
}

/// One number for each of eight rows from their eight lanes each: halves against halves, as in the plain loop, of several rows in
/// one register.
macro_rules! fold_rows {
    ($rows:ident, $pick:ident) => {{
        // Lanes 0 to 3 of two rows, and lanes 4 to 7.
        let mut fours = [_mm256_setzero_ps(); 4];
        for (row, four) in fours.iter_mut().enumerate() {
            let (one, other) = ($rows[row], $rows[row + 4]);
            *four = $pick(
                _mm256_permute2f128_ps::<0x31>(one, other),
                _mm256_permute2f128_ps::<0x20>(one, other),
            );
        }
        let mut twos = [_mm256_setzero_ps(); 2];
        for (pair, two) in twos.iter_mut().enumerate() {
            let (one, other) =
                (_mm256_castps_pd(fours[2 * pair]), _mm256_castps_pd(fours[2 * pair + 1]));
            *two = $pick(
                _mm256_castpd_ps(_mm256_unpackhi_pd(one, other)),
                _mm256_castpd_ps(_mm256_unpacklo_pd(one, other)),
            );
        }
        $pick(
            _mm256_shuffle_ps::<0xdd>(twos[0], twos[1]),
            _mm256_shuffle_ps::<0x88>(twos[0], twos[1]),
        )
    }};
}
/// In registers of 512 bits.
mod wide {
    use super::*;

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
    pub(super) fn extremes(values: &[f32], columns: usize) -> Found {
        let none = _mm256_setzero_ps();
        let (mut smallest, mut largest) = ([none; ABREAST], [none; ABREAST]);
        let mut sums = [[_mm512_setzero_pd(); ABREAST]; 2];
        for (row, values) in values.chunks_exact(columns).take(ABREAST).enumerate() {
            let lanes = lanes_of(values);
            smallest[row] = lanes.0;
            largest[row] = lanes.1;
            [sums[0][row], sums[1][row]] = lanes.2;
        }
        let mut sum = _mm512_setzero_pd();
        for rows in sums {
            let lanes =
                turned_eight!(rows, _mm512_unpacklo_pd, _mm512_unpackhi_pd, _mm512_shuffle_f64x2);
            for lane in lanes {
                sum = _mm512_add_pd(sum, lane);
            }
        }
        let smallest = fold_rows!(smallest, _mm256_min_ps);
        let largest = fold_rows!(largest, _mm256_max_ps);
        let mut found = Found { smallest: [0.0; 8], largest: [0.0; 8], sums: [0.0; 8] };
        #[expect(unsafe_code, reason = "vector registers are stored by address")]
        // SAFETY: each array holds the eight numbers that are written, and none need be aligned.
        unsafe {
            _mm256_storeu_ps(found.smallest.as_mut_ptr(), smallest);
            _mm256_storeu_ps(found.largest.as_mut_ptr(), largest);
            _mm512_storeu_pd(found.sums.as_mut_ptr(), sum);
        }
        found
    }

    /// Smallest and largest of lanes `l` and `l + 8`, and the sums of all sixteen.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
    #[inline]
    fn lanes_of(values: &[f32]) -> (__m256, __m256, [__m512d; 2]) {
        let first = _mm512_set1_ps(values[0]);
        let (mut smallest, mut largest) = (first, first);
        let mut sums = [_mm512_setzero_pd(); 2];
        let (chunks, rest) = values.as_chunks::<LANES>();
        for chunk in chunks {
            prefetch_ahead(chunk);
            let entries = load(chunk, u16::MAX);
            // The first operand where it is smaller, else the second: as the comparison of the plain loop.
            smallest = _mm512_min_ps(entries, smallest);
            largest = _mm512_max_ps(entries, largest);
            sums = added(sums, entries);
        }
        if !rest.is_empty() {
            prefetch_ahead(rest);
            let mask = u16::MAX >> (LANES - rest.len());
            let entries = load(rest, mask);
            smallest = _mm512_mask_min_ps(smallest, mask, entries, smallest);
            largest = _mm512_mask_max_ps(largest, mask, entries, largest);
            sums = added(sums, entries);
        }
        let fold = |lanes| (_mm512_extractf32x8_ps::<1>(lanes), _mm512_castps512_ps256(lanes));
        let ((low_after, low), (high_after, high)) = (fold(smallest), fold(largest));
        (_mm256_min_ps(low_after, low), _mm256_max_ps(high_after, high), sums)
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
    #[inline]
    fn added(sums: [__m512d; 2], entries: __m512) -> [__m512d; 2] {
        let (low, high) = (_mm512_castps512_ps256(entries), _mm512_extractf32x8_ps::<1>(entries));
        [
            _mm512_add_pd(sums[0], _mm512_cvtps_pd(low)),
            _mm512_add_pd(sums[1], _mm512_cvtps_pd(high)),
        ]
    }

    /// The entries of the mask, and zeros.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
    #[inline]
    fn load(entries: &[f32], mask: u16) -> __m512 {
        debug_assert!(entries.len() >= LANES - mask.leading_zeros() as usize);
        #[expect(unsafe_code, reason = "vector registers are loaded by address")]
        // SAFETY: only entries of the mask are read, which has no bit past the end of the slice.
        unsafe {
            _mm512_maskz_loadu_ps(mask, entries.as_ptr())
        }
    }
}

/// In registers of 256 bits.
mod narrow {
    use super::*;

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn extremes(values: &[f32], columns: usize) -> Found {
        let none = _mm256_setzero_ps();
        let (mut smallest, mut largest) = ([none; ABREAST], [none; ABREAST]);
        let mut sums = [[_mm256_setzero_pd(); 4]; ABREAST];
        for (row, values) in values.chunks_exact(columns).take(ABREAST).enumerate() {
            (smallest[row], largest[row], sums[row]) = lanes_of(values);
        }
        let smallest = fold_rows!(smallest, _mm256_min_ps);
        let largest = fold_rows!(largest, _mm256_max_ps);
        let mut found = Found { smallest: [0.0; 8], largest: [0.0; 8], sums: [0.0; 8] };
        for (rows, out) in sums.as_chunks::<4>().0.iter().zip(found.sums.as_chunks_mut::<4>().0) {
            let mut sum = _mm256_setzero_pd();
            for quarter in 0..4 {
                let [a, b, c, d] = rows;
                let lanes = turned_four!(
                    [a[quarter], b[quarter], c[quarter], d[quarter]],
                    _mm256_unpacklo_pd,
                    _mm256_unpackhi_pd,
                    _mm256_permute2f128_pd
                );
                for lane in lanes {
                    sum = _mm256_add_pd(sum, lane);
                }
            }
            #[expect(unsafe_code, reason = "vector registers are stored by address")]
            // SAFETY: the array holds the four numbers that are written, and need not be aligned.
            unsafe {
                _mm256_storeu_pd(out.as_mut_ptr(), sum);
            }
        }
        #[expect(unsafe_code, reason = "vector registers are stored by address")]
        // SAFETY: each array holds the eight numbers that are written, and none need be aligned.
        unsafe {
            _mm256_storeu_ps(found.smallest.as_mut_ptr(), smallest);
            _mm256_storeu_ps(found.largest.as_mut_ptr(), largest);
        }
        found
    }

    /// Smallest and largest of lanes `l` and `l + 8`, and the sums of all sixteen.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn lanes_of(values: &[f32]) -> (__m256, __m256, [__m256d; 4]) {
        let first = _mm256_set1_ps(values[0]);
        let (mut smallest, mut largest) = ([first; 2], [first; 2]);
        let mut sums = [_mm256_setzero_pd(); 4];
        let (chunks, rest) = values.as_chunks::<LANES>();
        for chunk in chunks {
            prefetch_ahead(chunk);
            for (half, entries) in chunk.as_chunks::<8>().0.iter().enumerate() {
                let entries = load(entries);
                // The first operand where it is smaller, else the second: as the comparison of the plain loop.
                smallest[half] = _mm256_min_ps(entries, smallest[half]);
                largest[half] = _mm256_max_ps(entries, largest[half]);
                let (low, high) = wider(entries);
                sums[2 * half] = _mm256_add_pd(sums[2 * half], low);
                sums[2 * half + 1] = _mm256_add_pd(sums[2 * half + 1], high);
            }
        }
        if !rest.is_empty() {
            prefetch_ahead(rest);
            // What is past the end is the first entry for the extremes, and zero for the sum: neither changes anything.
            let (mut extreme, mut added) = ([values[0]; LANES], [0.0; LANES]);
            extreme[..rest.len()].copy_from_slice(rest);
            added[..rest.len()].copy_from_slice(rest);
            let (extremes, entries) = (extreme.as_chunks::<8>().0, added.as_chunks::<8>().0);
            for (half, (extreme, entries)) in extremes.iter().zip(entries).enumerate() {
                smallest[half] = _mm256_min_ps(load(extreme), smallest[half]);
                largest[half] = _mm256_max_ps(load(extreme), largest[half]);
                let (low, high) = wider(load(entries));
                sums[2 * half] = _mm256_add_pd(sums[2 * half], low);
                sums[2 * half + 1] = _mm256_add_pd(sums[2 * half + 1], high);
            }
        }
        let (smallest, largest) =
            (_mm256_min_ps(smallest[1], smallest[0]), _mm256_max_ps(largest[1], largest[0]));
        (smallest, largest, sums)
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn wider(entries: __m256) -> (__m256d, __m256d) {
        let (low, high) = (_mm256_castps256_ps128(entries), _mm256_extractf128_ps::<1>(entries));
        (_mm256_cvtps_pd(low), _mm256_cvtps_pd(high))
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn load(entries: &[f32; 8]) -> __m256 {
        #[expect(unsafe_code, reason = "vector registers are loaded by address")]
        // SAFETY: eight entries are the 32 bytes that are read, and they need not be aligned.
        unsafe {
            _mm256_loadu_ps(entries.as_ptr())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::probabilities::row_extremes;
    use super::*;
    use crate::seed::Seed;

    /// Rows of any width, of positive and negative numbers, zeros of both signs, tiny and huge ones.
    fn table(rows: usize, columns: usize) -> Vec<f32> {
        let mut stream = Seed::new(3).stream("extremes");
        (0..rows * columns)
            .map(|_| match stream.below(8) {
                0 => 0.0,
                1 => -0.0,
                2 => stream.uniform() as f32 * 1e-40,
                3 => -(stream.uniform() as f32),
                4 => stream.uniform() as f32 * 1e30,
                _ => stream.uniform() as f32,
            })
            .collect()
    }

    /// Whether some rows are those found one by one.
    fn are_those_of_single_rows(found: &Found, values: &[f32], columns: usize) -> bool {
        values.chunks_exact(columns).enumerate().all(|(row, values)| {
            let expected = row_extremes(values);
            // Zeros of either sign are the same smallest entry.
            found.sums[row].to_bits() == expected.sum.to_bits()
                && f64::from(found.smallest[row]) == expected.smallest
                && f64::from(found.largest[row]) == expected.largest
        })
    }

    /// What either width finds, where the processor has it.
    fn found(values: &[f32], columns: usize) -> Vec<Found> {
        let mut found = Vec::new();
        #[expect(unsafe_code, reason = "the processor is asked right before each")]
        // SAFETY: each function needs the instructions that were asked for and no others.
        unsafe {
            if has_avx512() {
                found.push(wide::extremes(values, columns));
            }
            if has_avx2() {
                found.push(narrow::extremes(values, columns));
            }
        }
        found
    }

    #[test]
    fn groups_have_the_bits_of_single_rows() {
        for columns in (1..70).chain([99, 100, 128, 1000]) {
            let values = table(ABREAST, columns);
            for found in found(&values, columns) {
                assert!(are_those_of_single_rows(&found, &values, columns), "{columns} columns");
            }
        }
    }

    /// What is not a number, or infinite, is never lost: the sum is not near one.
    #[test]
    fn what_is_no_number_shows_in_the_sum() {
        for columns in [1, 3, 15, 16, 17, 40] {
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                for place in 0..columns {
                    let mut values = vec![0.1; ABREAST * columns];
                    values[3 * columns + place] = bad;
                    for found in found(&values, columns) {
                        let finite = found.sums.map(f64::is_finite);
                        assert_eq!(finite, std::array::from_fn(|row| row != 3));
                    }
                }
            }
        }
    }

    #[test]
    fn whole_groups_are_taken_and_no_more() {
        let mut rows = ExtremesOfRows::new();
        let values = table(70, 3);
        let whole = |rows: usize| if has_avx2() { rows / 8 * 8 } else { 0 };
        for count in [0, 1, 7, 8, 9, 63, 64] {
            assert_eq!(extremes_of_groups(&values, 3, count, &mut rows), whole(count));
        }
        assert_eq!(extremes_of_groups(&values, 3, 70, &mut rows), whole(64));
        assert_eq!(extremes_of_groups(&values[..23], 3, 8, &mut rows), 0);
        assert_eq!(extremes_of_groups(&[], 0, 8, &mut rows), 0);
    }
}

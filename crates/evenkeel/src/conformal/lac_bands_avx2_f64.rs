//! [`Settle`] for rows of double precision in the 256-bit registers of x86-64 processors.
//!
//! ```text
//! one quad = 4 entries: 1 load, 2 comparisons, 1 addition, and their signs as 4 bits of a word
//! ```
//! Rows of up to four quads are done four at a time, longer ones one by one.

use std::any::Any;
use std::arch::x86_64::{
    __m256d, _CMP_GE_OQ, _CMP_LE_OQ, _CMP_LT_OQ, _mm256_add_pd, _mm256_and_pd, _mm256_cmp_pd,
    _mm256_cvtsd_f64, _mm256_hadd_pd, _mm256_movemask_pd, _mm256_or_pd, _mm256_permute2f128_pd,
    _mm256_set1_pd, _mm256_setr_pd, _mm256_setzero_pd, _mm256_xor_pd,
};

use super::label_sets::WORD;
use super::lac_bands::{Band, BandOfRow, Bands, Settle, Stop, Stretch, settle_in_widest_registers};
use crate::rows::Real;

/// Entries in a register.
const QUAD: usize = 4;
/// Rows done at a time: summing one row across lanes would cost more than the rest.
const ROWS: usize = 4;

/// The way through AVX2 for rows of so many entries, where it is the faster one and the processor has it.
pub(super) fn if_faster<T: Real>(columns: usize) -> Option<Settle<T, f64>> {
    if columns < 2 || !std::arch::is_x86_feature_detected!("avx2") {
        return None;
    }
    // One loop for each number of quads: a count that is known is no loop.
    let settle: Settle<T, f64> = match columns.div_ceil(QUAD) {
        1 => settle::<T, 1>,
        2 => settle::<T, 2>,
        3 => settle::<T, 3>,
        4 => settle::<T, 4>,
        _ => settle_wide,
    };
    Some(settle)
}

/// Four rows at a time; what is left at the end goes by the loop for any processor.
fn settle<T: Real, const QUADS: usize>(
    stretch: &Stretch<'_, T, f64>,
    words: &mut [u64],
) -> Stop<f64> {
    if words.len() < ROWS {
        return settle_in_widest_registers(stretch, words);
    }
    #[expect(unsafe_code, reason = "`if_faster` has asked the processor")]
    // SAFETY: `narrow` is safe code that needs AVX2 and nothing else. This function is private, and `if_faster` hands it
    // out only where the processor has AVX2.
    unsafe {
        match stretch.bands {
            Bands::Shared(band) => narrow::<T, QUADS>(stretch, band, words),
            Bands::PerRow(each) => narrow::<T, QUADS>(stretch, each, words),
        }
    }
}

/// Reads whole quads from the start of each row. What lies beyond the row is the next one, and is masked out; at the end
/// of the block there is none, and the rows left over are not settled here.
#[target_feature(enable = "avx2")]
fn narrow<T: Real, const QUADS: usize>(
    stretch: &Stretch<'_, T, f64>,
    bands: impl BandOfRow<f64>,
    words: &mut [u64],
) -> Stop<f64> {
    let columns = stretch.columns;
    let inside = first_lanes(columns - (QUADS - 1) * QUAD);
    // Lanes past the end of a row are zeros, which pass where the threshold admits everything; their bits must go, or
    // equal sets would differ.
    let members = (1 << columns) - 1;
    let (least, largest) = (_mm256_set1_pd(stretch.sums.0), _mm256_set1_pd(stretch.sums.1));
    let mut settled = 0;
    for words in words.as_chunks_mut::<ROWS>().0 {
        let first = settled * columns;
        let reach = first + (ROWS - 1) * columns + QUADS * QUAD;
        let Some(rows) = stretch.onward.get(first..reach) else { break };
        let mut doubt = _mm256_setzero_pd();
        let mut sums = [_mm256_setzero_pd(); ROWS];
        for (row, word) in words.iter_mut().enumerate() {
            let Band { low, high } = bands.of(settled + row);
            let (low, high) = (_mm256_set1_pd(low), _mm256_set1_pd(high));
            let Some(quads) = rows[row * columns..].as_chunks::<QUAD>().0.first_chunk::<QUADS>()
            else {
                break;
            };
            let mut bits = 0;
            for (k, quad) in quads.iter().enumerate() {
                let mut values = load(quad);
                if k == QUADS - 1 {
                    values = _mm256_and_pd(values, inside);
                }
                sums[row] = _mm256_add_pd(sums[row], values);
                let surely = _mm256_cmp_pd::<_CMP_GE_OQ>(values, high);
                let perhaps = _mm256_cmp_pd::<_CMP_GE_OQ>(values, low);
                // The values themselves are in the `or`: the sign of a negative entry is a doubt without a comparison.
                let here = _mm256_or_pd(values, _mm256_xor_pd(surely, perhaps));
                doubt = _mm256_or_pd(doubt, here);
                bits |= u64::from(_mm256_movemask_pd(surely).cast_unsigned()) << (k * QUAD);
            }
            *word = bits & members;
        }
        let sums = totals(sums);
        let fair = _mm256_and_pd(
            _mm256_cmp_pd::<_CMP_LE_OQ>(least, sums),
            _mm256_cmp_pd::<_CMP_LE_OQ>(sums, largest),
        );
        if _mm256_movemask_pd(fair) != 0b1111 || _mm256_movemask_pd(doubt) != 0 {
            return Stop { rows: settled, sum: _mm256_cvtsd_f64(sums) };
        }
        settled += ROWS;
    }
    Stop { rows: settled, sum: f64::NAN }
}

/// Rows of more quads than that.
fn settle_wide<T: Real>(stretch: &Stretch<'_, T, f64>, words: &mut [u64]) -> Stop<f64> {
    #[expect(unsafe_code, reason = "`if_faster` has asked the processor")]
    // SAFETY: `wide` is safe code that needs AVX2 and nothing else. This function is private, and `if_faster` hands it out only where the
    // processor has AVX2.
    unsafe {
        match stretch.bands {
            Bands::Shared(band) => wide(stretch, band, words),
            Bands::PerRow(each) => wide(stretch, each, words),
        }
    }
}

/// One row at a time. Its last quad reaches beyond it, and at the end of a block there is nothing: such a row is not settled here.
///
/// Two sums run side by side: with one, every addition would wait for the one before, and fewer than eight lanes would round more than
/// [`Lane::sum_rounding`](super::lac_bands::Lane::sum_rounding) allows.
#[target_feature(enable = "avx2")]
fn wide<T: Real>(
    stretch: &Stretch<'_, T, f64>,
    bands: impl BandOfRow<f64>,
    words: &mut [u64],
) -> Stop<f64> {
    let columns = stretch.columns;
    let padded = columns.next_multiple_of(QUAD);
    let inside = first_lanes(columns + QUAD - padded);
    let words_per_row = columns.div_ceil(WORD);
    // Bits past the last class must be zero, or equal sets would differ.
    let members = u64::MAX >> (words_per_row * WORD - columns);
    let mut settled = 0;
    for words in words.chunks_exact_mut(words_per_row) {
        let first = settled * columns;
        let Some(row) = stretch.onward.get(first..first + padded) else { break };
        let (Some((last, quads)), Some((last_word, words))) =
            (row.as_chunks::<QUAD>().0.split_last(), words.split_last_mut())
        else {
            break;
        };
        let edges = Edges::of(bands.of(settled));
        let mut doubt = _mm256_setzero_pd();
        let mut sums = [_mm256_setzero_pd(); 2];
        let (full, rest) = quads.as_chunks::<{ WORD / QUAD }>();
        for (word, quads) in words.iter_mut().zip(full) {
            *word = edges.compare_each(quads, &mut sums, &mut doubt);
        }
        *last_word = edges.compare_each(rest, &mut sums, &mut doubt);
        let values = _mm256_and_pd(load(last), inside);
        sums[1] = _mm256_add_pd(sums[1], values);
        *last_word |= edges.compare(values, &mut doubt) << (rest.len() * QUAD);
        *last_word &= members;
        let sum = _mm256_add_pd(sums[0], sums[1]);
        let sum = _mm256_cvtsd_f64(totals([sum; ROWS]));
        let fair = stretch.sums.0 <= sum && sum <= stretch.sums.1;
        if !fair || _mm256_movemask_pd(doubt) != 0 {
            return Stop { rows: settled, sum };
        }
        settled += 1;
    }
    Stop { rows: settled, sum: f64::NAN }
}

/// A band in every lane.
struct Edges {
    /// Values below are surely out.
    low: __m256d,
    /// Values from here on are surely in.
    high: __m256d,
}

impl Edges {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn of(band: Band<f64>) -> Self {
        Self { low: _mm256_set1_pd(band.low), high: _mm256_set1_pd(band.high) }
    }

    /// Which values are in the set, as bits. The sign of a lane of `doubt` is set where a value fell into the band or was negative.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn compare(&self, values: __m256d, doubt: &mut __m256d) -> u64 {
        let surely = _mm256_cmp_pd::<_CMP_GE_OQ>(values, self.high);
        let perhaps = _mm256_cmp_pd::<_CMP_GE_OQ>(values, self.low);
        *doubt = _mm256_or_pd(*doubt, _mm256_or_pd(values, _mm256_xor_pd(surely, perhaps)));
        u64::from(_mm256_movemask_pd(surely).cast_unsigned())
    }

    /// The same of the quads of a word, which are added to both sums in turn.
    ///
    /// By pairs: a sum that is picked by a number lies in memory, and every addition would wait for the one before to be stored.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn compare_each<T: Real>(
        &self,
        quads: &[[T; QUAD]],
        sums: &mut [__m256d; 2],
        doubt: &mut __m256d,
    ) -> u64 {
        let mut bits = 0;
        let (pairs, odd) = quads.as_chunks::<2>();
        for (k, [first, second]) in pairs.iter().enumerate() {
            let (first, second) = (load(first), load(second));
            sums[0] = _mm256_add_pd(sums[0], first);
            sums[1] = _mm256_add_pd(sums[1], second);
            let both = self.compare(first, doubt) | self.compare(second, doubt) << QUAD;
            bits |= both << (k * 2 * QUAD);
        }
        if let [last] = odd {
            let values = load(last);
            sums[0] = _mm256_add_pd(sums[0], values);
            bits |= self.compare(values, doubt) << (pairs.len() * 2 * QUAD);
        }
        bits
    }
}

/// A quad as a register; `T` is `f64` wherever this is called.
#[target_feature(enable = "avx2")]
#[inline]
fn load<T: Real>(quad: &[T; QUAD]) -> __m256d {
    // A NaN is never settled.
    let v = (quad as &dyn Any).downcast_ref().unwrap_or(&[f64::NAN; QUAD]);
    _mm256_setr_pd(v[0], v[1], v[2], v[3])
}

/// All bits of the first `count` lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn first_lanes(count: usize) -> __m256d {
    let lanes = _mm256_setr_pd(0.0, 1.0, 2.0, 3.0);
    _mm256_cmp_pd::<_CMP_LT_OQ>(lanes, _mm256_set1_pd(count as f64))
}

/// The sums of four rows, one in each lane.
#[target_feature(enable = "avx2")]
#[inline]
fn totals([a, b, c, d]: [__m256d; ROWS]) -> __m256d {
    let (first, second) = (_mm256_hadd_pd(a, b), _mm256_hadd_pd(c, d));
    let lower = _mm256_permute2f128_pd::<0x20>(first, second);
    let upper = _mm256_permute2f128_pd::<0x31>(first, second);
    _mm256_add_pd(lower, upper)
}

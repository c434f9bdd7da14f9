//! [`Settle`] for single precision in the 256-bit registers of x86-64 processors.
//!
//! ```text
//! one window = 8 entries: 1 load, 2 comparisons, 1 addition, and their signs as 8 bits of a word
//! ```
//! Sums run in other lanes than in the portable version and may differ in the last bit. They only
//! decide whether a row is fair; the sets are the same.

use std::arch::x86_64::{
    __m256, _CMP_GE_OQ, _CMP_LT_OQ, _mm_add_ps, _mm_add_ss, _mm_and_ps, _mm_cmple_ps,
    _mm_cvtss_f32, _mm_movehl_ps, _mm_movemask_ps, _mm_set1_ps, _mm_shuffle_ps, _mm256_add_ps,
    _mm256_and_ps, _mm256_castps_si256, _mm256_castps256_ps128, _mm256_cmp_ps,
    _mm256_extractf128_ps, _mm256_hadd_ps, _mm256_movemask_epi8, _mm256_movemask_ps, _mm256_or_ps,
    _mm256_packs_epi16, _mm256_packs_epi32, _mm256_permutevar8x32_epi32, _mm256_set1_ps,
    _mm256_setr_epi32, _mm256_setr_ps, _mm256_setzero_ps, _mm256_xor_ps,
};

use super::label_sets::WORD;
use super::lac_bands::{Band, BandOfRow, Bands, Settle, Stop, Stretch, WINDOW, in_lanes};
use crate::rows::Real;

/// Narrow rows are done this many at a time: summing one row across lanes would cost more than the
/// rest.
const ROWS: usize = 4;

/// The way through AVX2, on processors that have it; none on others, where the portable loop does.
pub(super) fn if_available<T: Real>() -> Option<Settle<T, f32>> {
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "the processor has just said that it knows AVX2")]
        // SAFETY: `settle` is safe code that needs AVX2 and nothing else, and a processor does not lose it.
        Some(|stretch, words| unsafe { settle(stretch, words) })
    } else {
        None
    }
}

/// Picks the loop for the width of the rows and the form of the bands.
#[target_feature(enable = "avx2")]
fn settle<T: Real>(stretch: &Stretch<'_, T, f32>, words: &mut [u64]) -> Stop<f32> {
    // Fewer rows than are done at a time: the loop for any width does them.
    let narrow_rows = stretch.columns <= 2 * WINDOW && words.len() >= ROWS;
    match stretch.bands {
        Bands::Shared(band) if narrow_rows => narrow(stretch, band, words),
        Bands::PerRow(each) if narrow_rows => narrow(stretch, each, words),
        Bands::Shared(band) => wide(stretch, band, words),
        Bands::PerRow(each) => wide(stretch, each, words),
    }
}

/// Rows that fit two windows, four at a time, so that their sums are found together.
///
/// Reads up to two windows from the start of each row. What lies beyond the row is the next one,
/// and is masked out; at the end of the block there is none, and the rows left over are done one by
/// one.
#[target_feature(enable = "avx2")]
fn narrow<T: Real>(
    stretch: &Stretch<'_, T, f32>,
    bands: impl BandOfRow<f32>,
    words: &mut [u64],
) -> Stop<f32> {
    let columns = stretch.columns;
    let inside = [first_lanes(columns), first_lanes(columns.saturating_sub(WINDOW))];
    // Lanes past the end of a row are zeros, which pass where the threshold admits everything; their bits must go, or
    // equal sets would differ.
    let members = (1 << columns) - 1;
    let (least, largest) = (_mm_set1_ps(stretch.sums.0), _mm_set1_ps(stretch.sums.1));
    let mut settled = 0;
    for words in words.as_chunks_mut::<ROWS>().0 {
        // The windows of the last row reach beyond it, and at the end of a block there is nothing.
        let first = settled * columns;
        let Some(rows) = stretch.onward.get(first..first + (ROWS - 1) * columns + 2 * WINDOW)
        else {
            break;
        };
        let mut doubt = _mm256_setzero_ps();
        let mut sums = [_mm256_setzero_ps(); ROWS];
        for pair in 0..ROWS / 2 {
            let mut sets = [[_mm256_setzero_ps(); 2]; 2];
            for (row, set) in (2 * pair..).zip(&mut sets) {
                let edges = Edges::of(bands.of(settled + row));
                let (windows, _) = rows[row * columns..].as_chunks::<WINDOW>();
                let low = _mm256_and_ps(load(&windows[0]), inside[0]);
                let high = _mm256_and_ps(load(&windows[1]), inside[1]);
                sums[row] = _mm256_add_ps(low, high);
                *set = [edges.compare(low, &mut doubt), edges.compare(high, &mut doubt)];
            }
            let bits = u64::from(pack(sets));
            words[2 * pair] = bits & members;
            words[2 * pair + 1] = bits >> 16 & members;
        }
        let halves =
            _mm256_hadd_ps(_mm256_hadd_ps(sums[0], sums[1]), _mm256_hadd_ps(sums[2], sums[3]));
        let sums = _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps::<1>(halves));
        let fair = _mm_and_ps(_mm_cmple_ps(least, sums), _mm_cmple_ps(sums, largest));
        if _mm_movemask_ps(fair) != 0b1111 || _mm256_movemask_ps(doubt) != 0 {
            return Stop { rows: settled, sum: _mm_cvtss_f32(sums) };
        }
        settled += ROWS;
    }
    Stop { rows: settled, sum: f32::NAN }
}

/// Rows of any width, one at a time.
///
/// Two sums run side by side: with one, every addition would wait for the one before.
#[target_feature(enable = "avx2")]
fn wide<T: Real>(
    stretch: &Stretch<'_, T, f32>,
    bands: impl BandOfRow<f32>,
    words: &mut [u64],
) -> Stop<f32> {
    let columns = stretch.columns;
    let padded = columns.next_multiple_of(WINDOW);
    let inside = first_lanes(columns + WINDOW - padded);
    let words_per_row = columns.div_ceil(WORD);
    // As for narrow rows: bits past the last class must be zero, or equal sets would differ.
    let members = u64::MAX >> (words_per_row * WORD - columns);
    let mut settled = 0;
    for words in words.chunks_exact_mut(words_per_row) {
        // The last window reaches beyond the row, and at the end of a block there is nothing.
        let first = settled * columns;
        let Some(row) = stretch.onward.get(first..first + padded) else { break };
        let (Some((last, windows)), Some((last_word, words))) =
            (row.as_chunks::<WINDOW>().0.split_last(), words.split_last_mut())
        else {
            break;
        };
        let edges = Edges::of(bands.of(settled));
        let mut doubt = _mm256_setzero_ps();
        let mut sums = [_mm256_setzero_ps(); 2];
        let (full, rest) = windows.as_chunks::<{ WORD / WINDOW }>();
        for (word, windows) in words.iter_mut().zip(full) {
            *word = 0;
            for (k, window) in windows.iter().enumerate() {
                let values = load(window);
                sums[k % 2] = _mm256_add_ps(sums[k % 2], values);
                *word |= signs(edges.compare(values, &mut doubt)) << (k * WINDOW);
            }
        }
        *last_word = 0;
        for (k, window) in rest.iter().enumerate() {
            let values = load(window);
            sums[0] = _mm256_add_ps(sums[0], values);
            *last_word |= signs(edges.compare(values, &mut doubt)) << (k * WINDOW);
        }
        let values = _mm256_and_ps(load(last), inside);
        sums[1] = _mm256_add_ps(sums[1], values);
        *last_word |= signs(edges.compare(values, &mut doubt)) << (rest.len() * WINDOW);
        *last_word &= members;
        let sum = total(_mm256_add_ps(sums[0], sums[1]));
        let fair = stretch.sums.0 <= sum && sum <= stretch.sums.1;
        if !fair || _mm256_movemask_ps(doubt) != 0 {
            return Stop { rows: settled, sum };
        }
        settled += 1;
    }
    Stop { rows: settled, sum: f32::NAN }
}

/// A band in every lane.
struct Edges {
    /// Values below are surely out.
    low: __m256,
    /// Values from here on are surely in.
    high: __m256,
}

impl Edges {
    /// Both ends in all eight lanes.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn of(band: Band<f32>) -> Self {
        Self { low: _mm256_set1_ps(band.low), high: _mm256_set1_ps(band.high) }
    }

    /// Which values are in the set, as lanes of all ones.
    ///
    /// The sign of a lane of `doubt` is set where a value fell into the band or was negative.
    /// Doubts are only gathered here and looked at once a row.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn compare(&self, values: __m256, doubt: &mut __m256) -> __m256 {
        let surely = _mm256_cmp_ps::<_CMP_GE_OQ>(values, self.high);
        let perhaps = _mm256_cmp_ps::<_CMP_GE_OQ>(values, self.low);
        // The values themselves are in the `or`: the sign of a negative entry is a doubt without a
        // comparison. `-0.0` is one too, and goes to the definition.
        *doubt = _mm256_or_ps(*doubt, _mm256_or_ps(values, _mm256_xor_ps(surely, perhaps)));
        surely
    }
}

/// A window as a register; `T` is `f32` wherever this is called.
#[target_feature(enable = "avx2")]
#[inline]
fn load<T: Real>(window: &[T; WINDOW]) -> __m256 {
    // A NaN is never settled.
    let v = in_lanes::<T, f32>(window).unwrap_or(&[f32::NAN; WINDOW]);
    _mm256_setr_ps(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7])
}

/// All bits of the first `count` lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn first_lanes(count: usize) -> __m256 {
    let lanes = _mm256_setr_ps(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0);
    _mm256_cmp_ps::<_CMP_LT_OQ>(lanes, _mm256_set1_ps(count as f32))
}

/// Sum of the eight lanes, by halves.
#[target_feature(enable = "avx2")]
#[inline]
fn total(lanes: __m256) -> f32 {
    let four = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps::<1>(lanes));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
}

/// Bit `k` is the sign of lane `k`.
#[target_feature(enable = "avx2")]
#[inline]
fn signs(lanes: __m256) -> u64 {
    u64::from(_mm256_movemask_ps(lanes).cast_unsigned())
}

/// The signs of two windows of two rows, in order: bits 0 to 15 of the first row, 16 to 31 of the
/// second.
#[target_feature(enable = "avx2")]
#[inline]
fn pack(rows: [[__m256; 2]; 2]) -> u32 {
    let [first, second] = rows
        .map(|[low, high]| _mm256_packs_epi32(_mm256_castps_si256(low), _mm256_castps_si256(high)));
    let bytes = _mm256_packs_epi16(first, second);
    // Packing works within halves of the register and leaves groups of four values as 0 2 4 6 1 3 5 7.
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_movemask_epi8(_mm256_permutevar8x32_epi32(bytes, order)).cast_unsigned()
}

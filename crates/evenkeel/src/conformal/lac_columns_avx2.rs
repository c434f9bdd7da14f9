//! [`lac_columns`](super::lac_columns) in the 256-bit registers of x86-64 processors.
//!
//! ```text
//! a register of a column = 8 or 4 rows: 1 load, 2 comparisons, 1 addition, and their signs as 8 or 4 bits of a word
//! ```

use std::any::Any;
use std::arch::x86_64::*;

use super::label_sets::WORD;
use super::lac_bands::Lane;
use super::lac_columns::{ABREAST, Rule, rows_of_tile};
use crate::numeric::simd::prefetch;
use crate::rows::Real;

/// Writes the sets of whole groups of 64 rows, and gives a word for each group with a bit for every row that is settled; none where
/// the processor lacks the instructions.
pub(super) fn settle<T: Real, F: Lane>(
    columns: &[&[T]],
    rule: &Rule<F>,
    words: &mut [u64],
) -> Option<Vec<u64>> {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return None;
    }
    let rule: &dyn Any = rule;
    #[expect(unsafe_code, reason = "the processor was asked above")]
    // SAFETY: both are safe code that needs AVX2 and nothing else, and this processor has it.
    unsafe {
        match (rule.downcast_ref(), rule.downcast_ref()) {
            (Some(rule), _) => Some(single::settle(columns, rule, words)),
            (_, Some(rule)) => Some(double::settle(columns, rule, words)),
            (None, None) => None,
        }
    }
}

/// The same loop for registers of either type.
macro_rules! columns_of {
    (
        $name:ident, $type:ty, $register:ty, $lanes:literal, $zero:ident, $set:ident, $load:expr, $add:ident, $compare:ident, $or:ident,
        $xor:ident, $signs:ident
    ) => {
        mod $name {
            use super::*;

            /// Entries in a line of the cache.
            const LINE: usize = 2 * $lanes;
            /// Registers for 64 rows.
            const REGISTERS: usize = WORD / $lanes;

            /// What is known of 64 rows so far.
            #[derive(Clone, Copy)]
            struct Tally {
                sums: [$register; REGISTERS],
                /// The sign is set where an entry was negative or fell into the band.
                doubts: [$register; REGISTERS],
            }

            #[target_feature(enable = "avx2")]
            pub(super) fn settle<T: Real>(
                columns: &[&[T]],
                rule: &Rule<$type>,
                words: &mut [u64],
            ) -> Vec<u64> {
                let groups = columns.first().map_or(0, |column| column.len() / WORD);
                let width = columns.len().div_ceil(WORD);
                let none = [$zero(); REGISTERS];
                let mut tallies = vec![Tally { sums: none, doubts: none }; groups];
                let mut tiles = vec![[0; WORD]; groups];
                for (place, own) in columns.chunks(WORD).enumerate() {
                    let (quads, rest) = own.as_chunks::<ABREAST>();
                    for (k, quad) in quads.iter().enumerate() {
                        let done = place * WORD + k * ABREAST;
                        let soon = columns[done..].get(ABREAST..).unwrap_or_default();
                        let soon = &soon[..soon.len().min(ABREAST)];
                        take(quad, (k * ABREAST, soon), rule, &mut tallies, &mut tiles);
                    }
                    let first = (quads.len() * ABREAST, [].as_slice());
                    match rest {
                        [a] => take(&[*a], first, rule, &mut tallies, &mut tiles),
                        [a, b] => take(&[*a, *b], first, rule, &mut tallies, &mut tiles),
                        [a, b, c] => take(&[*a, *b, *c], first, rule, &mut tallies, &mut tiles),
                        _ => {}
                    }
                    for (tile, words) in tiles.iter_mut().zip(words.chunks_exact_mut(WORD * width))
                    {
                        // Words of columns that are not there would be those of the columns before.
                        tile[own.len()..].fill(0);
                        rows_of_tile(
                            tile,
                            own.len(),
                            words.chunks_exact_mut(width).map(|row| &mut row[place]),
                        );
                    }
                }
                tallies.iter().map(|tally| settled(tally, rule)).collect()
            }

            /// Adds some columns to all groups of rows, and their bits from word `first` of each tile on. Meanwhile those that come `soon`
            /// are fetched: every column begins in another page, which the processor does not foresee.
            #[target_feature(enable = "avx2")]
            fn take<T: Real, const N: usize>(
                columns: &[&[T]; N],
                (first, soon): (usize, &[&[T]]),
                rule: &Rule<$type>,
                tallies: &mut [Tally],
                tiles: &mut [[u64; WORD]],
            ) {
                let (low, high) = ($set(rule.band.low), $set(rule.band.high));
                let chunks = columns.map(|column| column.as_chunks::<WORD>().0);
                for (group, (tally, tile)) in tallies.iter_mut().zip(tiles).enumerate() {
                    for column in soon {
                        for line in 0..WORD / LINE {
                            prefetch(column, group * WORD + line * LINE);
                        }
                    }
                    let entries = chunks.map(|chunks| chunks[group].as_chunks::<$lanes>().0);
                    let mut bits = [0_u64; N];
                    for register in 0..REGISTERS {
                        let mut sum = $zero();
                        let mut doubt = tally.doubts[register];
                        for (bits, entries) in bits.iter_mut().zip(&entries) {
                            let values = load(&entries[register]);
                            sum = $add(sum, values);
                            let surely = $compare::<_CMP_GE_OQ>(values, high);
                            let perhaps = $compare::<_CMP_GE_OQ>(values, low);
                            // The values themselves are in the `or`: the sign of a negative entry is a doubt without a comparison.
                            doubt = $or(doubt, $or(values, $xor(surely, perhaps)));
                            *bits |=
                                u64::from($signs(surely).cast_unsigned()) << (register * $lanes);
                        }
                        tally.sums[register] = $add(tally.sums[register], sum);
                        tally.doubts[register] = doubt;
                    }
                    if let Some(words) = tile[first..].first_chunk_mut::<N>() {
                        *words = bits;
                    }
                }
            }

            /// A bit for every row whose sum is near one, none of whose entries is in doubt.
            #[target_feature(enable = "avx2")]
            fn settled(tally: &Tally, rule: &Rule<$type>) -> u64 {
                let (least, largest) = ($set(rule.sums.0), $set(rule.sums.1));
                let mut bits = 0;
                for (register, (sum, doubt)) in tally.sums.iter().zip(&tally.doubts).enumerate() {
                    // A sum that is not a number is neither.
                    let above = $signs($compare::<_CMP_LE_OQ>(least, *sum));
                    let below = $signs($compare::<_CMP_LE_OQ>(*sum, largest));
                    let clear = above & below & !$signs(*doubt);
                    bits |= u64::from(clear.cast_unsigned()) << (register * $lanes);
                }
                bits
            }

            /// Entries as a register; `T` is the type of the lanes wherever this is called.
            #[target_feature(enable = "avx2")]
            #[inline]
            fn load<T: Real>(entries: &[T; $lanes]) -> $register {
                // What is not a number is never settled.
                let v = (entries as &dyn Any).downcast_ref().unwrap_or(&[<$type>::NAN; $lanes]);
                $load(v)
            }
        }
    };
}

#[target_feature(enable = "avx2")]
#[inline]
fn eight(v: &[f32; 8]) -> __m256 {
    _mm256_setr_ps(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7])
}

#[target_feature(enable = "avx2")]
#[inline]
fn four(v: &[f64; 4]) -> __m256d {
    _mm256_setr_pd(v[0], v[1], v[2], v[3])
}

columns_of!(
    single,
    f32,
    __m256,
    8,
    _mm256_setzero_ps,
    _mm256_set1_ps,
    eight,
    _mm256_add_ps,
    _mm256_cmp_ps,
    _mm256_or_ps,
    _mm256_xor_ps,
    _mm256_movemask_ps
);
columns_of!(
    double,
    f64,
    __m256d,
    4,
    _mm256_setzero_pd,
    _mm256_set1_pd,
    four,
    _mm256_add_pd,
    _mm256_cmp_pd,
    _mm256_or_pd,
    _mm256_xor_pd,
    _mm256_movemask_pd
);

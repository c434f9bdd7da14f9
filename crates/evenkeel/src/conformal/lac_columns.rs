//! `C(x) = {y : 1 - p_y <= t}` of a table that lies column after column, without turning it round.
//!
//! ```text
//! 64 rows of a column    64 comparisons with t, one word of bits           the rows' sums and doubts on the way
//! 64 such words          transposed as bits: a word of the set of each row
//! ```
//! A row is decided as in [`lac_rows`](super::lac_rows): by a band around the threshold, where its sum is near one. The few others
//! are gathered and go that way, which has the last word.

use std::any::TypeId;

use super::label_sets::{LabelSets, WORD};
#[cfg(target_arch = "x86_64")]
use super::lac_bands::Band;
use super::lac_bands::Lane;
#[cfg(target_arch = "x86_64")]
use super::lac_columns_avx2 as avx2;
#[cfg(target_arch = "x86_64")]
use super::lac_rows::USUAL_DEVIATION;
use super::lac_rows::{RowThresholds, lac_sets};
use crate::rows::{Real, Rows};
#[cfg(target_arch = "x86_64")]
use crate::score::NORMALISATION_TOLERANCE;
use crate::threshold::Threshold;

/// Columns taken at a time.
#[cfg(target_arch = "x86_64")]
pub(super) const ABREAST: usize = 4;

/// Of so many rows in whole groups, at most one may be gathered: where sums are far from one everywhere, turning the table round is faster.
const ROWS_PER_GATHERED: usize = 4;

/// What decides the entries of a row whose sum is near one.
#[cfg(target_arch = "x86_64")]
pub(super) struct Rule<F> {
    /// Where entries are in, out or in doubt.
    pub(super) band: Band<F>,
    /// Least and largest sum of a row for which the band holds.
    pub(super) sums: (F, F),
}

/// The sets of rows under the `lac` score, from the columns of their table, all of one length; none where another way is better or
/// has to say what is wrong.
pub(crate) fn lac_sets_of_columns<T: Real>(
    columns: &[&[T]],
    threshold: Threshold,
) -> Option<LabelSets> {
    let rows = columns.first()?.len();
    if columns.iter().any(|column| column.len() != rows) {
        return None;
    }
    let mut sets = LabelSets::with_capacity(rows, columns.len());
    let settled = if TypeId::of::<T>() == TypeId::of::<f32>() {
        settle::<T, f32>(columns, threshold, sets.extend(rows))?
    } else {
        settle::<T, f64>(columns, threshold, sets.extend(rows))?
    };
    let mut left = Vec::new();
    for (group, settled) in settled.iter().enumerate() {
        let mut doubts = !settled;
        while doubts != 0 {
            left.push(group * WORD + doubts.trailing_zeros() as usize);
            doubts &= doubts - 1;
        }
    }
    if left.len() > settled.len() * WORD / ROWS_PER_GATHERED {
        return None;
    }
    // What is no whole group has not been looked at. These do not count: gathering so few is faster than turning them round.
    left.extend(settled.len() * WORD..rows);
    if left.is_empty() {
        return Some(sets);
    }
    let gathered: Vec<T> =
        left.iter().flat_map(|row| columns.iter().map(move |column| column[*row])).collect();
    let block = Rows::new("probabilities", &gathered, columns.len()).ok()?;
    // An error would name a row of those gathered.
    let rest = lac_sets(0, block, RowThresholds::Shared(threshold)).ok()?;
    for (place, row) in left.iter().enumerate() {
        sets.replace_row(*row, &rest, place);
    }
    Some(sets)
}

/// Writes the sets of whole groups of 64 rows; `F` is `T`. Gives a word for each group, with a bit for every row that is settled.
#[cfg(target_arch = "x86_64")]
fn settle<T: Real, F: Lane>(
    columns: &[&[T]],
    threshold: Threshold,
    words: &mut [u64],
) -> Option<Vec<u64>> {
    // One sum for all columns, to which they come four at a time: half is for rounding the band, as in `Lane::sum_rounding`.
    let additions = columns.len() / ABREAST + 2 * ABREAST;
    let rounding = additions as f64 * F::EPSILON + 4e-12;
    let deviation = USUAL_DEVIATION.min(NORMALISATION_TOLERANCE - 3.0 * rounding);
    if deviation <= 0.0 {
        return None;
    }
    let rule = Rule {
        band: Band::<F>::new(threshold, 1.0, deviation + rounding),
        sums: (F::nearest(1.0 - deviation), F::nearest(1.0 + deviation)),
    };
    avx2::settle(columns, &rule, words)
}

/// Elsewhere rows are the better way.
#[cfg(not(target_arch = "x86_64"))]
fn settle<T: Real, F: Lane>(_: &[&[T]], _: Threshold, _: &mut [u64]) -> Option<Vec<u64>> {
    None
}

/// Side of the small squares in which bits of few columns change places.
#[cfg(any(test, target_arch = "x86_64"))]
const FEW: usize = 16;

/// The words of 64 rows from those of `columns` columns: bit `i` of word `j` becomes bit `j` of word `i`. Words of other columns are zero.
#[cfg(any(test, target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn rows_of_tile<'a>(
    tile: &mut [u64; WORD],
    columns: usize,
    rows: impl Iterator<Item = &'a mut u64>,
) {
    if columns <= FEW
        && let Some(few) = tile.first_chunk_mut::<FEW>()
    {
        // Four squares beside each other, one in each quarter of the words.
        transpose(few);
        let parts = (0..WORD).map(|row| few[row % FEW] >> (row / FEW * FEW) & 0xffff);
        rows.zip(parts).for_each(|(row, word)| *row = word);
        return;
    }
    transpose(tile);
    rows.zip(tile.iter()).for_each(|(row, word)| *row = *word);
}

/// Rows and columns of bits change places in each of the squares that lie beside each other in `SIDE` words.
#[cfg(any(test, target_arch = "x86_64"))]
#[inline(always)]
fn transpose<const SIDE: usize>(bits: &mut [u64; SIDE]) {
    let mut width = SIDE / 2;
    while width > 0 {
        // Every other group of `width` bits: 2^width - 1, again and again.
        let lower = u64::MAX / ((1 << width) + 1);
        for pair in bits.chunks_exact_mut(2 * width) {
            let (first, second) = pair.split_at_mut(width);
            for (a, b) in first.iter_mut().zip(second) {
                let moved = (*a >> width ^ *b) & lower;
                *b ^= moved;
                *a ^= moved << width;
            }
        }
        width /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Rows whose sums miss one by up to `deviation`, as rows and as columns.
    fn table<T: Real>(
        (rows, classes): (usize, usize),
        deviation: f64,
        of: impl Fn(f64) -> T,
    ) -> (Vec<T>, Vec<Vec<T>>) {
        let mut stream = Seed::new(4).stream("columns");
        let mut values = Vec::new();
        for _ in 0..rows {
            let raw: Vec<f64> = (0..classes).map(|_| (8.0 * stream.uniform()).exp()).collect();
            let scale = 1.0 + deviation * (2.0 * stream.uniform() - 1.0);
            let total = raw.iter().sum::<f64>() / scale;
            values.extend(raw.iter().map(|value| of(value / total)));
        }
        let columns = (0..classes)
            .map(|label| values.iter().skip(label).step_by(classes).copied().collect())
            .collect();
        (values, columns)
    }

    fn of_columns<T: Real>(columns: &[Vec<T>], threshold: Threshold) -> Option<LabelSets> {
        let columns: Vec<&[T]> = columns.iter().map(Vec::as_slice).collect();
        lac_sets_of_columns(&columns, threshold)
    }

    /// Thresholds at scores, where one rounding more would move a label, beside them, and beyond all.
    fn agree<T: Real>(of: impl Fn(f64) -> T + Copy) -> usize {
        let mut made = 0;
        let widths = [1, 2, 3, 4, 5, 10, 16, 17, 63, 64, 65, 67, 100, 130];
        let lengths = [5, 63, 64, 127, 200, 256];
        // Miri has no wide registers, and takes a minute for a few of these.
        let (widths, lengths) = match cfg!(miri) {
            true => (&widths[2..4], &lengths[..3]),
            false => (&widths[..], &lengths[..]),
        };
        for classes in widths.iter().copied() {
            for rows in lengths.iter().copied() {
                for deviation in [0.0, 4e-6, 9e-4] {
                    let (values, columns) = table((rows, classes), deviation, of);
                    let block = Rows::new("probabilities", &values, classes).unwrap();
                    let scores = values.iter().step_by(values.len() / 5).take(5);
                    let scores = scores.map(|value| 1.0 - (*value).into());
                    let near = scores.flat_map(|t| [t, t.next_up(), t.next_down()]);
                    let finite = near.chain([-0.5, 0.0, 0.7, 1.0]).map(Threshold::Finite);
                    for threshold in finite.chain([Threshold::AllLabels]) {
                        let by_rows = lac_sets(0, block, RowThresholds::Shared(threshold)).unwrap();
                        if let Some(sets) = of_columns(&columns, threshold) {
                            assert_eq!(sets, by_rows, "{rows} x {classes}, {threshold:?}");
                            made += 1;
                        }
                    }
                }
            }
        }
        made
    }

    #[test]
    fn columns_give_the_sets_of_rows() {
        let single = agree(|value| value as f32);
        let double = agree(|value| value);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // Of 5040 each; where sums are far from one, rows are the better way.
            assert!(single > 2400 && double > 2400, "{single} and {double}");
        }
        #[cfg(not(target_arch = "x86_64"))]
        assert_eq!((single, double), (0, 0));
    }

    /// Columns are the way for any number of rows, however many follow the last whole group.
    #[test]
    fn tables_of_any_length_are_made_of_columns() {
        #[cfg(target_arch = "x86_64")]
        let is_wide = std::arch::is_x86_feature_detected!("avx2");
        #[cfg(not(target_arch = "x86_64"))]
        let is_wide = false;
        let threshold = Threshold::Finite(0.7);
        for rows in [1, 6, 40, 63, 64, 65, 80, 127, 128, 191] {
            let (values, columns) = table((rows, 10), 4e-6, |value| value as f32);
            let block = Rows::new("probabilities", &values, 10).unwrap();
            let by_rows = lac_sets(0, block, RowThresholds::Shared(threshold)).unwrap();
            assert_eq!(of_columns(&columns, threshold), is_wide.then_some(by_rows), "{rows} rows");
        }
    }

    /// Rows of six labels that are no probabilities; of some the sum is one all the same.
    fn never_settled<T: Real>(of: impl Fn(f64) -> T + Copy) {
        let wrong = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.25, 1.25]
            .map(|bad| [0.2, 0.2, 0.2, 0.2, 0.2, bad])
            .into_iter()
            .chain([[-0.25, 1.25, 0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0, 0.5 + 1e-5, -1e-5]]);
        for row in wrong {
            for place in [0, 63, 64, 129] {
                let (_, mut columns) = table((130, 6), 0.0, of);
                for (column, bad) in columns.iter_mut().zip(row) {
                    column[place] = of(bad);
                }
                let finite = [0.7, 2.0, -1.0].map(Threshold::Finite);
                for threshold in finite.into_iter().chain([Threshold::AllLabels]) {
                    assert_eq!(of_columns(&columns, threshold), None, "{row:?} in {place}");
                }
            }
        }
    }

    /// A row that is wrong is left to the rows, which name it.
    #[test]
    fn what_is_wrong_is_never_settled() {
        never_settled(|value| value as f32);
        never_settled(|value| value);
        let ragged: [&[f64]; 2] = [&[0.5; 64], &[0.5; 65]];
        assert_eq!(lac_sets_of_columns(&ragged, Threshold::AllLabels), None);
        assert_eq!(lac_sets_of_columns::<f64>(&[], Threshold::AllLabels), None);
    }

    #[test]
    fn tiles_change_places() {
        let mut stream = Seed::new(9).stream("tiles");
        for columns in [1, 5, 15, 16, 17, 33, 64] {
            let tile: [u64; WORD] = std::array::from_fn(|column| {
                if column < columns { (stream.uniform() * 1.8e19) as u64 } else { 0 }
            });
            let mut rows = [7; WORD];
            rows_of_tile(&mut tile.clone(), columns, rows.iter_mut());
            for (row, word) in rows.iter().enumerate() {
                for (column, bits) in tile.iter().enumerate() {
                    assert_eq!(word >> column & 1, bits >> row & 1, "{columns}: {row}, {column}");
                }
            }
        }
    }
}

//! Short rows, eight side by side: their exponentials at one temperature after another.
//!
//! ```text
//! rows        [x_0 x_1 ..] of row 0, of row 1, ..          shifted     x_0 - max of rows 0 to 7, x_1 - max of rows 0 to 7, ..
//! ```
//! Short rows do not fill vector registers, and turning them round takes longer than their exponentials. Here they are turned once.
//! Every number has the bits of [`tempered_log_sum_exp`](super::tempered_log_sum_exp) and
//! [`tempered_softmax_into`](super::tempered_softmax_into) on the row by itself.

use super::exp::{LANES, add_lanes, exp_of_negative, largest_in_lanes};
use super::simd::in_widest_registers;

/// Rows side by side.
pub(crate) const ABREAST: usize = 8;
/// Numbers of such a row at most.
pub(crate) const SHORT_ROW: usize = 32;

/// Rows of at most [`SHORT_ROW`] finite numbers less their largest, turned round eight at a time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowsAbreast {
    /// Groups of `classes` times eight numbers; rows that are missing from the last are zeros.
    shifted: Vec<f64>,
    classes: usize,
    rows: usize,
}

/// The exponentials of eight rows, and their sums.
pub(crate) struct MadeRows {
    /// `exp(inverse (x_c - max))`, eight rows for each `c`.
    pub made: [f64; ABREAST * SHORT_ROW],
    pub sums: [f64; ABREAST],
}

impl RowsAbreast {
    /// From rows of so many numbers; none where they are not short.
    pub(crate) fn new<'a>(
        rows: impl ExactSizeIterator<Item = &'a [f64]>,
        classes: usize,
    ) -> Option<Self> {
        if !(1..=SHORT_ROW).contains(&classes) {
            return None;
        }
        let count = rows.len();
        let mut shifted = vec![0.0; count.div_ceil(ABREAST) * ABREAST * classes];
        for (index, row) in rows.enumerate() {
            let largest = largest_in_lanes(row);
            let group = &mut shifted[index / ABREAST * ABREAST * classes..][..ABREAST * classes];
            for (slots, x) in group.chunks_exact_mut(ABREAST).zip(row) {
                slots[index % ABREAST] = x - largest;
            }
        }
        Some(Self { shifted, classes, rows: count })
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// `x_c - max` of a row.
    pub(crate) fn shifted(&self, row: usize, class: usize) -> f64 {
        self.shifted[(row / ABREAST * self.classes + class) * ABREAST + row % ABREAST]
    }

    /// Gives `each` the exponentials of some groups of eight rows, one after the other, with the number of the first row.
    pub(crate) fn for_each(
        &self,
        groups: std::ops::Range<usize>,
        inverse_temperature: f64,
        mut each: impl FnMut(usize, &MadeRows),
    ) {
        let width = ABREAST * self.classes;
        let mut rows = MadeRows { made: [0.0; ABREAST * SHORT_ROW], sums: [0.0; ABREAST] };
        for group in groups {
            let shifted = &self.shifted[group * width..][..width];
            exponentials(shifted, inverse_temperature, &mut rows);
            each(group * ABREAST, &rows);
        }
    }

    /// Groups of eight rows, the last of which may hold fewer.
    pub(crate) fn groups(&self) -> usize {
        self.rows.div_ceil(ABREAST)
    }
}

in_widest_registers! {
    fn exponentials[](shifted: &[f64], inverse: f64, rows: &mut MadeRows) -> () {
        let MadeRows { made, sums } = rows;
        let made = &mut made[..shifted.len()];
        // One long loop, which becomes vector code; loops over eight places are unrolled and do not.
        for (slot, x) in made.iter_mut().zip(shifted) {
            *slot = exp_of_negative(x * inverse);
        }
        let mut lanes = [[0.0; ABREAST]; LANES];
        for (class, made) in made.as_chunks::<ABREAST>().0.iter().enumerate() {
            let lane = &mut lanes[class % LANES];
            for row in 0..ABREAST {
                lane[row] += made[row];
            }
        }
        for row in 0..ABREAST {
            sums[row] = add_lanes(std::array::from_fn(|lane| lanes[lane][row]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{tempered_log_sum_exp, tempered_softmax_into};

    /// Eight rows side by side are eight rows, to the bit.
    #[test]
    fn rows_abreast_are_rows() {
        let mut stream = crate::seed::Seed::new(10).stream("exp");
        for classes in 1..=SHORT_ROW {
            let count = 1 + stream.below(20);
            let values: Vec<f64> =
                (0..count * classes).map(|_| -900.0 * stream.uniform().powi(5)).collect();
            let rows = RowsAbreast::new(values.chunks_exact(classes), classes).unwrap();
            let mut softmax = vec![0.0; classes];
            for inverse in [1.0, 0.3, 7.0] {
                let mut seen = 0;
                rows.for_each(0..rows.groups(), inverse, |first, made| {
                    let some = values.chunks_exact(classes).skip(first).take(ABREAST);
                    for (place, row) in some.enumerate() {
                        let (largest, log_sum) = tempered_log_sum_exp(row, inverse);
                        tempered_softmax_into(row, inverse, &mut softmax);
                        assert_eq!(made.sums[place].ln(), log_sum, "{classes} classes");
                        let scale = 1.0 / made.sums[place];
                        for (class, expected) in softmax.iter().enumerate() {
                            assert_eq!(made.made[class * ABREAST + place] * scale, *expected);
                            assert_eq!(rows.shifted(first + place, class), row[class] - largest);
                        }
                        seen += 1;
                    }
                });
                assert_eq!((seen, rows.rows()), (count, count));
            }
        }
        assert_eq!(RowsAbreast::new([].into_iter(), SHORT_ROW + 1), None);
    }
}

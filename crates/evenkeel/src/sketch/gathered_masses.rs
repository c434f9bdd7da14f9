//! A mass of each law for each of the cells of `log_bins`, summed exactly.
//!
//! ```text
//! mass = low + 2^64 high        high is kept from the first carry on
//! ```
//! Labels of many rows fall into cells all over the table, so that an addition costs what fetching its place costs: half the
//! bytes are half the time, and laws beside each other are fetched at once. A carry takes 4096 rows that put everything into one
//! cell.

use super::log_bins::CELLS;
use crate::numeric::simd::{in_widest_registers, prefetch};

/// Labels whose places are fetched together: few enough for the first cache.
const FETCHED: usize = 128;

/// Masses in units of `2^-52`; shape `(CELLS, laws)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GatheredMasses {
    low: Vec<u64>,
    /// Empty while no sum has passed `2^64`.
    high: Vec<u64>,
    /// Laws of a cell.
    laws: usize,
}

/// The mass that a row gives to a label. No closure: loops over labels should hold it whatever a compiler is told about size.
pub(super) trait MassOfLabel: Copy {
    fn of(&self, label: usize) -> u64;
}

impl GatheredMasses {
    /// No mass in any cell, of so many laws.
    pub(super) fn new(laws: usize) -> Self {
        Self { low: vec![0; CELLS * laws], high: Vec::new(), laws }
    }

    /// Adds to one cell of a law.
    #[inline]
    pub(super) fn add(&mut self, cell: usize, law: usize, mass: u128) {
        let place = cell * self.laws + law;
        let (sum, carried) = self.low[place].overflowing_add(mass as u64);
        self.low[place] = sum;
        let high = (mass >> 64) as u64 + u64::from(carried);
        if high > 0 {
            self.carry(place, high);
        }
    }

    /// Adds the masses of some labels under the only law, each to the cell of its label.
    #[inline(always)]
    pub(super) fn add_each(&mut self, labels: &[u32], cells: &[u32], mass: impl MassOfLabel) {
        for labels in labels.chunks(FETCHED) {
            self.fetch(labels, cells);
            for label in labels {
                let label = *label as usize;
                let cell = cells[label] as usize;
                let (sum, carried) = self.low[cell].overflowing_add(mass.of(label));
                self.low[cell] = sum;
                if carried {
                    self.carry(cell, 1);
                }
            }
        }
    }

    /// Has the places of some labels brought near: one after the other, each addition would wait for its own.
    #[inline(always)]
    fn fetch(&self, labels: &[u32], cells: &[u32]) {
        for label in labels {
            prefetch(&self.low, cells[*label as usize] as usize * self.laws);
        }
    }

    /// The same where there are two laws.
    #[inline(always)]
    pub(super) fn add_pairs(
        &mut self,
        labels: &[u32],
        cells: &[u32],
        one: impl MassOfLabel,
        other: impl MassOfLabel,
    ) {
        for labels in labels.chunks(FETCHED) {
            self.fetch(labels, cells);
            for label in labels {
                let label = *label as usize;
                let cell = cells[label] as usize;
                let pair = &mut self.low.as_chunks_mut::<2>().0[cell];
                let (first, first_carried) = pair[0].overflowing_add(one.of(label));
                let (second, second_carried) = pair[1].overflowing_add(other.of(label));
                *pair = [first, second];
                if first_carried | second_carried {
                    self.carry(2 * cell, u64::from(first_carried));
                    self.carry(2 * cell + 1, u64::from(second_carried));
                }
            }
        }
    }

    #[cold]
    fn carry(&mut self, place: usize, high: u64) {
        self.high.resize(self.low.len(), 0);
        self.high[place] += high;
    }

    /// Adds the masses of another table of the same laws.
    pub(super) fn merge(&mut self, other: &Self) {
        for law in 0..self.laws {
            for (cell, mass) in other.of_law(law).enumerate() {
                if mass > 0 {
                    self.add(cell, law, mass);
                }
            }
        }
    }

    /// The mass of each cell under a law.
    pub(super) fn of_law(
        &self,
        law: usize,
    ) -> impl DoubleEndedIterator<Item = u128> + ExactSizeIterator + '_ {
        (0..CELLS).map(move |cell| {
            let place = cell * self.laws + law;
            let high = self.high.get(place).copied().unwrap_or(0);
            u128::from(self.low[place]) | u128::from(high) << 64
        })
    }
}

in_widest_registers! {
    /// The cells of a row's scores in a tail from `low` to `high`; returns the largest score.
    ///
    /// To the bit those of [`cell_of`](super::log_bins::cell_of), in whole numbers of 32 bits.
    pub(super) fn find_tail_cells[](low: f64, high: f64, scores: &[f64], out: &mut [u32]) -> f64 {
        let width = high - low;
        let mut largest = f64::NEG_INFINITY;
        for (out, score) in out.iter_mut().zip(scores) {
            *out = super::log_bins::short_cell_of((high - score) / width);
            largest = if *score > largest { *score } else { largest };
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use crate::sketch::log_bins::cell_of;

    #[derive(Clone, Copy)]
    struct Drawn<'m>(&'m [u64]);

    impl MassOfLabel for Drawn<'_> {
        fn of(&self, label: usize) -> u64 {
            self.0[label]
        }
    }

    /// Sums are those of 128 bits, with carries, by every way in, of one law and of two.
    #[test]
    fn sums_are_exact() {
        let mut stream = Seed::new(4).stream("masses");
        for laws in [1, 2] {
            let (mut found, mut other) = (GatheredMasses::new(laws), GatheredMasses::new(laws));
            let mut expected = vec![vec![0_u128; CELLS]; laws];
            for round in 0..2000 {
                let cells: Vec<u32> = (0..9).map(|_| (stream.below(20) * 13_000) as u32).collect();
                let labels: Vec<u32> = (0..9).filter(|_| stream.below(3) > 0).collect();
                let masses: Vec<u64> =
                    (0..18).map(|_| stream.bits() >> (8 * (round % 8))).collect();
                match laws {
                    1 => found.add_each(&labels, &cells, Drawn(&masses)),
                    _ => found.add_pairs(&labels, &cells, Drawn(&masses), Drawn(&masses[9..])),
                }
                for (law, expected) in expected.iter_mut().enumerate() {
                    for label in labels.iter().map(|label| *label as usize) {
                        expected[cells[label] as usize] += u128::from(masses[9 * law + label]);
                    }
                }
                let (cell, mass) = (stream.below(CELLS), u128::from(stream.bits()) << (round % 50));
                other.add(cell, round % laws, mass);
                expected[round % laws][cell] += mass;
            }
            assert!(!found.high.is_empty());
            found.merge(&other);
            for (law, expected) in expected.iter().enumerate() {
                assert!(found.of_law(law).eq(expected.iter().copied()), "law {law} of {laws}");
            }
        }
    }

    #[test]
    fn cells_of_a_row_are_those_of_its_scores() {
        let mut stream = Seed::new(5).stream("cells");
        for (low, high) in [(0.0, 1.0), (0.7, 1.0), (0.999, 1.0), (-3.0, 2.0)] {
            let scores: Vec<f64> = (0..1003)
                .map(|index| match index % 5 {
                    0 => high - (high - low) * stream.uniform().powi(20),
                    1 => high,
                    2 => low - stream.uniform(),
                    3 => high + 1e-9 * stream.uniform(),
                    _ => low + (high - low) * stream.uniform(),
                })
                .collect();
            let mut cells = vec![0; scores.len()];
            let largest = find_tail_cells(low, high, &scores, &mut cells);
            assert_eq!(largest, scores.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            for (cell, score) in cells.iter().zip(&scores) {
                assert_eq!(*cell as usize, cell_of((high - score) / (high - low)));
            }
        }
    }
}

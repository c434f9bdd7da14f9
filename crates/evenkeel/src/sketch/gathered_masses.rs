//! A mass for each of the cells of `log_bins`, summed exactly.
//!
//! ```text
//! mass = low + 2^64 high        high is kept from the first carry on
//! ```
//! Labels of many rows fall into cells all over the table, so that an addition costs what fetching its place costs: half the
//! bytes are half the time. A carry takes 4096 rows that put everything into one cell.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::log_bins::CELLS;
use crate::numeric::simd::in_widest_registers;

/// Masses in units of `2^-52`; shape `(CELLS,)` where a pass made them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GatheredMasses {
    low: Vec<u64>,
    /// Empty while no sum has passed `2^64`.
    high: Vec<u64>,
}

impl GatheredMasses {
    /// No mass in any cell.
    pub(super) fn new() -> Self {
        Self { low: vec![0; CELLS], high: Vec::new() }
    }

    /// Number of cells; of bytes from elsewhere it may be another one than ours.
    pub(super) fn len(&self) -> usize {
        self.low.len()
    }

    /// Adds to one cell.
    #[inline]
    pub(super) fn add(&mut self, cell: usize, mass: u128) {
        let (sum, carried) = self.low[cell].overflowing_add(mass as u64);
        self.low[cell] = sum;
        let high = (mass >> 64) as u64 + u64::from(carried);
        if high > 0 {
            self.carry(cell, high);
        }
    }

    /// Adds the masses of some labels, each to the cell of its label.
    #[inline(always)]
    pub(super) fn add_each(&mut self, labels: &[u32], cells: &[u32], mass: impl Fn(usize) -> u64) {
        for label in labels {
            let label = *label as usize;
            let cell = cells[label] as usize;
            let (sum, carried) = self.low[cell].overflowing_add(mass(label));
            self.low[cell] = sum;
            if carried {
                self.carry(cell, 1);
            }
        }
    }

    #[cold]
    fn carry(&mut self, cell: usize, high: u64) {
        self.high.resize(self.low.len(), 0);
        self.high[cell] += high;
    }

    /// Adds the masses of another table of the same cells.
    pub(super) fn merge(&mut self, other: &Self) {
        for (cell, mass) in other.masses().enumerate() {
            if mass > 0 {
                self.add(cell, mass);
            }
        }
    }

    /// The mass of each cell.
    pub(super) fn masses(&self) -> impl DoubleEndedIterator<Item = u128> + ExactSizeIterator + '_ {
        (0..self.low.len()).map(|cell| {
            let high = self.high.get(cell).copied().unwrap_or(0);
            u128::from(self.low[cell]) | u128::from(high) << 64
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

/// As one list of masses, whatever their size.
impl Serialize for GatheredMasses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.masses())
    }
}

impl<'de> Deserialize<'de> for GatheredMasses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let masses = Vec::<u128>::deserialize(deserializer)?;
        let low = masses.iter().map(|mass| *mass as u64).collect();
        let high = match masses.iter().any(|mass| *mass >> 64 > 0) {
            true => masses.iter().map(|mass| (*mass >> 64) as u64).collect(),
            false => Vec::new(),
        };
        Ok(Self { low, high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use crate::sketch::log_bins::cell_of;

    /// Sums are those of 128 bits, with carries, by every way in; and their bytes those of a list of them.
    #[test]
    fn sums_are_exact() {
        let mut stream = Seed::new(4).stream("masses");
        let (mut found, mut expected) = (GatheredMasses::new(), vec![0_u128; CELLS]);
        let mut other = GatheredMasses::new();
        for round in 0..2000 {
            let cells: Vec<u32> = (0..9).map(|_| (stream.below(20) * 13_000) as u32).collect();
            let labels: Vec<u32> = (0..9).filter(|_| stream.below(3) > 0).collect();
            let masses: Vec<u64> = (0..9).map(|_| stream.bits() >> (8 * (round % 8))).collect();
            found.add_each(&labels, &cells, |label| masses[label]);
            for label in labels {
                expected[cells[label as usize] as usize] += u128::from(masses[label as usize]);
            }
            let (cell, mass) = (stream.below(CELLS), u128::from(stream.bits()) << (round % 50));
            other.add(cell, mass);
            expected[cell] += mass;
        }
        assert!(!found.high.is_empty());
        found.merge(&other);
        assert!(found.masses().eq(expected.iter().copied()));
        let bytes = postcard::to_extend(&found, Vec::new()).unwrap();
        assert_eq!(bytes, postcard::to_extend(&expected, Vec::new()).unwrap());
        assert_eq!(postcard::from_bytes::<GatheredMasses>(&bytes).unwrap(), found);
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

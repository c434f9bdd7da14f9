//! [`LawSums`] of many rows at once.
//!
//! ```text
//! bin k, law h     sum_y fixed(h_j(y)) 1{s_jy in bin k}       in 64 bits for 2048 rows, then in 128
//! ```
//! The same whole numbers as [`LawSums::add_row`] adds label by label. A row adds at most one to a law, `2^52` units, so that
//! 64 bits hold the sums of thousands of rows, and four laws of a label are one addition in a vector register.

use super::abscissae::Abscissae;
use super::crowded_bins::CrowdedBins;
use super::distance_cells::DistanceCells;
use super::law_sums::{LawSums, MOST_LAWS, fixed};
use crate::error::Result;
use crate::numeric::simd::in_widest_registers;

/// Laws of one register; laws beyond them take another one.
const ABREAST: usize = 4;
/// Registers of a bin at most.
const MOST_REGISTERS: usize = MOST_LAWS / ABREAST;
/// Rows after which sums are widened: each adds `2^52` to a law, up to rounding.
const MOST_ROWS_NARROW: u32 = 1 << 11;

/// Sums in the making, on their way to `sums`.
pub(crate) struct RowSums<'a> {
    sums: &'a mut LawSums,
    points: &'a Abscissae,
    /// None for blocks that are too small for it to pay.
    wide: Option<Wide<'a>>,
}

struct Wide<'a> {
    cells: &'a DistanceCells,
    /// Registers of a bin.
    registers: usize,
    /// Masses since the last widening, place after place.
    narrow: Vec<[u64; ABREAST]>,
    places: CrowdedBins,
    rows: u32,
    /// Cells, then bins and then places of a row's labels.
    bins: Vec<u32>,
    /// Labels in the tails.
    beyond: Vec<u32>,
    /// Their cells there.
    tail_cells: Vec<u32>,
    /// A law without mass, for places of a register that no law takes.
    nothing: Vec<f64>,
}

impl<'a> RowSums<'a> {
    /// Sums of rows with so many scores in all.
    pub(crate) fn new(sums: &'a mut LawSums, points: &'a Abscissae, scores: usize) -> Self {
        let wide = points.cells_for(scores).map(|cells| {
            let registers = sums.laws().div_ceil(ABREAST);
            let places = CrowdedBins::new(points.points().len() + 1);
            let narrow = vec![[0; ABREAST]; places.places() * registers];
            let (bins, beyond, tail_cells) = (Vec::new(), Vec::new(), Vec::new());
            let nothing = Vec::new();
            Wide { cells, registers, narrow, places, rows: 0, bins, beyond, tail_cells, nothing }
        });
        Self { sums, points, wide }
    }

    /// Adds one row: its scores, and the plausibilities of its labels under each law.
    ///
    /// # Errors
    /// If a score with mass is outside the range.
    pub(crate) fn add(&mut self, row: u64, scores: &[f64], laws: &[&[f64]]) -> Result<()> {
        let Self { sums, points, wide: Some(wide) } = self else {
            return self.sums.add_row(row, scores, self.points, laws);
        };
        wide.find_places(scores, points.points(), sums.largest());
        wide.nothing.resize(scores.len(), 0.0);
        let law = |place: usize| laws.get(place).copied().unwrap_or(&wide.nothing);
        for register in 0..wide.registers.min(MOST_REGISTERS) {
            let laws = std::array::from_fn(|place| law(register * ABREAST + place));
            add_abreast(&mut wide.narrow, wide.registers, register, laws, &wide.bins);
        }
        let Wide { beyond, tail_cells, .. } = wide;
        sums.add_to_tails(row, beyond, scores, laws, tail_cells)?;
        sums.rows += 1;
        wide.rows += 1;
        if wide.rows == MOST_ROWS_NARROW {
            wide.widen(sums);
        }
        Ok(())
    }

    /// Hands on what is left.
    pub(crate) fn end(self) {
        if let Some(mut wide) = self.wide {
            wide.widen(self.sums);
        }
    }
}

impl Wide<'_> {
    /// Places of a row's scores, and which of them lie beyond the bin of the largest calibration score.
    fn find_places(&mut self, scores: &[f64], points: &[f64], largest: usize) {
        let Self { cells, bins, beyond, places, .. } = self;
        bins.resize(scores.len(), 0);
        beyond.resize(scores.len(), 0);
        find_cells(cells, scores, bins);
        cells.find_bins(scores, points, bins);
        let mut count = 0;
        for (label, bin) in bins.iter().enumerate() {
            // Written always and counted where it holds: whether a label is in the tail is nothing a processor could guess.
            beyond[count] = label as u32;
            count += usize::from(*bin as usize > largest);
        }
        beyond.truncate(count);
        places.find_places(bins);
    }

    fn widen(&mut self, sums: &mut LawSums) {
        for (place, registers) in self.narrow.chunks_exact_mut(self.registers).enumerate() {
            let bin = self.places.bin_of(place);
            sums.add_to_bin(bin, registers.iter().flatten().copied());
            registers.fill([0; ABREAST]);
        }
        self.rows = 0;
    }
}

in_widest_registers! {
    fn find_cells[](cells: &DistanceCells, scores: &[f64], out: &mut [u32]) -> () {
        for (out, score) in out.iter_mut().zip(scores) {
            *out = cells.cell(*score);
        }
    }
}

in_widest_registers! {
    /// Adds the masses of four laws to one register of each label's bin.
    fn add_abreast[](
        narrow: &mut [[u64; ABREAST]],
        registers: usize,
        register: usize,
        laws: [&[f64]; ABREAST],
        bins: &[u32],
    ) -> () {
        // Four labels of four laws: the compiler turns the square round in registers.
        let fours = laws.map(|law| law[..bins.len()].as_chunks::<4>().0);
        for (at, bins) in bins.as_chunks::<4>().0.iter().enumerate() {
            // Written out: `map` and `from_fn` are calls where the program is built small.
            let square = [fours[0][at], fours[1][at], fours[2][at], fours[3][at]];
            let mut masses = [[0; ABREAST]; 4];
            for (label, masses) in masses.iter_mut().enumerate() {
                for (mass, law) in masses.iter_mut().zip(&square) {
                    *mass = fixed(law[label]);
                }
            }
            for (bin, masses) in bins.iter().zip(masses) {
                let sums = &mut narrow[*bin as usize * registers + register];
                for (sum, mass) in sums.iter_mut().zip(masses) {
                    *sum += mass;
                }
            }
        }
        for label in bins.len() / 4 * 4..bins.len() {
            let sums = &mut narrow[bins[label] as usize * registers + register];
            for (sum, law) in sums.iter_mut().zip(laws) {
                *sum += fixed(law[label]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Interval;
    use crate::measure::Grid;
    use crate::seed::Seed;
    use crate::sketch::Aim;

    fn bytes_of(sums: &LawSums) -> Vec<u8> {
        postcard::to_extend(sums, Vec::new()).unwrap()
    }

    /// Every bin and every tail, to the byte, beside the path that adds label by label: few and many atoms beyond the largest
    /// calibration score, laws of any number, rows of any width, certain labels and labels without mass.
    #[test]
    fn the_sums_are_those_of_one_label_after_the_other() {
        let mut stream = Seed::new(21).stream("row-sums");
        for (classes, laws, largest, atoms) in [
            (1, 1, 0.5, 3),
            (3, 4, 0.9, 3000),
            (10, 5, 0.99, 1000),
            (101, 8, 0.7, 9),
            (1000, 6, 0.999, 50),
        ] {
            let grid = Grid::new(Interval::UNIT, 200).unwrap();
            let mut further: Vec<f64> = (0..500).map(|_| largest * stream.uniform()).collect();
            further.push(largest);
            let points = Abscissae::of_grid_and_points(&grid, &further).unwrap();
            let aims = [Aim::Law(0), Aim::Mean(0, laws as u8 - 1)];
            let empty = LawSums::new(&points, largest, laws, &aims);
            let (mut slow, mut fast) = (empty.clone(), empty.emptied());
            let count = 3 * 70_000 / classes;
            let mut rows = RowSums::new(&mut fast, &points, count * classes);
            assert!(rows.wide.is_some());
            for row in 0..count {
                let scores: Vec<f64> = (0..classes)
                    .map(|_| match stream.below(3) {
                        0 => 1.0 - stream.below(atoms) as f64 / 1e5,
                        1 => 1.0 - stream.uniform().powi(7),
                        _ => stream.below(201) as f64 / 200.0,
                    })
                    .collect();
                let masses: Vec<Vec<f64>> = (0..laws)
                    .map(|law| {
                        let sure = stream.below(classes);
                        let raw: Vec<f64> = (0..classes)
                            .map(|class| match (row + law) % 3 {
                                0 => f64::from(u8::from(class == sure)),
                                1 => stream.uniform().powi(20),
                                _ => 1.0,
                            })
                            .collect();
                        let total: f64 = raw.iter().sum();
                        raw.iter().map(|mass| mass / total).collect()
                    })
                    .collect();
                let masses: Vec<&[f64]> = masses.iter().map(Vec::as_slice).collect();
                slow.add_row(row as u64, &scores, &points, &masses).unwrap();
                rows.add(row as u64, &scores, &masses).unwrap();
            }
            rows.end();
            assert!(bytes_of(&slow) == bytes_of(&fast), "{classes} classes, {laws} laws");
            // Emptied sums merge like new ones, also where the tails were gathered.
            let mut both = slow.clone();
            both.merge(slow.emptied()).unwrap();
            assert!(bytes_of(&both) == bytes_of(&slow));
        }
    }

    /// A score past the end of the range is refused with the same words.
    #[test]
    fn scores_outside_the_range_are_refused() {
        let grid = Grid::new(Interval::UNIT, 20).unwrap();
        let points = Abscissae::of_grid_and_points(&grid, &[0.5]).unwrap();
        let empty = LawSums::new(&points, 0.5, 1, &[Aim::Law(0)]);
        let (scores, mass) = (vec![0.25; 70_000], vec![1.0 / 70_000.0; 70_000]);
        let mut bad = scores.clone();
        bad[40_000] = 1.5;
        let (mut slow, mut fast) = (empty.clone(), empty);
        let expected = slow.add_row(7, &bad, &points, &[&mass]).unwrap_err();
        let mut rows = RowSums::new(&mut fast, &points, bad.len());
        rows.add(6, &scores, &[&mass]).unwrap();
        let found = rows.add(7, &bad, &[&mass]).unwrap_err();
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }
}

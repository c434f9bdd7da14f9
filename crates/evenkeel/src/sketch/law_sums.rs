//! Stage 5: the laws of target scores under several label laws, at the abscissae and beyond the largest calibration score.
//!
//! ```text
//! F_h(t) = 1/m sum_j sum_y h_j(y) 1{s_jy <= t}        for each of five label laws h
//! ```
//! Masses are kept as whole multiples of `2^-52`, so that sums do not depend on blocks, merges or threads. One of the laws is
//! the *aimed* one, whose quantiles become thresholds: its atoms beyond the largest calibration score are kept too, its tail.
//!
//! Kept: 80 bytes between neighbouring abscissae, and the tail: up to 16 384 atoms of 32 bytes, or 262 145
//! masses, 4 MB. Merging is exact because masses are whole and the tail's form depends on how many atoms it has.

use serde::{Deserialize, Serialize, Serializer};

use super::log_bins::{CELLS, cell_of, smallest_distance};
use super::row_count::{MOST_ROWS, contradiction, rows_of_both};
use crate::error::{At, Error, Result};
use crate::interval::Interval;
use crate::rows::row_number;
use crate::sketch::Abscissae;

/// Label laws whose masses are summed.
pub(crate) const LAWS: usize = 5;
/// Atoms beyond the largest calibration score that are kept one by one.
pub(crate) const MOST_TAIL_ATOMS: usize = 4096;
/// Scores may pass the end of their range by this share of it, by rounding.
const RANGE_SLACK: f64 = 1e-9;

/// A mass in `[0, 1]` as a whole number of `2^-52`.
///
/// Numbers in `[1, 2]` are `2^-52` apart and their bits count up by one, so that adding one and reading the bits rounds to a
/// whole number of units without a conversion, which takes longer than the addition it is for.
#[inline]
fn fixed(mass: f64) -> u64 {
    (mass + 1.0).to_bits().wrapping_sub(1f64.to_bits())
}

/// Masses of the laws between neighbouring abscissae, and the tail of the aimed one.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(crate) struct LawSums {
    /// The laws' masses in each bin; the last bin lies beyond the last abscissa.
    bins: Vec<[u128; LAWS]>,
    /// Which law is aimed at.
    aimed: u8,
    /// Bin of the largest calibration score.
    largest: u64,
    tail: Tail,
    /// Every score of the score function lies here, up to rounding.
    range: Interval,
    /// `m`, the rows added so far.
    pub(crate) rows: u64,
}

impl LawSums {
    /// Empty sums over abscissae that hold the `largest` calibration score; the law `aimed` at keeps its tail.
    pub(crate) fn new(points: &Abscissae, largest: f64, aimed: usize) -> Self {
        let range = points.range();
        Self {
            bins: vec![[0; LAWS]; points.points().len() + 1],
            aimed: aimed as u8,
            largest: points.locate(largest) as u64,
            tail: Tail { low: largest, high: range.high(), kept: TailAtoms::Kept(Vec::new()) },
            range,
            rows: 0,
        }
    }

    /// Adds one row: its scores, and the plausibilities of its labels under each law.
    pub(crate) fn add_row(
        &mut self,
        row: u64,
        scores: &[f64],
        locate: &Abscissae,
        laws: [&[f64]; LAWS],
    ) -> Result<()> {
        let (aimed, largest) = (usize::from(self.aimed), self.largest as usize);
        for (label, score) in scores.iter().enumerate() {
            let masses = laws.map(|law| fixed(law[label]));
            let bin = locate.locate(*score);
            for (sum, mass) in self.bins[bin].iter_mut().zip(masses) {
                *sum += u128::from(mass);
            }
            if bin > largest && masses[aimed] > 0 {
                if *score > self.range.high() + RANGE_SLACK * self.range.width() {
                    return Err(Error::OutsideRange {
                        what: "a candidate score",
                        at: At::Row(row_number(row)),
                        value: *score,
                        low: self.range.low(),
                        high: self.range.high(),
                    });
                }
                self.tail.add(*score, u128::from(masses[aimed]));
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// Adds the sums of another input.
    ///
    /// # Errors
    /// If they are sums over other scores, or aim at another law.
    pub(crate) fn merge(&mut self, other: Self) -> Result<()> {
        if self.shape() != other.shape() {
            return Err(OTHER_POINTS);
        }
        // Before the masses are added: if the rows fit, so do the sums.
        self.rows = rows_of_both(self.rows, other.rows)?;
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
        self.tail.merge(other.tail);
        Ok(())
    }

    fn shape(&self) -> (usize, u8, u64, Interval, f64) {
        (self.bins.len(), self.aimed, self.largest, self.range, self.tail.low)
    }

    /// An error unless these are sums of the kind [`new`](Self::new) makes of the same.
    pub(crate) fn require_points(
        &self,
        points: &Abscissae,
        largest: f64,
        aimed: usize,
    ) -> Result<()> {
        let bin = points.locate(largest) as u64;
        let expected = (points.points().len() + 1, aimed as u8, bin, points.range(), largest);
        if self.shape() == expected { Ok(()) } else { Err(OTHER_POINTS) }
    }

    /// Each law at the abscissae, and the aimed one at each atom beyond the largest calibration score.
    pub(crate) fn finish(self) -> ([Vec<f64>; LAWS], Vec<TailAtom>) {
        let aimed = usize::from(self.aimed);
        // Masses were cut to whole units, so that a row may hold a few units less than one: divide by what is there.
        let mut totals = [0u128; LAWS];
        let mut cumulative: Vec<[u128; LAWS]> = Vec::with_capacity(self.bins.len());
        for bin in &self.bins {
            totals.iter_mut().zip(bin).for_each(|(total, mass)| *total += mass);
            cumulative.push(totals);
        }
        let value = |law: usize, mass: u128| mass as f64 / totals[law] as f64;
        let points = self.bins.len() - 1;
        let cdfs = std::array::from_fn(|law| {
            cumulative[..points].iter().map(|reached| value(law, reached[law])).collect()
        });
        let mut reached = cumulative.get(self.largest as usize).map_or(0, |sums| sums[aimed]);
        let tail = self.tail.atoms().into_iter().map(|(score, mass)| {
            reached += mass;
            TailAtom { score, cdf: value(aimed, reached) }
        });
        (cdfs, tail.collect())
    }
}

/// What merging with sums over other scores is refused with.
const OTHER_POINTS: Error = Error::IncompatibleSketches { what: "calibration scores" };

/// As they are stored; checked when read back.
#[derive(Deserialize)]
struct Stored {
    bins: Vec<[u128; LAWS]>,
    aimed: u8,
    largest: u64,
    tail: Tail,
    range: Interval,
    rows: u64,
}

impl TryFrom<Stored> for LawSums {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        const OTHER_MASS: &str = "the masses of a law are not those of its rows";
        let Stored { bins, aimed, largest, tail, range, rows } = stored;
        if rows > MOST_ROWS || bins.len() < 2 {
            return Err(contradiction("its rows cannot be counted"));
        }
        let beyond =
            usize::try_from(largest).ok().and_then(|largest| bins.get(largest.checked_add(1)?..));
        let (true, Some(beyond)) = (usize::from(aimed) < LAWS, beyond) else {
            return Err(contradiction("it has neither the law nor the score it names"));
        };
        // Rows of one law may miss one by rounding.
        let whole = u128::from(rows) << 52;
        let sum = |bins: &[[u128; LAWS]], law: usize| {
            bins.iter().try_fold(0u128, |sum, bin| sum.checked_add(bin[law]))
        };
        for law in 0..LAWS {
            if !sum(&bins, law).is_some_and(|total| (whole / 2..=whole * 2).contains(&total)) {
                return Err(contradiction(OTHER_MASS));
            }
        }
        if tail.mass() != sum(beyond, usize::from(aimed)) {
            return Err(contradiction("the mass of its tail is not that of its last bins"));
        }
        let highest = range.high() + RANGE_SLACK * range.width();
        if !(range.contains(tail.low) && tail.high == range.high() && tail.lies_below(highest)) {
            return Err(contradiction("its tail lies outside the range of scores"));
        }
        Ok(Self { bins, aimed, largest, tail, range, rows })
    }
}

/// An atom of the aimed law beyond the largest calibration score.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TailAtom {
    /// The score, above every calibration score.
    pub score: f64,
    /// The CDF at the score, in `[0, 1]`.
    pub cdf: f64,
}

/// The aimed law beyond the largest calibration score: its atoms up to a few thousand, then masses in cells that are finer
/// the nearer to the end of the range, each moved up to the end of its cell. A quantile is never too small, and too
/// large by `1/4096` of its distance from the end of the range, or of the tail's mass, at most.
#[derive(Debug, Clone, Deserialize)]
struct Tail {
    /// The largest calibration score, where the tail begins.
    low: f64,
    /// The end of the range of scores.
    high: f64,
    /// Atoms or cells; which of the two depends on how many distinct atoms there are.
    kept: TailAtoms,
}

/// Scores with their masses in units of `2^-52`, unsorted and with repeats until they are settled;
/// or one mass for each of the cells of `log_bins`.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum TailAtoms {
    Kept(Vec<(f64, u128)>),
    Gathered(Vec<u128>),
}

/// Written with equal atoms joined, so that the bytes do not depend on how they arrived.
impl Serialize for Tail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A struct of its own: deriving for `Tail` itself would write the atoms as they happened to
        // arrive.
        #[derive(Serialize)]
        struct Written {
            low: f64,
            high: f64,
            kept: TailAtoms,
        }
        let mut settled = self.clone();
        settled.settle();
        let Self { low, high, kept } = settled;
        Written { low, high, kept }.serialize(serializer)
    }
}

impl Tail {
    /// Total mass of a tail that was read from bytes; none if it is too large or the tail is none that was written.
    fn mass(&self) -> Option<u128> {
        match &self.kept {
            // Written tails are settled, so that more atoms than this, or another number of cells,
            // come from no tail of ours.
            TailAtoms::Kept(atoms) if atoms.len() <= MOST_TAIL_ATOMS => {
                atoms.iter().try_fold(0u128, |sum, (_, mass)| sum.checked_add(*mass))
            }
            TailAtoms::Gathered(cells) if cells.len() == CELLS => {
                cells.iter().try_fold(0u128, |sum, mass| sum.checked_add(*mass))
            }
            _ => None,
        }
    }

    /// Whether its atoms increase and lie beyond the largest calibration score and not above `highest`.
    fn lies_below(&self, highest: f64) -> bool {
        match &self.kept {
            TailAtoms::Kept(atoms) => {
                atoms.windows(2).all(|pair| pair[0].0 < pair[1].0)
                    && atoms.iter().all(|(score, _)| *score > self.low && *score <= highest)
            }
            TailAtoms::Gathered(_) => true,
        }
    }

    /// Adds an atom; the score is above `low`.
    #[inline]
    fn add(&mut self, score: f64, mass: u128) {
        match &mut self.kept {
            TailAtoms::Kept(atoms) => {
                atoms.push((score, mass));
                // Room for repeats, so that thousands of pushes share the cost of one sort.
                if atoms.len() > 4 * MOST_TAIL_ATOMS {
                    self.settle();
                }
            }
            TailAtoms::Gathered(cells) => cells[cell(self.low, self.high, score)] += mass,
        }
    }

    /// Adds the masses of another tail over the same scores.
    fn merge(&mut self, other: Self) {
        match other.kept {
            TailAtoms::Kept(atoms) => {
                atoms.into_iter().for_each(|(score, mass)| self.add(score, mass));
            }
            TailAtoms::Gathered(theirs) => {
                self.gather();
                if let TailAtoms::Gathered(cells) = &mut self.kept {
                    cells.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
                }
            }
        }
    }

    /// Joins equal atoms, and gathers them where too many are left: more will not make them fewer.
    fn settle(&mut self) {
        let TailAtoms::Kept(atoms) = &mut self.kept else { return };
        // Unstable is safe: atoms that tie are joined next, and whole masses add up alike in any
        // order.
        atoms.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        atoms.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same {
                first.1 += next.1;
            }
            same
        });
        if atoms.len() > MOST_TAIL_ATOMS {
            self.gather();
        }
    }

    /// Puts the atoms into cells; cells stay as they are.
    fn gather(&mut self) {
        if let TailAtoms::Kept(atoms) = &self.kept {
            let mut cells = vec![0; CELLS];
            for (score, mass) in atoms {
                cells[cell(self.low, self.high, *score)] += mass;
            }
            self.kept = TailAtoms::Gathered(cells);
        }
    }

    /// Increasing atoms with their masses, at most one more than `MOST_TAIL_ATOMS`.
    fn atoms(mut self) -> Vec<(f64, u128)> {
        self.settle();
        match self.kept {
            TailAtoms::Kept(atoms) => atoms,
            TailAtoms::Gathered(cells) => {
                let width = self.high - self.low;
                let end = |cell: usize| self.high - smallest_distance(cell) * width;
                let total: u128 = cells.iter().sum();
                let step = total / MOST_TAIL_ATOMS as u128;
                let last = cells.iter().rposition(|mass| *mass > 0);
                let mut atoms: Vec<(f64, u128)> = Vec::new();
                let mut gathered = 0;
                for (cell, mass) in cells.iter().enumerate() {
                    gathered += mass;
                    // At the upper end of the cell: a threshold read off it is never too small.
                    if gathered > step || (Some(cell) == last && gathered > 0) {
                        atoms.push((end(cell), gathered));
                        gathered = 0;
                    }
                }
                atoms
            }
        }
    }
}

/// The cell of a score in `(low, high]`, increasing with it.
#[inline]
fn cell(low: f64, high: f64, score: f64) -> usize {
    cell_of((high - score) / (high - low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn tail(scores: &[f64]) -> Tail {
        let mut tail = Tail { low: 0.5, high: 1.0, kept: TailAtoms::Kept(Vec::new()) };
        scores.iter().for_each(|score| tail.add(*score, 1 << 62));
        tail
    }

    #[test]
    fn few_atoms_are_exact_and_many_are_hardly_moved_up() {
        let mut stream = Seed::new(1).stream("tail");
        for count in [100, 4096, 4097, 50_000] {
            let scores: Vec<f64> = (0..count).map(|_| 0.5 + 0.5 * stream.uniform()).collect();
            let found = tail(&scores).atoms();
            let mut sorted = scores.clone();
            sorted.sort_by(f64::total_cmp);
            let mut spread: Vec<f64> = Vec::new();
            for (score, mass) in &found {
                let times = usize::try_from(mass >> 62).unwrap();
                spread.extend(std::iter::repeat_n(*score, times));
            }
            assert_eq!(spread.len(), sorted.len());
            for (rank, (up, exact)) in spread.iter().zip(&sorted).enumerate() {
                let later = sorted[(rank + count / MOST_TAIL_ATOMS + 1).min(count - 1)];
                let slack = (1.0 - exact) / 2048.0;
                assert!(up >= exact && *up <= later + slack, "{up} for {exact}");
            }
            assert_eq!(spread == sorted, count <= MOST_TAIL_ATOMS);
        }
    }

    #[test]
    fn the_order_does_not_matter() {
        let mut stream = Seed::new(2).stream("tail");
        let scores: Vec<f64> = (0..30_000).map(|_| 0.5 + 0.5 * stream.uniform()).collect();
        let mut merged = tail(&scores[20_000..]);
        merged.merge(tail(&scores[..1000]));
        merged.merge(tail(&scores[1000..20_000]));
        assert_eq!(merged.atoms(), tail(&scores).atoms());
    }

    /// Scores that crowd at one, more than are kept: quantiles are never too small, and hardly too large.
    #[test]
    fn gathered_tails_keep_their_quantiles() {
        let mut tail = Tail { low: 0.5, high: 1.0, kept: TailAtoms::Kept(Vec::new()) };
        let count = 50_000_u32;
        let scores: Vec<f64> =
            (0..count).map(|index| 1.0 - 0.5 * (-f64::from(index) / 2000.0).exp()).collect();
        scores.iter().for_each(|score| tail.add(*score, 1));
        let atoms = tail.atoms();
        assert!(atoms.len() <= MOST_TAIL_ATOMS + 1, "{}", atoms.len());
        assert_eq!(atoms.iter().map(|(_, mass)| mass).sum::<u128>(), u128::from(count));
        for rank in [1, 10, 1000, 20_000, 30_000, 49_999, 50_000] {
            let mut reached = 0;
            let found = atoms.iter().find(|(_, mass)| {
                reached += mass;
                reached >= rank
            });
            let (found, exact) = (found.map_or(f64::NAN, |atom| atom.0), scores[rank as usize - 1]);
            let later = scores
                [(rank as usize + count as usize / MOST_TAIL_ATOMS + 1).min(scores.len() - 1)];
            assert!(found >= exact, "{found} is too small at {rank}");
            let slack = (1.0 - exact) / 2048.0;
            assert!(
                found <= later.max(exact) + slack,
                "{found} is too large for {exact} at {rank}"
            );
        }
    }
}

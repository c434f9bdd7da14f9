//! Stage 5: the laws of target scores under several label laws, at the abscissae and beyond the largest calibration score.
//!
//! ```text
//! F_h(t) = 1/m sum_j sum_y h_j(y) 1{s_jy <= t}        for each of up to eight label laws h
//! ```
//! Masses are kept as whole multiples of `2^-52`, so that sums do not depend on blocks, merges or threads. Thresholds are made of
//! an *aim*, one of the laws or the mean of two: its atoms beyond the largest calibration score are kept too, its tail. There
//! are several aims where the laws themselves decide which it is to be.
//!
//! Kept: 16 bytes a law between neighbouring abscissae, and for each aim a tail: up to 16 384 atoms of 32 bytes, or 262 145
//! masses, 2 MB, and 4 MB once a cell has taken in thousands of rows. Merging is exact because masses are whole and the tail's form depends on how many atoms it has.

use serde::{Deserialize, Serialize, Serializer};

use super::gathered_masses::{GatheredMasses, find_tail_cells};
use super::log_bins::{CELLS, cell_of, smallest_distance};
use super::row_count::{MOST_ROWS, contradiction, rows_of_both};
use crate::error::{At, Error, Result};
use crate::interval::Interval;
use crate::rows::row_number;
use crate::sketch::Abscissae;

/// Label laws whose masses are summed, at most.
pub(crate) const MOST_LAWS: usize = 8;
/// Aims at most.
const MOST_AIMS: usize = 2;
/// Atoms beyond the largest calibration score that are kept one by one.
pub(crate) const MOST_TAIL_ATOMS: usize = 4096;
/// Scores may pass the end of their range by this share of it, by rounding.
const RANGE_SLACK: f64 = 1e-9;

/// A mass in `[0, 1]` as a whole number of `2^-52`.
///
/// Numbers in `[1, 2]` are `2^-52` apart and their bits count up by one, so that adding one and reading the bits rounds to a
/// whole number of units without a conversion, which takes longer than the addition it is for.
#[inline(always)]
pub(super) fn fixed(mass: f64) -> u64 {
    (mass + 1.0).to_bits().wrapping_sub(1f64.to_bits())
}

/// What thresholds are made of, by the places of laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Aim {
    /// One law.
    Law(u8),
    /// The mean of two.
    Mean(u8, u8),
}

impl Aim {
    /// The sum of its laws' numbers.
    #[inline]
    fn of<N: Copy + std::ops::Add<Output = N>>(self, laws: &[N]) -> N {
        match self {
            Self::Law(law) => laws[usize::from(law)],
            Self::Mean(one, other) => laws[usize::from(one)] + laws[usize::from(other)],
        }
    }

    /// Its mass of a label, of the laws' plausibilities.
    #[inline]
    fn of_label(self, laws: &[&[f64]], label: usize) -> u64 {
        let mass = |law: u8| fixed(laws[usize::from(law)][label]);
        match self {
            Self::Law(law) => mass(law),
            Self::Mean(one, other) => mass(one) + mass(other),
        }
    }

    fn is_of(self, laws: usize) -> bool {
        match self {
            Self::Law(law) => usize::from(law) < laws,
            Self::Mean(one, other) => usize::from(one.max(other)) < laws,
        }
    }
}

/// Masses of the laws between neighbouring abscissae, and the tails of the aims.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(crate) struct LawSums {
    /// The laws' masses in each bin, bin after bin; the last bin lies beyond the last abscissa.
    bins: Vec<u128>,
    /// Number of laws.
    laws: u8,
    /// What thresholds may be made of.
    aims: Vec<Aim>,
    /// Bin of the largest calibration score.
    largest: u64,
    /// One for each aim.
    tails: Vec<Tail>,
    /// Every score of the score function lies here, up to rounding.
    range: Interval,
    /// `m`, the rows added so far.
    pub(crate) rows: u64,
}

/// Laws and aims of finished sums.
pub(crate) struct SummedLaws {
    /// Each law at the abscissae.
    pub cdfs: Vec<Vec<f64>>,
    /// Each aim at the abscissae, and at each of its atoms beyond the largest calibration score.
    pub aims: Vec<(Vec<f64>, Vec<TailAtom>)>,
}

impl LawSums {
    /// Empty sums of so many laws over abscissae that hold the `largest` calibration score; the aims keep their tails.
    pub(crate) fn new(points: &Abscissae, largest: f64, laws: usize, aims: &[Aim]) -> Self {
        let range = points.range();
        let tail = Tail { low: largest, high: range.high(), kept: TailAtoms::Kept(Vec::new()) };
        Self {
            bins: vec![0; (points.points().len() + 1) * laws],
            laws: laws as u8,
            aims: aims.to_vec(),
            largest: points.locate(largest) as u64,
            tails: vec![tail; aims.len()],
            range,
            rows: 0,
        }
    }

    /// Sums of the same laws that have seen no rows. Tails that were gathered stay so: more rows will not make them fewer.
    pub(crate) fn emptied(&self) -> Self {
        Self {
            bins: vec![0; self.bins.len()],
            laws: self.laws,
            aims: self.aims.clone(),
            largest: self.largest,
            tails: self.tails.iter().map(Tail::emptied).collect(),
            range: self.range,
            rows: 0,
        }
    }

    /// Number of laws.
    pub(super) fn laws(&self) -> usize {
        usize::from(self.laws)
    }

    /// The bin of the largest calibration score; scores of later bins belong to the tails.
    pub(super) fn largest(&self) -> usize {
        self.largest as usize
    }

    /// Adds masses of one bin, law after law.
    pub(super) fn add_to_bin(&mut self, bin: usize, masses: impl Iterator<Item = u64>) {
        let laws = self.laws();
        for (sum, mass) in self.bins[bin * laws..][..laws].iter_mut().zip(masses) {
            *sum += u128::from(mass);
        }
    }

    /// Adds the atoms of some labels of a row to the tails: those whose scores lie beyond the largest calibration score.
    /// `cells` is memory for the cells of a row.
    ///
    /// # Errors
    /// If a score is outside the range.
    pub(super) fn add_to_tails(
        &mut self,
        row: u64,
        labels: &[u32],
        scores: &[f64],
        laws: &[&[f64]],
        cells: &mut Vec<u32>,
    ) -> Result<()> {
        let Self { aims, tails, range, .. } = self;
        // Once for all aims: their tails begin at the same score.
        let Some(Tail { low, high, .. }) = tails.first() else { return Ok(()) };
        cells.resize(scores.len(), 0);
        let largest = find_tail_cells(*low, *high, scores, cells);
        let highest = range.high() + RANGE_SLACK * range.width();
        if largest > highest {
            let has_mass = |label: usize| aims.iter().any(|aim| aim.of_label(laws, label) > 0);
            let outside_of = labels.iter().map(|label| *label as usize);
            let found = outside_of.filter(|label| scores[*label] > highest).find(|l| has_mass(*l));
            if let Some(label) = found {
                return Err(outside(row, scores[label], *range));
            }
        }
        for (aim, tail) in aims.iter().zip(&mut *tails) {
            match &mut tail.kept {
                TailAtoms::Gathered(masses) => match *aim {
                    Aim::Law(law) => {
                        let law = laws[usize::from(law)];
                        masses.add_each(labels, cells, |label| fixed(law[label]));
                    }
                    Aim::Mean(one, other) => {
                        let (one, other) = (laws[usize::from(one)], laws[usize::from(other)]);
                        let mass = |label: usize| fixed(one[label]) + fixed(other[label]);
                        masses.add_each(labels, cells, mass);
                    }
                },
                TailAtoms::Kept(_) => {
                    for label in labels {
                        let label = *label as usize;
                        let mass = aim.of_label(laws, label);
                        if mass > 0 {
                            tail.add(scores[label], u128::from(mass));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds one row: its scores, and the plausibilities of its labels under each law.
    pub(crate) fn add_row(
        &mut self,
        row: u64,
        scores: &[f64],
        locate: &Abscissae,
        laws: &[&[f64]],
    ) -> Result<()> {
        let largest = self.largest as usize;
        let count = usize::from(self.laws);
        let mut masses = [0; MOST_LAWS];
        for (label, score) in scores.iter().enumerate() {
            for (mass, law) in masses.iter_mut().zip(laws) {
                *mass = fixed(law[label]);
            }
            let bin = locate.locate(*score);
            for (sum, mass) in self.bins[bin * count..][..count].iter_mut().zip(masses) {
                *sum += u128::from(mass);
            }
            if bin <= largest {
                continue;
            }
            for (aim, tail) in self.aims.iter().zip(&mut self.tails) {
                let mass = aim.of(&masses);
                if mass == 0 {
                    continue;
                }
                if *score > self.range.high() + RANGE_SLACK * self.range.width() {
                    return Err(outside(row, *score, self.range));
                }
                tail.add(*score, u128::from(mass));
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// Adds the sums of another input.
    ///
    /// # Errors
    /// If they are sums over other scores, or of other laws and aims.
    pub(crate) fn merge(&mut self, other: Self) -> Result<()> {
        if self.shape() != other.shape() {
            return Err(OTHER_POINTS);
        }
        // Before the masses are added: if the rows fit, so do the sums.
        self.rows = rows_of_both(self.rows, other.rows)?;
        self.bins.iter_mut().zip(&other.bins).for_each(|(mine, theirs)| *mine += theirs);
        self.tails.iter_mut().zip(other.tails).for_each(|(mine, theirs)| mine.merge(theirs));
        Ok(())
    }

    fn shape(&self) -> (usize, u8, &[Aim], u64, Interval, Option<f64>) {
        let low = self.tails.first().map(|tail| tail.low);
        (self.bins.len(), self.laws, &self.aims, self.largest, self.range, low)
    }

    /// An error unless these are sums of the kind [`new`](Self::new) makes of the same.
    pub(crate) fn require_points(
        &self,
        points: &Abscissae,
        largest: f64,
        laws: usize,
        aims: &[Aim],
    ) -> Result<()> {
        let bin = points.locate(largest) as u64;
        let bins = (points.points().len() + 1) * laws;
        let low = aims.first().map(|_| largest);
        let expected = (bins, laws as u8, aims, bin, points.range(), low);
        if self.shape() == expected { Ok(()) } else { Err(OTHER_POINTS) }
    }

    /// Each law at the abscissae, and each aim at the atoms beyond the largest calibration score too.
    pub(crate) fn finish(self) -> SummedLaws {
        let laws = usize::from(self.laws);
        // Masses were cut to whole units, so that a row may hold a few units less than one: divide by what is there.
        let mut totals = vec![0u128; laws];
        let mut cumulative = self.bins;
        for bin in cumulative.chunks_exact_mut(laws) {
            for (total, mass) in totals.iter_mut().zip(bin) {
                *total += *mass;
                *mass = *total;
            }
        }
        let points = &cumulative[..cumulative.len().saturating_sub(laws)];
        let at_points = |of: &dyn Fn(&[u128]) -> u128| -> Vec<f64> {
            let total = of(&totals) as f64;
            points.chunks_exact(laws).map(|reached| of(reached) as f64 / total).collect()
        };
        let cdfs = (0..laws).map(|law| at_points(&|masses| masses[law])).collect();
        let aims = self.aims.iter().zip(self.tails).map(|(aim, tail)| {
            let total = aim.of(&totals) as f64;
            let mut reached =
                cumulative.chunks_exact(laws).nth(self.largest as usize).map_or(0, |it| aim.of(it));
            let tail = tail.atoms().into_iter().map(|(score, mass)| {
                reached += mass;
                TailAtom { score, cdf: reached as f64 / total }
            });
            let tail: Vec<TailAtom> = tail.collect();
            (at_points(&|masses| aim.of(masses)), tail)
        });
        SummedLaws { cdfs, aims: aims.collect() }
    }
}

/// What a score that no score function of this range gives is refused with.
#[cold]
fn outside(row: u64, value: f64, range: Interval) -> Error {
    let (low, high) = (range.low(), range.high());
    Error::OutsideRange {
        what: "a candidate score",
        at: At::Row(row_number(row)),
        value,
        low,
        high,
    }
}

/// What merging with sums over other scores is refused with.
const OTHER_POINTS: Error = Error::IncompatibleSketches { what: "calibration scores" };

/// As they are stored; checked when read back.
#[derive(Deserialize)]
struct Stored {
    bins: Vec<u128>,
    laws: u8,
    aims: Vec<Aim>,
    largest: u64,
    tails: Vec<Tail>,
    range: Interval,
    rows: u64,
}

impl TryFrom<Stored> for LawSums {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        const OTHER_MASS: &str = "the masses of a law are not those of its rows";
        let Stored { bins, laws, aims, largest, tails, range, rows } = stored;
        let count = usize::from(laws);
        // Before anything is cut into bins of so many laws.
        if !(1..=MOST_LAWS).contains(&count) || bins.len() % count != 0 {
            return Err(contradiction("its bins do not hold its laws"));
        }
        if rows > MOST_ROWS || bins.len() / count < 2 {
            return Err(contradiction("its rows cannot be counted"));
        }
        let beyond = usize::try_from(largest)
            .ok()
            .and_then(|largest| bins.get(largest.checked_add(1)?.checked_mul(count)?..));
        let aimed = aims.len() <= MOST_AIMS
            && aims.len() == tails.len()
            && aims.iter().all(|aim| aim.is_of(count));
        let (true, Some(beyond)) = (aimed, beyond) else {
            return Err(contradiction("it has neither the law nor the score it names"));
        };
        // Rows of one law may miss one by rounding.
        let whole = u128::from(rows) << 52;
        let sum = |bins: &[u128], law: usize| {
            bins.iter().skip(law).step_by(count).try_fold(0u128, |sum, mass| sum.checked_add(*mass))
        };
        let mut masses_beyond = vec![0; count];
        for (law, mass) in masses_beyond.iter_mut().enumerate() {
            if !sum(&bins, law).is_some_and(|total| (whole / 2..=whole * 2).contains(&total)) {
                return Err(contradiction(OTHER_MASS));
            }
            // No more than all of its bins, whose sum is known to be a number.
            *mass = sum(beyond, law).unwrap_or(0);
        }
        let highest = range.high() + RANGE_SLACK * range.width();
        for (aim, tail) in aims.iter().zip(&tails) {
            if tail.mass() != Some(aim.of(&masses_beyond)) {
                return Err(contradiction("the mass of its tail is not that of its last bins"));
            }
            let inside = range.contains(tail.low)
                && tail.high == range.high()
                && tail.lies_below(highest)
                && Some(tail.low) == tails.first().map(|first| first.low);
            if !inside {
                return Err(contradiction("its tail lies outside the range of scores"));
            }
        }
        Ok(Self { bins, laws, aims, largest, tails, range, rows })
    }
}

/// An atom of an aim beyond the largest calibration score.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TailAtom {
    /// The score, above every calibration score.
    pub score: f64,
    /// The CDF at the score, in `[0, 1]`.
    pub cdf: f64,
}

/// An aim beyond the largest calibration score: its atoms up to a few thousand, then masses in cells that are finer
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
    Gathered(GatheredMasses),
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
    /// A tail of the same form without atoms.
    fn emptied(&self) -> Self {
        let kept = match &self.kept {
            TailAtoms::Kept(_) => TailAtoms::Kept(Vec::new()),
            TailAtoms::Gathered(_) => TailAtoms::Gathered(GatheredMasses::new()),
        };
        Self { low: self.low, high: self.high, kept }
    }

    /// Total mass of a tail that was read from bytes; none if it is too large or the tail is none that was written.
    fn mass(&self) -> Option<u128> {
        match &self.kept {
            // Written tails are settled, so that more atoms than this, or another number of cells,
            // come from no tail of ours.
            TailAtoms::Kept(atoms) if atoms.len() <= MOST_TAIL_ATOMS => {
                atoms.iter().try_fold(0u128, |sum, (_, mass)| sum.checked_add(*mass))
            }
            TailAtoms::Gathered(cells) if cells.len() == CELLS => {
                cells.masses().try_fold(0u128, u128::checked_add)
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
            TailAtoms::Gathered(cells) => cells.add(cell(self.low, self.high, score), mass),
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
                    cells.merge(&theirs);
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
            let mut cells = GatheredMasses::new();
            for (score, mass) in atoms {
                cells.add(cell(self.low, self.high, *score), *mass);
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
                let total: u128 = cells.masses().sum();
                let step = total / MOST_TAIL_ATOMS as u128;
                let last = cells.masses().rposition(|mass| mass > 0);
                let mut atoms: Vec<(f64, u128)> = Vec::new();
                let mut gathered = 0;
                for (cell, mass) in cells.masses().enumerate() {
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

//! Stage 5: the laws of target scores under several label laws, at the abscissae and beyond the largest calibration score.
//!
//! ```text
//! F_h(t) = 1/m sum_j sum_y h_j(y) 1{s_jy <= t}        for each of up to eight label laws h
//! ```
//! Masses are kept as whole multiples of `2^-52`, so that sums do not depend on blocks, merges or threads. Thresholds are made of
//! an *aim*, one of the laws or the mean of two: its atoms beyond the largest calibration score are kept too, its tail. There
//! are several aims where the laws themselves decide which it is to be.
//!
//! Kept: 16 bytes a law between neighbouring abscissae, and the tails. Merging is exact because masses are whole and the form of a
//! tail depends on how many atoms it has.

use serde::{Deserialize, Serialize};

use super::gathered_masses::{MassOfLabel, find_tail_cells};
use super::row_count::{MOST_ROWS, contradiction, rows_of_both};
use super::tails::{StoredTail, Tails};
use crate::error::{At, Error, Result};
use crate::interval::Interval;
use crate::rows::row_number;
use crate::sketch::Abscissae;

/// Label laws whose masses are summed, at most.
pub(crate) const MOST_LAWS: usize = 8;
/// Aims at most.
const MOST_AIMS: usize = 2;
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

/// Masses under a law; shape `(C,)`.
#[derive(Clone, Copy)]
struct OfLaw<'l>(&'l [f64]);

impl MassOfLabel for OfLaw<'_> {
    #[inline(always)]
    fn of(&self, label: usize) -> u64 {
        fixed(self.0[label])
    }
}

/// Twice the masses under the mean of two laws.
#[derive(Clone, Copy)]
struct OfBoth<'l>(&'l [f64], &'l [f64]);

impl MassOfLabel for OfBoth<'_> {
    #[inline(always)]
    fn of(&self, label: usize) -> u64 {
        fixed(self.0[label]) + fixed(self.1[label])
    }
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
    tails: Tails,
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
        Self {
            bins: vec![0; (points.points().len() + 1) * laws],
            laws: laws as u8,
            aims: aims.to_vec(),
            largest: points.locate(largest) as u64,
            tails: Tails::new(largest, range.high(), aims.len()),
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
            tails: self.tails.emptied(),
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
        let Some((low, high)) = tails.range() else { return Ok(()) };
        cells.resize(scores.len(), 0);
        let largest = find_tail_cells(low, high, scores, cells);
        let highest = range.high() + RANGE_SLACK * range.width();
        if largest > highest {
            let has_mass = |label: usize| aims.iter().any(|aim| aim.of_label(laws, label) > 0);
            let outside_of = labels.iter().map(|label| *label as usize);
            let found = outside_of.filter(|label| scores[*label] > highest).find(|l| has_mass(*l));
            if let Some(label) = found {
                return Err(outside(row, scores[label], *range));
            }
        }
        let law = |place: u8| laws[usize::from(place)];
        match (&aims[..], tails.all_gathered()) {
            ([Aim::Law(a)], Some(masses)) => masses.add_each(labels, cells, OfLaw(law(*a))),
            ([Aim::Mean(a, b)], Some(masses)) => {
                masses.add_each(labels, cells, OfBoth(law(*a), law(*b)));
            }
            ([Aim::Law(a), Aim::Law(b)], Some(masses)) => {
                masses.add_pairs(labels, cells, OfLaw(law(*a)), OfLaw(law(*b)));
            }
            ([Aim::Law(a), Aim::Mean(b, c)], Some(masses)) => {
                masses.add_pairs(labels, cells, OfLaw(law(*a)), OfBoth(law(*b), law(*c)));
            }
            ([Aim::Mean(a, b), Aim::Law(c)], Some(masses)) => {
                masses.add_pairs(labels, cells, OfBoth(law(*a), law(*b)), OfLaw(law(*c)));
            }
            ([Aim::Mean(a, b), Aim::Mean(c, d)], Some(masses)) => {
                let (one, other) = (OfBoth(law(*a), law(*b)), OfBoth(law(*c), law(*d)));
                masses.add_pairs(labels, cells, one, other);
            }
            _ => {
                for label in labels.iter().map(|label| *label as usize) {
                    for (place, aim) in aims.iter().enumerate() {
                        let mass = aim.of_label(laws, label);
                        if mass > 0 {
                            tails.add(place, scores[label], u128::from(mass));
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
            for (place, aim) in self.aims.iter().enumerate() {
                let mass = aim.of(&masses);
                if mass == 0 {
                    continue;
                }
                if *score > self.range.high() + RANGE_SLACK * self.range.width() {
                    return Err(outside(row, *score, self.range));
                }
                self.tails.add(place, *score, u128::from(mass));
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
        self.tails.merge(other.tails);
        Ok(())
    }

    fn shape(&self) -> (usize, u8, &[Aim], u64, Interval, Option<f64>) {
        let low = self.tails.range().map(|(low, _)| low);
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
        let aims = self.aims.iter().zip(self.tails.atoms()).map(|(aim, tail)| {
            let total = aim.of(&totals) as f64;
            let mut reached =
                cumulative.chunks_exact(laws).nth(self.largest as usize).map_or(0, |it| aim.of(it));
            let tail = tail.into_iter().map(|(score, mass)| {
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
    tails: Vec<StoredTail>,
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
            let (low, high) = tail.range();
            let inside = range.contains(low)
                && high == range.high()
                && tail.lies_below(highest)
                && Some(low) == tails.first().map(|first| first.range().0);
            if !inside {
                return Err(contradiction("its tail lies outside the range of scores"));
            }
        }
        // Also where there is no aim, and so no tail to begin anywhere.
        let low = tails.first().map_or(range.low(), |first| first.range().0);
        let tails = Tails::of_stored(low, range.high(), tails);
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

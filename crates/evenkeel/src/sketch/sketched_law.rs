//! One law of a sketch: how much mass, and where, between neighbouring abscissae.
//!
//! ```text
//! F(t_k) = (mass_0 + .. + mass_k) / total        E[S] = low + (high - low) sum_k moment_k / total
//! ```

use serde::{Deserialize, Serialize};

use super::abscissae::Abscissae;
use super::row_count::contradiction;
use crate::error::{Result, require_same_length};
use crate::measure::WeightedEmpirical;

/// Masses and first moments are kept as whole multiples of `2^-62`.
///
/// Whole numbers add up to the same total in any order, so a sketch does not depend on chunks, merges or threads;
/// floating-point sums would. A mass of `f` is stored to 1e-19.
pub(super) const UNIT: f64 = (1u64 << 62) as f64;

/// Largest sum of moments: a quarter of what fits, so that no sum of them overflows.
const LARGEST_MOMENT: u128 = 1 << 125;

/// The mass of one whole row.
pub(crate) const WHOLE: u64 = 1 << 62;

/// A mass in `[0, 1]` as a whole number of units, rounded down.
///
/// Readers divide by the total mass, so that what is cut off cancels but for a share of `1e-19`.
#[inline]
pub(crate) fn fixed(mass: f64) -> u64 {
    (mass * UNIT) as u64
}

/// Mass and first moment between two neighbouring abscissae.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Bin {
    /// In units of `2^-62`; whole rows of them, up to `2^62`, fit.
    mass: u128,
    /// Sum of mass times position, positions counted from the low end in units of the range.
    moment: i128,
}

/// A law seen through abscissae `t_0 < .. < t_(K-1)`: bin `k` holds the scores in `(t_(k-1), t_k]`, bin `K` those beyond.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SketchedLaw {
    /// Shape `(K + 1,)`.
    bins: Vec<Bin>,
    /// Smallest score with mass; infinity before the first.
    smallest: f64,
    /// Largest score with mass; minus infinity before the first.
    largest: f64,
}

impl SketchedLaw {
    /// A law without mass.
    pub(crate) fn new(bins: usize) -> Self {
        Self {
            bins: vec![Bin::default(); bins],
            smallest: f64::INFINITY,
            largest: f64::NEG_INFINITY,
        }
    }

    /// Adds a mass of `share` (also given as the whole number `fixed(share)`) at `position` (from the low end, in units
    /// of the range) to bin `index`. The score itself must be reported to [`saw`](Self::saw).
    ///
    /// `index` is that of the first abscissa at or after the score, `K` beyond the last.
    #[inline]
    pub(crate) fn add(&mut self, index: usize, position: f64, share: f64, mass: u64) {
        let bin = &mut self.bins[index];
        bin.mass += u128::from(mass);
        // |position| < 2^20 (checked by the sketch) and share <= 1: the sum has room for 2^45 rows.
        let moment = position * share * UNIT;
        bin.moment += if moment.abs() < UNIT { i128::from(moment as i64) } else { moment as i128 };
    }

    /// Adds what many scores of bin `index` add up to, in units of `2^-62`; their moments are not negative.
    pub(crate) fn add_whole(&mut self, index: usize, mass: u128, moment: u128) {
        let bin = &mut self.bins[index];
        bin.mass += mass;
        bin.moment += moment.cast_signed();
    }

    /// Widens the extremes to include `score`.
    #[inline]
    pub(crate) fn saw(&mut self, score: f64) {
        self.smallest = if score < self.smallest { score } else { self.smallest };
        self.largest = if score > self.largest { score } else { self.largest };
    }

    /// Adds the masses of another law over the same abscissae. None if there are more rows than the
    /// whole numbers hold; the law is half merged then.
    pub(crate) fn merge(&mut self, other: &Self) -> Option<()> {
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            bin.mass = bin.mass.checked_add(more.mass)?;
            bin.moment = bin.moment.checked_add(more.moment)?;
            // Room for the blocks that are added after it.
            if bin.moment.unsigned_abs() > LARGEST_MOMENT {
                return None;
            }
        }
        self.smallest = self.smallest.min(other.smallest);
        self.largest = self.largest.max(other.largest);
        Some(())
    }

    /// An error unless a law that was read from bytes is one that `rows` rows can leave.
    ///
    /// # Errors
    /// If bins and abscissae differ in number, the masses are not those of the rows, the moments
    /// would overflow when added up, or mass lies outside the extremes.
    pub(crate) fn check(&self, abscissae: &Abscissae, rows: u64) -> Result<()> {
        let points = abscissae.points().len();
        require_same_length("bins of a sketched law", self.bins.len(), "its points", points + 1)?;
        if rows == 0 {
            let empty = Self::new(self.bins.len());
            return if *self == empty { Ok(()) } else { Err(contradiction(OTHER_MASS)) };
        }
        let total = self.bins.iter().try_fold(0u128, |sum, bin| sum.checked_add(bin.mass));
        // Plausibilities of a row may miss one by rounding, and each is cut to whole units.
        let whole = u128::from(rows) * u128::from(WHOLE);
        if !total.is_some_and(|total| (whole / 2..=whole * 2).contains(&total)) {
            return Err(contradiction(OTHER_MASS));
        }
        let moments = self.bins.iter().try_fold(0u128, |sum, bin| {
            sum.checked_add(bin.moment.unsigned_abs()).filter(|sum| *sum <= LARGEST_MOMENT)
        });
        if moments.is_none() {
            return Err(contradiction("the mean of a law is beyond all scores"));
        }
        // A score whose plausibility was cut to nothing may widen the extremes; no mass lies outside them.
        let first = self.bins.iter().position(|bin| bin.mass > 0).unwrap_or(0);
        let last = self.bins.iter().rposition(|bin| bin.mass > 0).unwrap_or(0);
        let in_order = self.smallest.is_finite()
            && self.largest.is_finite()
            && self.smallest <= self.largest
            && abscissae.locate(self.smallest) <= first
            && abscissae.locate(self.largest) >= last;
        if in_order { Ok(()) } else { Err(contradiction("a law has mass outside its extremes")) }
    }

    /// Smallest and largest score seen; infinite and out of order before the first row.
    pub(crate) fn extremes(&self) -> (f64, f64) {
        (self.smallest, self.largest)
    }

    /// Mass of all bins, close to the number of rows in units of `2^-62`.
    fn total(&self) -> u128 {
        self.bins.iter().map(|bin| bin.mass).sum()
    }

    /// `F` at every abscissa, exact up to the rounding of one division.
    pub(crate) fn cdf(&self) -> Vec<f64> {
        let total = self.total() as f64;
        let mut running = 0u128;
        let at_or_below = |bin: &Bin| {
            running += bin.mass;
            running as f64 / total
        };
        self.bins[..self.bins.len() - 1].iter().map(at_or_below).collect()
    }

    /// `E[S]` in the units of the score: exact, because the first moment is kept beside the mass.
    pub(crate) fn mean(&self, abscissae: &Abscissae) -> f64 {
        // Saturating, because sums of merged moments might reach past the end, which no table of scores does.
        let moment = self.bins.iter().fold(0, |sum: i128, bin| sum.saturating_add(bin.moment));
        let range = abscissae.range();
        range.low() + range.width() * (moment as f64 / self.total() as f64)
    }

    /// The law with the mass of every bin moved to one of its ends; its CDF at the abscissae does not change.
    ///
    /// ```text
    /// Down   (t_(k-1), t_k]  ->  just above t_(k-1)        CDF between abscissae only grows
    /// Up     (t_(k-1), t_k]  ->  t_k                       CDF between abscissae only shrinks
    /// ```
    /// `sample_size` is `m`: the bins are no independent points.
    pub(crate) fn rounded(
        &self,
        abscissae: &Abscissae,
        rounding: Rounding,
        sample_size: f64,
    ) -> WeightedEmpirical {
        let points = abscissae.points();
        let mut pairs = Vec::with_capacity(points.len() + 1);
        for (index, bin) in self.bins.iter().enumerate().filter(|(_, bin)| bin.mass > 0) {
            let end = match rounding {
                // The bin holds what lies above the abscissa before it.
                Rounding::Down if index == 0 => self.smallest,
                Rounding::Down => points[index - 1].next_up(),
                Rounding::Up => points.get(index).copied().unwrap_or(self.largest),
            };
            pairs.push((end, bin.mass as f64));
        }
        WeightedEmpirical::from_sorted(&pairs, sample_size)
    }
}

/// Why a law that was read from bytes is refused, in two places.
const OTHER_MASS: &str = "the masses of a law are not those of its rows";

/// Which end of its bin a mass is moved to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// To the low end: the CDF can only grow.
    Down,
    /// To the high end: the CDF can only shrink.
    Up,
}

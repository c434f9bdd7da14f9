//! One law of a sketch: how much mass, and where, between neighbouring abscissae.

use super::abscissae::Abscissae;
use crate::measure::WeightedEmpirical;

/// Masses and first moments are kept as whole multiples of `2^-62`.
///
/// Whole numbers add up to the same total in any order, so a sketch does not depend on chunks, merges or threads;
/// floating-point sums would. A mass of `f` is stored to 1e-19.
const UNIT: f64 = (1u64 << 62) as f64;

/// The mass of one whole row.
pub(super) const WHOLE: u64 = 1 << 62;

/// A mass in `[0, 1]` as a whole number of units.
#[inline]
pub(super) fn fixed(mass: f64) -> u64 {
    (mass * UNIT) as u64
}

/// A law seen through abscissae `t_0 < .. < t_(K-1)`: bin `k` holds the scores in `(t_(k-1), t_k]`, bin `K` those beyond.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SketchedLaw {
    masses: Vec<u128>,
    /// Sum of mass times position, positions counted from the low end in units of the range.
    moments: Vec<i128>,
    smallest: f64,
    largest: f64,
}

impl SketchedLaw {
    pub(super) fn new(bins: usize) -> Self {
        Self {
            masses: vec![0; bins],
            moments: vec![0; bins],
            smallest: f64::INFINITY,
            largest: f64::NEG_INFINITY,
        }
    }

    /// Adds `mass` at `score`, which lies at `position` (from the low end, in units of the range) in `bin`.
    #[inline]
    pub(super) fn add(&mut self, bin: usize, score: f64, position: f64, mass: u64) {
        self.masses[bin] += u128::from(mass);
        // |position| < 2^20 (checked by the sketch) and mass <= 2^62: the product fits with room for 2^45 rows.
        let moment = position * mass as f64;
        self.moments[bin] +=
            if moment.abs() < UNIT * 2.0 { i128::from(moment as i64) } else { moment as i128 };
        self.smallest = if score < self.smallest { score } else { self.smallest };
        self.largest = if score > self.largest { score } else { self.largest };
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (mass, more) in self.masses.iter_mut().zip(&other.masses) {
            *mass += more;
        }
        for (moment, more) in self.moments.iter_mut().zip(&other.moments) {
            *moment += more;
        }
        self.smallest = self.smallest.min(other.smallest);
        self.largest = self.largest.max(other.largest);
    }

    /// Smallest and largest score seen.
    pub(super) fn extremes(&self) -> (f64, f64) {
        (self.smallest, self.largest)
    }

    fn total(&self) -> u128 {
        self.masses.iter().sum()
    }

    /// `F` at every abscissa, exact up to the rounding of one division.
    pub(super) fn cdf(&self) -> Vec<f64> {
        let total = self.total() as f64;
        let mut running = 0u128;
        let at_or_below = |mass: &u128| {
            running += mass;
            running as f64 / total
        };
        self.masses[..self.masses.len() - 1].iter().map(at_or_below).collect()
    }

    /// `E[S]`.
    pub(super) fn mean(&self, abscissae: &Abscissae) -> f64 {
        let moment: i128 = self.moments.iter().sum();
        let range = abscissae.range();
        range.low() + range.width() * (moment as f64 / self.total() as f64)
    }

    /// The law with the mass of every bin gathered at the bin's mean.
    ///
    /// Its CDF at the abscissae and its mean are those of the law itself; a W1 distance to it differs from the distance
    /// to the law by at most half the widest bin.
    pub(super) fn gathered(&self, abscissae: &Abscissae, sample_size: f64) -> WeightedEmpirical {
        let range = abscissae.range();
        let points = abscissae.points();
        let mut pairs = Vec::with_capacity(points.len() + 1);
        for (bin, (mass, moment)) in self.masses.iter().zip(&self.moments).enumerate() {
            if *mass == 0 {
                continue;
            }
            let mean = range.low() + range.width() * (*moment as f64 / *mass as f64);
            // Rounding must not carry the mean over an abscissa: the CDF there would change by the whole bin.
            let after = if bin == 0 { self.smallest } else { points[bin - 1].next_up() };
            let until = points.get(bin).copied().unwrap_or(self.largest);
            pairs.push((mean.max(after).min(until), *mass as f64));
        }
        WeightedEmpirical::from_sorted(&pairs, sample_size)
    }
}

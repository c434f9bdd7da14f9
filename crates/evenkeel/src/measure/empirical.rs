//! `P = sum_i w_i delta(s_i)`, `F(t) = P(s <= t)`: discrete probability measures on the line.
//!
//! ```text
//! F(t)        = sum of w_i over s_i <= t              right-continuous
//! quantile(q) = min { s_i : F(s_i) >= q - 1e-12 }
//! n_w         = 1 / sum_i w_i^2                       of the points, before ties are joined
//! ```

use super::grid::Grid;
use super::weights::Weights;
use crate::error::{Result, require_finite, require_same_length, require_some};
use crate::level::Level;
use crate::numeric::sort_pairs;

/// Slack of a quantile's comparison `F(s) >= q`.
///
/// It absorbs rounding only: 270 times 1/300 must reach 0.9. It is far below the smallest step of a CDF over any
/// sample that fits in memory.
pub const QUANTILE_TOLERANCE: f64 = 1e-12;

/// A probability measure with finitely many atoms, `sum_i w_i delta(s_i)`.
///
/// Ties share one jump and atoms without mass are dropped, so [`atoms`](Self::atoms) are strictly increasing.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedEmpirical {
    /// Strictly increasing, at least one.
    atoms: Vec<f64>,
    /// `P({atoms[k]})`, positive; they sum to 1 up to rounding.
    masses: Vec<f64>,
    /// `cumulative[k] = F(atoms[k])`; the last one is exactly 1.
    cumulative: Vec<f64>,
    /// Points the measure was made from; at least as many as atoms.
    points: usize,
    /// Of the points, not of the atoms: ties are points of their own for a sample size.
    effective_sample_size: f64,
}

impl WeightedEmpirical {
    /// The measure that puts `weights[i]` on `scores[i]`.
    ///
    /// # Errors
    /// `Empty` for no scores, `NotFinite` for a score that is NaN or infinite, `LengthMismatch` unless there is one
    /// weight per score.
    pub fn new(scores: &[f64], weights: &Weights) -> Result<Self> {
        require_some("scores", scores)?;
        require_finite("scores", scores)?;
        require_same_length("weights", weights.len(), "scores", scores.len())?;
        let mut pairs: Vec<(f64, f64)> =
            scores.iter().copied().zip(weights.as_slice().iter().copied()).collect();
        // Stable: masses of ties are added in the order given, hence to the same bits.
        sort_pairs(&mut pairs);
        Ok(Self::from_sorted(&pairs, weights.effective_sample_size()))
    }

    /// The measure that puts `1 / n` on every score.
    ///
    /// # Errors
    /// `Empty` for no scores, `NotFinite` for a score that is NaN or infinite.
    pub fn uniform(scores: &[f64]) -> Result<Self> {
        require_some("scores", scores)?;
        Self::new(scores, &Weights::uniform(scores.len())?)
    }

    /// From `(atom, mass)` pairs sorted by atom, finite, with non-negative masses of positive sum.
    pub(crate) fn from_sorted(pairs: &[(f64, f64)], effective_sample_size: f64) -> Self {
        let mut atoms = Vec::with_capacity(pairs.len());
        let mut masses: Vec<f64> = Vec::with_capacity(pairs.len());
        let mut cumulative: Vec<f64> = Vec::with_capacity(pairs.len());
        let mut sum = CompensatedSum::default();
        for (atom, mass) in pairs.iter().copied().filter(|(_, mass)| *mass > 0.0) {
            let reached = sum.add(mass);
            match (atoms.last(), masses.last_mut(), cumulative.last_mut()) {
                // `==` on purpose: ties are equal scores, and -0.0 ties with 0.0.
                (Some(last), Some(tied), Some(before)) if *last == atom => {
                    *tied += mass;
                    *before = reached;
                }
                _ => {
                    atoms.push(atom);
                    masses.push(mass);
                    cumulative.push(reached);
                }
            }
        }
        // Dividing by the sum that was reached makes the last value exactly 1: a level of 1 has a quantile, not an
        // index past the end.
        let total = cumulative.last().copied().unwrap_or(1.0);
        for value in cumulative.iter_mut().chain(&mut masses) {
            *value /= total;
        }
        Self { atoms, masses, cumulative, points: pairs.len(), effective_sample_size }
    }

    /// Distinct atoms with positive mass, increasing.
    pub fn atoms(&self) -> &[f64] {
        &self.atoms
    }

    /// Mass of each atom, positive, summing to one; in the order of [`atoms`](Self::atoms).
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// `F` at each atom, increasing; the last one is exactly 1.
    pub fn cumulative(&self) -> &[f64] {
        &self.cumulative
    }

    /// Number of points the measure was made from, ties and massless ones counted.
    pub fn points(&self) -> usize {
        self.points
    }

    /// `n_w = 1 / sum_i w_i^2` over the points the measure was made from.
    pub fn effective_sample_size(&self) -> f64 {
        self.effective_sample_size
    }

    /// `F(t)`: total mass of the atoms `<= t` (right-continuous); 0 below the first, 1 from the
    /// last on.
    pub fn cdf(&self, t: f64) -> f64 {
        match self.atoms.partition_point(|atom| *atom <= t) {
            0 => 0.0,
            count => self.cumulative[count - 1],
        }
    }

    /// `F` at increasing points, by one merge: `O(n + K)`. Points out of order get the CDF of the
    /// largest point before them.
    pub fn cdf_at_increasing(&self, points: &[f64]) -> Vec<f64> {
        let mut count = 0;
        points
            .iter()
            .map(|point| {
                while self.atoms.get(count).is_some_and(|atom| atom <= point) {
                    count += 1;
                }
                if count == 0 { 0.0 } else { self.cumulative[count - 1] }
            })
            .collect()
    }

    /// `F` at every grid point; shape `(K,)`.
    pub fn cdf_on_grid(&self, grid: &Grid) -> Vec<f64> {
        self.cdf_at_increasing(grid.points())
    }

    /// Smallest atom `s` with `F(s) >= level`, up to [`QUANTILE_TOLERANCE`]; the smallest atom at
    /// level 0.
    pub fn quantile(&self, level: Level) -> f64 {
        self.quantile_of_scaled(1.0, level).unwrap_or(self.largest_atom())
    }

    /// Smallest atom `s` with `share * F(s) >= level`, up to [`QUANTILE_TOLERANCE`]; none if the rest of the mass,
    /// `1 - share`, sits at infinity and is needed to reach the level.
    pub(crate) fn quantile_of_scaled(&self, share: f64, level: Level) -> Option<f64> {
        let reached = level.get() - QUANTILE_TOLERANCE;
        let below = self.cumulative.partition_point(|cumulative| share * cumulative < reached);
        self.atoms.get(below).copied()
    }

    /// `E[S] = sum_i w_i s_i`, in the units of the score.
    pub fn mean(&self) -> f64 {
        self.atoms.iter().zip(&self.masses).map(|(atom, mass)| atom * mass).sum()
    }

    /// Smallest score with positive mass.
    pub fn smallest_atom(&self) -> f64 {
        self.atoms.first().copied().unwrap_or(f64::NAN)
    }

    /// Largest score with positive mass: `F` is 1 from here on.
    pub fn largest_atom(&self) -> f64 {
        self.atoms.last().copied().unwrap_or(f64::NAN)
    }
}

/// A running sum with Neumaier's compensation.
///
/// A plain running sum of 1 599 999 equal weights is off by more than the slack of a quantile at the level 0.9: a rank
/// would be lost. Compensated, the error stays below 1e-15.
#[derive(Debug, Clone, Copy, Default)]
struct CompensatedSum {
    /// The plain sum.
    sum: f64,
    /// What roundings of the plain sum have cut off so far.
    lost: f64,
}

impl CompensatedSum {
    /// Adds a value and returns the sum so far.
    #[inline]
    fn add(&mut self, value: f64) -> f64 {
        let next = self.sum + value;
        // The larger of the two is subtracted first: it is then exact, and what is left is what was
        // lost.
        self.lost += if self.sum.abs() >= value.abs() {
            (self.sum - next) + value
        } else {
            (value - next) + self.sum
        };
        self.sum = next;
        self.sum + self.lost
    }
}

/// [`WeightedEmpirical::quantile_of_scaled`] without building the measure, for weights of increasing scores.
///
/// A trace asks for a threshold at every recorded step; building and sorting a law of a million points each time would
/// cost more than the steps.
pub(crate) fn quantile_of_sorted(
    sorted_scores: &[f64],
    weights: &[f64],
    share: f64,
    level: Level,
) -> Option<f64> {
    let mut sum = CompensatedSum::default();
    let total = weights.iter().fold(0.0, |_, weight| sum.add(*weight));
    let reached = level.get() - QUANTILE_TOLERANCE;
    let mut sum = CompensatedSum::default();
    // Among ties any may be the one that reaches the level: they are the same score.
    let reaches = |weight: &f64| *weight > 0.0 && share * (sum.add(*weight) / total) >= reached;
    weights.iter().position(reaches).map(|index| sorted_scores[index])
}

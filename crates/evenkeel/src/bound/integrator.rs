//! `integral g = sum_k masses[k] g(points[k])`: what the distance between CDFs is integrated
//! against.
//!
//! ```text
//! density     masses[k] = p(t_k) range / K            on a grid        (eq 5, eq 7)
//! atoms       masses[i] = w_i                         at the scores    (Prop A.3)
//! restricted  either, over the levels [1 - a_high, 1 - a_low] only     (Prop A.9)
//! ```

use super::{DensityGrid, Form, Rates};
use crate::error::Result;
use crate::level::MiscoverageRange;
use crate::measure::{Grid, SmoothedLaw, WeightedEmpirical};

/// Masses on increasing points: `integral g = sum_k masses[k] g(points[k])`.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// Increasing scores: grid points or atoms.
    pub points: Vec<f64>,
    /// Mass of each point, not negative, as long as `points`; not normalised.
    pub masses: Vec<f64>,
}

/// The law of scores that a bound averages over, and which miscoverage rates it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Integrator {
    /// Points and masses.
    measure: Measure,
    /// The inequality that it makes of a distance.
    form: Form,
    /// The miscoverage rates that it averages over.
    rates: Rates,
}

impl Integrator {
    /// The density of `P` on a grid (eq 5, eq 7): mass `p(t_k) range / K` at `t_k`. The grid must cover `P`.
    ///
    /// # Errors
    /// `OutsideRange` if the grid does not cover every atom of `P`.
    pub fn density(p: &SmoothedLaw, grid: &Grid) -> Result<Self> {
        Self::of_density(p, grid, &p.density().density_on_grid(grid))
    }

    /// The same where the density of `P` at the points of the grid is known.
    pub(crate) fn of_density(p: &SmoothedLaw, grid: &Grid, density: &[f64]) -> Result<Self> {
        let masses = density.iter().map(|p| p * grid.weight()).collect();
        Ok(Self {
            measure: Measure { points: grid.points().to_vec(), masses },
            form: Form::WeightedCdf(DensityGrid::of(p, grid)?),
            rates: Rates::All,
        })
    }

    /// The atoms of `P` (Prop A.3): mass `w_i` at `s_i`.
    pub fn atoms(p: &WeightedEmpirical) -> Self {
        let measure = Measure { points: p.atoms().to_vec(), masses: p.masses().to_vec() };
        Self { measure, form: Form::Expectation, rates: Rates::All }
    }

    /// The density of `P` on the grid points between the quantiles of the range's levels (Prop A.9).
    ///
    /// Where no grid point lies between them (tied scores, a coarse grid), nothing is integrated and the bound's mass
    /// is 0.
    ///
    /// # Errors
    /// `OutsideRange` if the grid does not cover every atom of `P`.
    pub fn restricted_density(
        p: &SmoothedLaw,
        grid: &Grid,
        range: MiscoverageRange,
    ) -> Result<Self> {
        let mut whole = Self::density(p, grid)?;
        let (low, high) = range.levels();
        let (first, last) = (p.law().quantile(low), p.law().quantile(high));
        let Measure { points, masses } = &mut whole.measure;
        for (point, mass) in points.iter().zip(masses) {
            // Divided by the width of the range: the bound is an average over its rates, comparable
            // with others.
            *mass = if (first..=last).contains(point) { *mass / range.width() } else { 0.0 };
        }
        Ok(Self { rates: Rates::Within(range), ..whole })
    }

    /// The atoms of `P`, each with the share of the range's levels that the quantile map sends to it (Prop A.9):
    ///
    /// ```text
    /// o_i = |[1 - a_high, 1 - a_low] intersected with (c_(i-1), c_i]|,   c = running sum of w
    /// ```
    pub fn restricted_atoms(p: &WeightedEmpirical, range: MiscoverageRange) -> Self {
        let (low, high) = range.levels();
        let mut below = 0.0_f64;
        let overlap = |cumulative: &f64| {
            // An atom stands for an interval of levels, and the ends of the range may cut it.
            // Taking atoms whole or not at all would make the bound jump with the range.
            let length = cumulative.min(high.get()) - below.max(low.get());
            below = *cumulative;
            length.max(0.0) / range.width()
        };
        let masses = p.cumulative().iter().map(overlap).collect();
        let measure = Measure { points: p.atoms().to_vec(), masses };
        Self { measure, form: Form::Expectation, rates: Rates::Within(range) }
    }

    /// Total mass: near 1 unless the grid misses part of the density.
    pub fn mass(&self) -> f64 {
        self.measure.masses.iter().sum()
    }

    /// The points and masses that a bound sums over.
    pub fn measure(&self) -> &Measure {
        &self.measure
    }

    /// The inequality it belongs to, for the record of a bound.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// The miscoverage rates it stands for, for the record of a bound.
    pub(crate) fn rates(&self) -> Rates {
        self.rates
    }
}

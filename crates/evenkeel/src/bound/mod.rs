//! Stage 4: bounds on the coverage lost to the shift, eq 5 to eq 8.
//!
//! The total coverage gap is the average over all miscoverage rates of `|coverage under P - coverage under Q|`
//! (Def 3.1). Every bound on it is an average, over some law of scores, of how far the calibration CDF can be from the
//! CDF of the target scores; or its relaxation by a Wasserstein distance:
//!
//! ```text
//!                 with labels from Q                  without labels, between two laws
//! integrated      int p_P |F_P - F_Q|        (eq 5)   1/2 int p_P (|F_P-F_up| + |F_P-F_lo| + F_lo-F_up)        (eq 7)
//! Wasserstein     sup p_P W1(P, Q)           (eq 6)   1/2 sup p_P (W1(P,up) + W1(P,lo) + E_up[S] - E_lo[S])    (eq 8)
//! ```
//! What is integrated against is an [`Integrator`]: the density on a grid (eq 5, eq 7), the calibration atoms
//! (Prop A.3), or either of them restricted to a range of miscoverage rates (Prop A.9).
//!
//! The two of [`exact`](exact_gap_between) hold with tied scores too, and are what is called guaranteed. With
//! [`PopulationMargins`] they hold for the populations behind the rows.

mod coverage_interval;
mod dkw;
mod exact;
mod fixed_alpha;
mod integrator;
mod labeled;
mod populations;
mod resampling;
mod unlabeled;

pub use coverage_interval::{CoverageInterval, coverage_interval};
pub use dkw::{DkwCorrection, dkw_half_width};
pub(crate) use exact::level_gap_at;
pub use exact::{exact_gap_between, level_gap_between};
pub use fixed_alpha::{labeled_gap_at, unlabeled_gap_at};
pub use integrator::{Integrator, Measure};
pub use labeled::{integrated_gap, wasserstein_gap};
pub use populations::PopulationMargins;
pub use resampling::resample;
pub(crate) use unlabeled::wasserstein_gap_below;
pub use unlabeled::{integrated_gap_between, wasserstein_gap_between};

use crate::error::{At, Error, Result};
use crate::interval::Interval;
use crate::level::{Miscoverage, MiscoverageRange};
use crate::measure::{Grid, SmoothedLaw};
use crate::sandwich::{Construction, Order};

/// A bound on a coverage gap, with the evidence behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct GapBound {
    /// The bound, before any finite-sample correction; not cut at 1, where it says nothing any
    /// more.
    pub value: f64,
    /// Which inequality it comes from, and on which grid.
    pub form: Form,
    /// The terms that add up to it: which part of the bound is large.
    pub terms: Terms,
    /// What stands in for the law of the target scores.
    pub reference: Reference,
    /// Which miscoverage rates it averages over.
    pub rates: Rates,
    /// Mass of the law that was integrated against: near 1 where the grid resolves the density (and all rates of the
    /// range fall on the grid). A bound whose mass is far from 1 says little; use more grid points or a wider
    /// bandwidth.
    pub mass: f64,
    /// Finite-sample correction, if one was added; [`corrected`](Self::corrected) includes it.
    pub correction: Option<DkwCorrection>,
}

impl GapBound {
    /// Adds a finite-sample correction, or replaces the one before.
    pub fn with_correction(mut self, correction: DkwCorrection) -> Self {
        self.correction = Some(correction);
        self
    }

    /// The bound with its finite-sample correction, if it has one.
    pub fn corrected(&self) -> f64 {
        self.value + self.correction.map_or(0.0, |correction| correction.total())
    }
}

/// Where a density was evaluated, and with which kernels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DensityGrid {
    /// Number of grid points `K`.
    pub points: usize,
    /// Range of scores that the points cover.
    pub range: Interval,
    /// Width `h` of the kernels, in units of the score.
    pub bandwidth: f64,
}

impl DensityGrid {
    /// Describes the grid of a density. An error if the grid does not cover the law: mass outside it would silently
    /// count as zero, and the bound would be too small.
    fn of(p: &SmoothedLaw, grid: &Grid) -> Result<Self> {
        let range = grid.range();
        for value in [p.law().smallest_atom(), p.law().largest_atom()] {
            if !range.contains(value) {
                return Err(Error::OutsideRange {
                    what: "a calibration score",
                    at: At::Anywhere,
                    value,
                    low: range.low(),
                    high: range.high(),
                });
            }
        }
        Ok(Self { points: grid.count(), range, bandwidth: p.density().bandwidth().get() })
    }
}

/// Which inequality a bound comes from. The numbers are those of \[CL25\].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Form {
    /// Integrated against the density on a grid (eq 5, eq 7).
    WeightedCdf(DensityGrid),
    /// Averaged over the calibration atoms (Prop A.3).
    Expectation,
    /// Largest density on a grid, times a Wasserstein distance (eq 6, eq 8).
    Wasserstein(DensityGrid),
    /// At one threshold (Thm A.11).
    Pointwise,
}

/// What a bound is made of; each kind says how its parts add up.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Terms {
    /// `value = distance`.
    ToLabeled {
        /// Average of `|F_P - F_Q|`.
        distance: f64,
    },
    /// `value = (to_upper + to_lower + width) / 2`.
    BetweenLaws {
        /// Average of `|F_P - F_upper|`.
        to_upper: f64,
        /// Average of `|F_P - F_lower|`.
        to_lower: f64,
        /// Average of `F_lower - F_upper`.
        width: f64,
    },
    /// `value = sup_density * w1`.
    TransportToLabeled {
        /// Largest density on the grid, per unit of the score.
        sup_density: f64,
        /// `W1(P, Q)`, in units of the score.
        w1: f64,
    },
    /// `value = sup_density / 2 * (w1_upper + w1_lower + mean_upper - mean_lower)`.
    TransportBetweenLaws {
        /// Largest density on the grid, per unit of the score.
        sup_density: f64,
        /// `W1(P, upper)`, in units of the score.
        w1_upper: f64,
        /// `W1(P, lower)`, in units of the score.
        w1_lower: f64,
        /// Mean score under the upper law.
        mean_upper: f64,
        /// Mean score under the lower law.
        mean_lower: f64,
    },
}

/// What stands in for the law of the target scores.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Reference {
    /// Labeled scores from `Q`: no assumption is needed.
    Labeled,
    /// Two laws around it.
    Sandwich {
        /// How the two laws were made.
        construction: Construction,
        /// Whether their order is guaranteed, holds empirically, or is violated.
        order: Order,
    },
}

/// Which miscoverage rates a bound averages over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rates {
    /// All of `[0, 1]`, the total coverage gap.
    All,
    /// Those in a range (Prop A.9).
    Within(MiscoverageRange),
    /// A single one, that of a threshold in use (Thm A.11).
    At(Miscoverage),
}

//! `L(w)` and `dL/dw`: what is minimised over the calibration weights, with closed-form gradients.
//!
//! ```text
//! exact          1/2 sum_i int_{c_(i-1)}^{c_i} (|u - U_i| + |u - D_i| + D_i - U_i) du    eq 7 over the atoms
//! weighted_cdf   1/2 int p_w (|F_w - U| + |F_w - D| + D - U)              eq 7 on a grid
//! restricted     the same over a range of miscoverage rates               Prop A.9, over the atoms
//! wasserstein    1/2 sup p_w (W1(P_w, up) + W1(P_w, lo) + E_up - E_lo)    eq 8
//! + FiniteSample sqrt(ln(2/d) / (2 n_w))                                  beside any of them
//! ```
//!
//! `F_w` and `p_w` are linear in the weights, so every objective here is a sum of products of things linear in `w` and
//! its gradient is written down, not traced. Scores are sorted once, when an objective is built; evaluations take the
//! weights in that order and allocate nothing.

mod aligned;
mod banded_kernel;
mod exact;
mod restricted;
mod wasserstein;
mod weighted_cdf;

pub(crate) use banded_kernel::BandedKernel;
pub use exact::ExactObjective;
pub use restricted::RestrictedObjective;
pub use wasserstein::WassersteinObjective;
pub use weighted_cdf::WeightedCdfObjective;

use crate::error::{At, Error, Result, require_increasing};
use crate::level::FailureProbability;
use crate::measure::{Bandwidth, Grid, Support};
use crate::sandwich::Sandwich;

/// A function of the normalised weights of increasing scores.
pub trait Objective {
    /// Number `n` of scores, the length of weights and gradient; at least 1.
    fn len(&self) -> usize;

    /// Whether there is no score; never true.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at `weights` (on the simplex, in the order of increasing scores); overwrites `gradient` with the
    /// derivative in every weight. Both have length [`len`](Self::len).
    fn value_and_gradient(&mut self, weights: &[f64], gradient: &mut [f64]) -> f64;

    /// Replaces the two laws around the target scores (the `sampled` sandwich draws new ones in each step).
    ///
    /// # Errors
    /// If the objective cannot be built from these laws; the previous ones then stay in use.
    fn set_sandwich(&mut self, sandwich: &Sandwich) -> Result<()>;
}

/// What every objective is built from.
#[derive(Debug, Clone, Copy)]
pub struct ObjectiveInputs<'a> {
    /// Calibration scores, increasing; shape `(n,)`.
    pub sorted_scores: &'a [f64],
    /// The two laws around the target scores.
    pub sandwich: &'a Sandwich,
    /// Points of the integral, and of the search for the largest density.
    pub grid: &'a Grid,
    /// Width `h` of the kernels, in units of the score.
    pub bandwidth: Bandwidth,
    /// Where scores can fall; kernels are mirrored at the ends of a bounded support.
    pub support: Support,
}

impl ObjectiveInputs<'_> {
    /// An error unless scores increase and lie, like the grid, inside a bounded support.
    fn check(&self) -> Result<()> {
        require_increasing("sorted scores", self.sorted_scores)?;
        let Support::Bounded(range) = self.support else { return Ok(()) };
        // Mirrored kernels are laid out for points inside the support only.
        let grid = self.grid.range();
        let ends = [grid.low(), grid.high()];
        for (what, values) in [("sorted scores", self.sorted_scores), ("the grid", &ends)] {
            if let Some(index) = values.iter().position(|value| !range.contains(*value)) {
                return Err(Error::OutsideRange {
                    what,
                    at: At::Index(index),
                    value: values[index],
                    low: range.low(),
                    high: range.high(),
                });
            }
        }
        Ok(())
    }
}

/// Adds `sqrt(ln(2/d) / (2 n_w))`, what a learned weighting pays for leaning on few points, to an objective.
///
/// ```text
/// sqrt(ln(2/d) / 2 * sum_i w_i^2),    d/dw_i = sqrt(ln(2/d) / 2) w_i / sqrt(sum w^2)
/// ```
/// The plain bounds have degenerate minimisers (all mass where the sandwich is closed); this term is largest there.
#[derive(Debug, Clone)]
pub struct FiniteSample<O> {
    /// The bound that is penalised.
    inner: O,
    /// `sqrt(ln(2/d) / 2)`, the factor of the norm of the weights.
    scale: f64,
}

impl<O: Objective> FiniteSample<O> {
    /// The penalised objective at failure probability `d`.
    pub fn new(inner: O, d: FailureProbability) -> Self {
        Self { inner, scale: ((2.0 / d.get()).ln() / 2.0).sqrt() }
    }
}

impl<O: Objective> Objective for FiniteSample<O> {
    fn len(&self) -> usize {
        self.inner.len()
    }

    /// The inner bound plus `scale |w|`; adds to the inner gradient.
    fn value_and_gradient(&mut self, weights: &[f64], gradient: &mut [f64]) -> f64 {
        let bound = self.inner.value_and_gradient(weights, gradient);
        // `n_w = 1 / norm^2`: the term is `scale` times the norm, and its gradient needs no
        // division by w.
        let norm = crate::numeric::dot_in_lanes(weights, weights).sqrt();
        // Weights sum to one, so their norm is at least 1 / sqrt(n) and the quotient is safe.
        let slope = self.scale / norm;
        for (slot, weight) in gradient.iter_mut().zip(weights) {
            *slot += slope * weight;
        }
        bound + self.scale * norm
    }

    fn set_sandwich(&mut self, sandwich: &Sandwich) -> Result<()> {
        self.inner.set_sandwich(sandwich)
    }
}

impl<O: Objective + ?Sized> Objective for Box<O> {
    fn len(&self) -> usize {
        (**self).len()
    }

    /// Of whatever is in the box: which objective is chosen at run time.
    fn value_and_gradient(&mut self, weights: &[f64], gradient: &mut [f64]) -> f64 {
        (**self).value_and_gradient(weights, gradient)
    }

    fn set_sandwich(&mut self, sandwich: &Sandwich) -> Result<()> {
        (**self).set_sandwich(sandwich)
    }
}

/// -1, 0 or 1; unlike `signum` it is 0 at 0, where `|x|` has slopes on both sides.
#[inline(always)]
fn sign(x: f64) -> f64 {
    f64::from(u8::from(x > 0.0)) - f64::from(u8::from(x < 0.0))
}

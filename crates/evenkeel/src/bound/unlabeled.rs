//! `1/2 int p_P (|F_P - F_up| + |F_P - F_lo| + F_lo - F_up)` and its W1 form: bounds without labels from `Q`
//! (Thm 3.3).
//!
//! ```text
//! eq 7   1/2 sum_k masses[k] (|F_P - F_up| + |F_P - F_lo| + F_lo - F_up)(points[k])
//! eq 8   1/2 max_k p_P(t_k) (W1(P, up) + W1(P, lo) + E_up[S] - E_lo[S])
//! ```
//! `E_up[S] - E_lo[S]` is `W1(up, lo)` of an ordered pair, without a third merge.

use super::{DensityGrid, Form, GapBound, Integrator, Rates, Reference, Terms};
use crate::error::Result;
use crate::measure::{Grid, SmoothedLaw, WeightedEmpirical, wasserstein_1};
use crate::sandwich::Sandwich;

/// Half the average of `|F_P - F_up| + |F_P - F_lo| + F_lo - F_up`: eq 7 on a grid, its expectation form over atoms.
///
/// The last term keeps its sign: where the pair is not ordered it is negative, and the order in the result says so.
pub fn integrated_gap_between(
    p: &WeightedEmpirical,
    sandwich: &Sandwich,
    integrator: &Integrator,
) -> GapBound {
    let measure = integrator.measure();
    let f_p = p.cdf_at_increasing(&measure.points);
    let f_lower = sandwich.lower().cdf_at_increasing(&measure.points);
    let f_upper = sandwich.upper().cdf_at_increasing(&measure.points);
    let (mut to_upper, mut to_lower, mut width) = (0.0, 0.0, 0.0);
    for (k, mass) in measure.masses.iter().enumerate() {
        to_upper += mass * (f_p[k] - f_upper[k]).abs();
        to_lower += mass * (f_p[k] - f_lower[k]).abs();
        // The three sums are kept apart: a user must see whether the pair is wide or far away.
        width += mass * (f_lower[k] - f_upper[k]);
    }
    GapBound {
        value: 0.5 * (to_upper + to_lower + width),
        form: integrator.form(),
        terms: Terms::BetweenLaws { to_upper, to_lower, width },
        reference: reference(sandwich),
        rates: integrator.rates(),
        mass: integrator.mass(),
        correction: None,
    }
}

/// `1/2 sup p_P (W1(P, up) + W1(P, lo) + E_up[S] - E_lo[S])` (eq 8), the supremum taken on the grid.
///
/// # Errors
/// `OutsideRange` if the grid does not cover every atom of `P`.
pub fn wasserstein_gap_between(
    p: &SmoothedLaw,
    sandwich: &Sandwich,
    grid: &Grid,
) -> Result<GapBound> {
    let (_, sup_density) = p.density().largest_on_grid(grid);
    wasserstein_gap_below(p, sandwich, grid, sup_density)
}

/// The same where the largest density of `P` on the grid is known.
pub(crate) fn wasserstein_gap_below(
    p: &SmoothedLaw,
    sandwich: &Sandwich,
    grid: &Grid,
    sup_density: f64,
) -> Result<GapBound> {
    let w1_upper = wasserstein_1(p.law(), sandwich.upper());
    let w1_lower = wasserstein_1(p.law(), sandwich.lower());
    let (mean_upper, mean_lower) = (sandwich.upper().mean(), sandwich.lower().mean());
    Ok(GapBound {
        value: 0.5 * sup_density * (w1_upper + w1_lower + mean_upper - mean_lower),
        form: Form::Wasserstein(DensityGrid::of(p, grid)?),
        terms: Terms::TransportBetweenLaws {
            sup_density,
            w1_upper,
            w1_lower,
            mean_upper,
            mean_lower,
        },
        reference: reference(sandwich),
        rates: Rates::All,
        mass: 1.0,
        correction: None,
    })
}

/// What a result says about the sandwich it rests on.
pub(super) fn reference(sandwich: &Sandwich) -> Reference {
    Reference::Sandwich { construction: sandwich.construction(), order: sandwich.order() }
}

//! `int p_P |F_P - F_Q|` and `sup p_P W1(P, Q)`: bounds from labeled scores of `Q` (Thm 3.2).
//!
//! ```text
//! eq 5   sum_k masses[k] |F_P(points[k]) - F_Q(points[k])|
//! eq 6   max_k p_P(t_k) * W1(P, Q)
//! ```
//! Eq 6 is the looser of the two: it replaces the density by its largest value.

use super::{DensityGrid, Form, GapBound, Integrator, Rates, Reference, Terms};
use crate::error::Result;
use crate::measure::{Grid, SmoothedLaw, WeightedEmpirical, wasserstein_1};

/// Average of `|F_P - F_Q|`: eq 5 on a grid, Prop A.3 over the calibration atoms.
///
/// Over the atoms, with the empirical law of labeled scores for `Q`, this is also the measured total coverage gap of
/// the weighted thresholds: the average of `|F_P(q_L) - F_Q(q_L)|` over all levels `L`.
pub fn integrated_gap(
    p: &WeightedEmpirical,
    q: &WeightedEmpirical,
    integrator: &Integrator,
) -> GapBound {
    let measure = integrator.measure();
    // One merge for all points: a bisection per point would cost a logarithm more.
    let f_p = p.cdf_at_increasing(&measure.points);
    let f_q = q.cdf_at_increasing(&measure.points);
    let distance =
        measure.masses.iter().zip(&f_p).zip(&f_q).map(|((mass, p), q)| mass * (p - q).abs()).sum();
    GapBound {
        value: distance,
        form: integrator.form(),
        terms: Terms::ToLabeled { distance },
        reference: Reference::Labeled,
        rates: integrator.rates(),
        mass: integrator.mass(),
        correction: None,
    }
}

/// `sup p_P * W1(P, Q)` (eq 6), the supremum taken on the grid.
///
/// # Errors
/// `OutsideRange` if the grid does not cover every atom of `P`.
pub fn wasserstein_gap(p: &SmoothedLaw, q: &WeightedEmpirical, grid: &Grid) -> Result<GapBound> {
    let (_, sup_density) = p.density().largest_on_grid(grid);
    let w1 = wasserstein_1(p.law(), q);
    Ok(GapBound {
        value: sup_density * w1,
        form: Form::Wasserstein(DensityGrid::of(p, grid)?),
        terms: Terms::TransportToLabeled { sup_density, w1 },
        reference: Reference::Labeled,
        rates: Rates::All,
        // Nothing is integrated against a grid, so that there is no mass to miss.
        mass: 1.0,
        correction: None,
    })
}

//! `1/2 sup p_w (W1(P_w, up) + W1(P_w, lo) + E_up[S] - E_lo[S])`: eq 8, the Wasserstein bound, as an objective.

use super::aligned::Aligned;
use super::{BandedKernel, Objective, ObjectiveInputs};
use crate::error::Result;
use crate::measure::{Grid, TransportToFixed, largest};
use crate::sandwich::Sandwich;

/// Eq 8 as a function of the weights.
///
/// ```text
/// T(w)    = W1(P_w, up) + W1(P_w, lo) + E_up[S] - E_lo[S],      M(w) = max_k p_w(t_k), first attained at k*
/// L(w)    = 1/2 M T
/// dL/dw_i = 1/2 ( A[k*][i] T + M (dW1(P_w, up)/dw_i + dW1(P_w, lo)/dw_i) )
/// ```
#[derive(Debug, Clone)]
pub struct WassersteinObjective {
    /// Density of the weighted scores on the grid.
    kernel: BandedKernel,
    /// `K`, the grid points among which the largest density is looked for.
    points: usize,
    /// Kept to merge new laws with, should the sandwich be replaced.
    sorted_scores: Vec<f64>,
    /// `W1(P_w, lo)` and its gradient: supports merged once.
    to_lower: TransportToFixed,
    /// `W1(P_w, up)` likewise.
    to_upper: TransportToFixed,
    /// `E_up[S] - E_lo[S]`, which does not depend on the weights.
    mean_width: f64,
    /// The weights in whole cache lines, zeros behind them.
    weights: Aligned,
    /// Zeros: the transposed product is not needed here.
    no_coefficients: Aligned,
    /// `p_w` on the grid, for its largest value.
    density: Aligned,
    /// Where the product that is not needed goes.
    transposed: Aligned,
    /// `dW1(P_w, up)/dw + dW1(P_w, lo)/dw`.
    transport: Vec<f64>,
}

impl WassersteinObjective {
    /// Builds the objective: sorts and merges the supports once.
    ///
    /// # Errors
    /// `Empty`, `NotFinite` or `NotIncreasing` for scores that are not increasing finite numbers, `OutsideRange` for
    /// scores or a grid outside a bounded support.
    pub fn new(inputs: ObjectiveInputs<'_>) -> Result<Self> {
        inputs.check()?;
        let (sorted, grid): (&[f64], &Grid) = (inputs.sorted_scores, inputs.grid);
        let kernel = BandedKernel::new(sorted, grid, inputs.bandwidth, inputs.support);
        Ok(Self {
            points: grid.count(),
            sorted_scores: sorted.to_vec(),
            to_lower: TransportToFixed::new(sorted, inputs.sandwich.lower())?,
            to_upper: TransportToFixed::new(sorted, inputs.sandwich.upper())?,
            mean_width: inputs.sandwich.upper().mean() - inputs.sandwich.lower().mean(),
            weights: kernel.over_scores(),
            no_coefficients: kernel.over_points(),
            density: kernel.over_points(),
            transposed: kernel.over_scores(),
            transport: vec![0.0; sorted.len()],
            kernel,
        })
    }
}

impl Objective for WassersteinObjective {
    fn len(&self) -> usize {
        self.sorted_scores.len()
    }

    /// `O(n + m)` for the two transports, and a sweep over the band for the density.
    fn value_and_gradient(&mut self, weights: &[f64], gradient: &mut [f64]) -> f64 {
        self.weights[..weights.len()].copy_from_slice(weights);
        // Only the density is needed; with zero coefficients the other product of the sweep comes out as zeros.
        self.kernel.multiply_both(
            &self.weights,
            &self.no_coefficients,
            &mut self.density,
            &mut self.transposed,
        );
        // Where grid points tie for the maximum it has a kink; value and gradient both take the first, so they agree.
        let (peak, sup_density) = largest(&self.density[..self.points]);
        self.transport.fill(0.0);
        let total = self.to_upper.accumulate(weights, 1.0, &mut self.transport)
            + self.to_lower.accumulate(weights, 1.0, &mut self.transport)
            + self.mean_width;
        for (slot, slope) in gradient.iter_mut().zip(&self.transport) {
            *slot = 0.5 * sup_density * slope;
        }
        self.kernel.add_grid_row(peak, 0.5 * total, gradient);
        0.5 * sup_density * total
    }

    /// Merges the scores with the new supports; `O(n + m)`.
    fn set_sandwich(&mut self, sandwich: &Sandwich) -> Result<()> {
        self.to_lower = TransportToFixed::new(&self.sorted_scores, sandwich.lower())?;
        self.to_upper = TransportToFixed::new(&self.sorted_scores, sandwich.upper())?;
        self.mean_width = sandwich.upper().mean() - sandwich.lower().mean();
        Ok(())
    }
}

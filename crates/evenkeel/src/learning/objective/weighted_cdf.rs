//! `step sum_k p_w(t_k) G(t_k)`: eq 7, the weighted-CDF bound on a grid, as an objective.

use super::aligned::Aligned;
use super::{BandedKernel, Objective, ObjectiveInputs, sign};
use crate::error::{Error, Result};
use crate::measure::Grid;
use crate::numeric::simd::in_widest_registers;
use crate::numeric::{dot_in_lanes, running_sums};
use crate::sandwich::Sandwich;

/// Eq 7 as a function of the weights.
///
/// ```text
/// G(t)     = ( |F_w(t) - U(t)| + |F_w(t) - D(t)| + D(t) - U(t) ) / 2          D = F_lower, U = F_upper
/// L(w)     = step sum_k p_w(t_k) G(t_k),                                       step = range / K
/// dL/dw_i  = step [ sum_k A[k][i] G(t_k) + 1/2 sum over t_k >= s_i of p_w(t_k) (sgn(F_w - U) + sgn(F_w - D))(t_k) ]
/// ```
#[derive(Debug, Clone)]
pub struct WeightedCdfObjective {
    /// `A[k][i]`, without the entries that are negligible.
    kernel: BandedKernel,
    /// The `K` points of the integral.
    grid: Grid,
    /// `D = F_lower` on the grid; shape `(K,)`.
    lower: Vec<f64>,
    /// `U = F_upper` on the grid; shape `(K,)`.
    upper: Vec<f64>,
    /// Number of scores at or below each grid point.
    through: Vec<u32>,
    /// First grid point at or after each score, counted from the end of the grid: 0 is past the end.
    from_end: Vec<u32>,
    // What one evaluation writes.
    weights: Aligned,
    /// `0, w_1, w_1 + w_2, ...`; one longer than the weights.
    cumulative: Vec<f64>,
    /// `step G(t_k)`: what the density is multiplied with.
    coefficients: Aligned,
    /// `step/2 (sgn(F_w - U) + sgn(F_w - D))`, from the end of the grid on.
    slopes: Vec<f64>,
    /// Slopes times density, and their running sums, from the end of the grid on.
    weighted_slopes: Vec<f64>,
    /// Sums of the last `j` weighted slopes; one longer than the grid.
    tails: Vec<f64>,
    /// `F_w` on the grid at first, then `p_w`.
    density: Aligned,
    /// `A' (step G)`: the first part of the gradient.
    transposed: Aligned,
}

impl WeightedCdfObjective {
    /// Builds the objective: `O(n K)` at the worst, far less when the bandwidth is small.
    ///
    /// # Errors
    /// `Empty`, `NotFinite` or `NotIncreasing` for scores that are not increasing finite numbers, `OutsideRange` for
    /// scores or a grid outside a bounded support, `OutOfRange` for 2^32 scores or more.
    pub fn new(inputs: ObjectiveInputs<'_>) -> Result<Self> {
        inputs.check()?;
        let (sorted, grid) = (inputs.sorted_scores, inputs.grid);
        let kernel = BandedKernel::new(sorted, grid, inputs.bandwidth, inputs.support);
        let through = |t: &f64| index_u32(sorted.partition_point(|s| s <= t));
        let points = grid.count();
        let first = |s: &f64| index_u32(points - grid.points().partition_point(|t| *t < *s));
        let (lower, upper) = inputs.sandwich.cdfs_on_grid(grid);
        Ok(Self {
            lower,
            upper,
            through: grid.points().iter().map(through).collect::<Result<_>>()?,
            from_end: sorted.iter().map(first).collect::<Result<_>>()?,
            weights: kernel.over_scores(),
            cumulative: vec![0.0; sorted.len() + 1],
            coefficients: kernel.over_points(),
            slopes: vec![0.0; points],
            weighted_slopes: vec![0.0; points],
            tails: vec![0.0; points + 1],
            density: kernel.over_points(),
            transposed: kernel.over_scores(),
            grid: grid.clone(),
            kernel,
        })
    }

    /// Entries of the kernel that an evaluation multiplies and adds, twice each, padding left out.
    pub fn kernel_entries(&self) -> usize {
        self.kernel.entries()
    }

    /// Replaces the two CDFs on the grid.
    /// Both of shape `(K,)` and finite.
    pub(crate) fn set_cdfs(&mut self, lower: &[f64], upper: &[f64]) {
        self.lower.copy_from_slice(lower);
        self.upper.copy_from_slice(upper);
    }

    /// Value and gradient; compiled for each width of registers by the function below.
    ///
    /// ```text
    /// F_w on the grid -> step G(t_k), slopes
    /// one sweep       -> p_w = A w,  A'(step G)
    /// value           =  p_w . step G,     gradient = A'(step G) + tails of p_w slopes
    /// ```
    #[inline(always)]
    fn evaluate(&mut self, weights: &[f64], gradient: &mut [f64]) -> f64 {
        let n = weights.len();
        let points = self.grid.count();
        // Into a buffer of whole cache lines: the sweep reads past the last score, where zeros must stand.
        self.weights[..n].copy_from_slice(weights);
        running_sums(weights, &mut self.cumulative[1..]);
        let step = self.grid.weight();
        // The CDF is gathered first, so that the arithmetic after it runs in vectors.
        for (slot, through) in self.density.iter_mut().zip(&self.through) {
            *slot = self.cumulative[*through as usize];
        }
        let laws = self.density.iter().zip(&self.lower).zip(&self.upper);
        let outputs = self.coefficients.iter_mut().zip(self.slopes.iter_mut().rev());
        for (((cdf, lower), upper), (coefficient, slope)) in laws.zip(outputs) {
            // Without a branch: signs are differences of comparisons, and the loop stays in
            // vectors.
            let (to_upper, to_lower) = (cdf - upper, cdf - lower);
            *coefficient = 0.5 * step * (to_upper.abs() + to_lower.abs() + (lower - upper));
            *slope = 0.5 * step * (sign(to_upper) + sign(to_lower));
        }

        self.kernel.multiply_both(
            &self.weights,
            &self.coefficients,
            &mut self.density,
            &mut self.transposed,
        );
        let value = dot_in_lanes(&self.density[..points], &self.coefficients[..points]);

        // `tails[j]` sums the last j grid points: the scores before them share it.
        let backwards = self.density[..points].iter().rev().zip(&self.slopes);
        for (slot, (density, slope)) in self.weighted_slopes.iter_mut().zip(backwards) {
            *slot = density * slope;
        }
        running_sums(&self.weighted_slopes, &mut self.tails[1..]);
        let parts = self.transposed.iter().zip(&self.from_end);
        for (slot, (transposed, from_end)) in gradient.iter_mut().zip(parts) {
            *slot = transposed + self.tails[*from_end as usize];
        }
        value
    }
}

impl Objective for WeightedCdfObjective {
    fn len(&self) -> usize {
        self.cumulative.len() - 1
    }

    /// `O(n + K)` and one sweep over the band of the kernel.
    fn value_and_gradient(&mut self, weights: &[f64], gradient: &mut [f64]) -> f64 {
        evaluate(self, weights, gradient)
    }

    /// Looks both CDFs up on the grid.
    ///
    /// # Errors
    /// `Empty` for laws whose CDFs are not finite.
    fn set_sandwich(&mut self, sandwich: &Sandwich) -> Result<()> {
        let (lower, upper) = sandwich.cdfs_on_grid(&self.grid);
        // Checked before anything is replaced, so that the previous laws stay in use.
        if lower.iter().chain(&upper).any(|cdf| !cdf.is_finite()) {
            return Err(Error::Empty { what: "the sandwich" });
        }
        self.set_cdfs(&lower, &upper);
        Ok(())
    }
}

in_widest_registers! {
    /// [`WeightedCdfObjective::evaluate`] in the widest registers; the same bits in all of them.
    fn evaluate[](
        objective: &mut WeightedCdfObjective,
        weights: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        objective.evaluate(weights, gradient)
    }
}

/// Four bytes per index: the gathers of a step read half as much memory as with eight.
fn index_u32(index: usize) -> Result<u32> {
    u32::try_from(index).map_err(|_| Error::OutOfRange {
        what: "the number of calibration scores",
        value: index as f64,
        expected: "below 2^32",
    })
}

//! `p(t) = sum_i w_i phi((t - s_i) / h) / h`: weighted Gaussian kernel density.
//!
//! Linear in the weights for a fixed bandwidth, which is what lets gradients be written down.

use super::bandwidth::Bandwidth;
use super::empirical::WeightedEmpirical;
use super::grid::Grid;
use crate::error::{At, Error, Result};
use crate::interval::Interval;
use crate::numeric::exp_of_negative;
use crate::numeric::simd::in_widest_registers;

/// Kernels are cut off this many bandwidths from their centre.
///
/// `exp(-8.6^2 / 2) < 1e-16`: what is cut is below the rounding of the kernel's peak, so the density agrees with the
/// full sum to 1e-12 whatever the bandwidth above 1e-4.
pub(crate) const KERNEL_REACH: f64 = 8.6;

/// `1 / sqrt(2 pi)`, the height of `phi` at 0.
pub(crate) const INVERSE_SQRT_TWO_PI: f64 = 0.398_942_280_401_432_7;

/// Where scores can fall: whether the density may reach beyond the ends of their range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Support {
    /// The whole line: plain kernels.
    Line,
    /// A closed interval: kernels are mirrored once at each end, so that no mass leaks out.
    Bounded(Interval),
}

/// Density of a weighted sample.
///
/// ```text
/// Line      p(t) = sum_i w_i phi((t - s_i) / h) / h
/// Bounded   p(t) = sum_i w_i [phi((t - s_i)/h) + phi((t - (2 low - s_i))/h) + phi((t - (2 high - s_i))/h)] / h
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianKde {
    /// Strictly increasing: the atoms of the law.
    centres: Vec<f64>,
    /// Mass of each kernel, summing to 1.
    masses: Vec<f64>,
    bandwidth: Bandwidth,
    support: Support,
}

impl GaussianKde {
    /// Kernels of width `bandwidth` on the atoms of `law`; a bounded support must contain all of them.
    ///
    /// # Errors
    /// `OutsideRange` for the first atom outside a bounded support.
    pub fn new(law: &WeightedEmpirical, bandwidth: Bandwidth, support: Support) -> Result<Self> {
        if let Support::Bounded(range) = support {
            let outside = law.atoms().iter().position(|atom| !range.contains(*atom));
            if let Some(index) = outside {
                return Err(Error::OutsideRange {
                    what: "sorted scores",
                    at: At::Index(index),
                    value: law.atoms()[index],
                    low: range.low(),
                    high: range.high(),
                });
            }
        }
        Ok(Self {
            centres: law.atoms().to_vec(),
            masses: law.masses().to_vec(),
            bandwidth,
            support,
        })
    }

    /// Width `h` of the kernels, in units of the score.
    pub fn bandwidth(&self) -> Bandwidth {
        self.bandwidth
    }

    /// Where scores can fall, and so whether kernels are mirrored.
    pub fn support(&self) -> Support {
        self.support
    }

    /// `p(t)`; 0 at infinity and at NaN.
    pub fn density(&self, t: f64) -> f64 {
        if !t.is_finite() {
            return 0.0;
        }
        let h = self.bandwidth.get();
        let reach = KERNEL_REACH * h;
        let mut sum = 0.0;
        for (image, mirrored) in self.images(t).into_iter().enumerate() {
            // Mirroring is its own inverse: kernels whose image reaches t sit around the image of t. The centres are
            // sorted, so only those are visited.
            let Some(mirrored) = mirrored else { continue };
            let start = self.centres.partition_point(|s| *s < mirrored - reach);
            let end = self.centres.partition_point(|s| *s <= mirrored + reach);
            for i in start..end.max(start) {
                if let Some(centre) = self.images(self.centres[i])[image] {
                    sum += self.masses[i] * gaussian((t - centre) / h);
                }
            }
        }
        sum / h
    }

    /// `p` at every grid point, per unit of the score; shape `(K,)`.
    ///
    /// Each kernel visits only the points it reaches: about `17 h / spacing` kernel values per atom instead of `K`.
    pub fn density_on_grid(&self, grid: &Grid) -> Vec<f64> {
        let h = self.bandwidth.get();
        let points = grid.points();
        let mut density = vec![0.0; points.len()];
        for (centre, mass) in self.centres.iter().zip(&self.masses) {
            let height = mass / h;
            // Mirrored at both ends: a plain kernel loses half its mass at an end, where scores
            // crowd, and the bound that integrates against it would come out too small.
            for image in self.images(*centre).into_iter().flatten() {
                let reached = grid.window(image, KERNEL_REACH * h);
                add_kernel((image, h), height, &points[reached.clone()], &mut density[reached]);
            }
        }
        density
    }

    /// `max_k p(t_k)` and its first index. A grid can miss a peak between its points.
    pub fn largest_on_grid(&self, grid: &Grid) -> (usize, f64) {
        largest(&self.density_on_grid(grid))
    }

    /// A point and its mirror images at the ends of a bounded support. One reflection at each end:
    /// a second would matter only where kernels reach across the whole range.
    fn images(&self, x: f64) -> [Option<f64>; 3] {
        match self.support {
            Support::Line => [Some(x), None, None],
            Support::Bounded(range) => {
                [Some(x), Some(2.0 * range.low() - x), Some(2.0 * range.high() - x)]
            }
        }
    }
}

in_widest_registers! {
    /// `density_k += height phi((t_k - centre) / h)`, by the exponential of our own: a grid takes hundreds of thousands.
    fn add_kernel[](kernel: (f64, f64), height: f64, points: &[f64], density: &mut [f64]) -> () {
        let ((centre, h), height) = (kernel, height * INVERSE_SQRT_TWO_PI);
        for (density, point) in density.iter_mut().zip(points) {
            let u = (point - centre) / h;
            *density += height * exp_of_negative(-0.5 * u * u);
        }
    }
}

/// `phi(u) = exp(-u^2 / 2) / sqrt(2 pi)`.
/// The platform's exponential: a density is evaluated once, not in the loop of the optimiser.
pub(crate) fn gaussian(u: f64) -> f64 {
    (-0.5 * u * u).exp() * INVERSE_SQRT_TWO_PI
}

/// First index of the largest value, and that value.
pub(crate) fn largest(values: &[f64]) -> (usize, f64) {
    values.iter().enumerate().fold((0, f64::NEG_INFINITY), |best, (index, value)| {
        if *value > best.1 { (index, *value) } else { best }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Weights;
    use proptest::prelude::*;

    /// The slow twin: every kernel at every point.
    fn full_sum(kde: &GaussianKde, t: f64) -> f64 {
        let h = kde.bandwidth.get();
        kde.centres
            .iter()
            .zip(&kde.masses)
            .flat_map(|(s, w)| kde.images(*s).into_iter().flatten().map(move |s| (s, w)))
            .map(|(s, w)| w * gaussian((t - s) / h) / h)
            .sum()
    }

    fn weighted(scores: Vec<(f64, f64)>) -> WeightedEmpirical {
        let (scores, weights): (Vec<f64>, Vec<f64>) = scores.into_iter().unzip();
        WeightedEmpirical::new(&scores, &Weights::normalised(weights).unwrap()).unwrap()
    }

    proptest! {
        #[test]
        fn the_windowed_sum_equals_the_full_sum(
            scores in prop::collection::vec((0.0..=1.0f64, 0.01..1.0f64), 1..60),
            log_h in -3.0..0.5f64,
            count in 2usize..400,
            bounded in any::<bool>(),
        ) {
            let support = if bounded { Support::Bounded(Interval::UNIT) } else { Support::Line };
            let h = Bandwidth::new(10f64.powf(log_h)).unwrap();
            let kde = GaussianKde::new(&weighted(scores), h, support).unwrap();
            let grid = Grid::new(Interval::new(-0.5, 1.5).unwrap(), count).unwrap();
            for (t, p) in grid.points().iter().zip(kde.density_on_grid(&grid)) {
                let expected = full_sum(&kde, *t);
                prop_assert!((p - expected).abs() <= 1e-12, "grid {p} against {expected}");
                prop_assert!((kde.density(*t) - expected).abs() <= 1e-12);
            }
        }

        #[test]
        fn a_bounded_density_integrates_to_one(
            scores in prop::collection::vec((0.0..=1.0f64, 0.01..1.0f64), 1..40),
            h in 0.005..0.15f64,
        ) {
            let support = Support::Bounded(Interval::UNIT);
            let kde = GaussianKde::new(&weighted(scores), Bandwidth::new(h).unwrap(), support).unwrap();
            // Trapezoid rule on a grid much finer than the kernels.
            let grid = Grid::new(Interval::UNIT, 4001).unwrap();
            let p = kde.density_on_grid(&grid);
            let ends = 0.5 * (p[0] + p[4000]);
            let integral = (p.iter().sum::<f64>() - ends) * grid.spacing();
            prop_assert!((integral - 1.0).abs() < 1e-4, "{integral}");
        }
    }
}

//! First-order stochastic dominance: `F_upper(t) <= F_lower(t)` at every `t`.
//!
//! ```text
//! largest_violation = max(0, max_t F_upper(t) - F_lower(t))        holds: at most 1e-12
//! ```

use super::empirical::WeightedEmpirical;

/// A CDF may exceed another by this much through rounding alone: equal laws from sums in another
/// order would otherwise be reported as crossed.
pub(crate) const DOMINANCE_TOLERANCE: f64 = 1e-12;

/// Whether `upper` dominates `lower`, that is `F_upper <= F_lower` everywhere, and by how much it fails to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dominance {
    /// `max(0, max_t F_upper(t) - F_lower(t))`, in `[0, 1]`.
    pub largest_violation: f64,
    /// Smallest score at which the largest violation occurs; none if there is no violation.
    pub at: Option<f64>,
}

impl Dominance {
    /// Whether the order holds, up to a violation of 1e-12 in the CDFs.
    pub fn holds(&self) -> bool {
        self.largest_violation <= DOMINANCE_TOLERANCE
    }

    /// Dominance judged at increasing `points` only, from the two CDFs there.
    pub(crate) fn at_points(points: &[f64], lower_cdf: &[f64], upper_cdf: &[f64]) -> Self {
        let mut found = Self { largest_violation: 0.0, at: None };
        for ((point, lower), upper) in points.iter().zip(lower_cdf).zip(upper_cdf) {
            let violation = upper - lower;
            // `>`: of equal violations the smallest score is reported, whatever comes after it.
            if violation > found.largest_violation {
                found = Self { largest_violation: violation, at: Some(*point) };
            }
        }
        // Whether there is a place decides what results report as violated; rounding must not set
        // one.
        if found.holds() {
            Self { largest_violation: found.largest_violation, at: None }
        } else {
            found
        }
    }
}

/// Compares the two CDFs wherever their difference can be largest: at the atoms of `upper`, where its CDF jumps.
pub fn dominance(lower: &WeightedEmpirical, upper: &WeightedEmpirical) -> Dominance {
    let lower_cdf = lower.cdf_at_increasing(upper.atoms());
    Dominance::at_points(upper.atoms(), &lower_cdf, upper.cumulative())
}

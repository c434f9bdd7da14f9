//! Stage 6: how large the total gap can be if the law of the target scores lies among the readings.
//!
//! ```text
//! gap  <= sum_i int_{c_(i-1)}^{c_i} sup over [low(s_i), high(s_i)] of |F - u| du
//! hull    low, high: smallest and largest F_h over calibrated, class-shares and both ends of the band
//!
//! value            every F_h widened by its sampling error 1.645 sqrt(max(F (1 - F), 1/m) / m)
//! with_confidence  no F_h widened, + sqrt(log(2 / delta) / (2 m)) for all scores at once; at least the value
//! ```
//! It holds while `low <= F_Q <= high`, which no method without labels can verify.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::learning::projection::distance_over;
use crate::level::percentage;
use crate::reading::Standing;

/// A bound on the total coverage gap, and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// The bound, with the sampling error of each reading at each score.
    pub value: f64,
    /// The bound with the sampling error at all scores at once, with probability `1 - delta`.
    pub with_confidence: f64,
    /// Failure probability of the value with confidence, in `(0, 1)`.
    pub delta: f64,
    /// How it is known; there is one way yet, and results must name it.
    pub standing: Standing,
}

impl fmt::Display for Certificate {
    /// Two sentences for people: the bound in percentage points, and what it rests on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Averaged over all confidence levels, coverage should be within {:.1} percentage points of the level asked for ({:.1} \
             with {} % confidence). This assumes that the truth lies between what the model's own probabilities, the class \
             frequencies and the estimated accuracy say, which cannot be checked without labels.",
            100.0 * self.value,
            100.0 * self.with_confidence,
            percentage(1.0 - self.delta),
        )
    }
}

/// The certificate's integral: `(low, high)` of the hull and `cumulative` at the sorted calibration scores.
///
/// The larger of two distances from `u` is the distance from their middle plus half of their difference.
pub(super) fn enclosed_gap(hull: impl Iterator<Item = (f64, f64)>, cumulative: &[f64]) -> f64 {
    let mut before = 0.0;
    hull.zip(cumulative)
        .map(|((low, high), reached)| {
            let (middle, half) = (0.5 * (low + high), 0.5 * (high - low).abs());
            let gap = distance_over(middle, before, *reached) + half * (reached - before);
            before = *reached;
            gap
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learning::projection::total_gap_to;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_integral_and_bounds_every_law_between(
            steps in prop::collection::vec((0.0..1.0f64, 0.0..1.0f64, 0.01..1.0f64), 1..8),
            share in 0.0..1.0f64,
        ) {
            let total: f64 = steps.iter().map(|step| step.2).sum();
            let (mut up, mut down, mut between, mut cumulative) = (vec![], vec![], vec![], vec![]);
            let mut sum = 0.0;
            for (a, b, weight) in &steps {
                sum += weight / total;
                cumulative.push(sum);
                up.push(a.min(*b));
                down.push(a.max(*b));
                between.push(a.min(*b) + share * (a - b).abs());
            }
            let hull = up.iter().copied().zip(down.iter().copied());
            let found = enclosed_gap(hull, &cumulative);
            prop_assert!(total_gap_to(&between, &cumulative) <= found + 1e-12);
            let cells = 4000;
            let (mut expected, mut before) = (0.0, 0.0);
            for i in 0..steps.len() {
                let width = (cumulative[i] - before) / f64::from(cells);
                for k in 0..cells {
                    let u = before + width * (f64::from(k) + 0.5);
                    expected += width * (up[i] - u).abs().max((down[i] - u).abs());
                }
                before = cumulative[i];
            }
            prop_assert!((found - expected).abs() < 1e-6, "{found} against {expected}");
        }
    }
}

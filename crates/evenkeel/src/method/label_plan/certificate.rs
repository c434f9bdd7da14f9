//! Stage 6: how large the total gap can be if two laws enclose that of the target scores.
//!
//! ```text
//! gap <= sum_i int_{c_(i-1)}^{c_i} max(|F_up(s_i) - u|, |F_down(s_i) - u|) du  +  sqrt(log(2 / delta) / (2 m))
//! ```
//! while `F_up <= F_Q <= F_down`, which no method without labels can verify. `F_down` is the law of the model's own belief,
//! `F_up` that of the balanced plan at the temperature `T (1 + 2 (inflation - 1))`.
//!
//! The integral is exact at the calibration scores. The last term is the DKW inequality for the `m`
//! target points, whose laws the two are.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::learning::projection::distance_over;

/// A bound on the total coverage gap, and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// The bound for the unlabeled points at hand, in `[0, 1]`: a difference of coverage, averaged
    /// over all levels.
    pub value: f64,
    /// The bound for the law behind them, with probability `1 - delta`; at most 1.
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
             with {:.0} % confidence). This assumes that the true labels lie between the model's own beliefs and the most cautious \
             plan, which cannot be checked without labels.",
            100.0 * self.value,
            100.0 * self.with_confidence,
            100.0 * (1.0 - self.delta),
        )
    }
}

/// How something is known; the word stands in every result, so that none passes for a guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Standing {
    /// True if the target law lies between the two laws of the certificate.
    Assumed,
}

/// The certificate's integral; `up`, `down` and `cumulative` at the sorted calibration scores.
///
/// The larger of two distances from `u` is the distance from their middle plus half of their difference.
///
/// ```text
/// max(|up - u|, |down - u|) = |(up + down)/2 - u| + |up - down|/2
/// ```
/// Laws that cross somewhere are no error here: the absolute difference bounds either order.
pub(super) fn enclosed_gap(up: &[f64], down: &[f64], cumulative: &[f64]) -> f64 {
    let mut before = 0.0;
    up.iter()
        .zip(down)
        .zip(cumulative)
        .map(|((up, down), reached)| {
            let (middle, half) = (0.5 * (up + down), 0.5 * (up - down).abs());
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
            let found = enclosed_gap(&up, &down, &cumulative);
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

//! Exact intervals for a coverage from `k` labels, `x` of them covered.
//!
//! ```text
//! low  = largest p with P(Bin(k, p) >= x) <= d/2       high = smallest p with P(Bin(k, p) <= x) <= d/2
//! ```
//! (Clopper & Pearson 1934). At a threshold that was fixed before the labels were seen, `d` is the failure probability. A
//! threshold chosen with the same labels may be any, and each end must hold at all of them at once: there `d` is the smaller local
//! level of [`same_labels_level`](super::same_labels_level), at half the failure probability for each end.

use serde::{Deserialize, Serialize};

use super::local_level::local_level;
use crate::error::{Error, Result};
use crate::level::FailureProbability;
use crate::numeric::beta::beta_quantile;

/// How many of how many labels lay in their sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(u64, u64)", into = "(u64, u64)")]
pub struct CoveredLabels {
    covered: u64,
    labels: u64,
}

impl CoveredLabels {
    /// Checks that no more labels are covered than there are.
    ///
    /// # Errors
    /// `TooMany` if `covered > labels`.
    pub fn new(covered: u64, labels: u64) -> Result<Self> {
        if covered <= labels {
            Ok(Self { covered, labels })
        } else {
            Err(Error::TooMany {
                what: "covered labels",
                found: covered as usize,
                most: labels as usize,
                instead: "count the labels that lie in their sets",
            })
        }
    }

    /// Labels that lie in their sets.
    pub fn covered(self) -> u64 {
        self.covered
    }

    /// All labels, `k`.
    pub fn labels(self) -> u64 {
        self.labels
    }

    /// The share covered; none without labels.
    pub fn share(self) -> Option<f64> {
        (self.labels > 0).then(|| self.covered as f64 / self.labels as f64)
    }
}

impl TryFrom<(u64, u64)> for CoveredLabels {
    type Error = Error;

    fn try_from((covered, labels): (u64, u64)) -> Result<Self> {
        Self::new(covered, labels)
    }
}

impl From<CoveredLabels> for (u64, u64) {
    fn from(CoveredLabels { covered, labels }: CoveredLabels) -> Self {
        (covered, labels)
    }
}

/// A coverage that labels measured, with the interval it lies in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeasuredCoverage {
    /// The labels counted.
    pub counted: CoveredLabels,
    /// Lowest coverage, in `[0, 1]`.
    pub low: f64,
    /// Highest coverage, in `[0, 1]`.
    pub high: f64,
    /// Confidence `1 - d` of the interval.
    pub confidence: f64,
}

/// The Clopper-Pearson interval: coverage at a threshold that did not look at these labels. Without labels it is `[0, 1]`.
pub fn clopper_pearson(counted: CoveredLabels, failure: FailureProbability) -> MeasuredCoverage {
    let (low, high) = exact_ends(counted, failure.get());
    MeasuredCoverage { counted, low, high, confidence: 1.0 - failure.get() }
}

/// Coverage at a threshold that was chosen with these labels, in whatever way: the interval holds at every threshold at once.
pub fn same_labels_interval(
    counted: CoveredLabels,
    failure: FailureProbability,
) -> MeasuredCoverage {
    let local = local_level(counted.labels, 0.5 * failure.get());
    let (low, high) = exact_ends(counted, local);
    MeasuredCoverage { counted, low, high, confidence: 1.0 - failure.get() }
}

/// The ends of the Clopper-Pearson interval at level `d`.
pub(super) fn exact_ends(CoveredLabels { covered, labels }: CoveredLabels, d: f64) -> (f64, f64) {
    let missed = labels - covered;
    (lower_end(covered, missed, d), 1.0 - lower_end(missed, covered, d))
}

/// `p` with `P(Bin(hits + misses, p) >= hits) = d/2`.
fn lower_end(hits: u64, misses: u64, d: f64) -> f64 {
    if hits == 0 { 0.0 } else { beta_quantile(hits as f64, misses as f64 + 1.0, d / 2.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::beta::binomial_tails;
    use proptest::prelude::*;

    #[test]
    fn the_ends_are_the_exact_tails() {
        for (covered, labels, d) in [(45, 50, 0.05), (1, 3, 0.2), (999_990, 1_000_000, 0.001)] {
            let counted = CoveredLabels::new(covered, labels).unwrap();
            let found = clopper_pearson(counted, FailureProbability::new(d).unwrap());
            let above = binomial_tails(covered - 1, labels, found.low).upper;
            let below = binomial_tails(covered, labels, found.high).lower;
            assert!((above - d / 2.0).abs() < 1e-9, "{above}");
            assert!((below - d / 2.0).abs() < 1e-9, "{below}");
        }
    }

    #[test]
    fn impossible_counts_are_refused() {
        assert!(CoveredLabels::new(4, 3).is_err());
        assert!(serde_json::from_str::<CoveredLabels>("[4, 3]").is_err());
        assert_eq!(CoveredLabels::new(0, 0).unwrap().share(), None);
    }

    proptest! {
        #[test]
        fn any_counts_and_confidence_give_an_interval_around_the_share(
            labels in prop_oneof![0..40_u64, 0..100_000_u64, Just(1 << 40)],
            share in 0.0..=1.0_f64,
            d in prop_oneof![0.001..0.999_f64, Just(f64::MIN_POSITIVE), Just(1.0 - f64::EPSILON)],
        ) {
            let covered = (share * labels as f64) as u64;
            let counted = CoveredLabels::new(covered, labels).unwrap();
            let failure = FailureProbability::new(d).unwrap();
            let fixed = clopper_pearson(counted, failure);
            let chosen = same_labels_interval(counted, failure);
            let share = counted.share().unwrap_or(0.5);
            // A failure probability near 1 leaves an interval of no width.
            prop_assert!(0.0 <= fixed.low && fixed.low <= share + 1e-9, "{fixed:?}");
            prop_assert!(share - 1e-9 <= fixed.high && fixed.high <= 1.0, "{fixed:?}");
            prop_assert!(chosen.low <= fixed.low && fixed.high <= chosen.high, "{chosen:?}");
        }
    }
}

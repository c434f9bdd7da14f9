//! What a user should know before trusting a calibration, in words.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::learning::optimise::{StopReason, Trace};
use crate::level::Miscoverage;
use crate::measure::WeightedEmpirical;
use crate::sandwich::{Order, Sandwich};
use crate::threshold::{TestMass, Threshold, conformal_threshold};

/// Something that makes a calibration less trustworthy than its numbers look.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Warning {
    /// Target scores reach beyond every calibration score, so no weighting can match them.
    SupportTooShort {
        /// Largest calibration score with weight.
        largest_score: f64,
        /// Share of target points beyond it under the most favourable law.
        beyond_at_least: f64,
        /// Share of target points beyond it under the least favourable law.
        beyond_at_most: f64,
        /// Miscoverage rate that share exceeds.
        alpha: f64,
    },
    /// Too little calibration mass for the level: the threshold is infinite and every set holds every label.
    AllLabels {
        /// Miscoverage rate asked for.
        alpha: f64,
        /// The test point's share of the mass; alpha must not be below it.
        test_share: f64,
        /// Number of calibration points.
        points: usize,
    },
    /// The weights lean on very few points.
    FewEffectivePoints {
        /// `n_w`.
        effective: f64,
        /// Number of calibration points.
        points: usize,
    },
    /// The two laws around target scores are not ordered.
    OrderViolated {
        /// Largest violation.
        largest: f64,
        /// Where.
        at: f64,
    },
    /// Learning raised the bound it should have lowered.
    BoundRose {
        /// Before.
        before: f64,
        /// After.
        after: f64,
    },
    /// Learning left all weights equal.
    NothingLearned,
    /// The optimisation ran into something that is not a number.
    Diverged,
    /// The optimisation was stopped by the caller.
    Interrupted,
}

impl Warning {
    /// A word for files and filters.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SupportTooShort { .. } => "support-too-short",
            Self::AllLabels { .. } => "all-labels",
            Self::FewEffectivePoints { .. } => "few-effective-points",
            Self::OrderViolated { .. } => "order-violated",
            Self::BoundRose { .. } => "bound-rose",
            Self::NothingLearned => "nothing-learned",
            Self::Diverged => "diverged",
            Self::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SupportTooShort { largest_score, beyond_at_least, beyond_at_most, alpha } => {
                write!(
                    f,
                    "between {:.1} % and {:.1} % of target points may score above {largest_score:.4}, the largest \
                 calibration score, more than the {:.1} % that may be missed: no weighting can reach the level; \
                 collect labeled points that are as hard as target",
                    100.0 * beyond_at_least,
                    100.0 * beyond_at_most,
                    100.0 * alpha,
                )
            }
            Self::AllLabels { alpha, test_share, points } => write!(
                f,
                "every set holds every label: with {points} calibration points the test point's own share of the \
                 mass is {test_share:.4}, so alpha = {alpha} cannot be met; use more calibration points or a larger \
                 alpha (with equal weights at least {} points)",
                (1.0 / alpha - QUARTER_RANK).ceil() as usize,
            ),
            Self::FewEffectivePoints { effective, points } => write!(
                f,
                "the weights amount to {effective:.1} points out of {points}: thresholds are as uncertain as with \
                 that many; collect labeled points that look like the target data's, or, with ot, use fewer steps, the finite-sample \
                 objective or a floor on the effective sample size",
            ),
            Self::OrderViolated { largest, at } => write!(
                f,
                "the two laws around target scores cross (by {largest:.4} at score {at:.4}), so they cannot \
                 enclose target law: bounds and coverage intervals from them do not hold; use min-max",
            ),
            Self::BoundRose { before, after } => write!(
                f,
                "learning raised what it should have lowered, from {before:.4} to {after:.4}: do not use these weights; use a \
                 smaller learning rate, or leave the threshold uncorrected",
            ),
            Self::NothingLearned => write!(
                f,
                "all weights are equal after learning: nothing was learned; use a smaller learning rate",
            ),
            Self::Diverged => write!(
                f,
                "the optimisation diverged and the last good weights were kept; use a smaller learning rate",
            ),
            Self::Interrupted => {
                write!(f, "the optimisation was interrupted; the weights of that moment were kept")
            }
        }
    }
}

/// `n + 1 >= 1 / alpha` points are needed; a quarter of a rank less absorbs the rounding of `1 / alpha`.
const QUARTER_RANK: f64 = 1.25;

/// Fewer effective points than this are too few to place a quantile.
const FEW_POINTS: f64 = 30.0;
/// So is this share of the points there are: most of the labels bought are not used.
const FEW_SHARE: f64 = 0.1;

/// An objective may rise by this share of itself and still be where it started.
const RISE: f64 = 1e-3;

/// Looks a calibration over; `largest_score` is the largest calibration score, whatever its weight.
pub(crate) fn diagnose(
    law: &WeightedEmpirical,
    largest_score: f64,
    test_mass: TestMass,
    sandwich: Option<&Sandwich>,
    alpha: Miscoverage,
    (stopped, trace): (StopReason, &Trace),
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let (Some(first), Some(last)) = (trace.points().first(), trace.points().last()) {
        let (before, after) = (first.objective, last.objective);
        if after > before + RISE * before.abs() {
            warnings.push(Warning::BoundRose { before, after });
        }
        if last.step > 0
            && law.effective_sample_size() > law.points() as f64 * (1.0 - 1e-9)
            && law.points() > 1
        {
            warnings.push(Warning::NothingLearned);
        }
    }
    match stopped {
        StopReason::Diverged => warnings.push(Warning::Diverged),
        StopReason::Interrupted => warnings.push(Warning::Interrupted),
        _ => {}
    }
    let points = law.points();
    if conformal_threshold(law, test_mass, alpha) == Threshold::AllLabels {
        let test_share = test_mass.get();
        warnings.push(Warning::AllLabels { alpha: alpha.get(), test_share, points });
    }
    if let Some(sandwich) = sandwich {
        let beyond_at_most = 1.0 - sandwich.upper().cdf(largest_score);
        let beyond_at_least = 1.0 - sandwich.lower().cdf(largest_score);
        if beyond_at_least > alpha.get() {
            let alpha = alpha.get();
            warnings.push(Warning::SupportTooShort {
                largest_score,
                beyond_at_least,
                beyond_at_most,
                alpha,
            });
        }
    }
    let effective = law.effective_sample_size();
    let reweighted = effective < points as f64 * 0.999;
    if reweighted && (effective < FEW_POINTS || effective < FEW_SHARE * points as f64) {
        warnings.push(Warning::FewEffectivePoints { effective, points });
    }
    if let Some(Order::Violated { largest, at }) = sandwich.map(Sandwich::order) {
        warnings.push(Warning::OrderViolated { largest, at });
    }
    warnings
}

//! Looks a calibration over for what its numbers do not show.

use crate::learning::optimise::{StopReason, Trace};
use crate::level::Miscoverage;
use crate::measure::WeightedEmpirical;
use crate::sandwich::{Order, Sandwich};
use crate::threshold::{TestMass, Threshold, conformal_threshold};
use crate::warning::Warning;

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

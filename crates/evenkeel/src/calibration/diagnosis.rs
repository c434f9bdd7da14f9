//! Looks a calibration over for what its numbers do not show.
//!
//! ```text
//! bound rose            L_end > L_start + 0.001 |L_start|
//! all labels            no s with (1 - test mass) F_w(s) >= 1 - alpha
//! support too short     1 - F_lower(s_n) > alpha
//! few effective points  n_w < 30 or n_w < n / 10, of weights that are not equal
//! order violated        F_upper > F_lower somewhere
//! ```

use crate::learning::optimise::{StopReason, Trace};
use crate::level::Miscoverage;
use crate::measure::WeightedEmpirical;
use crate::sandwich::{Order, Sandwich};
use crate::threshold::{TestMass, Threshold, conformal_threshold};
use crate::warning::{Warning, WeightsBy};

/// Fewer effective points than this are too few to place a quantile: at the level 0.9 three of them
/// lie above it.
const FEW_POINTS: f64 = 30.0;
/// So is this share of the points there are: most of the labels bought are not used.
const FEW_SHARE: f64 = 0.1;

/// An objective may rise by this share of itself and still be where it started: drawn labels and
/// the last steps of Adam move it about.
const RISE: f64 = 1e-3;

/// Looks a calibration over; `largest_score` is the largest calibration score, whatever its weight.
///
/// Every warning is looked for, whatever was found before: one does not explain another. `sandwich`
/// is none where the method has no laws around the target scores.
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
        // Too large a step can silence every unit of a network. Its weights are then all equal,
        // which must not pass for a careful answer.
        if last.step > 0
            && law.effective_sample_size() > law.points() as f64 * (1.0 - 1e-9)
            && law.points() > 1
        {
            warnings.push(Warning::NothingLearned);
        }
    }
    // The other reasons are ways to end well.
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
        // Under the most favourable law: if even that leaves more than alpha beyond every score, no
        // weighting can help, and that is certain as far as the laws are.
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
    // Equal weights on few points are the user's own choice of n, not the doing of a method.
    let reweighted = effective < points as f64 * 0.999;
    if reweighted && (effective < FEW_POINTS || effective < FEW_SHARE * points as f64) {
        let by = match trace.points().last() {
            Some(last) if last.step > 0 => WeightsBy::Descent,
            _ => WeightsBy::Other,
        };
        warnings.push(Warning::FewEffectivePoints { effective, points, by });
    }
    if let Some(Order::Violated { largest, at }) = sandwich.map(Sandwich::order) {
        warnings.push(Warning::OrderViolated { largest, at });
    }
    warnings
}

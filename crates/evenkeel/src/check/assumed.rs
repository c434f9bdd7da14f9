//! Where coverage lies if the labels follow the model, uniform labels, or something between: `coverage_interval.assumed`.
//!
//! ```text
//! ends     U(t), and f(t) of the model as given; of the model at the fitted temperature T where its belief fails
//! margin   h = sqrt(ln(2/d) / (2 m)): the average of m independent shares in [0, 1] is within h of its mean  (Hoeffding)
//! T known within a factor exp(+-x):   f(t) = sin^2(a)  ->  sin^2(a - V x / 2) .. sin^2(a + V x / 2)
//! ```
//! **Why `V`.** Let `F = sum_(c in S) p_c` with `p` the softmax at temperature `T` and `S` any set of labels. Then
//! `dF / d ln T = -Cov(1_S, ln p)`, at most `sqrt(F (1 - F)) V`, where `V^2` is the largest variance that `ln p` of a law on `C`
//! labels can have under that law: `V^2 <= ln(C - 1)^2 / 4 + 1` \[RW15\]. An average of rows keeps this, as `sqrt(F (1 - F))` is
//! concave. In the angle `a` it says `|da / d ln T| <= V / 2`.

use std::f64::consts::FRAC_PI_2;

use super::answer::Evidence;
use super::checked_calibration::CheckedCalibration;
use crate::bound::{coverage_interval, dkw_half_width};
use crate::error::Result;
use crate::level::FailureProbability;
use crate::reading::ReadingName;
use crate::threshold::Threshold;

/// The interval for the rows at hand, or with a failure probability for the law behind them.
pub(super) fn assumed_interval(
    evidence: &Evidence<'_>,
    confidence: Option<FailureProbability>,
) -> Result<[f64; 2]> {
    let Evidence { calibration, laws, plan, .. } = evidence;
    let CheckedCalibration { planner, belief, threshold, .. } = calibration;
    let (false, Threshold::Finite(t)) = (belief.holds, threshold) else {
        return coverage_interval(&laws.f_u, *threshold, confidence)
            .map(|found| [found.low, found.high]);
    };
    // The model's own law is wrong on the calibration labels: at the fitted temperature it takes its place.
    let (uniform, model) = (laws.f_u.upper().cdf(*t), plan.laws().cdf(ReadingName::Calibrated, *t));
    let (model, margin) = match confidence {
        // Half of the failures for the temperature, half for the rows.
        Some(d) => {
            let half = FailureProbability::new(0.5 * d.get())?;
            let (labeled, fitted) = (planner.labeled(), planner.temperature());
            let error = calibration.alone.temperature_error(labeled, fitted, half);
            let classes = labeled.classes();
            // The uniform law is of all rows, the model's may be of a sample.
            let rows = laws.rows.min(plan.laws().rows_of(ReadingName::Calibrated));
            (moved_by_temperature(model, error, classes), dkw_half_width(rows as f64, half)?)
        }
        None => ([model; 2], 0.0),
    };
    let (low, high) = (uniform.min(model[0]), uniform.max(model[1]));
    Ok([(low - margin).max(0.0), (high + margin).min(1.0)])
}

/// Least and greatest share of the labels in a set, where it is `share` at one temperature, at any other within a factor
/// `exp(+-error)`.
fn moved_by_temperature(share: f64, error: f64, classes: usize) -> [f64; 2] {
    let largest_variance = 0.25 * ((classes.max(2) - 1) as f64).ln().powi(2) + 1.0;
    let (angle, turn) =
        (share.clamp(0.0, 1.0).sqrt().asin(), 0.5 * largest_variance.sqrt() * error);
    [(angle - turn).max(0.0), (angle + turn).min(FRAC_PI_2)].map(|angle| angle.sin().powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::tempered_log_sum_exp;
    use proptest::prelude::*;

    fn share_at(rows: &[Vec<f64>], sets: &[Vec<bool>], temperature: f64) -> f64 {
        let covered = rows.iter().zip(sets).map(|(row, set)| {
            let (largest, log_total) = tempered_log_sum_exp(row, 1.0 / temperature);
            let share = |logit: &f64| ((logit - largest) / temperature - log_total).exp();
            row.iter().zip(set).filter(|(_, inside)| **inside).map(|(l, _)| share(l)).sum::<f64>()
        });
        covered.sum::<f64>() / rows.len() as f64
    }

    proptest! {
        #[test]
        fn no_temperature_within_the_error_leaves_the_ends(
            logits in prop::collection::vec(prop::collection::vec(-6.0..6.0f64, 5), 1..4),
            kept in prop::collection::vec(prop::collection::vec(any::<bool>(), 5), 3),
            temperature in 0.3..5.0f64,
            error in 0.0..1.0f64,
        ) {
            let start = share_at(&logits, &kept, temperature);
            let [low, high] = moved_by_temperature(start, error, 5);
            for step in -10..=10 {
                let at = temperature * (error * f64::from(step) / 10.0).exp();
                let share = share_at(&logits, &kept, at);
                prop_assert!((low - 1e-12..=high + 1e-12).contains(&share), "{share} of {low} to {high}");
            }
        }

        /// The largest variance itself: one likely label and the rest alike come near it.
        #[test]
        fn no_law_varies_more(classes in 2usize..2000, first in 0.0001..0.9999f64) {
            let rest = (1.0 - first) / (classes - 1) as f64;
            let spread = first.ln() - rest.ln();
            let variance = first * (1.0 - first) * spread * spread;
            let bound = 0.25 * ((classes - 1) as f64).ln().powi(2) + 1.0;
            prop_assert!(variance <= bound);
        }
    }

    #[test]
    fn an_unknown_temperature_says_nothing() {
        assert_eq!(moved_by_temperature(0.7, f64::INFINITY, 10), [0.0, 1.0]);
        let [low, high] = moved_by_temperature(0.7, 0.0, 10);
        assert!((low - 0.7).abs() < 1e-15 && (high - 0.7).abs() < 1e-15);
    }
}

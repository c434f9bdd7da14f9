//! The auxiliary laws: CDFs, means and their distances from the calibration law.

use crate::case::for_every_pair;
use evenkeel::measure::{TransportToFixed, wasserstein_1};
use evenkeel::sandwich::Order;

#[test]
fn cdfs_of_both_laws_on_the_grid() {
    for_every_pair(|case, pair, sandwich| {
        let (lower, upper) = sandwich.cdfs_on_grid(&case.grid);
        case.all_close(&["aux", pair, "F_down_grid"], &lower);
        case.all_close(&["aux", pair, "F_up_grid"], &upper);
    });
}

#[test]
fn means_of_both_laws() {
    for_every_pair(|case, pair, sandwich| {
        case.close(&["aux", pair, "mean_down"], sandwich.lower().mean());
        case.close(&["aux", pair, "mean_up"], sandwich.upper().mean());
    });
}

#[test]
fn wasserstein_distances_from_the_calibration_law() {
    for_every_pair(|case, pair, sandwich| {
        case.close(&["aux", pair, "w1_down"], wasserstein_1(case.p.law(), sandwich.lower()));
        case.close(&["aux", pair, "w1_up"], wasserstein_1(case.p.law(), sandwich.upper()));
    });
}

/// The distance prepared for optimisation walks prefix sums instead of merging: it must give the same numbers.
#[test]
fn prepared_wasserstein_distances_from_the_calibration_law() {
    for_every_pair(|case, pair, sandwich| {
        for (key, law) in [("w1_down", sandwich.lower()), ("w1_up", sandwich.upper())] {
            let prepared = TransportToFixed::new(&case.scores, law).unwrap();
            let mut gradient = vec![0.0; case.scores.len()];
            let weights = case.weights.as_slice();
            let distance = prepared.value_and_gradient(weights, &mut gradient).unwrap();
            case.close(&["aux", pair, key], distance);
        }
    });
}

#[test]
fn the_order_is_guaranteed_for_min_max_and_measured_for_the_others() {
    for_every_pair(|case, pair, sandwich| {
        assert_eq!(sandwich.sample_size(), case.candidates.rows());
        let violation = |points: &[f64]| {
            let lower = sandwich.lower().cdf_at_increasing(points);
            let upper = sandwich.upper().cdf_at_increasing(points);
            upper.iter().zip(lower).fold(0.0_f64, |worst, (up, low)| worst.max(up - low))
        };
        let worst = violation(sandwich.upper().atoms()).max(violation(sandwich.lower().atoms()));
        match sandwich.order() {
            Order::Guaranteed => assert!(pair == "minmax" && worst <= 1e-12, "{}", case.name),
            Order::HoldsEmpirically => assert!(worst <= 1e-12, "{} {pair}", case.name),
            Order::Violated { largest, at } => {
                assert_eq!(largest, worst, "{} {pair}", case.name);
                let found = sandwich.upper().cdf(at) - sandwich.lower().cdf(at);
                assert_eq!(found, worst, "{} {pair}", case.name);
            }
        }
    });
}

//! Threshold edge cases: levels hit exactly, ties, missing mass, and a test weight per test point.

use crate::case::{miscoverages, number, numbers, read};
use evenkeel::measure::{WeightedEmpirical, Weights};
use evenkeel::method::likelihood_ratio::{KnownRatios, RatioThresholds};
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};

/// The file's weights are used as they are; what they leave to one is the test point's mass.
#[test]
fn thresholds_of_the_edge_cases() {
    let file = read("quantiles");
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 17);
    for case in cases {
        let weights = numbers(&case["weights"]);
        // Summation errors of up to 1e-15 are the quantile's to absorb.
        let total: f64 = weights.iter().sum();
        let test = TestMass::new((1.0 - total).clamp(0.0, 1.0)).unwrap();
        let law = WeightedEmpirical::new(
            &numbers(&case["scores"]),
            &Weights::normalised(weights).unwrap(),
        );
        let law = law.unwrap();
        let found: Vec<f64> = miscoverages(&case["alphas"])
            .into_iter()
            .map(|alpha| conformal_threshold(&law, test, alpha).get())
            .collect();
        assert_eq!(found, numbers(&case["thresholds"]), "{}", case["note"]);
    }
}

#[test]
fn split_weights_given_as_a_uniform_law_and_an_exchangeable_test_point() {
    let file = read("quantiles");
    let mut checked = 0;
    for case in file["cases"].as_array().unwrap() {
        if case["note"].as_str().unwrap().starts_with("split weights") {
            let scores = numbers(&case["scores"]);
            let law = WeightedEmpirical::uniform(&scores).unwrap();
            let test = TestMass::exchangeable(scores.len());
            for (alpha, expected) in
                miscoverages(&case["alphas"]).into_iter().zip(numbers(&case["thresholds"]))
            {
                let found = conformal_threshold(&law, test, alpha).get();
                assert_eq!(found, expected, "{} at {alpha:?}", case["note"]);
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 36);
}

#[test]
fn likelihood_ratio_thresholds_with_a_test_weight_for_every_test_point() {
    let file = &read("quantiles")["likelihood_ratio"];
    let ratios = numbers(&file["ratio_cal"]);
    let total: f64 = ratios.iter().sum();
    let scores = numbers(&file["s_cal"]);
    let law = WeightedEmpirical::new(&scores, &Weights::normalised(ratios).unwrap()).unwrap();
    let rows = file["thresholds"].as_array().unwrap();
    for (alpha, expected) in miscoverages(&file["alphas"]).into_iter().zip(rows) {
        let found: Vec<f64> = numbers(&file["ratio_test"])
            .into_iter()
            .map(|ratio| TestMass::from_unnormalised(ratio, total).unwrap())
            .map(|test| conformal_threshold(&law, test, alpha).get())
            .collect();
        let expected: Vec<f64> = expected.as_array().unwrap().iter().map(number).collect();
        assert_eq!(found, expected, "{alpha:?}");
    }
}

/// The same through the type that prepares the calibration side once.
#[test]
fn likelihood_ratio_thresholds_of_all_test_points_at_once() {
    let file = &read("quantiles")["likelihood_ratio"];
    let ratios = KnownRatios::new(numbers(&file["ratio_cal"])).unwrap();
    let prepared = RatioThresholds::new(&numbers(&file["s_cal"]), &ratios).unwrap();
    let rows = file["thresholds"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for (alpha, expected) in miscoverages(&file["alphas"]).into_iter().zip(rows) {
        let found = prepared.thresholds(&numbers(&file["ratio_test"]), alpha).unwrap();
        let found: Vec<f64> = found.into_iter().map(Threshold::get).collect();
        assert_eq!(found, numbers(expected), "{alpha:?}");
    }
}

//! Thresholds and the sets they cut. Thresholds are input scores, so they agree exactly or not at all.

use crate::case::{Case, TOLERANCE, assert_close, for_every_case, numbers};
use evenkeel::measure::WeightedEmpirical;
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};

fn free_form_test_mass(case: &Case) -> TestMass {
    let total: f64 = numbers(&case.json["inputs"]["logw0"]).iter().map(|l| l.exp()).sum();
    TestMass::from_unnormalised(1.0, total).unwrap()
}

/// The thresholds of a weighting at the three rates of the case.
fn thresholds(case: &Case, weighting: &str) -> Vec<Threshold> {
    let uniform = WeightedEmpirical::uniform(&case.scores).unwrap();
    let (law, test) = match weighting {
        "no_test_mass" => (case.p.law(), TestMass::NONE),
        "split" => (&uniform, TestMass::exchangeable(case.scores.len())),
        "free_form" => (case.p.law(), free_form_test_mass(case)),
        other => panic!("no weighting named {other}"),
    };
    case.alphas().into_iter().map(|alpha| conformal_threshold(law, test, alpha)).collect()
}

#[test]
fn thresholds_are_exactly_the_expected_scores() {
    for_every_case(|case| {
        for weighting in ["no_test_mass", "split", "free_form"] {
            let found: Vec<f64> =
                thresholds(case, weighting).into_iter().map(Threshold::get).collect();
            let expected = numbers(case.expected(&["thresholds", weighting]));
            assert_eq!(found, expected, "{} {weighting}", case.name);
        }
    });
}

#[test]
fn the_test_point_takes_its_share_of_the_free_form_weights() {
    for_every_case(|case| {
        let left = 1.0 - free_form_test_mass(case).get();
        let found: Vec<f64> = case.weights.as_slice().iter().map(|w| w * left).collect();
        let expected = numbers(case.expected(&["thresholds", "free_form_weights"]));
        assert_close(case.name, &found, &expected, TOLERANCE);
    });
}

/// Coverage and mean size are counts over `m`: they are compared as counts, exactly.
#[test]
fn sets_hold_exactly_the_expected_numbers_of_labels() {
    for_every_case(|case| {
        let m = case.candidates.rows();
        let counts = |key: &[&str]| -> Vec<usize> {
            let shares = numbers(case.expected(key));
            shares.iter().map(|share| (share * m as f64).round() as usize).collect()
        };
        for weighting in ["split", "free_form"] {
            let (mut covered, mut members) = (Vec::new(), Vec::new());
            for threshold in thresholds(case, weighting) {
                let is_in =
                    |row: usize, label: usize| threshold.admits(case.candidates.row(row)[label]);
                covered.push((0..m).filter(|row| is_in(*row, case.labels[*row])).count());
                let labels = (0..m).flat_map(|row| (0..case.classes).map(move |y| (row, y)));
                members.push(labels.filter(|(row, label)| is_in(*row, *label)).count());
            }
            let what = format!("{} {weighting}", case.name);
            assert_eq!(covered, counts(&["sets", weighting, "coverage"]), "{what} coverage");
            assert_eq!(members, counts(&["sets", weighting, "mean_size"]), "{what} sizes");
        }
    });
}

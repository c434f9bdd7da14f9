//! Cutoffs and intercepts of an independent interior-point solution.

use evenkeel::threshold::Threshold;
use serde_json::Value;

use crate::problems::Problem;

/// The golden numbers come from an interior-point method run to 1e-12.
const TOLERANCE: f64 = 1e-9;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

fn rows(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().flat_map(numbers).collect()
}

#[test]
fn cutoffs_and_intercepts() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/cases/conditional.json");
    let cases: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 2);
    for case in cases {
        let number = |key: &str| case[key].as_f64().unwrap();
        let problem = Problem {
            columns: case["x_cal"][0].as_array().unwrap().len(),
            features: rows(&case["x_cal"]),
            scores: numbers(&case["s_cal"]),
            test: rows(&case["x_test"]),
            alpha: number("alpha"),
            gamma: number("gamma"),
            lambda: number("lam"),
        };
        let (cutoffs, intercepts) = (numbers(&case["cutoff"]), numbers(&case["intercept"]));
        let batch = problem.cutoffs();
        assert_eq!(batch.len(), cutoffs.len());
        for (row, point) in problem.test_points().enumerate() {
            let solution = problem.model().solution(point, problem.alpha()).unwrap().unwrap();
            problem.assert_optimal(point, &solution, TOLERANCE);
            assert_eq!(solution.cutoff, Threshold::Finite(batch[row]));
            let (found, expected) = (batch[row], cutoffs[row]);
            assert!((found - expected).abs() <= TOLERANCE, "cutoff {found}, expected {expected}");
            let (found, expected) = (solution.intercept, intercepts[row]);
            assert!((found - expected).abs() <= TOLERANCE, "b {found}, expected {expected}");
        }
    }
}

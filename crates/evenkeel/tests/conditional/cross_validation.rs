//! The penalty chosen by leaving points out.

use evenkeel::level::Miscoverage;
use evenkeel::method::conditional::{ConditionalModel, ConditionalSettings, LambdaChoice};
use evenkeel::rows::Rows;
use evenkeel::seed::Seed;

const CANDIDATES: [f64; 4] = [1e-4, 1e-3, 1e-2, 10.0];

fn chosen(features: &[f64], scores: &[f64], seed: u64) -> f64 {
    let lambda = LambdaChoice::CrossValidated {
        folds: 5,
        candidates: CANDIDATES.to_vec(),
        alpha: Miscoverage::new(0.2).unwrap(),
        seed: Seed::new(seed),
    };
    let settings = ConditionalSettings { lambda, ..ConditionalSettings::default() };
    let features = Rows::new("features", features, 1).unwrap();
    ConditionalModel::fit(features, scores, &settings).unwrap().lambda()
}

fn data(seed: u64, score: impl Fn(f64, f64) -> f64) -> (Vec<f64>, Vec<f64>) {
    let mut stream = Seed::new(seed).stream("data");
    (0..200)
        .map(|_| {
            let x = stream.uniform();
            (x, score(x, stream.uniform()))
        })
        .unzip()
}

#[test]
fn noise_asks_for_a_larger_penalty_than_signal() {
    for seed in 0..3 {
        let (features, scores) = data(seed, |_, noise| noise);
        assert!(chosen(&features, &scores, seed) >= 1e-2, "scores that ignore the feature");
        let (features, scores) = data(seed, |x, noise| (6.0 * x).sin() + 0.01 * noise);
        assert!(chosen(&features, &scores, seed) <= 1e-3, "scores that follow the feature");
    }
}

#[test]
fn equal_losses_go_to_the_largest_penalty() {
    let features = vec![0.5; 40];
    let scores: Vec<f64> = (0..40).map(f64::from).collect();
    assert_eq!(chosen(&features, &scores, 0), 10.0);
}

#[test]
fn a_seed_decides_the_folds() {
    let (features, scores) = data(9, |x, noise| x + noise);
    assert_eq!(chosen(&features, &scores, 4), chosen(&features, &scores, 4));
}

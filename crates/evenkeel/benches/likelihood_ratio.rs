//! Likelihood ratios: a threshold for every test point, and what a fit and an evaluation cost.
//!
//! `cargo bench --bench likelihood_ratio`

#![allow(clippy::expect_used)]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use evenkeel::level::Miscoverage;
use evenkeel::method::likelihood_ratio::{
    KnownRatios, NetworkSettings, RatioEstimator, RatioThresholds, TelescopingSettings,
};
use evenkeel::rows::Rows;
use evenkeel::seed::Seed;

const CALIBRATION: usize = 1000;
const TEST: usize = 100_000;
const FEATURES: usize = 10;

fn main() {
    divan::main();
}

fn uniform(purpose: &str, count: usize) -> Vec<f64> {
    let mut stream = Seed::new(7).stream(purpose);
    (0..count).map(|_| stream.uniform()).collect()
}

fn estimator(name: &str) -> RatioEstimator {
    match name {
        "logistic" => RatioEstimator::Logistic,
        "network" => RatioEstimator::Network(NetworkSettings::default()),
        _ => RatioEstimator::Telescoping(TelescopingSettings::default()),
    }
}

/// Sorting and summing the calibration side, once.
#[divan::bench]
fn prepare(bencher: Bencher) {
    let scores = uniform("scores", CALIBRATION);
    let ratios = KnownRatios::new(uniform("ratios", CALIBRATION)).expect("ratios");
    bencher.bench_local(|| RatioThresholds::new(black_box(&scores), &ratios));
}

/// A threshold for each of 100 000 test points.
#[divan::bench]
fn thresholds(bencher: Bencher) {
    let ratios = KnownRatios::new(uniform("ratios", CALIBRATION)).expect("ratios");
    let prepared = RatioThresholds::new(&uniform("scores", CALIBRATION), &ratios);
    let prepared = prepared.expect("calibration points");
    let tests = uniform("tests", TEST);
    let alpha = Miscoverage::new(0.1).expect("a rate");
    bencher
        .counter(ItemsCount::new(TEST))
        .bench_local(|| prepared.thresholds(black_box(&tests), alpha));
}

/// A fit on 300 rows of either side, ten features.
#[divan::bench(args = ["logistic", "network", "telescoping"], sample_count = 10)]
fn fit(bencher: Bencher, name: &str) {
    let (old, new) = (uniform("old", 300 * FEATURES), uniform("new", 300 * FEATURES));
    let old = Rows::new("features", &old, FEATURES).expect("rows");
    let new = Rows::new("features", &new, FEATURES).expect("rows");
    bencher.bench_local(|| estimator(name).fit(black_box(old), new, Seed::new(1)));
}

/// The log ratios of 100 000 rows of ten features.
#[divan::bench(args = ["logistic", "network", "telescoping"], sample_count = 10)]
fn log_ratios(bencher: Bencher, name: &str) {
    let (old, new) = (uniform("old", 300 * FEATURES), uniform("new", TEST * FEATURES));
    let old = Rows::new("features", &old, FEATURES).expect("rows");
    let new = Rows::new("features", &new, FEATURES).expect("rows");
    let few = Rows::new("features", &new.values()[..300 * FEATURES], FEATURES).expect("rows");
    let model = estimator(name).fit(old, few, Seed::new(1)).expect("a fit").model;
    bencher.counter(ItemsCount::new(TEST)).bench_local(|| model.log_ratios(black_box(new)));
}

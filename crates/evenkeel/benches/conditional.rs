//! One test point of conditional conformal prediction on ten-class softmax features, and the solution all start from.
//!
//! `cargo bench --bench conditional`. A row of `test_points` is POINTS test points on one thread, the start included; its
//! cost alone is `start`, so a test point costs the difference over POINTS.

#![allow(missing_docs, clippy::unwrap_used)]

use divan::Bencher;
use evenkeel::level::Miscoverage;
use evenkeel::method::conditional::{ConditionalModel, ConditionalSettings};
use evenkeel::rows::Rows;
use evenkeel::seed::Seed;

const POINTS: usize = 100;
const CLASSES: usize = 10;
const SIZES: [usize; 4] = [100, 300, 1000, 3000];

fn main() {
    divan::main();
}

/// Softmax rows of a classifier that is mostly right, and one minus the probability of each row's label.
fn softmax(rows: usize, purpose: &str) -> (Vec<f64>, Vec<f64>) {
    let mut stream = Seed::new(3).stream(purpose);
    let (mut values, mut scores) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let label = stream.below(CLASSES);
        let logits: Vec<f64> = (0..CLASSES)
            .map(|class| 6.0 * stream.uniform() + if class == label { 5.0 } else { 0.0 })
            .collect();
        let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
        values.extend(logits.iter().map(|logit| logit.exp() / total));
        scores.push(1.0 - logits[label].exp() / total);
    }
    (values, scores)
}

fn solve(bencher: Bencher, n: usize, points: usize) {
    let (features, scores) = softmax(n, "calibration");
    let (test, _) = softmax(points, "test");
    let features = Rows::new("features", &features, CLASSES).unwrap();
    let model = ConditionalModel::fit(features, &scores, &ConditionalSettings::default()).unwrap();
    let alpha = Miscoverage::new(0.1).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    bencher.bench_local(|| {
        let test = Rows::new("test features", &test, CLASSES).unwrap();
        pool.install(|| model.cutoffs(test, alpha).unwrap())
    });
}

/// The solution without a test point, and one test point.
#[divan::bench(args = SIZES, sample_count = 5)]
fn start(bencher: Bencher, n: usize) {
    solve(bencher, n, 1);
}

/// The same, and POINTS more test points.
#[divan::bench(args = SIZES, sample_count = 5)]
fn test_points(bencher: Bencher, n: usize) {
    solve(bencher, n, POINTS + 1);
}

/// The kernel matrix.
#[divan::bench(args = SIZES, sample_count = 5)]
fn fit(bencher: Bencher, n: usize) {
    let (features, scores) = softmax(n, "calibration");
    let settings = ConditionalSettings::default();
    bencher.bench_local(|| {
        let features = Rows::new("features", &features, CLASSES).unwrap();
        ConditionalModel::fit(features, &scores, &settings).unwrap()
    });
}

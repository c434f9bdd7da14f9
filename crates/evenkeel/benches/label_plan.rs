//! One label plan, end to end, and the shift test before it.
//!
//! `cargo bench --bench label_plan`; one thread unless the name says otherwise.

#![allow(missing_docs, clippy::unwrap_used)]

use divan::{Bencher, black_box};
use evenkeel::level::FailureProbability;
use evenkeel::method::label_plan::{LabelPlanSettings, LabelPlanner, LabeledLogits, TargetRows};
use evenkeel::rows::Rows;
use evenkeel::score::{Labels, Score};
use evenkeel::seed::Seed;
use evenkeel::shift::{Prediction, shift_test};

fn main() {
    divan::main();
}

/// Logits of a classifier whose true class stands out by `signal`.
fn logits(rows: usize, classes: usize, signal: f64, seed: u64) -> (Vec<f32>, Vec<usize>) {
    let mut stream = Seed::new(seed).stream("bench");
    let (mut values, mut labels) = (Vec::with_capacity(rows * classes), Vec::new());
    for _ in 0..rows {
        let label = stream.below(classes);
        labels.push(label);
        values.extend((0..classes).map(|class| {
            let lift = if class == label { signal } else { 0.0 };
            (lift + 4.0 * (stream.uniform() + stream.uniform() - 1.0)) as f32
        }));
    }
    (values, labels)
}

fn planner(n: usize, classes: usize) -> LabelPlanner {
    let (values, labels) = logits(n, classes, 4.0, 1);
    let labels = Labels::new(labels, classes).unwrap();
    let rows = Rows::new("logits", &values, classes).unwrap();
    let labeled = LabeledLogits::of_logits(rows, &labels, &Score::Lac).unwrap();
    let settings = LabelPlanSettings::new(FailureProbability::new(0.05).unwrap());
    LabelPlanner::new(labeled, Score::Lac, settings, Seed::new(0)).unwrap()
}

/// n = m = 300: temperature, groups, both passes, both fixed points, weights.
#[divan::bench(args = [10, 100, 1000])]
fn a_fit_on_300_points(bencher: Bencher, classes: usize) {
    let (values, labels) = logits(300, classes, 4.0, 1);
    let (target, _) = logits(300, classes, 2.5, 2);
    fit(bencher, classes, (&values, &labels), &target);
}

fn fit(bencher: Bencher, classes: usize, (values, labels): (&[f32], &[usize]), target: &[f32]) {
    let labels = Labels::new(labels.to_vec(), classes).unwrap();
    let settings = LabelPlanSettings::new(FailureProbability::new(0.05).unwrap());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let fit = || {
        let rows = Rows::new("logits", black_box(values), classes).unwrap();
        let labeled = LabeledLogits::of_logits(rows, &labels, &Score::Lac).unwrap();
        let planner = LabelPlanner::new(labeled, Score::Lac, settings, Seed::new(0)).unwrap();
        planner.plan(&TargetRows::Logits(Rows::new("logits", target, classes).unwrap())).unwrap()
    };
    bencher.bench_local(|| pool.install(fit));
}

/// The same where half of the target rows fall on one class, so that every plan of the matched laws is needed: they take part in each
/// fit, and `valgrind --tool=callgrind` tells their share.
#[divan::bench(args = [10, 100, 1000])]
fn a_fit_on_300_points_of_which_half_collapse(bencher: Bencher, classes: usize) {
    let (values, labels) = logits(300, classes, 4.0, 1);
    let (mut target, _) = logits(300, classes, 2.5, 2);
    target.chunks_exact_mut(classes).step_by(2).for_each(|row| row[0] += 8.0);
    fit(bencher, classes, (&values, &labels), &target);
}

/// A million rows of a hundred classes, as many threads as the machine has.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn b_a_million_rows_of_a_hundred_classes(bencher: Bencher) {
    let planner = planner(1000, 100);
    let (target, _) = logits(1_000_000, 100, 2.5, 2);
    bencher.bench_local(|| {
        planner.plan(&TargetRows::Logits(Rows::new("logits", &target, 100).unwrap())).unwrap()
    });
}

#[divan::bench(args = [300, 10_000, 100_000])]
fn c_shift_test_999_permutations(bencher: Bencher, points: usize) {
    let sample = |seed: u64| -> Vec<Prediction> {
        let mut stream = Seed::new(seed).stream("bench");
        let mut point =
            || Prediction { confidence: stream.uniform(), class: stream.below(10) as u32 };
        (0..points).map(|_| point()).collect()
    };
    let (labeled, target) = (sample(1), sample(2));
    bencher.bench_local(|| shift_test(&labeled, black_box(&target), 999, Seed::new(0)).unwrap());
}

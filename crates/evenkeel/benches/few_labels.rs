//! One answer from a few labels, end to end.
//!
//! `cargo bench --bench few_labels`; one thread unless the name says otherwise.

#![allow(missing_docs, clippy::unwrap_used)]

use std::ops::ControlFlow;

use divan::{Bencher, black_box};
use evenkeel::calibrator::{Ended, ShiftCalibrator};
use evenkeel::level::Miscoverage;
use evenkeel::method::Method;
use evenkeel::method::few_labels::{ChangeBelief, FewLabelsSettings};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Labels, Probabilities, Score, softmax_rows};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::{Labeled, SideInputs, TargetLabels};

fn main() {
    divan::main();
}

fn rows(count: usize, classes: usize, signal: f64, seed: u64) -> (Vec<f32>, Vec<usize>) {
    let mut stream = Seed::new(seed).stream("bench");
    let (mut values, mut labels) = (Vec::with_capacity(count * classes), Vec::new());
    for _ in 0..count {
        let label = stream.below(classes);
        labels.push(label);
        let lift = |class: usize| if class == label { signal } else { 0.0 };
        let logits: Vec<f64> = (0..classes)
            .map(|class| lift(class) + 4.0 * (stream.uniform() + stream.uniform() - 1.0))
            .collect();
        // Row by row: a second table of the whole would not fit beside the first.
        let row = softmax_rows(Rows::new("logits", &logits, classes).unwrap(), 1.0).unwrap();
        values.extend(row.into_iter().map(|p| p as f32));
    }
    (values, labels)
}

fn answer(
    bencher: Bencher,
    m: usize,
    classes: usize,
    change: Option<ChangeBelief>,
    threads: usize,
) {
    let (calibration, known) = rows(300, classes, 4.0, 1);
    let (target, labels) = rows(m, classes, 2.5, 2);
    let known = Labels::new(known, classes).unwrap();
    let pairs: Vec<(u64, usize)> = (0..50).map(|row| (row, labels[row as usize])).collect();
    let labels = TargetLabels::new(&pairs, classes).unwrap();
    let default = FewLabelsSettings::default();
    let settings = FewLabelsSettings { change: change.unwrap_or(default.change), ..default };
    let calibrator = ShiftCalibrator {
        method: Method::FewLabels(settings),
        score: Score::Lac,
        alpha: Miscoverage::new(0.1).unwrap(),
        seed: Seed::new(0),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let fit = || {
        let probabilities = Probabilities::new(black_box(&calibration), classes).unwrap();
        let beside = SideInputs::labels(&labels);
        let labeled = Labeled { probabilities: &probabilities, labels: &known, beside };
        let block = Rows::new("probabilities", &target, classes).unwrap();
        let mut fit = calibrator.begin(&labeled).unwrap();
        loop {
            let added = fit.add(RowKeys::From(0), block, SideInputs::default()).unwrap();
            match added.end_pass().unwrap() {
                Ended::Again(again) => fit = again,
                Ended::Done(ready) => {
                    return ready.finish(&mut |_| ControlFlow::Continue(())).unwrap();
                }
            }
        }
    };
    bencher.bench_local(|| pool.install(fit));
}

/// n = m = 300, 50 labels; it is known that the data changed.
#[divan::bench(args = [10, 100, 1000])]
fn a_fit_on_300_points(bencher: Bencher, classes: usize) {
    answer(bencher, 300, classes, Some(ChangeBelief::Changed), 1);
}

/// The same with the shift test of 999 relabelings.
#[divan::bench(args = [10])]
fn b_fit_on_300_points_with_the_shift_test(bencher: Bencher, classes: usize) {
    answer(bencher, 300, classes, None, 1);
}

/// As many threads as the machine has.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn c_a_million_rows_of_a_hundred_classes(bencher: Bencher) {
    answer(bencher, 1_000_000, 100, None, 0);
}

//! Whole answers on small tables, one thread: `check`, `auto`, the exact minimiser of `ot`, and few rows of the label plan.
//!
//! `cargo bench --bench check`; aims: 300 target rows against 300 calibration rows in 2.5 ms, against 2000 in 7 ms, `auto` in
//! 2 ms, `ot` in 0.5 ms.

#![allow(missing_docs, clippy::unwrap_used)]

use std::ops::ControlFlow;

use divan::{Bencher, black_box};
use evenkeel::calibrator::{Ended, ShiftCalibrator};
use evenkeel::check::{CheckSettings, check};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::{Method, TransportSettings};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Labels, Probabilities, Score, softmax_rows};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::{Labeled, SideInputs};

fn main() {
    divan::main();
}

const CLASSES: usize = 10;

/// Probabilities of a classifier whose true class stands out by `signal`, and the true classes.
fn rows(count: usize, signal: f64, seed: u64) -> (Vec<f32>, Vec<usize>) {
    let mut stream = Seed::new(seed).stream("bench");
    let (mut logits, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let label = stream.below(CLASSES);
        labels.push(label);
        logits.extend((0..CLASSES).map(|class| {
            let lift = if class == label { signal } else { 0.0 };
            lift + 4.0 * (stream.uniform() + stream.uniform() - 1.0)
        }));
    }
    let table = softmax_rows(Rows::new("logits", &logits, CLASSES).unwrap(), 1.0).unwrap();
    (table.into_iter().map(|p| p as f32).collect(), labels)
}

/// Target rows like the calibration rows, and rows of a model that knows less.
const SIGNALS: [(&str, f64); 2] = [("same", 4.0), ("shifted", 2.5)];

/// 300 target rows against `n` calibration rows.
fn checked(bencher: Bencher, n: usize, signal: f64) {
    let ((calibration, known), (target, _)) = (rows(n, 4.0, 1), rows(300, signal, 2));
    let known = Labels::new(known, CLASSES).unwrap();
    let alpha = Miscoverage::new(0.1).unwrap();
    let settings = CheckSettings::new(alpha, FailureProbability::FIVE_PERCENT, Seed::new(0));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let answer = || {
        let calibration = Probabilities::new(black_box(&calibration), CLASSES).unwrap();
        let target = Probabilities::new(&target, CLASSES).unwrap();
        check(&calibration, &known, &target, &Score::Lac, &settings).unwrap()
    };
    bencher.bench_local(|| pool.install(answer));
}

#[divan::bench(args = SIGNALS)]
fn a_check_against_300_rows(bencher: Bencher, (_, signal): (&str, f64)) {
    checked(bencher, 300, signal);
}

#[divan::bench(args = SIGNALS)]
fn b_check_against_2000_rows(bencher: Bencher, (_, signal): (&str, f64)) {
    checked(bencher, 2000, signal);
}

fn fitted(bencher: Bencher, method: Method, signal: f64) {
    let ((calibration, known), (target, _)) = (rows(300, 4.0, 1), rows(300, signal, 2));
    let known = Labels::new(known, CLASSES).unwrap();
    let alpha = Miscoverage::new(0.1).unwrap();
    let calibrator = ShiftCalibrator { method, score: Score::Lac, alpha, seed: Seed::new(0) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let fit = || {
        let probabilities = Probabilities::new(black_box(&calibration), CLASSES).unwrap();
        let beside = SideInputs::default();
        let labeled = Labeled { probabilities: &probabilities, labels: &known, beside };
        let block = Rows::new("probabilities", &target, CLASSES).unwrap();
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

#[divan::bench(args = SIGNALS)]
fn c_auto_on_300_rows(bencher: Bencher, (_, signal): (&str, f64)) {
    fitted(bencher, Method::Auto(AutoSettings::new(FailureProbability::FIVE_PERCENT)), signal);
}

#[divan::bench(args = SIGNALS)]
fn d_exact_ot_on_300_rows(bencher: Bencher, (_, signal): (&str, f64)) {
    fitted(bencher, Method::OptimalTransport(TransportSettings::default()), signal);
}

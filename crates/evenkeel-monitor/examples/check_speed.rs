//! Processor time of a check of 300 x 10 rows against 2000 calibration rows, prepared once.
//!
//! `cargo run --release -p evenkeel-monitor --example check_speed -- 200` and `time` around it; with 0 batches it shows what
//! preparing costs.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::method::Method;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel_jobs::{AnyRows, LabeledData, MemorySource, Unobserved, calibrate};
use evenkeel_monitor::Reference;

const CLASSES: usize = 10;

fn rows(n: usize, seed: u64) -> (Vec<f64>, Vec<usize>) {
    let mut stream = Seed::new(seed).stream("speed");
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let label = stream.below(CLASSES);
        let weights: Vec<f64> = (0..CLASSES)
            .map(|class| (6.0 * stream.uniform() + if class == label { 4.0 } else { 0.0 }).exp())
            .collect();
        let total: f64 = weights.iter().sum();
        values.extend(weights.iter().map(|weight| weight / total));
        labels.push(label);
    }
    (values, labels)
}

fn main() {
    let batches: u64 = std::env::args().nth(1).map_or(100, |count| count.parse().unwrap());
    let (values, labels) = rows(2000, 1);
    let labeled = LabeledData::new("cal", &values, CLASSES, "labels", labels).unwrap();
    let mut target = MemorySource::new("cal", AnyRows::f64(&values, CLASSES).unwrap());
    let alpha = Miscoverage::new(0.1).unwrap();
    let calibrator = ShiftCalibrator {
        method: Method::Uncorrected,
        score: Score::Lac,
        alpha,
        seed: Seed::new(0),
    };
    let made = calibrate(&calibrator, &labeled, &mut target, &mut Unobserved).unwrap();
    let text = serde_json::to_string(&made.calibration).unwrap();
    let reference = Reference::new("cal", &text, 0.05).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let drawn: Vec<Vec<f64>> = (0..8).map(|batch| rows(300, 100 + batch).0).collect();
    let start = std::time::Instant::now();
    let mut detected = 0;
    pool.install(|| {
        for batch in 0..batches {
            let values = &drawn[batch as usize % drawn.len()];
            let mut source = MemorySource::new("batch", AnyRows::f64(values, CLASSES).unwrap());
            detected += u64::from(reference.check(&mut source).unwrap().report.shift.detected);
        }
    });
    let wall = start.elapsed().as_secs_f64() * 1e3 / batches.max(1) as f64;
    println!(
        "{batches} checks, {wall:.2} ms wall each on one thread, {detected} of them found a shift"
    );
}

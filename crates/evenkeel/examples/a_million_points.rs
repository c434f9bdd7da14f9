//! A million labeled points and a million unlabeled ones, 100 steps: prints how long each stage took and the peak memory.
//!
//! Run with `cargo run --release --example a_million_points`. The figures are in docs/performance.md.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)]

use std::time::Instant;

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::learning::optimise::StoppingRule;
use evenkeel::level::Miscoverage;
use evenkeel::method::{Method, TransportSettings};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::Seed;
use evenkeel::threshold::Threshold;

const POINTS: usize = 1_000_000;
const CLASSES: usize = 10;

fn main() -> evenkeel::Result<()> {
    let started = Instant::now();
    let (labeled, labels) = day(6.0, Seed::new(1));
    let (target, _) = day(3.0, Seed::new(2));
    println!("made 2 x {POINTS} x {CLASSES} f32 probabilities in {:.1?}", started.elapsed());
    let labeled = Probabilities::new(&labeled, CLASSES)?;
    let labels = Labels::new(labels, CLASSES)?;
    let target = Probabilities::new(&target, CLASSES)?;
    for learning_grid in [100, 1000] {
        let stopping = StoppingRule::after(100)?;
        let settings = TransportSettings {
            stopping,
            learning_grid: Some(learning_grid),
            ..TransportSettings::paper()
        };
        let calibrator = ShiftCalibrator {
            method: Method::OptimalTransport(settings),
            score: Score::Lac,
            alpha: Miscoverage::new(0.1)?,
            seed: Seed::new(0),
        };
        let started = Instant::now();
        let calibration = calibrator.calibrate(&labeled, &labels, &target)?;
        println!(
            "K = {learning_grid}: scores, sketch, {} steps, bounds and threshold {:.4} in {:.1?}",
            calibration.learned().steps,
            calibration.threshold(None).unwrap_or(Threshold::AllLabels).get(),
            started.elapsed(),
        );
    }
    // Linux only; elsewhere the line is left out.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines().filter(|line| line.starts_with("VmHWM")) {
        println!("peak memory {}", line.trim_start_matches("VmHWM:").trim());
    }
    Ok(())
}

/// Softmax rows of a classifier that is mostly right.
fn day(sharpness: f64, seed: Seed) -> (Vec<f32>, Vec<usize>) {
    let mut stream = seed.stream("million");
    let mut probabilities = Vec::with_capacity(POINTS * CLASSES);
    let mut labels = Vec::with_capacity(POINTS);
    let mut row = [0.0; CLASSES];
    for _ in 0..POINTS {
        let label = stream.below(CLASSES);
        let mut total = 0.0;
        for (class, slot) in row.iter_mut().enumerate() {
            let bonus = if class == label { sharpness } else { 0.0 };
            *slot = (sharpness * stream.uniform() + bonus).exp();
            total += *slot;
        }
        probabilities.extend(row.iter().map(|value| (value / total) as f32));
        labels.push(label);
    }
    (probabilities, labels)
}

//! How often the stream alarm is false, and how late it is: quiet streams with one fixed reference each, and streams whose
//! coverage falls.
//!
//! `cargo run --release -p evenkeel --example stream_alarm -- 10000` takes some minutes; the table stands in `docs/guarantees.md`.

#![allow(missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, clippy::print_stdout)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use evenkeel::level::FailureProbability;
use evenkeel::seed::{Seed, Stream};
use evenkeel::shift::Prediction;
use evenkeel::stream::{Period, PredictionCounts, StreamAlarm, StreamRule};
use rayon::prelude::*;

const CLASSES: usize = 10;
/// Rows that worlds are drawn from: draws with replacement are independent rows of one law.
const POOL: usize = 200_000;
const ROWS: usize = 300;
const QUIET_BATCHES: usize = 60;
const BEFORE: usize = 10;
const AFTER: usize = 50;
const DELTA: f64 = 0.05;

/// Rows of a world: what a model says of each, and the score of its true label.
struct World {
    said: Vec<Prediction>,
    scores: Vec<f64>,
}

impl World {
    /// Logits of unit noise; the true class stands out by `signal`.
    fn new(signal: f64, seed: u64) -> Self {
        let rows: Vec<(Prediction, f64)> = (0..POOL as u64)
            .into_par_iter()
            .map(|row| {
                let mut stream = Seed::new(seed).child("row", row).stream("logits");
                let label = stream.below(CLASSES);
                let mut logits = [0.0; CLASSES];
                for (class, logit) in logits.iter_mut().enumerate() {
                    *logit = normal(&mut stream) + if class == label { signal } else { 0.0 };
                }
                // A model that is calibrated at the signal it was trained on.
                let weights = logits.map(|logit| (TRAINED * logit).exp());
                let total: f64 = weights.iter().sum();
                let class =
                    (0..CLASSES).max_by(|a, b| weights[*a].total_cmp(&weights[*b])).unwrap();
                let said = Prediction { confidence: weights[class] / total, class: class as u32 };
                (said, 1.0 - weights[label] / total)
            })
            .collect();
        let (said, scores) = rows.into_iter().unzip();
        Self { said, scores }
    }

    fn batch(&self, rows: usize, stream: &mut Stream) -> Vec<Prediction> {
        (0..rows).map(|_| self.said[stream.below(POOL)]).collect()
    }

    fn coverage(&self, threshold: f64) -> f64 {
        self.scores.iter().filter(|score| **score <= threshold).count() as f64 / POOL as f64
    }
}

const TRAINED: f64 = 3.0;

fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * (1.0 - stream.uniform()).ln()).sqrt();
    radius * (std::f64::consts::TAU * stream.uniform()).cos()
}

/// The world whose coverage at a threshold is the one asked for: the signal fades until it is.
fn faded(threshold: f64, coverage: f64) -> World {
    let (mut low, mut high) = (0.0, TRAINED);
    for _ in 0..10 {
        let signal = 0.5 * (low + high);
        match World::new(signal, 7).coverage(threshold) < coverage {
            true => low = signal,
            false => high = signal,
        }
    }
    World::new(high, 7)
}

fn alarm(world: &World, reference: usize, run: u64) -> (StreamAlarm, Stream) {
    let mut stream = Seed::new(run).child("stream", reference as u64).stream("rows");
    let counts = PredictionCounts::of(&world.batch(reference, &mut stream));
    let alarm = StreamAlarm::new(counts, FailureProbability::new(DELTA).unwrap(), Seed::new(run));
    (alarm.unwrap(), stream)
}

/// One batch a day.
fn day(batch: usize) -> Period {
    Period { day: batch.cast_signed() as i64, week: batch.cast_signed() as i64 / 7 }
}

fn main() {
    let streams: u64 =
        std::env::args().nth(1).map_or(1000, |count| count.parse().expect("a number of streams"));
    let quiet = World::new(TRAINED, 1);
    let mut sorted = quiet.scores.clone();
    sorted.sort_by(f64::total_cmp);
    let threshold = sorted[POOL * 9 / 10];
    println!(
        "| reference rows | streams | false alarms | by wealth | by windows | a test per batch at 5 % |"
    );
    println!("|---|---|---|---|---|---|");
    for reference in [500, 2000] {
        // The larger reference costs four times as much and shows the same.
        let streams = if reference == 500 { streams } else { streams.div_ceil(10) };
        let found: Vec<(Option<StreamRule>, bool)> = (0..streams)
            .into_par_iter()
            .map(|run| {
                let (mut alarm, mut stream) = alarm(&quiet, reference, run);
                let mut plain = false;
                for batch in 0..QUIET_BATCHES {
                    let rows = quiet.batch(ROWS, &mut stream);
                    let step = alarm.advance(&rows, day(batch)).unwrap();
                    plain |= step.tested[0].test.p_value <= 0.05;
                }
                (alarm.fired().map(|fired| fired.rule), plain)
            })
            .collect();
        let fired = |which: &dyn Fn(StreamRule) -> bool| {
            found.iter().filter(|(rule, _)| rule.is_some_and(which)).count()
        };
        let wealth = |rule| matches!(rule, StreamRule::ConfidenceRanks | StreamRule::ClassRanks);
        let share = |count: usize| format!("{:.2} %", 100.0 * count as f64 / streams as f64);
        println!(
            "| {reference} | {streams} | {} | {} | {} | {} |",
            share(fired(&|_| true)),
            share(fired(&wealth)),
            share(fired(&|rule| !wealth(rule))),
            share(found.iter().filter(|(_, plain)| *plain).count()),
        );
    }
    println!(
        "\n| coverage falls to | reference rows | median delay | 90 % within | not found in {AFTER} batches |"
    );
    println!("|---|---|---|---|---|");
    for coverage in [0.85, 0.80, 0.70] {
        let shifted = faded(threshold, coverage);
        for reference in [500, 2000] {
            let mut delays: Vec<usize> = (0..streams.div_ceil(10).min(300))
                .into_par_iter()
                .filter_map(|run| {
                    let (mut alarm, mut stream) = alarm(&quiet, reference, 1_000_000 + run);
                    for batch in 0..BEFORE {
                        alarm.advance(&quiet.batch(ROWS, &mut stream), day(batch)).unwrap();
                    }
                    if alarm.fired().is_some() {
                        return None;
                    }
                    let fires = |after: &usize| {
                        let rows = shifted.batch(ROWS, &mut stream);
                        alarm.advance(&rows, day(BEFORE + after)).unwrap().fired.is_some()
                    };
                    let mut fires = fires;
                    Some((1..=AFTER).find(|after| fires(after)).unwrap_or(AFTER + 1))
                })
                .collect();
            delays.sort_unstable();
            let at = |share: f64| match delays[(share * (delays.len() - 1) as f64) as usize] {
                delay if delay > AFTER => format!("more than {AFTER}"),
                delay => delay.to_string(),
            };
            let missed = delays.iter().filter(|delay| **delay > AFTER).count();
            println!(
                "| {:.1} % | {reference} | {} | {} | {:.1} % |",
                100.0 * shifted.coverage(threshold),
                at(0.5),
                at(0.9),
                100.0 * missed as f64 / delays.len() as f64,
            );
        }
    }
}

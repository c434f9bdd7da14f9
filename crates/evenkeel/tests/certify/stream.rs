//! The stream alarm keeps its level over whole streams that share one reference, and finds what it should.

use evenkeel::level::FailureProbability;
use evenkeel::seed::{Seed, Stream};
use evenkeel::shift::Prediction;
use evenkeel::stream::{Period, PredictionCounts, StreamAlarm};
use rayon::prelude::*;

/// Confidences that crowd at 1, some of them tied; predicted classes of unequal shares.
fn rows(n: usize, power: f64, stream: &mut Stream) -> Vec<Prediction> {
    let mut one = |_| {
        let confidence = 1.0 - stream.uniform().powf(power);
        let confidence =
            if stream.uniform() < 0.2 { (confidence * 20.0).round() / 20.0 } else { confidence };
        Prediction { confidence, class: (stream.uniform().powi(2) * 8.0) as u32 }
    };
    (0..n).map(&mut one).collect()
}

fn watched(run: u64, delta: f64, batches: usize, power: impl Fn(usize) -> f64) -> Option<u64> {
    let mut stream = Seed::new(run).stream("stream");
    let reference = PredictionCounts::of(&rows(120, 3.0, &mut stream));
    let delta = FailureProbability::new(delta).unwrap();
    let mut alarm = StreamAlarm::new(reference, delta, Seed::new(run)).unwrap();
    for batch in 0..batches {
        // Three batches a day.
        let when =
            Period { day: batch.cast_signed() as i64 / 3, week: batch.cast_signed() as i64 / 21 };
        alarm.advance(&rows(40, power(batch), &mut stream), when).unwrap();
    }
    alarm.fired().map(|fired| fired.batch)
}

/// The chance of *any* alarm in a quiet stream of 45 batches is at most `delta`.
#[test]
fn quiet_streams_stay_quiet() {
    let streams = 1200_u64;
    for delta in [0.05, 0.2] {
        let alarms = (0..streams)
            .into_par_iter()
            .filter(|run| watched(*run, delta, 45, |_| 3.0).is_some())
            .count() as f64;
        let expected = delta * streams as f64;
        // Four standard deviations of a binomial count.
        let most = expected + 4.0 * (expected * (1.0 - delta)).sqrt();
        assert!(alarms <= most, "{alarms} of {streams} at {delta}");
    }
}

/// A drop of confidence after fifteen batches is found soon, and never before it happens more often than `delta` allows.
#[test]
fn a_drop_is_found() {
    let runs = 100_u64;
    let found: Vec<Option<u64>> = (0..runs)
        .into_par_iter()
        .map(|run| watched(10_000 + run, 0.05, 45, |batch| if batch < 15 { 3.0 } else { 1.2 }))
        .collect();
    let early = found.iter().flatten().filter(|batch| **batch <= 15).count();
    let soon = found.iter().flatten().filter(|batch| (16..=21).contains(*batch)).count();
    assert!(early <= 14, "{early}");
    assert!(soon >= 80, "{soon} of {runs}: {found:?}");
}

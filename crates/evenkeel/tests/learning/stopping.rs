//! A run stops when it was told to, and says why.

use std::ops::ControlFlow;

use crate::transport;
use crate::world::{CLASSES, sample};
use evenkeel::calibration::Calibration;
use evenkeel::calibrator::TargetScores;
use evenkeel::learning::optimise::{AdamSettings, Improvement, StopReason, StoppingRule};
use evenkeel::level::FailureProbability;
use evenkeel::method::TransportSettings;
use evenkeel::score::Score;

fn fit(settings: TransportSettings) -> Calibration {
    let (labeled, target) = (sample(200, 1.0, 1), sample(200, 0.7, 2));
    transport(settings, 3)
        .calibrate(&labeled.probabilities(), &labeled.labels(), &target.probabilities())
        .unwrap()
}

fn with(stopping: StoppingRule, rate: f64) -> TransportSettings {
    let adam = AdamSettings::new(rate).unwrap();
    TransportSettings { adam, stopping, ..TransportSettings::paper() }
}

#[test]
fn at_the_last_step() {
    let calibration = fit(with(StoppingRule::after(250).unwrap(), 1e-3));
    let learned = calibration.learned();
    assert_eq!((learned.steps, learned.stopped), (250, StopReason::MaxSteps));
    let steps: Vec<usize> = learned.trace.points().iter().map(|point| point.step).collect();
    assert_eq!((steps[0], *steps.last().unwrap()), (0, 250));
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]));
    // The last recorded state is the one that was kept.
    let last = learned.trace.points().last().unwrap();
    assert_eq!(Some(last.threshold), calibration.threshold(None));
    assert!((last.effective_sample_size - calibration.effective_sample_size()).abs() < 1e-9);
}

#[test]
fn when_the_objective_no_longer_falls() {
    let improvement = Improvement { window: 200, relative: 1e-3 };
    let stopping = StoppingRule::after(50_000).unwrap().with_improvement(improvement).unwrap();
    let d = FailureProbability::new(0.05).unwrap();
    let settings = TransportSettings { finite_sample: Some(d), ..with(stopping, 1e-2) };
    let learned = fit(settings);
    assert_eq!(learned.learned().stopped, StopReason::Converged);
    assert!(learned.learned().steps < 50_000);
}

#[test]
fn before_the_effective_sample_size_falls_below_its_floor() {
    let stopping =
        StoppingRule::after(50_000).unwrap().with_effective_sample_size_floor(80.0).unwrap();
    let calibration = fit(with(stopping, 1e-2));
    assert_eq!(calibration.learned().stopped, StopReason::EffectiveSampleSizeFloor);
    assert!(calibration.effective_sample_size() >= 80.0);
    let last = calibration.learned().trace.points().last().unwrap();
    assert_eq!(last.step, calibration.learned().steps);
    assert!((last.effective_sample_size - calibration.effective_sample_size()).abs() < 1e-9);
}

#[test]
fn when_the_caller_says_so() {
    let (labeled, target) = (sample(200, 1.0, 1), sample(200, 0.7, 2));
    let candidates = Score::Lac.candidate_scores(&target.probabilities()).unwrap();
    let calibration = transport(with(StoppingRule::after(1000).unwrap(), 1e-3), 3)
        .calibrate_observed(
            &labeled.scores(),
            TargetScores::Candidates(&candidates),
            CLASSES,
            Score::Lac.range(CLASSES),
            &mut |point| {
                if point.step >= 300 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        )
        .unwrap();
    let learned = calibration.learned();
    assert_eq!((learned.steps, learned.stopped), (300, StopReason::Interrupted));
}

//! What cannot work is said in words a user understands.

use crate::world::{CLASSES, sample};
use crate::{alpha, transport};
use evenkeel::calibration::{Calibration, Warning};
use evenkeel::calibrator::{ShiftCalibrator, TargetScores};
use evenkeel::interval::Interval;
use evenkeel::learning::optimise::{AdamSettings, StopReason, StoppingRule};
use evenkeel::method::{Method, TransportSettings};
use evenkeel::sandwich::{Sandwich, custom_from_scores};
use evenkeel::threshold::Threshold;

fn settings(steps: usize) -> TransportSettings {
    let stopping = StoppingRule::after(steps).unwrap();
    TransportSettings { stopping, ..TransportSettings::paper() }
}

fn calibrate(scores: &[f64], sandwich: &Sandwich, settings: TransportSettings) -> Calibration {
    transport(settings, 0)
        .calibrate_scores(scores, TargetScores::Sandwich(sandwich), CLASSES, Interval::UNIT)
        .unwrap()
}

fn find(calibration: &Calibration, name: &str) -> Option<String> {
    let mut warnings = calibration.learned().warnings.iter();
    warnings.find(|warning| warning.name() == name).map(Warning::to_string)
}

fn spread(from: f64, to: f64, n: usize) -> Vec<f64> {
    (0..n).map(|i| from + (to - from) * i as f64 / n as f64).collect()
}

/// Every calibration score is below 0.3 and most target scores are above: no weighting can match them.
#[test]
fn a_support_that_is_too_short() {
    let target = custom_from_scores(&spread(0.4, 0.6, 50), &spread(0.7, 0.9, 50)).unwrap();
    let calibration = calibrate(&spread(0.0, 0.3, 100), &target, settings(50));
    let said = find(&calibration, "support-too-short").unwrap();
    assert!(said.contains("100.0 % and 100.0 %"), "{said}");
    assert!(said.contains("no weighting can reach the level"), "{said}");
    let matched = custom_from_scores(&spread(0.0, 0.2, 50), &spread(0.1, 0.3, 50)).unwrap();
    let calibration = calibrate(&spread(0.0, 0.3, 100), &matched, settings(50));
    assert_eq!(find(&calibration, "support-too-short"), None);
}

#[test]
fn too_few_points_for_alpha() {
    let target = custom_from_scores(&spread(0.0, 0.5, 50), &spread(0.5, 1.0, 50)).unwrap();
    let uncorrected =
        ShiftCalibrator { method: Method::Uncorrected, ..transport(TransportSettings::paper(), 0) };
    let fit = |n: usize| {
        let scores = spread(0.0, 1.0, n);
        let target = TargetScores::Sandwich(&target);
        uncorrected.calibrate_scores(&scores, target, CLASSES, Interval::UNIT).unwrap()
    };
    // 1/(n+1) <= 0.1 needs nine points.
    assert_eq!(fit(8).threshold(None), Some(Threshold::AllLabels));
    let said = find(&fit(8), "all-labels").unwrap();
    assert!(
        said.contains("with 8 calibration points") && said.contains("at least 9 points"),
        "{said}"
    );
    assert_eq!(find(&fit(9), "all-labels"), None);
    assert_ne!(fit(9).threshold(None), Some(Threshold::AllLabels));
    assert_ne!(fit(8).threshold(Some(alpha(0.2))), Some(Threshold::AllLabels));
}

/// A step size without measure throws the log-weights beyond every exponent; the run ends with its last good weights.
#[test]
fn divergence() {
    let target = custom_from_scores(&spread(0.0, 0.5, 50), &spread(0.5, 1.0, 50)).unwrap();
    let adam = AdamSettings::new(f64::MAX / 2.0).unwrap();
    let wild = TransportSettings { adam, ..settings(50) };
    let calibration = calibrate(&spread(0.0, 1.0, 40), &target, wild);
    assert_eq!(calibration.learned().stopped, StopReason::Diverged);
    assert!(find(&calibration, "diverged").unwrap().contains("smaller learning rate"));
    assert!(calibration.weights().as_slice().iter().all(|weight| weight.is_finite()));
}

#[test]
fn few_effective_points_and_crossed_laws() {
    let crossed = custom_from_scores(&spread(0.6, 0.9, 50), &spread(0.1, 0.3, 50)).unwrap();
    let calibration = calibrate(&spread(0.0, 1.0, 200), &crossed, settings(10));
    assert!(find(&calibration, "order-violated").unwrap().contains("cross"));
    // Run long and fast, the plain objective gathers the mass where the sandwich is closed.
    let ordered = custom_from_scores(&spread(0.1, 0.5, 50), &spread(0.3, 0.9, 50)).unwrap();
    let adam = AdamSettings::new(0.2).unwrap();
    let hasty = TransportSettings { adam, ..settings(2000) };
    let calibration = calibrate(&spread(0.0, 1.0, 200), &ordered, hasty);
    assert!(find(&calibration, "few-effective-points").unwrap().contains("out of 200"));
    assert_eq!(find(&calibration, "order-violated"), None);
}

#[test]
fn an_ordinary_run_says_nothing() {
    let (labeled, target) = (sample(300, 1.0, 1), sample(300, 0.95, 2));
    let calibration = transport(settings(500), 1)
        .calibrate(&labeled.probabilities(), &labeled.labels(), &target.probabilities())
        .unwrap();
    assert_eq!(calibration.learned().warnings, []);
}

/// Finite but far too large a step size: the bound rises, and the user is told not to use the weights.
#[test]
fn a_bound_that_rose() {
    let (labeled, target) = (sample(300, 1.0, 1), sample(300, 0.7, 2));
    let adam = AdamSettings::new(10.0).unwrap();
    let wild = TransportSettings { adam, ..settings(300) };
    let calibration = transport(wild, 1)
        .calibrate(&labeled.probabilities(), &labeled.labels(), &target.probabilities())
        .unwrap();
    let said = find(&calibration, "bound-rose").expect("a warning");
    assert!(said.contains("do not use these weights"), "{said}");
}

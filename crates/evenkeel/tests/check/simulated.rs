//! Worlds whose truth is known: does the range hold, is the verdict right, does the belief test keep its level?

use crate::world::{Sample, sample};
use crate::{checked, settings, sharpened};
use evenkeel::check::ShiftReport;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::WeightedEmpirical;
use evenkeel::reading::{Belief, Verdict, belief};
use evenkeel::score::Score;
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};

/// Worlds of each kind.
const WORLDS: u64 = 150;

/// Share of labels at or below a threshold, of so many points that their noise does not matter.
fn coverage(many: &Sample, threshold: Option<f64>) -> f64 {
    let t = threshold.unwrap_or(f64::INFINITY);
    let covered = many.scores().iter().filter(|score| **score <= t).count();
    covered as f64 / many.labels.len() as f64
}

/// Reports of worlds of one strength, with the true coverage at the split threshold.
fn worlds(strength: f64) -> Vec<(ShiftReport, f64)> {
    let many = sample(20_000, strength, 999);
    let one = |seed: u64| {
        let report = checked(&sample(300, 1.0, 2 * seed), &sample(300, strength, 2 * seed + 1));
        let truth = coverage(&many, report.report.threshold);
        (report.report, truth)
    };
    (0..WORLDS).map(one).collect()
}

fn count(worlds: &[(ShiftReport, f64)], what: impl Fn(&ShiftReport, f64) -> bool) -> usize {
    worlds.iter().filter(|(report, truth)| what(report, *truth)).count()
}

fn within_range(report: &ShiftReport, truth: f64) -> bool {
    report.coverage_estimate.low <= truth && truth <= report.coverage_estimate.high
}

/// A range of 95 % and a verdict that stays quiet: of 150 worlds 2 are outside the range here, and 3 are not `ok`. A loss that
/// is none is a sample of 300 target points that happens to look hard.
#[test]
fn without_a_shift_the_range_holds_and_nothing_is_alarmed() {
    let worlds = worlds(1.0);
    let valid = count(&worlds, within_range);
    assert!(valid >= 143, "{valid} of {WORLDS}");
    let ok = count(&worlds, |report, _| report.verdict == Verdict::Ok);
    assert!(ok >= 143, "{ok} of {WORLDS}");
    let alarms = count(&worlds, |report, _| report.verdict == Verdict::Loss);
    assert!(alarms <= 3, "{alarms} of {WORLDS}");
}

/// A signal that fades: the estimate follows it and the range holds while little is lost.
#[test]
fn a_small_loss_is_measured() {
    for (strength, most_error) in [(0.9, 0.025), (0.8, 0.035)] {
        let worlds = worlds(strength);
        let valid = count(&worlds, within_range);
        assert!(valid >= 143, "{valid} of {WORLDS} at {strength}");
        let error =
            |(report, truth): &(ShiftReport, f64)| (report.coverage_estimate.value - truth).abs();
        let error = worlds.iter().map(error).sum::<f64>() / WORLDS as f64;
        assert!(error < most_error, "{error} at {strength}");
    }
}

/// A large loss is called one. Its size is not found in this world, whose model fades without leaning to a class: nothing but
/// its confidence shows it, and the range, which is assumed, fails. The guaranteed one does not.
#[test]
fn a_large_loss_is_called_one() {
    let worlds = worlds(0.5);
    assert!(worlds.iter().all(|(_, truth)| *truth < 0.75));
    let found = count(&worlds, |report, _| report.verdict == Verdict::Loss);
    assert!(found >= 140, "{found} of {WORLDS}");
    let quiet = count(&worlds, |report, _| report.verdict == Verdict::Ok);
    assert_eq!(quiet, 0);
    let guaranteed = count(&worlds, |report, truth| {
        let [low, high] = report.coverage_interval.with_confidence.guaranteed;
        low <= truth && truth <= high
    });
    assert_eq!(guaranteed as u64, WORLDS);
}

fn split_belief(labeled: &Sample, delta: f64) -> Belief {
    let scores = labeled.scores();
    let law = WeightedEmpirical::uniform(&scores).unwrap();
    let alpha = Miscoverage::new(0.1).unwrap();
    let split = conformal_threshold(&law, TestMass::exchangeable(scores.len()), alpha);
    let delta = FailureProbability::new(delta).unwrap();
    belief(&labeled.probabilities(), &Score::Lac, &scores, split, delta).unwrap()
}

/// The Bayes classifier believes the truth. At its split threshold the test may reject in a share `delta` of all samples:
/// of 400, 5 % are 20, and more than 35 have a probability below 0.001.
#[test]
fn the_belief_test_keeps_its_level() {
    let rejected = (0..400).filter(|seed| !split_belief(&sample(200, 1.0, *seed), 0.05).holds);
    let rejected = rejected.count();
    assert!(rejected <= 35, "{rejected} of 400");
    // A model that is surer than it should be, or less sure, is found out.
    for power in [2.0, 0.5] {
        let wrong =
            |seed: &u64| !split_belief(&sharpened(&sample(200, 1.0, *seed), power), 0.05).holds;
        let found = (0..100).filter(wrong).count();
        assert!(found >= 80, "{found} of 100 at {power}");
    }
}

#[test]
fn a_belief_is_what_it_says() {
    let labeled = sample(60, 1.0, 3);
    let (table, scores) = (labeled.probabilities(), labeled.scores());
    let delta = settings().delta;
    for t in [0.0, 0.2, 0.6, 0.99] {
        let found = belief(&table, &Score::Lac, &scores, Threshold::Finite(t), delta).unwrap();
        let believed: f64 = labeled.probabilities.iter().filter(|p| 1.0 - **p <= t).sum();
        assert!((found.at_threshold - believed / 60.0).abs() < 1e-12);
        assert_eq!(found.measured, coverage(&labeled, Some(t)));
        assert_eq!(found.holds, found.p_value > 0.05);
    }
    // Every label is in the set, and the model knows it.
    let all = belief(&table, &Score::Lac, &scores, Threshold::AllLabels, delta).unwrap();
    assert_eq!((all.at_threshold, all.measured, all.p_value, all.holds), (1.0, 1.0, 1.0, true));
    assert!(belief(&table, &Score::Lac, &scores[1..], Threshold::AllLabels, delta).is_err());
}

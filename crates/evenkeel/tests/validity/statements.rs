//! What `check` and the label plan say with a confidence, as users get it, in worlds whose truth is known.

use crate::DRAWS;
use crate::world::{Sample, sample};
use evenkeel::calibration::{Calibration, Evidence};
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::check::{CheckSettings, check};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::Method;
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::label_plan::{LabelPlanSettings, PlanEvidence};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::{Seed, Stream};
use rayon::prelude::*;

const CLASSES: usize = 3;

/// Rows of a classifier of three classes, never very sure, with the label that `choose` takes of each.
pub(crate) fn rows(
    stream: &mut Stream,
    count: usize,
    choose: impl Fn(&[f64], &mut Stream) -> usize,
) -> (Vec<f64>, Vec<usize>) {
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let raw: Vec<f64> = (0..CLASSES).map(|_| (2.0 * stream.uniform()).exp()).collect();
        let total: f64 = raw.iter().sum();
        let row: Vec<f64> = raw.iter().map(|value| value / total).collect();
        labels.push(choose(&row, stream));
        values.extend(row);
    }
    (values, labels)
}

pub(crate) fn drawn_label(row: &[f64], stream: &mut Stream) -> usize {
    let mut left = stream.uniform();
    let found = row.iter().position(|p| {
        left -= p;
        left < 0.0
    });
    found.unwrap_or(CLASSES - 1)
}

fn by_probability(row: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..CLASSES).collect();
    order.sort_by(|a, b| row[*a].total_cmp(&row[*b]));
    order
}

/// The worst that labels can be, and the best: the coverage of the population is then at one end of what is guaranteed, and
/// nothing but the margin for sampling keeps the statement true.
#[test]
fn the_guaranteed_interval_of_a_check_holds_with_its_confidence() {
    let (n, m) = (60, 80);
    // Rates at which the end in question is neither 0 nor 1.
    for (least_likely, alpha) in [(true, 0.1), (false, 0.6)] {
        let alpha = Miscoverage::new(alpha).unwrap();
        let label = |row: &[f64], _: &mut Stream| {
            by_probability(row)[if least_likely { 0 } else { CLASSES - 1 }]
        };
        let mut stream = Seed::new(31).stream("population");
        let (values, labels) = rows(&mut stream, 200_000, label);
        let scores = Score::Lac
            .label_scores(
                &Probabilities::new(&values, CLASSES).unwrap(),
                &Labels::new(labels, CLASSES).unwrap(),
            )
            .unwrap();
        let population = WeightedEmpirical::uniform(&scores).unwrap();
        for delta in [0.05, 0.2] {
            let delta = FailureProbability::new(delta).unwrap();
            let draw = |draw: u64| {
                let mut stream = Seed::new(32).child("check", draw).stream("rows");
                let (labeled, labels) = rows(&mut stream, n, drawn_label);
                let (target, _) = rows(&mut stream, m, label);
                let settings = CheckSettings {
                    permutations: 19,
                    ..CheckSettings::new(alpha, delta, Seed::new(draw))
                };
                let report = check(
                    &Probabilities::new(&labeled, CLASSES).unwrap(),
                    &Labels::new(labels, CLASSES).unwrap(),
                    &Probabilities::new(&target, CLASSES).unwrap(),
                    &Score::Lac,
                    &settings,
                )
                .unwrap()
                .report;
                let coverage = report.threshold.map_or(1.0, |t| population.cdf(t));
                let intervals = report.coverage_interval;
                assert_eq!(intervals.with_confidence.level, 1.0 - delta.get());
                let misses = |[low, high]: [f64; 2]| {
                    u64::from(!(low - TRUTH_ERROR..=high + TRUTH_ERROR).contains(&coverage))
                };
                [misses(intervals.with_confidence.guaranteed), misses(intervals.guaranteed)]
            };
            let [misses, without] = counted(draw);
            let most = delta.get() * DRAWS as f64;
            assert!(misses as f64 <= most, "{misses} at {delta:?}, least likely {least_likely}");
            assert!(without > DRAWS / 4, "{without} without a margin: nothing was tested");
        }
    }
}

/// Three standard errors of a share of 200 000 draws: what is called the truth is known no better.
pub(crate) const TRUTH_ERROR: f64 = 0.0034;

/// Sums over all draws, whatever the number of threads.
pub(crate) fn counted<const K: usize>(draw: impl Fn(u64) -> [u64; K] + Sync + Send) -> [u64; K] {
    let draws: Vec<[u64; K]> = (0..DRAWS).into_par_iter().map(draw).collect();
    std::array::from_fn(|index| draws.iter().map(|counts| counts[index]).sum())
}

/// `integral |F_Q(t(u)) - u| du` over the levels of a calibration.
fn distance_from_level(found: &Calibration, truth: &WeightedEmpirical) -> f64 {
    let triangle = |width: f64| 0.5 * width * width.abs();
    let (mut total, mut before) = (0.0, 0.0);
    for (score, reached) in found.law().atoms().iter().zip(found.law().cumulative()) {
        let covered = truth.cdf(*score);
        total += triangle(reached - covered) - triangle(before - covered);
        before = *reached;
    }
    total
}

/// The plan's evidence of a calibration by `label-plan` or `auto`; none where `auto` found no shift.
fn plan_of(found: &Calibration) -> Option<&PlanEvidence> {
    match &found.learned().evidence {
        Some(Evidence::LabelPlan { plan, .. }) => Some(plan),
        Some(Evidence::Auto(decision)) => decision.plan.as_ref(),
        other => panic!("{other:?}"),
    }
}

fn calibrated(method: Method, labeled: &Sample, target: &Sample) -> Calibration {
    let calibrator = ShiftCalibrator::new(0.1).unwrap().method(method);
    calibrator
        .calibrate(&labeled.probabilities(), &labeled.labels(), &target.probabilities())
        .unwrap()
}

/// The certificate assumes that the law of the target scores lies among the plan's readings. In a world without a shift it
/// does: the classifier is Bayes', so the reading of the labels by its own probabilities is the law itself. Where the signal has
/// faded to nine tenths it nearly does, and the certificate is to hold all the same.
#[test]
fn certificates_hold_with_their_confidence_where_their_assumption_does() {
    let rows = 100;
    for (strength, delta) in [(1.0, 0.05), (1.0, 0.2), (0.9, 0.05)] {
        let truth = WeightedEmpirical::uniform(&sample(200_000, strength, 999).scores()).unwrap();
        let delta = FailureProbability::new(delta).unwrap();
        let draw = |draw: u64| {
            let labeled = sample(rows, 1.0, 2 * draw);
            let target = sample(rows, strength, 2 * draw + 1);
            let method = Method::LabelPlan(LabelPlanSettings::new(delta));
            let found = calibrated(method, &labeled, &target);
            let certificate = plan_of(&found).unwrap().certificate;
            assert_eq!(certificate.delta, delta.get());
            let gap = distance_from_level(&found, &truth);
            [u64::from(certificate.with_confidence < gap - TRUTH_ERROR)]
        };
        let [misses] = counted(draw);
        let most = delta.get() * DRAWS as f64;
        assert!(misses as f64 <= most, "{misses} at {delta:?} and strength {strength}");
    }
}

/// `auto` gives a certificate only after its test has found a shift. Where it finds one in nearly every draw, what it says is
/// held to its confidence over all draws; a draw without a certificate has said nothing false.
#[test]
fn certificates_of_auto_hold_with_their_confidence() {
    let (rows, strength) = (100, 0.8);
    let truth = WeightedEmpirical::uniform(&sample(200_000, strength, 999).scores()).unwrap();
    let delta = FailureProbability::new(0.05).unwrap();
    let [misses, said] = counted(|draw| {
        let (labeled, target) = (sample(rows, 1.0, 2 * draw), sample(rows, strength, 2 * draw + 1));
        let settings = AutoSettings { permutations: 99, ..AutoSettings::new(delta) };
        let found = calibrated(Method::Auto(settings), &labeled, &target);
        let Some(plan) = plan_of(&found) else { return [0, 0] };
        let gap = distance_from_level(&found, &truth);
        [u64::from(plan.certificate.with_confidence < gap - TRUTH_ERROR), 1]
    });
    assert!(misses as f64 <= delta.get() * said as f64, "{misses} of {said}");
    assert!(said > DRAWS / 4, "a shift was found in {said} draws only");
}

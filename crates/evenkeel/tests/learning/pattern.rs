//! The paper's pattern on a classifier whose law is known, averaged over days.

use crate::world::{CLASSES, Sample, sample};
use crate::{alpha, transport};
use evenkeel::bound::{Integrator, integrated_gap};
use evenkeel::calibration::Calibration;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::learning::optimise::StoppingRule;
use evenkeel::level::FailureProbability;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::{Method, ObjectiveChoice, SandwichChoice, TransportSettings, WeightsChoice};

const DAYS: u64 = 12;
const LEVEL: f64 = 0.9;

/// What a method did on average: measured on 4000 labeled points of the target data that it never saw.
struct Outcome {
    coverage: f64,
    gap: f64,
    effective_sample_size: f64,
}

fn measure(calibration: &Calibration, test: &Sample) -> Outcome {
    let q = WeightedEmpirical::uniform(&test.scores()).unwrap();
    let threshold = calibration.threshold(Some(alpha(1.0 - LEVEL))).expect("one for all");
    let law = calibration.law();
    Outcome {
        coverage: q.cdf(threshold.get()),
        gap: integrated_gap(law, &q, &Integrator::atoms(law)).value,
        effective_sample_size: calibration.effective_sample_size(),
    }
}

fn over_days(strength: f64, calibrator: impl Fn(u64) -> ShiftCalibrator) -> Outcome {
    let mut sum = Outcome { coverage: 0.0, gap: 0.0, effective_sample_size: 0.0 };
    for day in 0..DAYS {
        let labeled = sample(300, 1.0, 100 + day);
        let target = sample(300, strength, 200 + day);
        let calibration = calibrator(day)
            .calibrate(&labeled.probabilities(), &labeled.labels(), &target.probabilities())
            .unwrap();
        let outcome = measure(&calibration, &sample(4000, strength, 300 + day));
        sum.coverage += outcome.coverage / DAYS as f64;
        sum.gap += outcome.gap / DAYS as f64;
        sum.effective_sample_size += outcome.effective_sample_size / DAYS as f64;
    }
    sum
}

fn uncorrected(day: u64) -> ShiftCalibrator {
    let transport = transport(TransportSettings::paper(), day);
    ShiftCalibrator { method: Method::Uncorrected, ..transport }
}

fn steps(steps: usize) -> TransportSettings {
    let stopping = StoppingRule::after(steps).unwrap();
    TransportSettings { stopping, ..TransportSettings::paper() }
}

/// Under shift the uncorrected threshold undercovers; weights learned with (f, U) shrink the measured total gap and bring
/// coverage nearer to its level, free-form and as a function, in exact expectation and sampled.
///
/// (min, max) does not do so with ten classes: its laws are too far apart to say where the mass belongs. Nor does (f, U)
/// in every world: docs/learning.md shows one in which it lowers coverage throughout.
#[test]
fn under_shift_the_gap_falls_and_coverage_moves_toward_its_target() {
    let before = over_days(0.7, uncorrected);
    assert!(before.coverage < LEVEL - 0.1, "uncorrected covers {}", before.coverage);
    let function = TransportSettings { weights: WeightsChoice::Function, ..steps(1000) };
    let sampled =
        TransportSettings { sandwich: SandwichChoice::ModelUniformSampled, ..steps(1000) };
    for (name, settings) in [
        ("free-form, 1000 steps", steps(1000)),
        ("free-form, 3000 steps", steps(3000)),
        ("function", function),
        ("free-form, sampled", sampled),
    ] {
        let after = over_days(0.7, |day| transport(settings, day));
        assert!(after.gap < before.gap, "{name}: gap {} before, {} after", before.gap, after.gap);
        let miss = |coverage: f64| (coverage - LEVEL).abs();
        assert!(
            miss(after.coverage) < miss(before.coverage),
            "{name}: coverage {} before, {} after",
            before.coverage,
            after.coverage
        );
    }
}

/// Without shift the uncorrected threshold is right, and learning still moves the weights toward the sandwich: it
/// overcovers. It must not undercover; that it costs set size is documented, and `auto` exists to avoid it.
#[test]
fn without_shift_learning_overcovers_but_does_not_undercover() {
    let before = over_days(1.0, uncorrected);
    assert!((before.coverage - LEVEL).abs() < 0.02, "uncorrected covers {}", before.coverage);
    let after = over_days(1.0, |day| transport(steps(1000), day));
    assert!(after.coverage > LEVEL - 0.02, "f-u covers {}", after.coverage);
}

/// Run long, the plain objective leans on ever fewer points; the finite-sample term holds it back.
#[test]
fn the_finite_sample_term_keeps_the_effective_sample_size_up() {
    let rate = |settings: TransportSettings| TransportSettings {
        adam: evenkeel::learning::optimise::AdamSettings::new(0.01).unwrap(),
        ..settings
    };
    let plain = over_days(0.7, |day| transport(rate(steps(3000)), day));
    let d = FailureProbability::new(0.05).unwrap();
    let penalised = TransportSettings { finite_sample: Some(d), ..rate(steps(3000)) };
    let held = over_days(0.7, |day| transport(penalised, day));
    assert!(
        held.effective_sample_size > 2.0 * plain.effective_sample_size,
        "n_w {} plain, {} with the term",
        plain.effective_sample_size,
        held.effective_sample_size
    );
}

/// Eq 8 too lowers the bound it minimises and the gap that is measured.
#[test]
fn the_wasserstein_objective_lowers_its_bound() {
    let settings = TransportSettings { objective: ObjectiveChoice::Wasserstein, ..steps(1000) };
    for day in 0..3 {
        let (labeled, target) = (sample(300, 1.0, 100 + day), sample(300, 0.7, 200 + day));
        let calibration = transport(settings, day)
            .calibrate(&labeled.probabilities(), &labeled.labels(), &target.probabilities())
            .unwrap();
        let learned = calibration.learned();
        assert!(learned.bound_after.unwrap() < learned.bound_before.unwrap());
    }
}

/// With the extremes of the rows as laws, no labels of these rows have a larger total gap at the learned weights than is said:
/// not the true ones, and not the least likely ones, which come near.
#[test]
fn the_total_gap_at_learned_weights_is_below_its_bound() {
    let extremes =
        |base: TransportSettings| TransportSettings { sandwich: SandwichChoice::MinMax, ..base };
    for settings in [extremes(TransportSettings::default()), extremes(steps(200))] {
        for day in 0..3 {
            let (labeled, target) = (sample(200, 1.0, 100 + day), sample(200, 0.7, 200 + day));
            let calibration = transport(settings, day)
                .calibrate(&labeled.probabilities(), &labeled.labels(), &target.probabilities())
                .unwrap();
            let law = calibration.law();
            let gap = |scores: &[f64]| {
                let truth = WeightedEmpirical::uniform(scores).unwrap();
                let terms = law.atoms().iter().zip(law.masses()).zip(law.cumulative());
                terms.map(|((s, w), c)| w * (c - truth.cdf(*s)).abs()).sum::<f64>()
            };
            let bound = calibration.learned().total_gap_bound_after.unwrap();
            assert!(gap(&target.scores()) <= bound + 1e-12);
            let least = |row: &[f64]| 1.0 - row.iter().copied().fold(1.0, f64::min);
            let worst: Vec<f64> = target.probabilities.chunks_exact(CLASSES).map(least).collect();
            let worst = gap(&worst);
            assert!(worst <= bound + 1e-12 && worst > 0.3 * bound, "{worst} {bound}");
            let before = calibration.learned().total_gap_bound_before.unwrap();
            assert!((0.0..=1.0).contains(&before) && before != bound);
        }
    }
}

/// Restricted to the rates of interest, learning lowers what it minimises and does not hurt.
#[test]
fn a_restricted_range_lowers_its_objective() {
    let range = evenkeel::level::MiscoverageRange::new(0.05, 0.2).unwrap();
    let settings = TransportSettings { restriction: Some(range), ..steps(1000) };
    for day in 0..3 {
        let (labeled, target) = (sample(300, 1.0, 100 + day), sample(300, 0.7, 200 + day));
        let calibration = transport(settings, day)
            .calibrate(&labeled.probabilities(), &labeled.labels(), &target.probabilities())
            .unwrap();
        let trace = calibration.learned().trace.points();
        let (first, last) = (trace[0].objective, trace[trace.len() - 1].objective);
        assert!(last < first, "objective {first} at the start, {last} at the end");
    }
}

//! The check a person on call reads: exact where it can be, and right about the worlds it is told of.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::expect_used)]

#[path = "../examples/world/mod.rs"]
mod world;

use evenkeel::bound::{Integrator, integrated_gap_between, wasserstein_gap_between};
use evenkeel::check::{CheckSettings, ShiftReport, TargetLaws, TargetSketch, check};
use evenkeel::interval::Interval;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::{Bandwidth, Grid, SmoothedLaw, Support, WeightedEmpirical};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::sandwich::{min_max, model_uniform};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel::shift::predictions;
use world::{CLASSES, Sample, sample};

fn settings() -> CheckSettings {
    let alpha = Miscoverage::new(0.1).unwrap();
    CheckSettings::new(alpha, FailureProbability::new(0.05).unwrap(), Seed::new(0))
}

fn report(labeled: &Sample, target: &TargetLaws) -> ShiftReport {
    let predictions = predictions(&labeled.probabilities());
    let range = Score::Lac.range(CLASSES);
    check(&labeled.scores(), &predictions, target, CLASSES, range, &settings()).unwrap()
}

fn exact(target: &Sample) -> TargetLaws {
    TargetLaws::of_probabilities(&target.probabilities(), &Score::Lac, Seed::new(0)).unwrap()
}

fn sketched(labeled: &Sample, target: &Sample, blocks: usize) -> TargetLaws {
    let range = Score::Lac.range(CLASSES);
    let empty = TargetSketch::new(&labeled.scores(), range, 1000, Seed::new(0)).unwrap();
    let size = target.labels.len().div_ceil(blocks) * CLASSES;
    let parts = target.probabilities.chunks(size).enumerate().map(|(index, values)| {
        let rows = Rows::new("probabilities", values, CLASSES).unwrap();
        empty
            .clone()
            .add_probabilities(RowKeys::From((index * size / CLASSES) as u64), rows, &Score::Lac)
            .unwrap()
    });
    let whole = parts.rev().fold(empty.clone(), |whole, part| whole.merge(part).unwrap());
    whole.laws().unwrap()
}

#[test]
fn the_reported_bounds_are_the_bounds() {
    let (labeled, target) = (sample(300, 1.0, 1), sample(400, 0.7, 2));
    let found = report(&labeled, &exact(&target));
    let scores = labeled.scores();
    let law = WeightedEmpirical::uniform(&scores).unwrap();
    let bandwidth = Bandwidth::scott(&scores, 0.1, 0.001).unwrap();
    let p = SmoothedLaw::new(law, bandwidth, Support::Bounded(Interval::UNIT)).unwrap();
    let grid = Grid::new(Interval::UNIT, 1000).unwrap();
    let candidates = Score::Lac.candidate_scores(&target.probabilities()).unwrap();
    for (pair, bounds) in [
        (min_max(&candidates).unwrap(), found.bounds.min_max),
        (model_uniform(&candidates).unwrap(), found.bounds.f_u),
    ] {
        let eq_7 = integrated_gap_between(p.law(), &pair, &Integrator::density(&p, &grid).unwrap());
        assert_eq!(bounds.weighted_cdf, eq_7.value);
        assert_eq!(bounds.wasserstein, wasserstein_gap_between(&p, &pair, &grid).unwrap().value);
        let dkw = (40f64.ln() / 600.0).sqrt() + (40f64.ln() / 800.0).sqrt();
        assert!((bounds.weighted_cdf_dkw - bounds.weighted_cdf - dkw).abs() < 1e-12);
        assert!((bounds.wasserstein_dkw - bounds.wasserstein - dkw).abs() < 1e-12);
    }
}

/// A sketch is exact at the threshold and on the grid, cautious for W1, and the same however it was put together.
#[test]
fn a_sketch_gives_the_same_answer() {
    let (labeled, target) = (sample(300, 1.0, 1), sample(5000, 0.7, 2));
    let (whole, parts) = (report(&labeled, &exact(&target)), sketched(&labeled, &target, 7));
    assert_eq!(parts, sketched(&labeled, &target, 3));
    let parts = report(&labeled, &parts);
    assert_eq!((whole.shift, whole.threshold), (parts.shift, parts.threshold));
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
    for end in 0..2 {
        let (a, b) = (&whole.coverage_interval, &parts.coverage_interval);
        assert!(close(a.guaranteed[end], b.guaranteed[end]));
        assert!(close(a.assumed[end], b.assumed[end]));
    }
    for (a, b) in
        [(whole.bounds.f_u, parts.bounds.f_u), (whole.bounds.min_max, parts.bounds.min_max)]
    {
        assert!(close(a.weighted_cdf, b.weighted_cdf));
        // Half the largest density times four roundings of at most one cell each.
        assert!(b.wasserstein >= a.wasserstein - 1e-9 && b.wasserstein < a.wasserstein * 1.05);
    }
}

#[test]
fn the_answer_fits_the_world() {
    let calm = report(&sample(300, 1.0, 1), &exact(&sample(300, 1.0, 2)));
    assert!(!calm.shift.detected, "p = {}", calm.shift.p_value);
    let stormy = report(&sample(300, 1.0, 1), &exact(&sample(300, 0.5, 2)));
    assert!(stormy.shift.detected);
    // By the model's own belief coverage fell.
    assert!(stormy.coverage_interval.assumed[1] < calm.coverage_interval.assumed[1]);
    let json = serde_json::to_value(&stormy).unwrap();
    for key in [
        "n",
        "m",
        "classes",
        "alpha",
        "shift",
        "threshold",
        "coverage_interval",
        "bounds",
        "dominance",
    ] {
        assert!(json.get(key).is_some(), "no {key}");
    }
}

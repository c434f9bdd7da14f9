//! The numbers of the answer against their definitions.

use crate::world::{CLASSES, Sample, sample};
use crate::{checked, checked_with, settings, sharpened};
use evenkeel::bound::{
    Integrator, coverage_interval, dkw_half_width, integrated_gap_between, wasserstein_gap_between,
};
use evenkeel::check::{AssumedModel, CheckSettings, TargetLaws, TargetSketch, ThresholdInQuestion};
use evenkeel::interval::Interval;
use evenkeel::level::FailureProbability;
use evenkeel::measure::{Bandwidth, Grid, SmoothedLaw, Support, WeightedEmpirical};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::sandwich::{Sandwich, min_max, model_uniform};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel::threshold::Threshold;

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
    let checked = checked(&labeled, &target);
    assert_eq!(checked.laws, exact(&target));
    let found = checked.report;
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
    let (whole, parts) = (exact(&target), sketched(&labeled, &target, 7));
    assert_eq!(parts, sketched(&labeled, &target, 3));
    assert_eq!(whole.predictions, parts.predictions);
    let scores = labeled.scores();
    let law = WeightedEmpirical::uniform(&scores).unwrap();
    let bandwidth = Bandwidth::scott(&scores, 0.1, 0.001).unwrap();
    let p = SmoothedLaw::new(law, bandwidth, Support::Bounded(Interval::UNIT)).unwrap();
    let grid = Grid::new(Interval::UNIT, 1000).unwrap();
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
    let pairs: [(&Sandwich, &Sandwich); 2] =
        [(&whole.min_max, &parts.min_max), (&whole.f_u, &parts.f_u)];
    for (exact, sketched) in pairs {
        let interval = |pair| coverage_interval(pair, Threshold::Finite(scores[17]), None).unwrap();
        let (a, b) = (interval(exact), interval(sketched));
        assert!(close(a.low, b.low) && close(a.high, b.high));
        let eq_7 = |pair| {
            let integrator = Integrator::density(&p, &grid).unwrap();
            integrated_gap_between(p.law(), pair, &integrator).value
        };
        assert!(close(eq_7(exact), eq_7(sketched)));
        // Half the largest density times four roundings of at most one cell each.
        let eq_8 = |pair| wasserstein_gap_between(&p, pair, &grid).unwrap().value;
        let (a, b) = (eq_8(exact), eq_8(sketched));
        assert!(b >= a - 1e-9 && b < a * 1.05);
    }
}

#[test]
fn the_answer_fits_the_world() {
    let calm = checked(&sample(300, 1.0, 1), &sample(300, 1.0, 2)).report;
    assert!(!calm.shift.detected, "p = {}", calm.shift.p_value);
    let stormy = checked(&sample(300, 1.0, 1), &sample(300, 0.5, 2)).report;
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
        "coverage_estimate",
        "readings",
        "verdict",
        "loss",
        "belief",
    ] {
        assert!(json.get(key).is_some(), "no {key}");
    }
}

/// A model that is surer than right on the calibration labels is not believed about the target data.
#[test]
fn a_belief_that_fails_is_softened() {
    let (labeled, target) = (sample(400, 1.0, 1), sample(300, 1.0, 2));
    let honest = checked(&labeled, &target).report;
    assert!(honest.belief.holds && honest.assumed_model == AssumedModel::AsGiven);
    let split = Threshold::Finite(honest.threshold.unwrap());
    let f_u = coverage_interval(&exact(&target).f_u, split, None).unwrap();
    assert_eq!(honest.coverage_interval.assumed, [f_u.low, f_u.high]);

    let (labeled, target) = (sharpened(&labeled, 3.0), sharpened(&target, 3.0));
    let found = checked(&labeled, &target);
    let report = &found.report;
    assert!(!report.belief.holds && report.belief.p_value < 0.05);
    assert!(report.belief.at_threshold > report.belief.measured + 0.02, "{:?}", report.belief);
    assert_eq!(report.assumed_model, AssumedModel::AtTemperature);
    let t = report.threshold.unwrap();
    let calibrated = report.readings[0].coverage;
    assert_eq!(report.coverage_interval.assumed, [found.laws.f_u.upper().cdf(t), calibrated]);
    // Three times as sure is undone by a temperature of three: nothing was lost here, and so it says.
    assert!((calibrated - 0.9).abs() < 0.04, "{calibrated}");
    assert!(calibrated < found.laws.f_u.lower().cdf(t) - 0.02);
    // Half of the failures for the rows, half for the temperature, which moves the end of the model both ways.
    let half = FailureProbability::new(0.5 * settings().delta.get()).unwrap();
    let margin = dkw_half_width(300.0, half).unwrap();
    let wide = report.coverage_interval.with_confidence.assumed;
    assert!((wide[0] - (report.coverage_interval.assumed[0] - margin).max(0.0)).abs() < 1e-15);
    assert!(wide[1] > (calibrated + margin).min(1.0) - 1e-15);
}

/// A threshold in use is asked about in place of the split one: everything is said of it.
#[test]
fn another_threshold_can_be_in_question() {
    let (labeled, target) = (sample(300, 1.0, 1), sample(400, 0.8, 2));
    let split = checked(&labeled, &target).report;
    let mut before = 0.0;
    let given = [0.0, 0.1, 0.4321, split.threshold.unwrap(), 0.999, 1.0];
    for threshold in given.map(Threshold::Finite).into_iter().chain([Threshold::AllLabels]) {
        let settings =
            CheckSettings { threshold: ThresholdInQuestion::Given(threshold), ..settings() };
        let found = checked_with(&labeled, &target, Score::Lac, &settings);
        let report = found.report;
        assert_eq!(report.threshold, Some(threshold.get()).filter(|t| t.is_finite()));
        assert_eq!((report.belief, report.bounds), (split.belief, split.bounds));
        let f_u = coverage_interval(&found.laws.f_u, threshold, None).unwrap();
        assert_eq!(report.coverage_interval.assumed, [f_u.low, f_u.high]);
        let value = report.coverage_estimate.value;
        assert!(value >= before, "{value} after {before}");
        before = value;
        if report.threshold == split.threshold {
            assert_eq!(report.coverage_estimate, split.coverage_estimate);
            assert_eq!((report.verdict, report.loss), (split.verdict, split.loss));
        }
    }
    assert_eq!(before, 1.0);
    let endless = ThresholdInQuestion::Given(Threshold::Finite(f64::NAN));
    let settings = CheckSettings { threshold: endless, ..settings() };
    let (probabilities, labels) = (labeled.probabilities(), labeled.labels());
    let begun =
        evenkeel::check::Check::begin(&probabilities, &labels, &Score::Lac, &settings).unwrap_err();
    assert!(begun.to_string().contains("threshold in question"), "{begun}");
}

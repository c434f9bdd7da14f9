//! Inputs at the edge that are not mistakes, and what they are documented to give.

use evenkeel::bound::{
    Integrator, coverage_interval, integrated_gap, integrated_gap_between, resample,
    wasserstein_gap, wasserstein_gap_between,
};
use evenkeel::interval::Interval;
use evenkeel::level::{Level, Miscoverage};
use evenkeel::measure::{
    BANDWIDTH_FLOOR, Bandwidth, GaussianKde, Grid, SmoothedLaw, Support, TransportToFixed,
    WeightedEmpirical, Weights, wasserstein_1,
};
use evenkeel::rows::Rows;
use evenkeel::sandwich::{Order, custom, min_max, model_uniform};
use evenkeel::score::{Aps, Labels, Probabilities, Raps, Score};
use evenkeel::seed::Seed;
use evenkeel::sketch::Abscissae;
use evenkeel::sketch::{SandwichSketch, SketchedLaws};
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};

fn uniform(scores: &[f64]) -> WeightedEmpirical {
    WeightedEmpirical::uniform(scores).unwrap()
}

fn weighted(scores: &[f64], raw: &[f64]) -> WeightedEmpirical {
    WeightedEmpirical::new(scores, &Weights::normalised(raw.to_vec()).unwrap()).unwrap()
}

fn alpha(value: f64) -> Miscoverage {
    Miscoverage::new(value).unwrap()
}

fn scott(scores: &[f64]) -> f64 {
    Bandwidth::scott(scores, 0.1, BANDWIDTH_FLOOR).unwrap().get()
}

#[test]
fn one_calibration_point() {
    let p = uniform(&[0.3]);
    let test = TestMass::exchangeable(1);
    assert_eq!(conformal_threshold(&p, test, alpha(0.1)), Threshold::AllLabels);
    assert!(Threshold::AllLabels.admits(f64::MAX) && Threshold::AllLabels.get() == f64::INFINITY);
    // Half the mass is its own, enough for a coverage of one half.
    assert_eq!(conformal_threshold(&p, test, alpha(0.5)), Threshold::Finite(0.3));
    assert_eq!(p.effective_sample_size(), 1.0);
    assert_eq!(scott(&[0.3]), BANDWIDTH_FLOOR);
    assert_eq!(resample(&p, Seed::new(1)).unwrap(), p);
}

#[test]
fn all_scores_tied() {
    // 0.1 summed ten times is not 1, so the mean is off and the standard deviation not exactly zero.
    let scores = [0.1; 10];
    let p = uniform(&scores);
    assert_eq!(p.atoms(), [0.1]);
    assert_eq!(scott(&scores), BANDWIDTH_FLOOR);
    assert_eq!(wasserstein_1(&p, &uniform(&[0.1; 3])), 0.0);
    for level in [0.0, 0.5, 1.0] {
        assert_eq!(p.quantile(Level::new(level).unwrap()), 0.1);
    }
    assert_eq!(conformal_threshold(&p, TestMass::NONE, alpha(0.1)).get(), 0.1);
    let transport = TransportToFixed::new(&scores, &p).unwrap();
    let mut gradient = [1.0; 10];
    assert_eq!(transport.value_and_gradient(&[0.1; 10], &mut gradient), Ok(0.0));
    assert_eq!(gradient, [0.0; 10]);
}

#[test]
fn negative_zero_ties_with_zero() {
    let p = uniform(&[0.0, -0.0, 1.0]);
    assert_eq!(p.atoms(), [0.0, 1.0]);
    assert!((p.cdf(0.0) - 2.0 / 3.0).abs() < 1e-15);
    assert_eq!(p.cdf(0.0), p.cdf(-0.0));
}

#[test]
fn probabilities_of_exactly_zero_and_one() {
    let values = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let table = Probabilities::new(&values, 3).unwrap();
    let labels = Labels::new(vec![0, 0], 3).unwrap();
    assert_eq!(Score::Lac.label_scores(&table, &labels).unwrap(), [0.0, 1.0]);
    assert_eq!(Score::Margin.label_scores(&table, &labels).unwrap(), [-1.0, 1.0]);
    assert_eq!(Score::Aps(Aps::default()).label_scores(&table, &labels).unwrap(), [1.0, 1.0]);
    let candidates = Score::Lac.candidate_scores(&table).unwrap();
    let pair = min_max(&candidates).unwrap();
    assert_eq!((pair.lower().atoms(), pair.upper().atoms()), (&[0.0][..], &[1.0][..]));
    let pair = model_uniform(&candidates).unwrap();
    assert_eq!(pair.lower().atoms(), [0.0]);
    assert!((pair.upper().cdf(0.0) - 1.0 / 3.0).abs() < 1e-15);
    // An infinitely sharp temperature is refused, a very sharp one is not.
    let sharp = candidates.tempered(1e-9).unwrap();
    assert_eq!(sharp.plausibility_row(0).unwrap(), [1.0, 0.0, 0.0]);
}

#[test]
fn rows_rounded_to_three_digits_are_renormalised() {
    let values = [0.333, 0.333, 0.333];
    let table = Probabilities::new(&values, 3).unwrap();
    let mut row = [0.0; 3];
    table.read_row(0, &mut row);
    assert!(row.iter().all(|p| (p - 1.0 / 3.0).abs() < 1e-15), "{row:?}");
}

/// An entry a rounding above one is a one; its score must not fall out of `[0, 1]`, where the density would refuse it.
#[test]
fn a_probability_a_rounding_above_one() {
    let values = [1.0 + f64::EPSILON, 0.0];
    let table = Probabilities::new(&values, 2).unwrap();
    let scores = Score::Lac.label_scores(&table, &Labels::new(vec![0], 2).unwrap()).unwrap();
    assert_eq!(scores, [0.0]);
    let bandwidth = Bandwidth::new(0.1).unwrap();
    let support = Support::Bounded(Interval::UNIT);
    assert!(GaussianKde::new(&uniform(&scores), bandwidth, support).is_ok());
}

#[test]
fn weights_from_subnormal_to_huge() {
    let scores = [0.1, 0.2, 0.3];
    for raw in [5e-324, 1e-310, 1e300, f64::MAX] {
        let p = weighted(&scores, &[raw; 3]);
        assert!((p.effective_sample_size() - 3.0).abs() < 1e-12, "{raw}");
        assert_eq!(p.quantile(Level::new(0.5).unwrap()), 0.2, "{raw}");
    }
    // What is lost beside a huge weight carries no mass and is no atom.
    let p = weighted(&scores, &[1e300, 5e-324, 1.0]);
    assert_eq!(p.atoms()[0], 0.1);
    assert_eq!(p.quantile(Level::new(1.0).unwrap()), 0.1);
    assert_eq!(p.effective_sample_size(), 1.0);
    let far = Weights::softmax(vec![1e300, -1e300, 0.0]).unwrap();
    assert_eq!(far.as_slice(), [1.0, 0.0, 0.0]);
    // The test point's share survives sums that a double cannot hold, and those it can barely hold.
    for weight in [f64::MAX, 1e300, 1.0, 1e-310, 5e-324] {
        assert_eq!(TestMass::from_unnormalised(weight, weight).unwrap().get(), 0.5, "{weight}");
    }
}

#[test]
fn scores_at_the_ends_of_the_line() {
    let p = uniform(&[-1e300, 1e300, 0.0]);
    let q = uniform(&[1e300, 1e300]);
    assert!((wasserstein_1(&p, &q) / 1e300 - 1.0).abs() < 1e-12);
    assert!(p.mean().abs() < 1e285);
    assert!(scott(&[-1e300, 1e300]) > 1e298);
    let bandwidth = Bandwidth::new(1e299).unwrap();
    let range = Interval::new(-1e300, 1e300).unwrap();
    let grid = Grid::new(range, 101).unwrap();
    for support in [Support::Line, Support::Bounded(range)] {
        let p = SmoothedLaw::new(p.clone(), bandwidth, support).unwrap();
        let pair = custom(p.law().clone(), q.clone(), 2).unwrap();
        let density = Integrator::density(&p, &grid).unwrap();
        for bound in [
            integrated_gap(p.law(), &q, &density),
            integrated_gap_between(p.law(), &pair, &density),
            wasserstein_gap(&p, &q, &grid).unwrap(),
            wasserstein_gap_between(&p, &pair, &grid).unwrap(),
        ] {
            assert!(bound.value.is_finite() && bound.value > 0.0, "{bound:?}");
        }
    }
    let empty = SandwichSketch::new(Abscissae::of_grid(&grid), SketchedLaws::Extremes);
    let scores = [-1e300, 1e300];
    let rows = Rows::new("scores", &scores, 2).unwrap();
    let pair = empty.add_scores(0, rows, None, None).unwrap().min_max().unwrap();
    assert_eq!((pair.lower().mean(), pair.upper().mean()), (-1e300, 1e300));
}

#[test]
fn one_class_only() {
    let values = [1.0f32, 1.0];
    let table = Probabilities::new(&values, 1).unwrap();
    for (score, expected) in [
        (Score::Lac, 0.0),
        (Score::Aps(Aps::default()), 1.0),
        (Score::Raps(Raps::default()), 1.0),
        (Score::Margin, -1.0),
    ] {
        let candidates = score.candidate_scores(&table).unwrap();
        assert_eq!(candidates.row(0), [expected], "{}", score.name());
        assert!(score.range(1).contains(expected));
        // Nothing to be uncertain about: the sandwich is closed and the coverage interval a point.
        let pair = min_max(&candidates).unwrap();
        assert_eq!(pair.lower(), pair.upper());
        let interval = coverage_interval(&pair, Threshold::Finite(expected), None).unwrap();
        assert_eq!((interval.low, interval.high), (1.0, 1.0));
        assert_eq!(model_uniform(&candidates).unwrap().order(), Order::HoldsEmpirically);
    }
}

#[test]
fn a_crossed_pair_is_reported_not_refused() {
    let pair = custom(uniform(&[0.9]), uniform(&[0.1]), 1).unwrap();
    assert_eq!(pair.order(), Order::Violated { largest: 1.0, at: 0.1 });
    let interval = coverage_interval(&pair, Threshold::Finite(0.5), None).unwrap();
    assert_eq!((interval.low, interval.high), (0.0, 1.0));
    assert_eq!(interval.order, pair.order());
}

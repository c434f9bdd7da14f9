//! Weights, levels, grids, bandwidths, densities, distances and corrections.

use crate::{Bad, Outcome, check, input, parameter};
use evenkeel::bound::{DkwCorrection, dkw_half_width};
use evenkeel::interval::Interval;
use evenkeel::level::{FailureProbability, Level, Miscoverage, MiscoverageRange};
use evenkeel::measure::{
    Bandwidth, GaussianKde, Grid, Support, TransportToFixed, WeightedEmpirical, Weights,
};
use evenkeel::threshold::TestMass;

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn weights(raw: &[f64]) -> Outcome {
    Weights::normalised(raw.to_vec()).map(drop)
}

fn law(scores: &[f64]) -> Outcome {
    WeightedEmpirical::uniform(scores).map(drop)
}

#[test]
fn weights_and_scores_that_make_no_law() {
    fn softmax(logits: &[f64]) -> Outcome {
        Weights::softmax(logits.to_vec()).map(drop)
    }
    let table: Vec<Bad> = vec![
        input("no weights", || weights(&[]), &["weights is empty", "at least one"]),
        input("nan weight", || weights(&[1.0, NAN]), &["weights[1] is NaN", "impute"]),
        input("inf weight", || weights(&[INF, 1.0]), &["weights[0] is inf", "impute"]),
        input(
            "negative weight",
            || weights(&[1.0, 2.0, -1e-300]),
            &["weights[2] is -1e-300", "zero or positive"],
        ),
        input(
            "zero weights",
            || weights(&[0.0, 0.0]),
            &["weights sum to zero", "at least one must be positive"],
        ),
        input("negative zero weights", || weights(&[-0.0, 0.0]), &["weights sum to zero"]),
        input("uniform over nothing", || Weights::uniform(0).map(drop), &["weights is empty"]),
        input("no log-weights", || softmax(&[]), &["log-weights is empty"]),
        input("nan log-weight", || softmax(&[0.0, NAN]), &["log-weights[1] is NaN", "impute"]),
        input("inf log-weight", || softmax(&[INF]), &["log-weights[0] is inf", "impute"]),
        input("no scores", || law(&[]), &["scores is empty", "at least one"]),
        input("nan score", || law(&[0.5, NAN]), &["scores[1] is NaN", "impute"]),
        input("-inf score", || law(&[-INF]), &["scores[0] is -inf", "impute"]),
        input(
            "fewer weights than scores",
            || WeightedEmpirical::new(&[0.1, 0.2], &Weights::uniform(1)?).map(drop),
            &["weights has 1", "scores has 2", "same points"],
        ),
    ];
    check(&table);
}

#[test]
fn levels_out_of_range() {
    fn alpha(value: f64) -> Outcome {
        Miscoverage::new(value).map(drop)
    }
    fn delta(value: f64) -> Outcome {
        FailureProbability::new(value).map(drop)
    }
    fn range(low: f64, high: f64) -> Outcome {
        MiscoverageRange::new(low, high).map(drop)
    }
    fn mass(share: f64) -> Outcome {
        TestMass::new(share).map(drop)
    }
    fn ratio(test: f64, calibration: f64) -> Outcome {
        TestMass::from_unnormalised(test, calibration).map(drop)
    }
    let table: Vec<Bad> = vec![
        parameter("alpha 0", || alpha(0.0), &["alpha is 0", "between 0 and 1"]),
        parameter("alpha 1", || alpha(1.0), &["alpha is 1", "both excluded"]),
        parameter("alpha 90", || alpha(90.0), &["alpha is 90", "0.1 asks for 90 % coverage"]),
        parameter("alpha nan", || alpha(NAN), &["alpha is NaN", "between 0 and 1"]),
        parameter("delta 0", || delta(0.0), &["delta is 0", "both excluded"]),
        parameter("delta 1", || delta(1.0), &["delta is 1", "both excluded"]),
        parameter("delta nan", || delta(NAN), &["delta is NaN", "between 0 and 1"]),
        parameter(
            "level above 1",
            || Level::new(1.0 + 1e-15).map(drop),
            &["quantile level is 1.00", "between 0 and 1"],
        ),
        parameter(
            "level below 0",
            || Level::new(-0.1).map(drop),
            &["quantile level is -0.1", "between 0 and 1"],
        ),
        parameter(
            "level nan",
            || Level::new(NAN).map(drop),
            &["quantile level is NaN", "between 0 and 1"],
        ),
        parameter(
            "range beyond 1",
            || range(0.5, 1.5),
            &["miscoverage range is 1.5", "between 0 and 1"],
        ),
        parameter(
            "range nan",
            || range(NAN, 0.5),
            &["miscoverage range is NaN", "between 0 and 1"],
        ),
        parameter(
            "range reversed",
            || range(0.2, 0.1),
            &["miscoverage range runs from 0.2 to 0.1", "low end must be below"],
        ),
        parameter(
            "range of no width",
            || range(0.2, 0.2),
            &["from 0.2 to 0.2", "low end must be below"],
        ),
        parameter(
            "test mass below 0",
            || mass(-0.1),
            &["share of the mass is -0.1", "between 0 and 1"],
        ),
        parameter(
            "test mass above 1",
            || mass(1.1),
            &["share of the mass is 1.1", "between 0 and 1"],
        ),
        parameter("test mass nan", || mass(NAN), &["share of the mass is NaN", "between 0 and 1"]),
        parameter(
            "test weight negative",
            || ratio(-1.0, 2.0),
            &["unnormalised weight is -1", "zero or positive"],
        ),
        parameter("test weight inf", || ratio(INF, 2.0), &["unnormalised weight is inf", "finite"]),
        parameter(
            "calibration weight nan",
            || ratio(1.0, NAN),
            &["unnormalised weight is NaN", "finite"],
        ),
        input(
            "no weight at all",
            || ratio(0.0, 0.0),
            &["weights sum to zero", "at least one must be positive"],
        ),
    ];
    check(&table);
}

#[test]
fn ranges_grids_and_kernels_that_cannot_be() {
    fn interval(low: f64, high: f64) -> Outcome {
        Interval::new(low, high).map(drop)
    }
    fn grid(count: usize) -> Outcome {
        Grid::new(Interval::UNIT, count).map(drop)
    }
    fn bandwidth(h: f64) -> Outcome {
        Bandwidth::new(h).map(drop)
    }
    fn rule(scores: &[f64], factor: f64, floor: f64) -> Outcome {
        Bandwidth::scott(scores, factor, floor).map(drop)
    }
    fn density(scores: &[f64], range: Interval) -> Outcome {
        let law = WeightedEmpirical::uniform(scores)?;
        GaussianKde::new(&law, Bandwidth::new(0.1)?, Support::Bounded(range)).map(drop)
    }
    let table: Vec<Bad> = vec![
        parameter(
            "range reversed",
            || interval(1.0, 0.0),
            &["score range runs from 1.0 to 0.0", "low end must be below"],
        ),
        parameter(
            "range of no width",
            || interval(0.5, 0.5),
            &["from 0.5 to 0.5", "low end must be below"],
        ),
        parameter("range nan", || interval(NAN, 1.0), &["end of the score range is NaN", "finite"]),
        parameter(
            "range infinite",
            || interval(0.0, INF),
            &["end of the score range is inf", "finite"],
        ),
        parameter("range too wide for a double", || interval(f64::MIN, f64::MAX), &["score range"]),
        parameter("grid of 0", || grid(0), &["grid points: 0 given", "at least 2"]),
        parameter("grid of 1", || grid(1), &["grid points: 1 given", "at least 2"]),
        parameter(
            "grid of too many",
            || grid(usize::MAX),
            &["number of grid points", "at most 16777216"],
        ),
        parameter(
            "grid of one too many",
            || grid((1 << 24) + 1),
            &["is 16777217", "at most 16777216"],
        ),
        parameter("bandwidth 0", || bandwidth(0.0), &["bandwidth is 0", "positive and finite"]),
        parameter(
            "bandwidth negative",
            || bandwidth(-0.1),
            &["bandwidth is -0.1", "positive and finite"],
        ),
        parameter("bandwidth nan", || bandwidth(NAN), &["bandwidth is NaN", "positive and finite"]),
        parameter("bandwidth inf", || bandwidth(INF), &["bandwidth is inf", "positive and finite"]),
        parameter("bandwidth without reciprocal", || bandwidth(1e-310), &["bandwidth is 1e-310"]),
        input(
            "rule without scores",
            || rule(&[], 0.1, 0.001),
            &["scores is empty", "at least one"],
        ),
        input("rule with nan", || rule(&[0.1, NAN], 0.1, 0.001), &["scores[1] is NaN", "impute"]),
        parameter(
            "factor negative",
            || rule(&[0.1], -1.0, 0.001),
            &["bandwidth factor is -1", "zero or positive"],
        ),
        parameter(
            "factor nan",
            || rule(&[0.1], NAN, 0.001),
            &["bandwidth factor is NaN", "finite"],
        ),
        parameter("floor 0", || rule(&[0.1], 0.1, 0.0), &["bandwidth is 0", "positive"]),
        input(
            "score above the support",
            || density(&[0.5, 1.5], Interval::UNIT),
            &["scores[1] is 1.5", "[0.0, 1.0]", "widen the range"],
        ),
        input(
            "score below the support",
            || density(&[0.5, -1e-9], Interval::UNIT),
            &["scores[0] is -1e-9", "widen the range"],
        ),
    ];
    check(&table);
}

#[test]
fn distances_and_corrections_without_a_sample() {
    fn transport(scores: &[f64], weights: usize, gradient: usize) -> Outcome {
        let prepared = TransportToFixed::new(scores, &WeightedEmpirical::uniform(&[0.5])?)?;
        prepared.value_and_gradient(&vec![0.5; weights], &mut vec![0.0; gradient]).map(drop)
    }
    fn dkw(n: f64) -> Outcome {
        dkw_half_width(n, FailureProbability::new(0.05)?).map(drop)
    }
    fn both(n: f64, m: f64) -> Outcome {
        DkwCorrection::new(n, m, FailureProbability::new(0.05)?).map(drop)
    }
    const SIZE: &str = "sample size of a DKW correction is";
    let table: Vec<Bad> = vec![
        input("transport of nothing", || transport(&[], 0, 0), &["scores is empty"]),
        input("transport of nan", || transport(&[NAN], 1, 1), &["scores[0] is NaN", "impute"]),
        input(
            "too few weights",
            || transport(&[0.1, 0.2], 1, 2),
            &["weights has 1", "scores has 2"],
        ),
        input(
            "gradient too short",
            || transport(&[0.1, 0.2], 2, 1),
            &["gradient has 1", "scores has 2"],
        ),
        parameter("no points", || dkw(0.0), &[SIZE, "positive and finite"]),
        parameter("fewer than no points", || dkw(-3.0), &[SIZE, "-3", "positive"]),
        parameter("nan points", || dkw(NAN), &[SIZE, "NaN", "positive"]),
        parameter("infinitely many points", || dkw(INF), &[SIZE, "inf", "finite"]),
        parameter("no calibration points", || both(0.0, 10.0), &[SIZE, "positive"]),
        parameter("no points of the target data", || both(10.0, 0.0), &[SIZE, "positive"]),
    ];
    check(&table);
}

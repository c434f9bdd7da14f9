//! Every analytic gradient against finite differences, ties and vanishing kernels included.

use evenkeel::interval::Interval;
use evenkeel::learning::objective::{
    ExactObjective, FiniteSample, Objective, ObjectiveInputs, RestrictedObjective,
    WassersteinObjective, WeightedCdfObjective,
};
use evenkeel::level::{FailureProbability, MiscoverageRange};
use evenkeel::measure::{Bandwidth, Grid, Support};
use evenkeel::sandwich::custom_from_scores;
use proptest::prelude::*;

/// Scores on a lattice that the grid shares, or anywhere: ties and coincidences are common.
fn score() -> impl Strategy<Value = f64> {
    prop_oneof![(0u8..=16).prop_map(|k| f64::from(k) / 16.0), 0.0..=1.0f64]
}

#[derive(Debug, Clone)]
struct Inputs {
    scores: Vec<f64>,
    log_weights: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    bandwidth: f64,
    points: usize,
}

prop_compose! {
    fn inputs()(n in 1usize..14)(
        mut scores in prop::collection::vec(score(), n),
        log_weights in prop::collection::vec(-3.0..1.0f64, n),
        lower in prop::collection::vec(score(), 1..12),
        upper in prop::collection::vec(score(), 1..12),
        // From kernels far narrower than a grid cell, zero at every point, to kernels wider than the range.
        log_bandwidth in -4.0..0.5f64,
        points in prop_oneof![Just(17usize), 2usize..60],
    ) -> Inputs {
        scores.sort_by(f64::total_cmp);
        let bandwidth = 10f64.powf(log_bandwidth);
        Inputs { scores, log_weights, lower, upper, bandwidth, points }
    }
}

fn softmax(log_weights: &[f64]) -> Vec<f64> {
    let total: f64 = log_weights.iter().map(|l| l.exp()).sum();
    log_weights.iter().map(|l| l.exp() / total).collect()
}

/// Value and derivative in the log-weights.
fn through_softmax(objective: &mut dyn Objective, log_weights: &[f64]) -> (f64, Vec<f64>) {
    let weights = softmax(log_weights);
    let mut slopes = vec![0.0; weights.len()];
    let value = objective.value_and_gradient(&weights, &mut slopes);
    let mean: f64 = slopes.iter().zip(&weights).map(|(g, w)| g * w).sum();
    (value, slopes.iter().zip(&weights).map(|(g, w)| w * (g - mean)).collect())
}

/// The objectives have kinks (absolute values, maxima), at which the gradient is one of many. Along each log-weight the
/// one-sided slopes are taken; away from kinks they agree with each other and must agree with the gradient, at a kink
/// the gradient must lie between them.
fn check(objective: &mut dyn Objective, log_weights: &[f64]) -> Result<(), TestCaseError> {
    const STEP: f64 = 1e-6;
    let (value, gradient) = through_softmax(objective, log_weights);
    let scale = 1.0 + value.abs();
    for i in 0..log_weights.len() {
        let mut at = |step: f64| {
            let mut moved = log_weights.to_vec();
            moved[i] += step;
            through_softmax(objective, &moved).0
        };
        let (right, left) = ((at(STEP) - value) / STEP, (value - at(-STEP)) / STEP);
        let (low, high) = (right.min(left), right.max(left));
        let slack = 2e-4 * scale;
        prop_assert!(
            gradient[i] >= low - slack && gradient[i] <= high + slack,
            "component {i}: {} outside [{low}, {high}]",
            gradient[i]
        );
    }
    Ok(())
}

fn build<O>(case: &Inputs, make: impl Fn(ObjectiveInputs<'_>) -> O) -> O {
    let grid = Grid::new(Interval::UNIT, case.points).unwrap();
    make(ObjectiveInputs {
        sorted_scores: &case.scores,
        sandwich: &custom_from_scores(&case.lower, &case.upper).unwrap(),
        grid: &grid,
        bandwidth: Bandwidth::new(case.bandwidth).unwrap(),
        support: Support::Bounded(Interval::UNIT),
    })
}

proptest! {
    #[test]
    fn the_weighted_cdf_objective(case in inputs()) {
        let mut objective = build(&case, |inputs| WeightedCdfObjective::new(inputs).unwrap());
        check(&mut objective, &case.log_weights)?;
    }

    #[test]
    fn the_exact_objective(case in inputs()) {
        let exact = |inputs: ObjectiveInputs<'_>| {
            ExactObjective::new(inputs.sorted_scores, inputs.sandwich).unwrap()
        };
        check(&mut build(&case, exact), &case.log_weights)?;
    }

    #[test]
    fn the_wasserstein_objective(case in inputs()) {
        let mut objective = build(&case, |inputs| WassersteinObjective::new(inputs).unwrap());
        check(&mut objective, &case.log_weights)?;
    }

    #[test]
    fn finite_sample_objectives(case in inputs(), d in 0.01..0.5f64) {
        let d = FailureProbability::new(d).unwrap();
        let cdf = build(&case, |inputs| WeightedCdfObjective::new(inputs).unwrap());
        check(&mut FiniteSample::new(cdf, d), &case.log_weights)?;
        let transport = build(&case, |inputs| WassersteinObjective::new(inputs).unwrap());
        check(&mut FiniteSample::new(transport, d), &case.log_weights)?;
    }

    /// The restricted objective is continuous: its gradient too lies between the one-sided slopes, at kinks and elsewhere.
    #[test]
    fn the_restricted_objective(case in inputs(), low in 0.0..0.5f64, width in 0.1..0.5f64) {
        let range = MiscoverageRange::new(low, low + width).unwrap();
        let mut objective = build(&case, |inputs| RestrictedObjective::new(inputs.sorted_scores, inputs.sandwich, range).unwrap());
        check(&mut objective, &case.log_weights)?;
    }

    /// The step is computed in one fused, banded pass; here is the same bound from stage 4.
    #[test]
    fn objectives_are_the_bounds(case in inputs()) {
        use evenkeel::bound::{Integrator, integrated_gap_between, wasserstein_gap_between};
        use evenkeel::measure::{SmoothedLaw, WeightedEmpirical, Weights};
        let weights = Weights::softmax(case.log_weights.clone()).unwrap();
        let law = WeightedEmpirical::new(&case.scores, &weights).unwrap();
        let bandwidth = Bandwidth::new(case.bandwidth).unwrap();
        let p = SmoothedLaw::new(law, bandwidth, Support::Bounded(Interval::UNIT)).unwrap();
        let grid = Grid::new(Interval::UNIT, case.points).unwrap();
        let sandwich = custom_from_scores(&case.lower, &case.upper).unwrap();
        let mut gradient = vec![0.0; case.scores.len()];

        let expected = integrated_gap_between(p.law(), &sandwich, &Integrator::density(&p, &grid).unwrap());
        let value = build(&case, |inputs| WeightedCdfObjective::new(inputs).unwrap())
            .value_and_gradient(weights.as_slice(), &mut gradient);
        prop_assert!((value - expected.value).abs() <= 1e-10 * (1.0 + expected.value.abs()));

        let expected = wasserstein_gap_between(&p, &sandwich, &grid).unwrap();
        let value = build(&case, |inputs| WassersteinObjective::new(inputs).unwrap())
            .value_and_gradient(weights.as_slice(), &mut gradient);
        prop_assert!((value - expected.value).abs() <= 1e-10 * (1.0 + expected.value.abs()));

        let range = MiscoverageRange::new(0.05, 0.4).unwrap();
        let integrator = Integrator::restricted_atoms(p.law(), range);
        let expected = integrated_gap_between(p.law(), &sandwich, &integrator);
        let value = build(&case, |inputs| RestrictedObjective::new(inputs.sorted_scores, inputs.sandwich, range).unwrap())
            .value_and_gradient(weights.as_slice(), &mut gradient);
        prop_assert!((value - expected.value).abs() <= 1e-10 * (1.0 + expected.value.abs()));
    }
}

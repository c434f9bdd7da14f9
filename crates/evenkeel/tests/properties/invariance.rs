//! Neither the order of the points nor the scale of the weights carries information.

use crate::generators::{law, sample, table};
use evenkeel::bound::{
    Integrator, integrated_gap, integrated_gap_between, wasserstein_gap, wasserstein_gap_between,
};
use evenkeel::interval::Interval;
use evenkeel::level::{Miscoverage, MiscoverageRange};
use evenkeel::measure::{Bandwidth, Grid, SmoothedLaw, Support, WeightedEmpirical, wasserstein_1};
use evenkeel::sandwich::{custom, min_max, model_uniform};
use evenkeel::score::{CandidateScores, Score};
use evenkeel::threshold::{TestMass, conformal_threshold};
use proptest::prelude::*;

/// Sums in another order differ in their last digits; densities of narrow kernels multiply that by up to 100.
const REORDERING: f64 = 1e-10;

/// Everything computed from a calibration law, against fixed laws of the target data.
fn results(
    p: &WeightedEmpirical,
    lower: &WeightedEmpirical,
    upper: &WeightedEmpirical,
) -> Vec<f64> {
    let support = Support::Bounded(Interval::UNIT);
    let p = SmoothedLaw::new(p.clone(), Bandwidth::new(0.01).unwrap(), support).unwrap();
    let grid = Grid::new(Interval::UNIT, 64).unwrap();
    let pair = custom(lower.clone(), upper.clone(), 20).unwrap();
    let range = MiscoverageRange::new(0.05, 0.3).unwrap();
    let mut results = vec![
        p.law().mean(),
        p.law().effective_sample_size(),
        wasserstein_1(p.law(), lower),
        wasserstein_gap(&p, lower, &grid).unwrap().value,
        wasserstein_gap_between(&p, &pair, &grid).unwrap().value,
    ];
    for integrator in [
        Integrator::density(&p, &grid).unwrap(),
        Integrator::atoms(p.law()),
        Integrator::restricted_atoms(p.law(), range),
    ] {
        results.push(integrated_gap(p.law(), lower, &integrator).value);
        results.push(integrated_gap_between(p.law(), &pair, &integrator).value);
    }
    results.extend(p.law().cdf_on_grid(&grid));
    results
}

/// Whether some value of `(1 - test) F` is so near the level that the last digit decides the threshold.
fn undecided(p: &WeightedEmpirical, test: TestMass, alpha: Miscoverage) -> bool {
    let level = alpha.level().get();
    p.cumulative().iter().any(|f| ((1.0 - test.get()) * f - level).abs() < 1e-9)
}

fn shuffled<T: Clone + std::fmt::Debug + 'static>(
    items: impl Strategy<Value = Vec<T>>,
) -> impl Strategy<Value = (Vec<T>, Vec<T>)> {
    items.prop_flat_map(|items| (Just(items.clone()), Just(items).prop_shuffle()))
}

proptest! {
    #[test]
    fn the_order_of_the_points_does_not_matter(
        (sample, permuted) in shuffled(sample()),
        (b, c) in (sample(), sample()),
        alpha in 0.01..0.6f64,
        test in 0.0..0.3f64,
    ) {
        let (p, again, lower, upper) = (law(&sample), law(&permuted), law(&b), law(&c));
        prop_assert_eq!(p.atoms(), again.atoms());
        for (x, y) in results(&p, &lower, &upper).iter().zip(results(&again, &lower, &upper)) {
            prop_assert!((x - y).abs() <= REORDERING, "{x} {y}");
        }
        let (alpha, test) = (Miscoverage::new(alpha).unwrap(), TestMass::new(test).unwrap());
        if !undecided(&p, test, alpha) {
            let threshold = |law| conformal_threshold(law, test, alpha);
            prop_assert_eq!(threshold(&p), threshold(&again));
        }
    }

    /// With equal weights nothing is ever undecided: ranks are whole numbers.
    #[test]
    fn the_order_of_equally_weighted_points_never_changes_a_threshold(
        (scores, permuted) in shuffled(prop::collection::vec(0.0..1.0f64, 1..200)),
        percent in 1u8..100,
    ) {
        let alpha = Miscoverage::new(f64::from(percent) / 100.0).unwrap();
        let test = TestMass::exchangeable(scores.len());
        let threshold = |scores: &[f64]| {
            conformal_threshold(&WeightedEmpirical::uniform(scores).unwrap(), test, alpha)
        };
        prop_assert_eq!(threshold(&scores), threshold(&permuted));
    }

    #[test]
    fn the_scale_of_the_weights_does_not_matter(
        sample in sample(),
        (b, c) in (sample(), sample()),
        log_scale in -250.0..250.0f64,
        alpha in 0.01..0.6f64,
    ) {
        let scale = 10f64.powf(log_scale);
        let scaled: Vec<(f64, f64)> = sample.iter().map(|(s, w)| (*s, w * scale)).collect();
        let (p, again, lower, upper) = (law(&sample), law(&scaled), law(&b), law(&c));
        prop_assert_eq!(p.atoms(), again.atoms());
        for (x, y) in results(&p, &lower, &upper).iter().zip(results(&again, &lower, &upper)) {
            prop_assert!((x - y).abs() <= REORDERING, "{x} {y}");
        }
        let alpha = Miscoverage::new(alpha).unwrap();
        if !undecided(&p, TestMass::NONE, alpha) {
            let threshold = |law| conformal_threshold(law, TestMass::NONE, alpha);
            prop_assert_eq!(threshold(&p), threshold(&again));
        }
    }

    /// Splitting a point in two of half the weight changes no law, only the number of points behind it.
    #[test]
    fn splitting_a_point_leaves_the_law(sample in sample()) {
        let halved = sample.iter().flat_map(|(s, w)| [(*s, w / 2.0), (*s, w / 2.0)]);
        let (p, again) = (law(&sample), law(&halved.collect::<Vec<_>>()));
        prop_assert_eq!(p.atoms(), again.atoms());
        for (x, y) in p.cumulative().iter().zip(again.cumulative()) {
            prop_assert!((x - y).abs() <= 1e-12);
        }
        prop_assert_eq!(2 * p.points(), again.points());
    }

    #[test]
    fn the_order_of_the_unlabeled_rows_does_not_matter(
        (table, order) in table().prop_flat_map(|table| {
            let rows: Vec<usize> = (0..table.rows()).collect();
            (Just(table), Just(rows).prop_shuffle())
        }),
    ) {
        let original = table.candidates(&Score::Margin);
        let pick = |row: fn(&CandidateScores, usize) -> Vec<f64>| -> Vec<f64> {
            order.iter().flat_map(|j| row(&original, *j)).collect()
        };
        let scores = pick(|table, j| table.row(j).to_vec());
        let plausibility = pick(|table, j| table.plausibility_row(j).unwrap().to_vec());
        let permuted = CandidateScores::new(scores, table.classes).unwrap();
        let permuted = permuted.with_plausibility(plausibility).unwrap();
        prop_assert_eq!(min_max(&original).unwrap(), min_max(&permuted).unwrap());
        let (a, b) = (model_uniform(&original).unwrap(), model_uniform(&permuted).unwrap());
        for (a, b) in [(a.lower(), b.lower()), (a.upper(), b.upper())] {
            prop_assert_eq!(a.atoms(), b.atoms());
            prop_assert!(wasserstein_1(a, b) <= 1e-12);
        }
    }
}

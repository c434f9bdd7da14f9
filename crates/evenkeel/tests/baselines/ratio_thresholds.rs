//! Thresholds from ratios: against slow twins, and the guarantee under covariate shift.

use crate::draws::{Mean, normal};
use evenkeel::level::Miscoverage;
use evenkeel::measure::{QUANTILE_TOLERANCE, WeightedEmpirical, Weights};
use evenkeel::method::likelihood_ratio::{KnownRatios, RatioThresholds};
use evenkeel::seed::Seed;
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};
use proptest::prelude::*;

fn prepared(scores: &[f64], ratios: &[f64]) -> RatioThresholds {
    RatioThresholds::new(scores, &KnownRatios::new(ratios.to_vec()).unwrap()).unwrap()
}

/// The definition, without sorting: every score is tried.
fn slow(scores: &[f64], ratios: &[f64], test: f64, alpha: f64) -> f64 {
    let total: f64 = ratios.iter().sum::<f64>() + test;
    let reached = |s: f64| -> f64 {
        let below = scores.iter().zip(ratios).filter(|(score, _)| **score <= s);
        below.map(|(_, ratio)| ratio / total).sum()
    };
    let level = 1.0 - alpha - QUANTILE_TOLERANCE;
    let positive = scores.iter().zip(ratios).filter(|(_, ratio)| **ratio > 0.0);
    let enough = positive.map(|(s, _)| *s).filter(|s| reached(*s) >= level);
    enough.fold(f64::INFINITY, f64::min)
}

/// Scores on a lattice (ties are common) with ratios, some of them zero.
fn weighted_scores() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    let score = prop_oneof![(0u8..=8).prop_map(|k| f64::from(k) / 8.0), 0.0..=1.0f64];
    let ratio = prop_oneof![4 => 0.001..10.0f64, 1 => Just(0.0)];
    prop::collection::vec((score, ratio), 1..40)
        .prop_filter("some mass", |pairs| pairs.iter().any(|(_, ratio)| *ratio > 0.0))
        .prop_map(|pairs| pairs.into_iter().unzip())
}

proptest! {
    #[test]
    fn the_prepared_form_is_the_weighted_quantile(
        (scores, ratios) in weighted_scores(),
        tests in prop::collection::vec(prop_oneof![Just(0.0), 0.0..50.0f64], 1..10),
        alpha in 0.01..0.99f64,
    ) {
        let rate = Miscoverage::new(alpha).unwrap();
        let found = prepared(&scores, &ratios).thresholds(&tests, rate).unwrap();
        let total: f64 = ratios.iter().sum();
        let law = WeightedEmpirical::new(&scores, &Weights::normalised(ratios.clone()).unwrap());
        let law = law.unwrap();
        for (test, found) in tests.iter().zip(found) {
            let mass = TestMass::from_unnormalised(*test, total).unwrap();
            prop_assert_eq!(found, conformal_threshold(&law, mass, rate));
            prop_assert_eq!(found.get(), slow(&scores, &ratios, *test, alpha));
        }
    }

    #[test]
    fn thresholds_grow_with_the_test_ratio_and_fall_with_alpha(
        (scores, ratios) in weighted_scores(),
        mut tests in prop::collection::vec(0.0..50.0f64, 2),
        mut alphas in prop::collection::vec(0.01..0.99f64, 2),
    ) {
        tests.sort_by(f64::total_cmp);
        alphas.sort_by(f64::total_cmp);
        let prepared = prepared(&scores, &ratios);
        let at = |test: f64, alpha: f64| {
            prepared.threshold(test, Miscoverage::new(alpha).unwrap()).unwrap().get()
        };
        prop_assert!(at(tests[0], alphas[0]) <= at(tests[1], alphas[0]));
        prop_assert!(at(tests[0], alphas[1]) <= at(tests[0], alphas[0]));
    }

    /// Scaling by powers of two is exact, so not even the last bit may matter.
    #[test]
    fn a_common_factor_of_all_ratios_does_not_matter(
        (scores, ratios) in weighted_scores(),
        test in 0.0..50.0f64,
        alpha in 0.01..0.99f64,
        exponent in -900i32..900,
    ) {
        let factor = 2.0f64.powi(exponent);
        let alpha = Miscoverage::new(alpha).unwrap();
        let scaled: Vec<f64> = ratios.iter().map(|ratio| ratio * factor).collect();
        prop_assert_eq!(
            prepared(&scores, &ratios).threshold(test, alpha).unwrap(),
            prepared(&scores, &scaled).threshold(test * factor, alpha).unwrap()
        );
    }
}

#[test]
fn equal_ratios_are_split_conformal_prediction() {
    for n in [1u32, 9, 19, 99, 999] {
        let scores: Vec<f64> = (1..=n).map(f64::from).collect();
        let prepared = prepared(&scores, &vec![0.3; scores.len()]);
        for percent in [5, 10, 20] {
            let alpha = Miscoverage::new(f64::from(percent) / 100.0).unwrap();
            let rank = ((n + 1) * (100 - percent)).div_ceil(100);
            let expected =
                if rank <= n { Threshold::Finite(f64::from(rank)) } else { Threshold::AllLabels };
            assert_eq!(prepared.threshold(0.3, alpha).unwrap(), expected, "n = {n}");
        }
    }
}

#[test]
fn extreme_ratios_neither_overflow_nor_vanish() {
    let alpha = Miscoverage::new(0.3).unwrap();
    let huge = prepared(&[1.0, 2.0, 3.0], &[1e308, 1e308, 1e308]);
    assert_eq!(huge.threshold(1e308, alpha).unwrap(), Threshold::Finite(3.0));
    let tiny = prepared(&[1.0, 2.0, 3.0], &[5e-324, 5e-324, 5e-324]);
    assert_eq!(tiny.threshold(5e-324, alpha).unwrap(), Threshold::Finite(3.0));
    assert_eq!(tiny.threshold(1e308, alpha).unwrap(), Threshold::AllLabels);
    assert_eq!(huge.threshold(0.0, alpha).unwrap(), Threshold::Finite(3.0));
}

/// `X ~ N(0, 1)` the calibration data and `N(1, 1)` the target data, `Y | X ~ N(0, exp(X))`, score `|Y|`: the noise grows toward the target data. The ratio is
/// `exp(x - 1/2)`. With true ratios coverage lies between `1 - alpha` and that plus the mean largest share of a point
/// (Tibshirani et al. 2019, Cor. 1; Lei et al. 2018 for the upper end); bands are four standard errors of the mean.
#[test]
fn true_ratios_cover_under_covariate_shift_where_split_conformal_does_not() {
    let (n, tests, repetitions) = (200, 20, 2000);
    let alpha = Miscoverage::new(0.1).unwrap();
    let (mut weighted, mut split, mut largest_share) = (Vec::new(), Vec::new(), Vec::new());
    for repetition in 0..repetitions {
        let mut stream = Seed::new(21).child("covariate-shift", repetition).stream("points");
        let mut point = |shift: f64| {
            let x = shift + normal(&mut stream);
            (x, ((0.5 * x).exp() * normal(&mut stream)).abs())
        };
        let calibration: Vec<(f64, f64)> = (0..n).map(|_| point(0.0)).collect();
        let target: Vec<(f64, f64)> = (0..tests).map(|_| point(1.0)).collect();
        let ratio = |x: f64| (x - 0.5).exp();
        let scores: Vec<f64> = calibration.iter().map(|(_, score)| *score).collect();
        let ratios: Vec<f64> = calibration.iter().map(|(x, _)| ratio(*x)).collect();
        let prepared = prepared(&scores, &ratios);
        let law = WeightedEmpirical::uniform(&scores).unwrap();
        let threshold = conformal_threshold(&law, TestMass::exchangeable(n), alpha);
        let (mut inside, mut inside_split, mut share) = (0.0, 0.0, 0.0);
        for (x, score) in &target {
            let own = prepared.threshold(ratio(*x), alpha).unwrap();
            inside += f64::from(u8::from(own.admits(*score)));
            inside_split += f64::from(u8::from(threshold.admits(*score)));
            let total = ratios.iter().sum::<f64>() + ratio(*x);
            share += ratios.iter().fold(ratio(*x), |a, b| a.max(*b)) / total;
        }
        weighted.push(inside / f64::from(tests));
        split.push(inside_split / f64::from(tests));
        largest_share.push(share / f64::from(tests));
    }
    let (weighted, split) = (Mean::of(&weighted), Mean::of(&split));
    let slack = Mean::of(&largest_share).value;
    assert!(weighted.value >= 0.9 - 4.0 * weighted.error, "covered {}", weighted.value);
    assert!(weighted.value <= 0.9 + slack + 4.0 * weighted.error, "covered {}", weighted.value);
    assert!(slack < 0.06 && weighted.error < 0.003, "{slack} {}", weighted.error);
    assert!(split.value < 0.8, "split conformal covered {}", split.value);
}

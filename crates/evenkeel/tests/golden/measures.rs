//! Weights, bandwidth, CDFs, densities, means.

use crate::case::{TOLERANCE, assert_close, for_every_case, numbers};
use evenkeel::bound::dkw_half_width;
use evenkeel::interval::Interval;
use evenkeel::measure::{
    BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FACTOR_REGRESSION, BANDWIDTH_FLOOR, Bandwidth,
    GaussianKde, Support, WeightedEmpirical,
};

#[test]
fn softmax_weights_and_their_effective_sample_size() {
    for_every_case(|case| {
        case.all_close(&["w_softmax"], case.weights.as_slice());
        case.close(&["ess"], case.weights.effective_sample_size());
        case.close(&["ess"], case.p.law().effective_sample_size());
    });
}

#[test]
fn dkw_half_widths_of_each_sample() {
    for_every_case(|case| {
        let width = |size: f64| dkw_half_width(size, case.failure()).unwrap();
        case.close(&["dkw", "n"], width(case.scores.len() as f64));
        case.close(&["dkw", "n_eff"], width(case.weights.effective_sample_size()));
        case.close(&["dkw", "m"], width(case.candidates.rows() as f64));
    });
}

#[test]
fn the_bandwidth_rule_with_both_factors_and_its_floor() {
    for_every_case(|case| {
        let rule = |factor: f64| Bandwidth::scott(&case.scores, factor, BANDWIDTH_FLOOR).unwrap();
        let (narrow, wide) =
            (rule(BANDWIDTH_FACTOR_CLASSIFICATION), rule(BANDWIDTH_FACTOR_REGRESSION));
        case.close(&["bandwidth", "scott_factor_0_1"], narrow.get());
        case.close(&["bandwidth", "scott_factor_1"], wide.get());
    });
}

#[test]
fn cdfs_on_the_grid() {
    for_every_case(|case| {
        case.all_close(&["grid", "F_w"], &case.p.law().cdf_on_grid(&case.grid));
        case.all_close(&["grid", "F_q"], &case.q.cdf_on_grid(&case.grid));
    });
}

#[test]
fn cdfs_at_the_calibration_scores() {
    for_every_case(|case| {
        let at_scores = |law: &WeightedEmpirical| -> Vec<f64> {
            case.scores.iter().map(|score| law.cdf(*score)).collect()
        };
        case.all_close(&["at_scores", "F_w"], &at_scores(case.p.law()));
        case.all_close(&["at_scores", "F_q"], &at_scores(&case.q));
    });
}

#[test]
fn reflected_densities_on_the_grid() {
    for_every_case(|case| {
        let uniform = WeightedEmpirical::uniform(&case.scores).unwrap();
        let support = Support::Bounded(Interval::UNIT);
        let uniform = GaussianKde::new(&uniform, case.p.density().bandwidth(), support).unwrap();
        for (key, kde) in [("kde_w", case.p.density()), ("kde_uniform", &uniform)] {
            let expected = numbers(case.expected(&["grid", key]));
            let largest = expected.iter().fold(0.0_f64, |largest, p| largest.max(*p));
            let what = format!("{} {key}", case.name);
            let found = kde.density_on_grid(&case.grid);
            assert_close(&what, &found, &expected, TOLERANCE * largest);
            // The same density one point at a time takes another path through the code.
            let found: Vec<f64> = case.grid.points().iter().map(|t| kde.density(*t)).collect();
            assert_close(&what, &found, &expected, TOLERANCE * largest);
        }
    });
}

#[test]
fn the_largest_density_and_the_mean() {
    for_every_case(|case| {
        let (index, largest) = case.p.density().largest_on_grid(&case.grid);
        let expected = numbers(case.expected(&["sup_density"]))[0];
        assert_close(case.name, &[largest], &[expected], TOLERANCE * expected);
        assert_eq!(largest, case.p.density().density_on_grid(&case.grid)[index], "{}", case.name);
        case.close(&["mean_w"], case.p.law().mean());
    });
}

//! Problems at the edge: one point, no spread, nothing to learn from.

use evenkeel::level::Miscoverage;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::conditional::FlatIntercept;
use evenkeel::rows::Rows;
use evenkeel::seed::Seed;
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};

use crate::problems::{Problem, softmax_problem};

fn one_column(features: Vec<f64>, scores: Vec<f64>, alpha: f64) -> Problem {
    let test = vec![0.0, 0.5, 100.0];
    Problem { columns: 1, features, scores, test, alpha, gamma: 12.5, lambda: 0.005 }
}

#[test]
fn one_point_reaches_only_rates_of_a_half_and_more() {
    assert_eq!(one_column(vec![0.5], vec![0.3], 0.4).cutoffs(), [f64::INFINITY; 3]);
    // Both points' duals are at opposite bounds; the intercept may be anything above, and the largest is infinite.
    assert_eq!(one_column(vec![0.5], vec![0.3], 0.5).cutoffs(), [f64::INFINITY; 3]);
    let problem = one_column(vec![0.5], vec![0.3], 0.6);
    // C = 100, upper 40: the calibration dual is -40, so g(x) = 40 (1 - k), and G = 0.3 + 40 (1 - k).
    for (point, cutoff) in problem.test_points().zip(problem.cutoffs()) {
        let k = (-12.5 * (point[0] - 0.5f64).powi(2)).exp();
        assert!((cutoff - (0.3 + 80.0 * (1.0 - k))).abs() < 1e-12, "{cutoff}");
    }
}

#[test]
fn too_few_points_admit_every_label() {
    for n in 1..9 {
        let problem = one_column(vec![0.1; n], vec![0.2; n], 0.1);
        assert_eq!(problem.cutoffs(), [f64::INFINITY; 3]);
        assert_eq!(problem.model().solution(&[0.1], problem.alpha()).unwrap(), None);
    }
}

/// With features that say nothing the smallest intercept is split conformal prediction, the largest one rank above where
/// `(n + 1) alpha` is whole.
#[test]
fn constant_features_give_split_conformal_prediction() {
    let mut stream = Seed::new(1).stream("scores");
    for n in [1, 9, 10, 19, 35, 99, 100, 199] {
        for alpha in [0.1, 0.05, 0.3, 0.5] {
            let scores: Vec<f64> = (0..n).map(|_| stream.uniform()).collect();
            let law = WeightedEmpirical::uniform(&scores).unwrap();
            let rate = Miscoverage::new(alpha).unwrap();
            let split = conformal_threshold(&law, TestMass::exchangeable(n), rate);
            let mut problem = one_column(vec![0.5; n], scores, alpha);
            problem.test = vec![0.5];
            let at = |end: FlatIntercept| {
                let test = Rows::new("test features", &problem.test, 1).unwrap();
                problem.model_with(end).cutoffs(test, rate).unwrap()[0]
            };
            match (at(FlatIntercept::Smallest), split) {
                (Threshold::Finite(found), Threshold::Finite(split)) => {
                    assert!((found - split).abs() < 1e-11, "n {n} alpha {alpha}: {found} {split}");
                }
                (found, split) => assert_eq!(found, split, "n {n} alpha {alpha}"),
            }
            let rank = (((n + 1) as f64) * (1.0 - alpha) + 1e-9).floor() as usize + 1;
            let mut sorted = problem.scores.clone();
            sorted.sort_by(f64::total_cmp);
            let expected = sorted.get(rank - 1).copied().unwrap_or(f64::INFINITY);
            let found = at(FlatIntercept::Largest).get();
            assert!(found == expected || (found - expected).abs() < 1e-11, "n {n} alpha {alpha}");
        }
    }
}

#[test]
fn equal_scores_leave_nothing_to_fit() {
    // Far from all points only the test point's own kernel is left: cutoff = s + C q, with C q = 0.9 / (0.005 * 21).
    let problem = one_column((0..20).map(|i| f64::from(i) / 20.0).collect(), vec![0.7; 20], 0.1);
    let upper = problem.bounds().1;
    let cutoffs = problem.cutoffs();
    assert!(cutoffs.iter().all(|cutoff| *cutoff >= 0.7 - 1e-9));
    assert!(cutoffs[2] >= 0.7 + 0.9 * upper, "{cutoffs:?}");
    for point in problem.test_points() {
        let solution = problem.model().solution(point, problem.alpha()).unwrap().unwrap();
        problem.assert_optimal(point, &solution, 1e-9);
    }
}

/// Every point four times: the kernel matrix has a quarter of its rank.
#[test]
fn duplicated_points() {
    let once = softmax_problem(50, 5, 3);
    let mut problem = once.clone();
    problem.features = once.features.repeat(4);
    problem.scores = once.scores.repeat(4);
    for point in problem.test_points() {
        let solution = problem.model().solution(point, problem.alpha()).unwrap().unwrap();
        problem.assert_optimal(point, &solution, 1e-9);
    }
    // The same features with scores that disagree.
    for (row, score) in problem.scores.iter_mut().enumerate() {
        *score += 0.1 * (row / 50) as f64;
    }
    for point in problem.test_points() {
        let solution = problem.model().solution(point, problem.alpha()).unwrap().unwrap();
        problem.assert_optimal(point, &solution, 1e-9);
    }
}

/// Rounding does not gather with the size of the problem.
#[test]
fn several_hundred_points() {
    for (n, lambda) in [(500, 0.005), (500, 0.0005)] {
        let mut problem = softmax_problem(n, 4, 11);
        problem.lambda = lambda;
        let model = problem.model();
        for point in problem.test_points() {
            let solution = model.solution(point, problem.alpha()).unwrap().unwrap();
            problem.assert_optimal(point, &solution, 1e-10);
        }
    }
}

/// From a fit that interpolates to one that is constant.
#[test]
fn penalties_of_all_sizes() {
    for lambda in [1e-9, 1e-7, 1e-5, 1e-3, 0.1, 10.0, 1e6, 1e12] {
        let mut problem = softmax_problem(120, 4, 8);
        problem.lambda = lambda;
        let tolerance = 1e-9_f64.max(1e-13 / lambda);
        for point in problem.test_points() {
            let solution = problem.model().solution(point, problem.alpha()).unwrap().unwrap();
            problem.assert_optimal(point, &solution, tolerance);
        }
    }
}

/// Distances that overflow and features far apart are kernels of zero, not errors.
#[test]
fn features_of_all_sizes() {
    let features = vec![-1e200, 1e200, 1e308, -1e308, 0.0, 1e-300, 3.0, 4.0, 5.0, 6.0, 7.0];
    let problem = one_column(features, (0..11).map(f64::from).collect(), 0.3);
    assert!(problem.cutoffs().iter().all(|cutoff| cutoff.is_finite()));
}

/// A dual that meets its own bound in the step in which the last free one meets its: once taken to be at the other bound.
#[test]
fn two_bounds_met_at_once() {
    let third = 1.0 / 3.0;
    let features =
        vec![0.0, 0.0, 0.0, 1.0, third, 1.0, third, third, 0.7995421064469062, 0.7109789398451848];
    let mut scores = vec![0.0; 10];
    (scores[3], scores[5]) = (2.0 / 3.0, 2.0 / 3.0);
    let mut problem = one_column(features, scores, 0.2);
    problem.lambda = 0.002_020_179_884_017_005;
    let solution = problem.model().solution(&[0.0], problem.alpha()).unwrap().unwrap();
    problem.assert_optimal(&[0.0], &solution, 1e-9);
}

/// A classifier that is always sure and right: every score is 0, and so must every cutoff be, not the number below it.
#[test]
fn ties_are_admitted() {
    let classes = 10;
    let features: Vec<f64> = (0..300)
        .flat_map(|row| (0..classes).map(move |class| f64::from(u8::from(class != row % 10))))
        .collect();
    let rows = evenkeel::rows::Rows::new("features", &features, classes).unwrap();
    let settings = evenkeel::method::conditional::ConditionalSettings::default();
    let model =
        evenkeel::method::conditional::ConditionalModel::fit(rows, &vec![0.0; 300], &settings)
            .unwrap();
    for alpha in [0.05, 0.1, 0.2] {
        let cutoffs =
            model.cutoffs(rows, evenkeel::level::Miscoverage::new(alpha).unwrap()).unwrap();
        assert!(cutoffs.iter().all(|cutoff| cutoff.admits(0.0)), "{:?}", &cutoffs[..3]);
    }
}

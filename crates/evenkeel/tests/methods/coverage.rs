//! Coverage under covariate shift, through the surface: ratios hold where split conformal prediction does not.

use evenkeel::calibration::Calibration;
use evenkeel::evaluation::coverage;
use evenkeel::method::likelihood_ratio::RatioEstimator;
use evenkeel::method::{Method, RatioChoice};
use evenkeel::score::Probabilities;
use evenkeel::side_inputs::{Labeled, SideInputs};

use crate::world::{CLASSES, Points, calibrator, points};

const RUNS: u64 = 60;
const SHIFT: f64 = -1.0;

/// Mean coverage over runs of 400 calibration points and 500 test points.
fn mean_coverage(method: Method) -> f64 {
    let total: f64 = (0..RUNS)
        .map(|run| {
            let labeled = points(400, 0.0, SHIFT, 3 * run);
            let target = points(400, SHIFT, SHIFT, 3 * run + 1);
            let test = points(500, SHIFT, SHIFT, 3 * run + 2);
            let fitted = fit(method, &labeled, &target);
            let sets = fitted.predict_beside(0, test.rows(), given(&test), None).unwrap();
            coverage(&sets, &test.labels).unwrap()
        })
        .sum();
    total / RUNS as f64
}

fn given(points: &Points) -> SideInputs<'_> {
    SideInputs { weights: None, ..points.beside() }
}

fn fit(method: Method, labeled: &Points, target: &Points) -> Calibration {
    let probabilities = Probabilities::new(&labeled.probabilities, CLASSES).unwrap();
    let labeled =
        Labeled { probabilities: &probabilities, labels: &labeled.labels, beside: given(labeled) };
    let unlabeled = Probabilities::new(&target.probabilities, CLASSES).unwrap();
    calibrator(method).calibrate_beside(&labeled, &unlabeled, given(target)).unwrap()
}

/// The standard deviation of one run's coverage is below 0.03 (400 points at n_w near 150, 500 test points), so that of the
/// mean of 60 is below 0.004.
#[test]
fn true_and_estimated_ratios_cover_where_split_conformal_does_not() {
    let known = mean_coverage(Method::LikelihoodRatio(RatioChoice::Known));
    assert!((known - 0.9).abs() < 0.016, "known ratios cover {known}");
    let logistic = RatioChoice::Estimated(RatioEstimator::Logistic);
    let estimated = mean_coverage(Method::LikelihoodRatio(logistic));
    assert!((estimated - 0.9).abs() < 0.02, "estimated ratios cover {estimated}");
    let split = mean_coverage(Method::Uncorrected);
    assert!(split < known - 0.01, "split conformal prediction covers {split}");
}

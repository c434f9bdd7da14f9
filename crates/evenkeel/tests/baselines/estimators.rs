//! Estimated ratios against ratios of known laws.

use crate::draws::{normal, normal_rows, table};
use evenkeel::error::Error;
use evenkeel::method::likelihood_ratio::{
    LOG_RATIO_LIMIT, NetworkSettings, Overlap, RatioEstimator, RatioFit, RatioModel, RatioStop,
    TelescopingSettings,
};
use evenkeel::seed::Seed;

fn fit(estimator: RatioEstimator, labeled: &[f64], target: &[f64], columns: usize) -> RatioFit {
    estimator.fit(table(labeled, columns), table(target, columns), Seed::new(4)).unwrap()
}

fn network() -> RatioEstimator {
    RatioEstimator::Network(NetworkSettings::default())
}

fn telescoping() -> RatioEstimator {
    RatioEstimator::Telescoping(TelescopingSettings::default())
}

fn all() -> [RatioEstimator; 3] {
    [RatioEstimator::Logistic, network(), telescoping()]
}

fn log_ratios(model: &RatioModel, rows: &[f64]) -> Vec<f64> {
    model.log_ratios(table(rows, model.features())).unwrap()
}

fn mean_squared_error(found: &[f64], truth: impl Iterator<Item = f64>) -> f64 {
    let squares = found.iter().zip(truth).map(|(found, truth)| (found - truth).powi(2));
    squares.sum::<f64>() / found.len() as f64
}

/// `N(0, I)` against `N(mu, I)`: the log ratio is `mu'x - |mu|^2 / 2`. The coefficients' standard errors are at least
/// `sqrt(1/n + 1/m)` = 0.012 and, the laws overlapping well, at most 1.5 times that; four of them are 0.073. Without the
/// correction for `n != m` the intercept would be off by ln 2.
#[test]
fn logistic_regression_recovers_known_coefficients() {
    let mu = [0.6, -0.5, 0.0];
    let mut stream = Seed::new(31).stream("gaussians");
    let labeled = normal_rows(&mut stream, 20_000, &[0.0; 3], 1.0);
    let target = normal_rows(&mut stream, 10_000, &mu, 1.0);
    let fit = fit(RatioEstimator::Logistic, &labeled, &target, 3);
    assert_eq!(fit.evidence.stopped, RatioStop::Converged);
    assert_eq!(fit.evidence.overlap, Overlap::Overlapping);
    let at = |row: [f64; 3]| log_ratios(&fit.model, &row)[0];
    let origin = at([0.0; 3]);
    assert!((origin + 0.305).abs() < 0.073, "intercept {origin}");
    for (axis, expected) in mu.iter().enumerate() {
        let mut unit = [0.0; 3];
        unit[axis] = 1.0;
        let slope = at(unit) - origin;
        assert!((slope - expected).abs() < 0.073, "coefficient {axis}: {slope}");
    }
    // Kish: n / E_P[ratio^2] = n exp(-|mu|^2).
    let expected = 20_000.0 * (-0.61f64).exp();
    assert!((fit.evidence.effective_sample_size / expected - 1.0).abs() < 0.15);
    // P(N(|mu|^2, 2 |mu|^2) > 0) = 0.71 of the pairs.
    assert!((fit.evidence.area_under_curve - 0.7096).abs() < 0.02);
}

/// `N(0, 1)` against `N(0, 0.6^2)`: no line sees the difference. The log ratio is `-ln 0.6 - x^2 (1/0.36 - 1) / 2`.
#[test]
fn the_network_sees_a_change_of_spread_that_a_line_cannot() {
    let truth = |x: &f64| -(0.6f64.ln()) - x * x * (1.0 / 0.36 - 1.0) / 2.0;
    let mut stream = Seed::new(32).stream("spread");
    let labeled = normal_rows(&mut stream, 6000, &[0.0], 1.0);
    let target = normal_rows(&mut stream, 3000, &[0.0], 0.6);
    let points = normal_rows(&mut stream, 2000, &[0.0], 0.6);
    let error = |estimator| {
        let fit = fit(estimator, &labeled, &target, 1);
        mean_squared_error(&log_ratios(&fit.model, &points), points.iter().map(truth))
    };
    let (line, network) = (error(RatioEstimator::Logistic), error(network()));
    assert!(network < 0.05, "network {network}");
    assert!(network < line / 5.0, "line {line}, network {network}");
}

/// Rhodes, Xu & Gutmann (2020), Fig. 1: two narrow Gaussians far apart. One classifier separates them, so its log ratio
/// is whatever the ridge allows; the bridges are determined.
#[test]
fn telescoping_crosses_the_density_chasm_that_a_single_ratio_cannot() {
    let ((mean_q, sd_q), (mean_p, sd_p)): ((f64, f64), (f64, f64)) = ((-1.0, 0.08), (2.0, 0.15));
    let truth = |x: &f64| {
        let (zq, zp) = ((x - mean_q) / sd_q, (x - mean_p) / sd_p);
        let log_ratio = (sd_p / sd_q).ln() + (zp * zp - zq * zq) / 2.0;
        log_ratio.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
    };
    let mut stream = Seed::new(33).stream("chasm");
    let target = normal_rows(&mut stream, 10_000, &[mean_q], sd_q);
    let labeled = normal_rows(&mut stream, 10_000, &[mean_p], sd_p);
    let mut points = normal_rows(&mut stream, 500, &[mean_q], sd_q);
    points.extend(normal_rows(&mut stream, 500, &[mean_p], sd_p));
    // A single quadratic logit is one bridge, a single linear one is the logistic estimate.
    let single = RatioEstimator::Telescoping(TelescopingSettings { bridges: 1 });
    let errors = [RatioEstimator::Logistic, single, network(), telescoping()].map(|estimator| {
        let fit = fit(estimator, &labeled, &target, 1);
        assert_eq!(fit.evidence.overlap, Overlap::Separated);
        assert_eq!(fit.evidence.require_overlap(), Err(Error::NoOverlap));
        mean_squared_error(&log_ratios(&fit.model, &points), points.iter().map(truth))
    });
    // The log ratio is large here: 446 in the root mean square. Telescoping is off by less than a tenth of that.
    let square = points.iter().map(|x| truth(x).powi(2)).sum::<f64>() / points.len() as f64;
    assert!(errors[3] < 0.01 * square, "{errors:?} of {square}");
    let [line, quadratic, network, telescoping] = errors;
    for single in [line, quadratic, network] {
        assert!(telescoping < single / 5.0, "telescoping {telescoping}, single {single}");
    }
}

/// The same estimator where one classifier would do: it must not be much worse.
#[test]
fn telescoping_is_right_where_laws_overlap() {
    let mut stream = Seed::new(34).stream("overlap");
    let mu = [0.5, -0.3];
    let labeled = normal_rows(&mut stream, 4000, &[0.0; 2], 1.0);
    let target = normal_rows(&mut stream, 2500, &mu, 1.0);
    let points = normal_rows(&mut stream, 1000, &[0.2, 0.0], 1.0);
    let truth = |x: &[f64]| mu[0] * x[0] + mu[1] * x[1] - 0.17;
    let fit = fit(telescoping(), &labeled, &target, 2);
    let found = log_ratios(&fit.model, &points);
    let error = mean_squared_error(&found, points.chunks_exact(2).map(truth));
    assert!(error < 0.05, "{error}");
    assert_eq!(fit.evidence.stopped, RatioStop::Converged);
}

#[test]
fn the_same_seed_gives_the_same_bits_for_any_number_of_threads_and_blocks() {
    let mut stream = Seed::new(35).stream("threads");
    let labeled = normal_rows(&mut stream, 700, &[0.0; 4], 1.0);
    let target = normal_rows(&mut stream, 400, &[0.3; 4], 1.2);
    let points = normal_rows(&mut stream, 3000, &[0.1; 4], 1.0);
    for estimator in all() {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let fit = fit(estimator, &labeled, &target, 4);
                let ratios = log_ratios(&fit.model, &points);
                (fit, ratios)
            })
        };
        let ((one, one_ratios), (three, three_ratios)) = (run(1), run(3));
        assert_eq!(one, three);
        assert_eq!(one_ratios, three_ratios);
        let in_blocks: Vec<f64> =
            points.chunks(4 * 77).flat_map(|block| log_ratios(&one.model, block)).collect();
        assert_eq!(one_ratios, in_blocks);
    }
}

#[test]
fn constant_and_repeated_columns_survive() {
    let mut stream = Seed::new(36).stream("constant");
    let mut rows = |mean: f64, count: usize| -> Vec<f64> {
        let row = |x: f64| [x, 7.25, x, 0.0];
        (0..count).flat_map(|_| row(mean + normal(&mut stream))).collect()
    };
    let (labeled, target) = (rows(0.0, 3000), rows(1.0, 3000));
    for estimator in all() {
        let fit = fit(estimator, &labeled, &target, 4);
        let found = log_ratios(&fit.model, &[0.5, 7.25, 0.5, 0.0, 1.0, 7.25, 1.0, 0.0]);
        // The truth is x - 1/2; four standard errors are 0.15, a network's bends may double that.
        assert!(found[0].abs() < 0.3 && (found[1] - 0.5).abs() < 0.3, "{found:?}");
        // A column that never moved in the fit says nothing, however far it moves later.
        let elsewhere = log_ratios(&fit.model, &[0.5, 1e9, 0.5, -1e300]);
        assert_eq!(elsewhere[0], found[0]);
    }
}

#[test]
fn without_shift_ratios_are_near_one() {
    let mut stream = Seed::new(37).stream("none");
    let labeled = normal_rows(&mut stream, 2000, &[0.0; 2], 1.0);
    let target = normal_rows(&mut stream, 2000, &[0.0; 2], 1.0);
    for estimator in all() {
        let fit = fit(estimator, &labeled, &target, 2);
        assert!(fit.evidence.effective_sample_size > 1900.0, "{:?}", fit.evidence);
        assert!((fit.evidence.area_under_curve - 0.5).abs() < 0.05, "{:?}", fit.evidence);
    }
}

#[test]
fn models_are_the_same_after_a_file() {
    let mut stream = Seed::new(38).stream("file");
    let labeled = normal_rows(&mut stream, 200, &[0.0; 13], 1.0);
    let target = normal_rows(&mut stream, 150, &[0.2; 13], 1.0);
    for estimator in all() {
        let model = fit(estimator, &labeled, &target, 13).model;
        let text = serde_json::to_string(&model).unwrap();
        let back: RatioModel = serde_json::from_str(&text).unwrap();
        assert_eq!(back, model);
        assert_eq!(log_ratios(&back, &target), log_ratios(&model, &target));
    }
}

//! Regression that does no harm: the gate on simulated worlds, exactness without a shift, determinism, hostile input.

#![allow(missing_docs)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::{FailureProbability, Level, Miscoverage};
use evenkeel::measure::{WeightedEmpirical, Weights};
use evenkeel::method::{Guarantee, GuaranteeProbability, MethodName};
use evenkeel::reading::Verdict;
use evenkeel::regression::{
    Decision, GateSettings, RegressionFit, RegressionReading, ScoredPoints, assess,
    guaranteed_threshold, with_labels,
};
use evenkeel::rows::Rows;
use evenkeel::seed::{Seed, Stream};
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};

fn normal(stream: &mut Stream) -> f64 {
    (0..12).map(|_| stream.uniform()).sum::<f64>() - 6.0
}

/// How the noise of `y` depends on the prediction.
#[derive(Clone, Copy)]
enum Noise {
    Equal,
    Growing,
}

/// Covariates (prediction, one feature beside it) and absolute residuals of a sound model whose predictions have this mean.
fn world(n: usize, mean: f64, noise: Noise, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut stream = Seed::new(seed).stream("regression world");
    let mut covariates = Vec::new();
    let scores = (0..n)
        .map(|_| {
            let (x, other) = (mean + normal(&mut stream), normal(&mut stream));
            covariates.extend([x, other]);
            let scale = match noise {
                Noise::Equal => 1.0,
                Noise::Growing => (0.5 * x).exp(),
            };
            (scale * normal(&mut stream)).abs()
        })
        .collect();
    (covariates, scores)
}

fn table(values: &[f64], columns: usize) -> Rows<'_, f64> {
    Rows::new("covariates", values, columns).unwrap()
}

fn gate(scores: &[f64], cal: &[f64], target: &[f64], seed: u64) -> RegressionFit {
    let points = ScoredPoints::new(scores, table(cal, 2), table(target, 2), 1).unwrap();
    let mut settings = GateSettings::new(FailureProbability::FIVE_PERCENT, Seed::new(seed));
    settings.permutations = 99;
    RegressionFit::new(&points, settings).unwrap()
}

fn threshold(scores: &[f64], fit: &RegressionFit) -> f64 {
    let law = WeightedEmpirical::new(scores, &fit.weights).unwrap();
    conformal_threshold(&law, fit.test_mass, Miscoverage::new(0.1).unwrap()).get()
}

/// The `ceil((n + 1) 0.9)`-th smallest score.
fn split(scores: &[f64]) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(0.9 * (scores.len() + 1) as f64).ceil() as usize - 1]
}

fn covered(scores: &[f64], threshold: f64) -> f64 {
    scores.iter().filter(|score| **score <= threshold).count() as f64 / scores.len() as f64
}

/// Mean distance from 90 % of the gate and of split conformal, over draws of a world.
fn errors(mean: f64, noise: Noise, runs: u64) -> (f64, f64) {
    let (mut ours, mut theirs) = (0.0, 0.0);
    for run in 0..runs {
        let (cal, scores) = world(300, 0.0, noise, 3 * run);
        let (target, _) = world(300, mean, noise, 3 * run + 1);
        let (_, test) = world(4000, mean, noise, 3 * run + 2);
        let fit = gate(&scores, &cal, &target, run);
        ours += (covered(&test, threshold(&scores, &fit)) - 0.9).abs() / runs as f64;
        theirs += (covered(&test, split(&scores)) - 0.9).abs() / runs as f64;
    }
    (100.0 * ours, 100.0 * theirs)
}

#[test]
fn without_a_shift_it_is_split_conformal_to_the_bit() {
    let mut kept = 0;
    for run in 0..200 {
        for n in [19, 40, 99] {
            let (cal, scores) = world(n, 0.0, Noise::Growing, 1000 + run);
            let (target, _) = world(60, 0.0, Noise::Growing, 5000 + run);
            let fit = gate(&scores, &cal, &target, run);
            if fit.decision == Decision::NoShift {
                kept += 1;
                assert_eq!(threshold(&scores, &fit), split(&scores));
                assert_eq!(fit.test_mass, TestMass::exchangeable(n));
            }
        }
    }
    // 570 expected at the level 0.05; the three sizes of a run are dependent. Standard deviation at most 9.3.
    assert!(kept >= 540, "{kept} of 600");
}

/// The noise grows with the prediction and predictions move: split conformal covers 78 % or 96 %.
#[test]
fn where_the_noise_moves_with_the_predictions_it_helps() {
    for mean in [1.0, -1.0] {
        let (ours, theirs) = errors(mean, Noise::Growing, 40);
        assert!(ours < 0.6 * theirs, "mean {mean}: {ours:.2} points, split conformal {theirs:.2}");
    }
}

/// A shift that the residuals do not feel: nothing to gain, and little is lost.
#[test]
fn where_the_noise_is_equal_it_does_no_harm() {
    for mean in [0.5, 1.0, -1.5] {
        let (ours, theirs) = errors(mean, Noise::Equal, 60);
        assert!(ours < theirs + 0.5, "mean {mean}: {ours:.2} points, split conformal {theirs:.2}");
    }
}

#[test]
fn monotone_changes_of_the_scores_move_nothing() {
    let (cal, scores) = world(200, 0.0, Noise::Growing, 1);
    let (target, _) = world(200, 1.0, Noise::Growing, 2);
    let before = gate(&scores, &cal, &target, 0);
    assert_eq!(before.decision, Decision::Corrected);
    let bent: Vec<f64> = scores.iter().map(|score| score.sqrt().ln_1p()).collect();
    assert_eq!(before, gate(&bent, &cal, &target, 0));
}

#[test]
fn threads_do_not_change_it() {
    let (cal, scores) = world(300, 0.0, Noise::Growing, 1);
    let (target, _) = world(900, 0.7, Noise::Growing, 2);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let points = ScoredPoints::new(&scores, table(&cal, 2), table(&target, 2), 2).unwrap();
            let level = FailureProbability::FIVE_PERCENT;
            RegressionFit::new(&points, GateSettings::new(level, Seed::new(3))).unwrap()
        })
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn corrected_weights_keep_thirty_effective_points() {
    let (cal, scores) = world(300, 0.0, Noise::Growing, 1);
    // Far outside: every target point has the same few neighbours.
    let (target, _) = world(300, 9.0, Noise::Growing, 2);
    let fit = gate(&scores, &cal, &target, 0);
    assert_eq!(fit.decision, Decision::Corrected);
    assert!(fit.weights.effective_sample_size() > 30.0 - 1e-6);
    assert!(fit.readings.iter().any(|read| read.weights.effective_sample_size() < 60.0));
    assert!(threshold(&scores, &fit).is_finite());
}

#[test]
fn an_assessment_says_what_is_lost() {
    let level = Level::new(0.9).unwrap();
    let (cal, scores) = world(400, 0.0, Noise::Growing, 1);
    for (mean, verdict) in [(0.0, Verdict::Ok), (1.2, Verdict::Loss), (-1.2, Verdict::Ok)] {
        let (target, _) = world(400, mean, Noise::Growing, 2);
        let (_, test) = world(20_000, mean, Noise::Growing, 3);
        let points = ScoredPoints::new(&scores, table(&cal, 2), table(&target, 2), 1).unwrap();
        let fit = gate(&scores, &cal, &target, 0);
        let found = assess(&points, &fit, Threshold::Finite(split(&scores)), level);
        let truth = covered(&test, split(&scores));
        assert_eq!(found.verdict, verdict, "mean {mean}: {found:?}");
        assert!(found.low <= truth && truth <= found.high, "{truth} {found:?}");
        assert!((found.value - truth).abs() < 0.06, "{truth} {found:?}");
        assert_eq!(found.loss.value, 100.0 * (0.9 - found.value).max(0.0));
        let everything = assess(&points, &fit, Threshold::AllLabels, level);
        assert_eq!((everything.value, everything.high), (1.0, 1.0));
    }
}

#[test]
fn labels_pull_the_threshold_to_theirs() {
    let (_, scores) = world(300, 0.0, Noise::Equal, 1);
    let alpha = Miscoverage::new(0.1).unwrap();
    let (equal, mass) = (Weights::uniform(300).unwrap(), TestMass::exchangeable(300));
    let worse: Vec<f64> = world(60, 0.0, Noise::Equal, 2).1.iter().map(|s| 3.0 * s).collect();
    let after = |labeled: &[f64]| {
        let found = with_labels(&scores, (&equal, mass), labeled, alpha).unwrap();
        assert_eq!(found.before, Threshold::Finite(split(&scores)));
        let law = WeightedEmpirical::new(&found.scores, &found.weights).unwrap();
        (conformal_threshold(&law, found.test_mass, alpha).get(), found.pull)
    };
    let (alike, weak) = after(&world(60, 0.0, Noise::Equal, 4).1);
    let (raised, strong) = after(&worse);
    assert!(strong > 0.4 && weak < 0.4 && strong > weak, "{weak} {strong}");
    assert!((alike - split(&scores)).abs() < 0.4 && raised > 1.5 * split(&scores));
    assert!(with_labels(&scores, (&equal, mass), &[], alpha).is_err());
    assert!(with_labels(&scores, (&equal, mass), &[f64::NAN], alpha).is_err());
    assert!(with_labels(&scores[1..], (&equal, mass), &[1.0], alpha).is_err());
}

#[test]
fn guaranteed_thresholds_cover_as_promised() {
    let alpha = Miscoverage::new(0.1).unwrap();
    let nine_in_ten =
        Guarantee::Probability { probability: GuaranteeProbability::new(0.9).unwrap() };
    let runs = 2000;
    let (mut mean, mut reached) = (0.0, 0);
    for run in 0..runs {
        let mut stream = Seed::new(run).stream("labels");
        // Uniform scores: a threshold is its own coverage.
        let labels: Vec<f64> = (0..40).map(|_| stream.uniform()).collect();
        let at =
            |guarantee| guaranteed_threshold(&labels, alpha, guarantee).unwrap().unwrap().get();
        mean += at(Guarantee::Average) / runs as f64;
        reached += usize::from(at(nine_in_ten) >= 0.9);
    }
    // ceil(0.9 * 41) = 37: 37/41 = 0.902, standard deviation of the mean 0.001. Wilks: at least 0.9, sd 0.007.
    assert!((mean - 37.0 / 41.0).abs() < 0.004, "{mean}");
    assert!(reached as f64 / runs as f64 > 0.9 - 0.027, "{reached}");
    assert_eq!(guaranteed_threshold(&[1.0], alpha, Guarantee::None).unwrap(), None);
    assert_eq!(
        guaranteed_threshold(&[1.0], alpha, Guarantee::Average).unwrap(),
        Some(Threshold::AllLabels)
    );
    assert!(guaranteed_threshold(&[], alpha, Guarantee::Average).is_err());
}

#[test]
fn hostile_inputs_are_refused_or_survived() {
    let gate = |scores: &[f64], cal: &[f64], target: &[f64]| {
        let points = ScoredPoints::new(scores, table(cal, 1), table(target, 1), 1)?;
        RegressionFit::new(
            &points,
            GateSettings::new(FailureProbability::FIVE_PERCENT, Seed::new(0)),
        )
    };
    assert!(gate(&[], &[1.0], &[1.0]).is_err());
    assert!(gate(&[f64::NAN], &[1.0], &[1.0]).is_err());
    assert!(gate(&[1.0, 2.0], &[1.0], &[1.0]).is_err());
    assert!(gate(&[1.0], &[f64::INFINITY], &[1.0]).is_err());
    assert!(gate(&[1.0], &[1.0], &[f64::NAN]).is_err());
    let (a, b) = (table(&[1.0], 1), table(&[1.0, 2.0], 2));
    assert!(ScoredPoints::new(&[1.0], a, b, 1).is_err());
    assert!(ScoredPoints::new(&[1.0], a, a, 0).is_err());
    assert!(ScoredPoints::new(&[1.0], a, a, 2).is_err());
    // One point, constant predictions, constant scores, huge numbers.
    for (scores, cal, target) in [
        (vec![1.0], vec![1.0], vec![5.0]),
        (vec![1.0, 2.0], vec![3.0, 3.0], vec![3.0]),
        (vec![0.0; 50], (0..50).map(f64::from).collect(), vec![1e9; 50]),
        ((0..50).map(f64::from).collect(), vec![1e308; 50], vec![-1e308; 50]),
        (vec![1e308, 0.0, 5e-324], vec![-1e308, 1e308, 0.0], vec![1e308; 9]),
    ] {
        let fit = gate(&scores, &cal, &target).unwrap();
        let sum: f64 = fit.weights.as_slice().iter().sum();
        assert!((sum - 1.0).abs() < 1e-9 && fit.strength.is_finite());
        let points = ScoredPoints::new(&scores, table(&cal, 1), table(&target, 1), 1).unwrap();
        assert!(points.weights(RegressionReading::LikelihoodRatio, Seed::new(0)).is_ok());
    }
}

#[test]
fn a_calibration_of_weighted_scores_cuts_at_their_quantile() {
    let (cal, scores) = world(200, 0.0, Noise::Growing, 1);
    let (target, _) = world(200, 1.0, Noise::Growing, 2);
    let fit = gate(&scores, &cal, &target, 0);
    let calibrator = ShiftCalibrator::new(0.1).unwrap();
    let weighted = (&fit.weights, fit.test_mass);
    let fitted = calibrator.fit_weighted(MethodName::Fixed, &scores, weighted, 1).unwrap();
    assert_eq!(fitted.calibration.threshold(None).unwrap().get(), threshold(&scores, &fit));
    assert!(calibrator.fit_weighted(MethodName::Conditional, &scores, weighted, 1).is_err());
    assert!(calibrator.fit_weighted(MethodName::Fixed, &scores[1..], weighted, 1).is_err());
    assert!(calibrator.fit_weighted(MethodName::Fixed, &[], weighted, 1).is_err());
}

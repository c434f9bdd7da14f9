//! The paper's DKW corrections: bounds from samples against the gap of the laws behind them, in simulation.

use crate::{DRAWS, power_scores};
use evenkeel::bound::{
    DkwCorrection, Integrator, coverage_interval, exact_gap_between, integrated_gap,
    integrated_gap_between, labeled_gap_at, level_gap_between, unlabeled_gap_at, wasserstein_gap,
    wasserstein_gap_between,
};
use evenkeel::interval::Interval;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::{
    BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FLOOR, Bandwidth, Grid, SmoothedLaw, Support,
    WeightedEmpirical,
};
use evenkeel::sandwich::min_max;
use evenkeel::score::{LabelMask, Probabilities, Score};
use evenkeel::seed::{Seed, Stream};
use evenkeel::threshold::{TestMass, conformal_threshold};

/// `integral_0^1 |u - F_Q(F_P^-1(u))| du` for the laws of `u^p` and `u^q`: with `F_Q(F_P^-1(u)) = u^(p/q)` this is
/// `|1/2 - 1/(1 + p/q)|`.
fn true_total_gap(p: f64, q: f64) -> f64 {
    (0.5 - 1.0 / (1.0 + p / q)).abs()
}

/// Milder and stronger shifts, both ways.
const SHIFTS: [(f64, f64); 3] = [(1.0, 1.5), (0.5, 2.0), (2.0, 1.0)];

fn smoothed(scores: &[f64]) -> SmoothedLaw {
    let factor = BANDWIDTH_FACTOR_CLASSIFICATION;
    let bandwidth = Bandwidth::scott(scores, factor, BANDWIDTH_FLOOR).unwrap();
    let law = WeightedEmpirical::uniform(scores).unwrap();
    SmoothedLaw::new(law, bandwidth, Support::Bounded(Interval::UNIT)).unwrap()
}

/// Thm A.6 holds with probability `1 - 2d` for the true density of `P`; the library knows only an estimate of it (atoms
/// or kernels on a grid), which the theorem does not speak about. This checks that the bound as computed keeps the
/// promise: a uniform band over CDFs leaves an average over them room to spare. Uncorrected, the averages miss the
/// true gap far more often than `2d` (they estimate it, and half of all estimates are low), so the check can fail.
#[test]
fn corrected_labeled_bounds_hold_as_often_as_promised() {
    let (n, m) = (100, 80);
    let grid = Grid::new(Interval::UNIT, 200).unwrap();
    let alpha = Miscoverage::new(0.1).unwrap();
    for (p_power, q_power) in SHIFTS {
        let truth = true_total_gap(p_power, q_power);
        for d in [0.05, 0.2] {
            let d = FailureProbability::new(d).unwrap();
            let correction = DkwCorrection::new(f64::from(n), f64::from(m), d).unwrap();
            let mut misses = [0u64; 4];
            let mut uncorrected_misses = 0;
            for draw in 0..DRAWS {
                let mut stream = Seed::new(13).child("labeled", draw).stream("scores");
                let scores = power_scores(&mut stream, n as usize, p_power);
                let q = power_scores(&mut stream, m as usize, q_power);
                let (p, q) = (smoothed(&scores), WeightedEmpirical::uniform(&q).unwrap());
                let expectation = integrated_gap(p.law(), &q, &Integrator::atoms(p.law()));
                uncorrected_misses += u64::from(expectation.value < truth);
                let at = labeled_gap_at(p.law(), &q, alpha);
                let t = p.law().quantile(alpha.level());
                let truth_at = (t.powf(1.0 / p_power) - t.powf(1.0 / q_power)).abs();
                let bounds = [
                    (expectation, truth),
                    (integrated_gap(p.law(), &q, &Integrator::density(&p, &grid).unwrap()), truth),
                    (wasserstein_gap(&p, &q, &grid).unwrap(), truth),
                    (at, truth_at),
                ];
                for (misses, (bound, truth)) in misses.iter_mut().zip(bounds) {
                    *misses += u64::from(bound.with_correction(correction).corrected() < truth);
                }
            }
            let most = (1.0 - correction.confidence()) * DRAWS as f64;
            assert!(misses.iter().all(|misses| (*misses as f64) <= most), "{misses:?} of {DRAWS}");
            assert!(uncorrected_misses > DRAWS / 5, "{uncorrected_misses} of {DRAWS}");
        }
    }
}

/// Target rows: the true label's score is `u^power`, the rest of the probability is spread over three other labels.
/// A rule leaves only the true label possible in nine rows of ten, so that the sandwich is tight enough to fail.
fn target_rows(stream: &mut Stream, rows: usize, power: f64) -> (Vec<f64>, Vec<usize>, LabelMask) {
    let (mut values, mut labels, mut allowed) = (Vec::new(), Vec::new(), Vec::new());
    for score in power_scores(stream, rows, power) {
        let label = stream.below(4);
        let shares: Vec<f64> = (0..3).map(|_| 0.01 + stream.uniform()).collect();
        let total: f64 = shares.iter().sum();
        let mut row: Vec<f64> = shares.iter().map(|share| score * share / total).collect();
        row.insert(label, 1.0 - score);
        values.extend(row);
        let ruled = stream.uniform() < 0.9;
        allowed.extend((0..4).map(|y| !ruled || y == label));
        labels.push(label);
    }
    (values, labels, LabelMask::new(allowed, 4).unwrap())
}

#[test]
fn corrected_unlabeled_min_max_bounds_hold_as_often_as_promised() {
    let (n, m) = (100, 80);
    let grid = Grid::new(Interval::UNIT, 200).unwrap();
    let alpha = Miscoverage::new(0.2).unwrap();
    let d = FailureProbability::new(0.1).unwrap();
    for (p_power, q_power) in SHIFTS {
        let truth = true_total_gap(p_power, q_power);
        let mut misses = [0u64; 4];
        let mut exact_misses = [0u64; 2];
        let (mut interval_misses, mut narrow_misses) = (0u64, 0u64);
        let mut mean_bound = 0.0;
        for draw in 0..DRAWS {
            let mut stream = Seed::new(14).child("unlabeled", draw).stream("scores");
            let scores = power_scores(&mut stream, n, p_power);
            let p = smoothed(&scores);
            let (values, labels, mask) = target_rows(&mut stream, m, q_power);
            let candidates =
                Score::Lac.candidate_scores(&Probabilities::new(&values, 4).unwrap()).unwrap();
            let q = WeightedEmpirical::uniform(&candidates.at_labels(&labels).unwrap()).unwrap();
            let pair = min_max(&candidates.with_mask(mask).unwrap()).unwrap();
            let correction = DkwCorrection::for_sandwich(n as f64, &pair, d).unwrap();

            let atoms = Integrator::atoms(p.law());
            let expectation = integrated_gap_between(p.law(), &pair, &atoms);
            assert!(integrated_gap(p.law(), &q, &atoms).value <= expectation.value + 1e-12);
            mean_bound += expectation.value / DRAWS as f64;
            let t = p.law().quantile(alpha.level());
            let (f_p, f_q) = (t.powf(1.0 / p_power), t.powf(1.0 / q_power));
            let bounds = [
                (expectation, truth),
                (
                    integrated_gap_between(
                        p.law(),
                        &pair,
                        &Integrator::density(&p, &grid).unwrap(),
                    ),
                    truth,
                ),
                (wasserstein_gap_between(&p, &pair, &grid).unwrap(), truth),
                (unlabeled_gap_at(p.law(), &pair, alpha), (f_p - f_q).abs()),
            ];
            for (misses, (bound, truth)) in misses.iter_mut().zip(bounds) {
                *misses += u64::from(bound.with_correction(correction).corrected() < truth);
            }

            // Scores are continuous, so that both gaps of the laws are one number.
            let exact = [exact_gap_between(p.law(), &pair), level_gap_between(p.law(), &pair)];
            for (misses, bound) in exact_misses.iter_mut().zip(exact) {
                *misses += u64::from(bound + correction.calibration + correction.target < truth);
            }

            let threshold = conformal_threshold(p.law(), TestMass::exchangeable(n), alpha);
            let coverage = threshold.get().min(1.0).powf(1.0 / q_power);
            let misses = |confidence| {
                let found = coverage_interval(&pair, threshold, confidence).unwrap();
                u64::from(!(found.low..=found.high).contains(&coverage))
            };
            interval_misses += misses(Some(d));
            narrow_misses += misses(None);
        }
        let most = 2.0 * d.get() * DRAWS as f64;
        assert!(misses.iter().all(|misses| (*misses as f64) <= most), "{misses:?} of {DRAWS}");
        assert!(exact_misses.iter().all(|misses| (*misses as f64) <= most), "{exact_misses:?}");
        // The interval answers for one sample only, hence d and not 2d; for the law behind the rows it needs widening.
        assert!(interval_misses as f64 <= d.get() * DRAWS as f64, "{interval_misses} of {DRAWS}");
        assert!(narrow_misses as f64 > d.get() * DRAWS as f64, "{narrow_misses} of {DRAWS}");
        assert!(mean_bound < truth + 0.2, "{mean_bound} says nothing about {truth}");
    }
}

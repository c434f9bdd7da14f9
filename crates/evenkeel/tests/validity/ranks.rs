//! Split conformal prediction: ranks in exact arithmetic, coverage in simulation.

use evenkeel::level::Miscoverage;
use evenkeel::measure::{WeightedEmpirical, Weights};
use evenkeel::score::{Aps, Labels, Probabilities, Randomisation, Score};
use evenkeel::seed::{Seed, Stream};
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};

const PERCENTS: [usize; 5] = [1, 5, 10, 20, 50];

/// Asserts that the threshold of `n` equally weighted scores `1, 2, .., n` is `ceil((n + 1)(1 - alpha))`, in whole
/// numbers; infinite if that exceeds `n`.
fn assert_rank(law: &WeightedEmpirical, n: usize, percent: usize) {
    let rank = ((n + 1) * (100 - percent)).div_ceil(100);
    let expected = if rank <= n { Threshold::Finite(rank as f64) } else { Threshold::AllLabels };
    let alpha = Miscoverage::new(percent as f64 / 100.0).unwrap();
    let found = conformal_threshold(law, TestMass::exchangeable(n), alpha);
    assert_eq!(found, expected, "n = {n}, alpha = {alpha:?}");
}

fn descending(n: usize) -> Vec<f64> {
    (1..=n).rev().map(|rank| rank as f64).collect()
}

#[test]
fn split_thresholds_have_the_exact_rank_for_every_small_sample() {
    for n in 1..=2000 {
        let scores = descending(n);
        let uniform = WeightedEmpirical::uniform(&scores).unwrap();
        let scaled = Weights::normalised(vec![7.3; n]).unwrap();
        let scaled = WeightedEmpirical::new(&scores, &scaled).unwrap();
        for percent in PERCENTS {
            assert_rank(&uniform, n, percent);
            assert_rank(&scaled, n, percent);
        }
    }
}

/// A plain running sum over that many weights drifts by up to 1e-11, ten times the slack of a quantile: without
/// compensation the threshold at n = 1 599 999 is one rank too high at four of these rates.
#[test]
fn split_thresholds_have_the_exact_rank_for_a_million_scores() {
    for n in [999_999, 1_000_000, 1_599_999] {
        let scores = descending(n);
        let uniform = WeightedEmpirical::uniform(&scores).unwrap();
        let softmax = Weights::softmax(vec![-3.7; n]).unwrap();
        let softmax = WeightedEmpirical::new(&scores, &softmax).unwrap();
        for percent in PERCENTS {
            assert_rank(&uniform, n, percent);
            assert_rank(&softmax, n, percent);
        }
    }
}

/// What the mean coverage of split conformal sets may deviate by.
///
/// With continuous scores the coverage given the calibration set is `Beta(k, n + 1 - k)`, `k = ceil((n + 1)(1 - alpha))`,
/// so the share covered among `m` test points is beta-binomial over `m`: mean `k / (n + 1)` and variance
/// `p (1 - p) / m * (1 + (m - 1) / (n + 2))`. The band is four standard errors of the mean of the repetitions.
struct Band {
    mean: f64,
    four_errors: f64,
}

impl Band {
    fn new(n: usize, m: usize, percent: usize, repetitions: u64) -> Self {
        let (size, points) = (n as f64, m as f64);
        let mean = ((n + 1) * (100 - percent)).div_ceil(100) as f64 / (size + 1.0);
        let variance = mean * (1.0 - mean) / points * (1.0 + (points - 1.0) / (size + 2.0));
        Self { mean, four_errors: 4.0 * (variance / repetitions as f64).sqrt() }
    }
}

/// Rows of a four-class classifier that is only roughly right: labels are drawn from a blurred version of its beliefs.
fn classifier_rows(stream: &mut Stream, rows: usize) -> (Vec<f64>, Vec<usize>) {
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let raw: Vec<f64> = (0..4).map(|_| (3.0 * stream.uniform()).exp()).collect();
        let total: f64 = raw.iter().sum();
        let row: Vec<f64> = raw.iter().map(|value| value / total).collect();
        let mut left = stream.uniform();
        let label = row.iter().position(|p| {
            left -= 0.7 * p + 0.3 * 0.25;
            left < 0.0
        });
        labels.push(label.unwrap_or(3));
        values.extend(row);
    }
    (values, labels)
}

#[test]
fn split_conformal_covers_exchangeable_points_as_often_as_promised() {
    let (n, m, repetitions) = (50, 25, 4000);
    for name in ["lac", "aps", "margin"] {
        let mut covered = [0usize; PERCENTS.len()];
        for repetition in 0..repetitions {
            let seed = Seed::new(11).child(name, repetition);
            let (values, labels) = classifier_rows(&mut seed.stream("rows"), n + m);
            let score = match name {
                "lac" => Score::Lac,
                "margin" => Score::Margin,
                // Deterministic scores of the last-ranked label tie at 1; a drawn share breaks the ties.
                _ => Score::Aps(Aps { randomisation: Randomisation::Uniform(seed) }),
            };
            let table = Probabilities::new(&values, 4).unwrap();
            let scores = score.label_scores(&table, &Labels::new(labels, 4).unwrap()).unwrap();
            let law = WeightedEmpirical::uniform(&scores[..n]).unwrap();
            for (count, percent) in covered.iter_mut().zip(PERCENTS) {
                let alpha = Miscoverage::new(percent as f64 / 100.0).unwrap();
                let threshold = conformal_threshold(&law, TestMass::exchangeable(n), alpha);
                *count += scores[n..].iter().filter(|score| threshold.admits(**score)).count();
            }
        }
        for (count, percent) in covered.into_iter().zip(PERCENTS) {
            let coverage = count as f64 / (repetitions as usize * m) as f64;
            let band = Band::new(n, m, percent, repetitions);
            assert!(
                (coverage - band.mean).abs() <= band.four_errors,
                "{name} at {percent} %: {coverage}, expected {} +- {}",
                band.mean,
                band.four_errors
            );
        }
    }
}

/// Ties can only add coverage.
#[test]
fn split_conformal_covers_tied_scores_at_least_as_often_as_promised() {
    let (n, m, repetitions) = (30, 25, 4000);
    let mut covered = [0usize; PERCENTS.len()];
    for repetition in 0..repetitions {
        let mut stream = Seed::new(12).child("ties", repetition).stream("scores");
        let scores: Vec<f64> = (0..n + m).map(|_| (stream.uniform() * 6.0).floor()).collect();
        let law = WeightedEmpirical::uniform(&scores[..n]).unwrap();
        for (count, percent) in covered.iter_mut().zip(PERCENTS) {
            let alpha = Miscoverage::new(percent as f64 / 100.0).unwrap();
            let threshold = conformal_threshold(&law, TestMass::exchangeable(n), alpha);
            *count += scores[n..].iter().filter(|score| threshold.admits(**score)).count();
        }
    }
    for (count, percent) in covered.into_iter().zip(PERCENTS) {
        let coverage = count as f64 / (repetitions as usize * m) as f64;
        let band = Band::new(n, m, percent, repetitions);
        assert!(coverage >= band.mean - band.four_errors, "{percent} %: {coverage}");
    }
}

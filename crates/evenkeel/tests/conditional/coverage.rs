//! The guarantee itself: coverage in each of two groups whose scores differ five times in scale.
//!
//! Groups are told apart by a feature 1 apart, so the kernel between them is `exp(-12.5)`, about 4e-6, and a function that is
//! constant on each group is in the span. For `f = K(x_group, .)` the theorem of the authors reads
//!
//! ```text
//! coverage(group) = 1 - alpha - lambda g(x_group) / P(group) + (interpolation, between 0 and about 1 / n_group)
//! ```
//! With scores up to 1 in size, `lambda = 0.005` and `P(hard) = 1/4` the penalty costs at most 2 points.

use evenkeel::level::Miscoverage;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::conditional::{ConditionalModel, ConditionalSettings};
use evenkeel::rows::Rows;
use evenkeel::seed::{Seed, Stream};
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};

const N: usize = 160;
const TESTS: usize = 200;
const TRIALS: u64 = 150;
const ALPHA: f64 = 0.1;
const SCALE: [f64; 2] = [0.2, 1.0];

/// One point in four is hard; its score is uniform up to 1 instead of 0.2.
fn draw(stream: &mut Stream, count: usize) -> (Vec<f64>, Vec<f64>) {
    (0..count)
        .map(|_| {
            let hard = stream.uniform() < 0.25;
            let score = stream.uniform() * SCALE[usize::from(hard)];
            (if hard { 1.0 } else { 0.0 }, score)
        })
        .unzip()
}

/// Share of covered test points in each group under split and conditional conformal prediction.
fn coverages() -> ([f64; 2], [f64; 2]) {
    let alpha = Miscoverage::new(ALPHA).unwrap();
    let (mut split_hits, mut conditional_hits, mut counts) = ([0.0; 2], [0.0; 2], [0.0; 2]);
    for trial in 0..TRIALS {
        let mut stream = Seed::new(trial).stream("two groups");
        let (features, scores) = draw(&mut stream, N);
        let (test_features, test_scores) = draw(&mut stream, TESTS);
        let law = WeightedEmpirical::uniform(&scores).unwrap();
        let split = conformal_threshold(&law, TestMass::exchangeable(N), alpha);
        let calibration = Rows::new("features", &features, 1).unwrap();
        let model = ConditionalModel::fit(calibration, &scores, &ConditionalSettings::default());
        // All test points of a group have the same features, so two programs serve them all.
        let groups = Rows::new("test features", &[0.0, 1.0], 1).unwrap();
        let cutoffs: Vec<Threshold> = model.unwrap().cutoffs(groups, alpha).unwrap();
        for (feature, score) in test_features.iter().zip(&test_scores) {
            let group = usize::from(*feature > 0.5);
            counts[group] += 1.0;
            split_hits[group] += f64::from(u8::from(split.admits(*score)));
            conditional_hits[group] += f64::from(u8::from(cutoffs[group].admits(*score)));
        }
    }
    let share = |hits: [f64; 2]| [hits[0] / counts[0], hits[1] / counts[1]];
    (share(split_hits), share(conditional_hits))
}

#[test]
fn each_group_is_covered_where_split_conformal_fails_the_hard_one() {
    let (split, conditional) = coverages();
    // Split conformal meets 90 % on average: all of the easy group, 60 % of the hard one (0.75 + 0.25 * 0.6 = 0.9).
    assert!(split[1] < 0.66, "split conformal covers the hard group: {split:?}");
    // A trial's coverage of the hard group scatters by about sqrt(0.09 / 40) from its calibration points and
    // sqrt(0.09 / 50) from its test points: 0.064, over 150 trials 0.0052. Four of them are 0.021.
    let band = 4.0 * ((0.09f64 / 40.0 + 0.09 / 50.0) / TRIALS as f64).sqrt();
    let penalty = 0.005 * SCALE[1] / 0.25;
    for (group, coverage) in conditional.into_iter().enumerate() {
        let (low, high) = (1.0 - ALPHA - penalty - band, 1.0 - ALPHA + 1.0 / 40.0 + penalty + band);
        assert!(
            (low..=high).contains(&coverage),
            "group {group}: {coverage}, not in [{low}, {high}]"
        );
    }
}

//! Label shift: recovered shares, coverage, and what is refused.

use crate::draws::{Mean, normal};
use evenkeel::error::Error;
use evenkeel::level::Miscoverage;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::label_shift::{
    EmSettings, EmStop, LabelShiftMethod, LabelWeights, MOST_CONDITION, black_box_shift,
    expectation_maximisation, predicted_labels,
};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::{Seed, Stream};
use evenkeel::threshold::{TestMass, conformal_threshold};

const CLASSES: usize = 3;
const YESTERDAY: [f64; CLASSES] = [0.6, 0.3, 0.1];
const TODAY: [f64; CLASSES] = [0.15, 0.25, 0.6];

/// Points of three Gaussian classes and the Bayes classifier of calibration class shares: calibrated, and its errors
/// differ by class.
fn world(stream: &mut Stream, shares: [f64; CLASSES], rows: usize) -> (Vec<f64>, Vec<usize>) {
    let centre = |label: usize| [0.0, 1.5, 3.0][label];
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let mut left = stream.uniform();
        let label = shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        let label = label.unwrap_or(CLASSES - 1);
        let x = centre(label) + normal(stream);
        let raw: Vec<f64> =
            (0..CLASSES).map(|y| YESTERDAY[y] * (-(x - centre(y)).powi(2) / 2.0).exp()).collect();
        let total: f64 = raw.iter().sum();
        values.extend(raw.iter().map(|p| p / total));
        labels.push(label);
    }
    (values, labels)
}

fn labels(labels: Vec<usize>) -> Labels {
    Labels::new(labels, CLASSES).unwrap()
}

fn estimates(seed: u64, n: usize, m: usize) -> (LabelWeights, LabelWeights) {
    let mut stream = Seed::new(seed).stream("label-shift");
    let (old, old_labels) = world(&mut stream, YESTERDAY, n);
    let (new, _) = world(&mut stream, TODAY, m);
    let old = Probabilities::new(&old, CLASSES).unwrap();
    let new = Probabilities::new(&new, CLASSES).unwrap();
    let old_labels = labels(old_labels);
    let bbse =
        black_box_shift(&predicted_labels(&old), &old_labels, &predicted_labels(&new), CLASSES);
    let em = expectation_maximisation(&old_labels, &new, EmSettings::default());
    (bbse.unwrap(), em.unwrap())
}

/// Shares of predictions have standard errors of at most `0.5 / sqrt(m)` the target data and `0.5 / sqrt(n P(y))` in the column of
/// class `y`; the condition multiplies them. The band is four times that sum; EM, which sees whole probabilities, has
/// smaller errors.
#[test]
fn both_estimates_recover_a_known_shift() {
    let points = 400_000;
    let (bbse, em) = estimates(41, points, points);
    let LabelShiftMethod::BlackBox { condition } = bbse.evidence().method else {
        panic!("another method");
    };
    let size = points as f64;
    let columns = TODAY.iter().zip(YESTERDAY).map(|(q, p)| q * 0.5 / (size * p).sqrt());
    let band = 4.0 * condition * (0.5 / size.sqrt() + columns.sum::<f64>());
    assert!(band < 0.07, "the shift moves shares by up to 0.5");
    for (name, weights) in [("bbse", &bbse), ("em", &em)] {
        for (class, expected) in TODAY.iter().enumerate() {
            let share = weights.evidence().target_shares[class];
            assert!((share - expected).abs() < band, "{name}: {:?}", weights.evidence());
            let ratio = share / weights.evidence().calibration_shares[class];
            assert_eq!(weights.ratios()[class], ratio, "{name}");
        }
    }
    assert!(matches!(
        bbse.evidence().method,
        LabelShiftMethod::BlackBox { condition } if condition > 1.0 && condition < 20.0
    ));
    assert!(matches!(
        em.evidence().method,
        LabelShiftMethod::ExpectationMaximisation { stopped: EmStop::Converged, .. }
    ));
    assert!(bbse.evidence().clipped.is_empty());
}

/// With the true class shares the guarantee is exact: coverage at least 90 %, at most that plus the largest share of
/// a point; with estimated ones (600 points) it must stay near. Bands are four standard errors of the mean.
#[test]
fn weights_by_label_cover_where_split_conformal_does_not() {
    let (n, tests, repetitions) = (600, 50, 600);
    let alpha = Miscoverage::new(0.1).unwrap();
    let known = LabelWeights::given(YESTERDAY.to_vec(), TODAY.to_vec()).unwrap();
    let mut covered: [Vec<f64>; 4] = Default::default();
    for repetition in 0..repetitions {
        let mut stream = Seed::new(42).child("coverage", repetition).stream("points");
        let (old, old_labels) = world(&mut stream, YESTERDAY, n);
        let (new, new_labels) = world(&mut stream, TODAY, n);
        let (test, test_labels) = (&new[..tests * CLASSES], &new_labels[..tests]);
        let old = Probabilities::new(&old, CLASSES).unwrap();
        let unlabeled = Probabilities::new(&new, CLASSES).unwrap();
        let old_labels = labels(old_labels);
        let scores = Score::Lac.label_scores(&old, &old_labels).unwrap();
        let bbse = black_box_shift(
            &predicted_labels(&old),
            &old_labels,
            &predicted_labels(&unlabeled),
            CLASSES,
        );
        let em = expectation_maximisation(&old_labels, &unlabeled, EmSettings::default());
        let law = WeightedEmpirical::uniform(&scores).unwrap();
        let split = conformal_threshold(&law, TestMass::exchangeable(n), alpha);
        let thresholds = [known.clone(), bbse.unwrap(), em.unwrap()].map(|weights| {
            let weighted = weights.weigh(&scores, &old_labels).unwrap();
            weights.class_thresholds(&weighted, alpha).unwrap()
        });
        let all = thresholds.iter().chain([&vec![split; CLASSES]]).cloned().collect::<Vec<_>>();
        for (covered, thresholds) in covered.iter_mut().zip(&all) {
            let pairs = test.chunks_exact(CLASSES).zip(test_labels);
            let inside = pairs.filter(|(row, y)| thresholds[**y].admits(1.0 - row[**y])).count();
            covered.push(inside as f64 / tests as f64);
        }
    }
    let [known, bbse, em, split] = covered.map(|each| Mean::of(&each));
    // The largest weight is 6 of a mean of 1 over 600 points: 0.01.
    let within = |mean: &Mean, slack: f64| {
        mean.value >= 0.9 - slack - 4.0 * mean.error
            && mean.value <= 0.91 + slack + 4.0 * mean.error
    };
    assert!(within(&known, 0.0), "known shares covered {}", known.value);
    assert!(within(&bbse, 0.01), "BBSE covered {}", bbse.value);
    assert!(within(&em, 0.01), "EM covered {}", em.value);
    assert!(split.value < 0.85, "split conformal covered {}", split.value);
}

#[test]
fn a_singular_confusion_matrix_is_reported_with_its_class() {
    // Classes 0 and 1 are predicted alike.
    let truth = labels(vec![0, 0, 1, 1, 2, 2]);
    let error = black_box_shift(&[0, 1, 0, 1, 2, 2], &truth, &[0, 1, 2], CLASSES).unwrap_err();
    assert!(
        matches!(error, Error::SingularConfusion { class: 1, condition, most }
            if condition.is_infinite() && (most - MOST_CONDITION).abs() < 1e-9),
        "{error}"
    );
    // A class that is never predicted leaves a row of zeros.
    let error = black_box_shift(&[0, 0, 1, 1, 1, 1], &truth, &[0, 1, 2], CLASSES).unwrap_err();
    assert!(matches!(error, Error::SingularConfusion { .. }), "{error}");
}

#[test]
fn an_ill_conditioned_matrix_is_reported_with_its_condition() {
    // 5000 points a class; classes 0 and 1 differ by one prediction: columns (.5, .5) and (.5002, .4998).
    let (mut predicted, mut truth) = (Vec::new(), Vec::new());
    for (label, first) in [(0, 2500), (1, 2501)] {
        predicted.extend((0..5000).map(|i| usize::from(i >= first)));
        truth.extend(vec![label; 5000]);
    }
    let truth = Labels::new(truth, 2).unwrap();
    let error = black_box_shift(&predicted, &truth, &[0, 1], 2).unwrap_err();
    assert!(
        matches!(error, Error::SingularConfusion { condition, .. }
            if (condition - 5001.0).abs() < 1.0),
        "{error}"
    );
    assert!(error.to_string().contains("EM"), "{error}");
}

#[test]
fn negative_shares_are_clipped_and_named() {
    // Class 1 is predicted rightly 80 % of the time and class 0 always; the target data only 0 is predicted less than class 1 explains.
    let mut predicted = vec![0; 10];
    predicted.extend([1, 1, 1, 1, 1, 1, 1, 1, 0, 0]);
    let mut truth = vec![0; 10];
    truth.extend(vec![1; 10]);
    let truth = Labels::new(truth, 2).unwrap();
    let weights = black_box_shift(&predicted, &truth, &[1; 10], 2).unwrap();
    assert_eq!(weights.evidence().clipped, [0]);
    assert_eq!(weights.evidence().target_shares, [0.0, 1.0]);
    assert_eq!(weights.ratios(), [0.0, 2.0]);
}

#[test]
fn em_stops_with_a_reason_and_never_lowers_the_likelihood() {
    let mut stream = Seed::new(43).stream("em");
    let (new, _) = world(&mut stream, TODAY, 3000);
    let target = Probabilities::new(&new, CLASSES).unwrap();
    let truth = labels(
        (0..1000)
            .map(|i| {
                if i < 600 {
                    0
                } else if i < 900 {
                    1
                } else {
                    2
                }
            })
            .collect(),
    );
    let log_likelihood = |shares: &[f64]| -> f64 {
        let row = |row: &[f64]| {
            let terms = row.iter().zip(shares).zip(YESTERDAY);
            terms.map(|((p, q), prior)| p * q / prior).sum::<f64>().ln()
        };
        new.chunks_exact(CLASSES).map(row).sum()
    };
    let mut before = f64::NEG_INFINITY;
    for most_iterations in [0, 1, 2, 5, 20, 10_000] {
        let settings = EmSettings { most_iterations, ..EmSettings::default() };
        let weights = expectation_maximisation(&truth, &target, settings).unwrap();
        let now = log_likelihood(&weights.evidence().target_shares);
        assert!(now >= before - 1e-9, "{most_iterations}: {now} after {before}");
        before = now;
        let LabelShiftMethod::ExpectationMaximisation { iterations, stopped } =
            weights.evidence().method
        else {
            panic!("another method");
        };
        assert!(iterations <= most_iterations);
        assert_eq!(stopped == EmStop::Converged, most_iterations == 10_000);
    }
}

#[test]
fn label_weights_are_the_same_after_a_file() {
    let (bbse, em) = estimates(44, 500, 500);
    for weights in [bbse, em] {
        let text = serde_json::to_string(&weights).unwrap();
        assert_eq!(serde_json::from_str::<LabelWeights>(&text).unwrap(), weights);
    }
}

//! `auto` where the truth is known: no harm without a shift, no cliff as one grows, and help where it is meant to help.

use crate::world::{CLASSES, Sample, sample};
use crate::{alpha, collapsed, with_class_shares};
use evenkeel::calibration::{Calibration, Evidence};
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::auto::{Chosen, Decision};
use evenkeel::seed::{Seed, Stream};
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};

/// The default method, as every user gets it.
fn run(labeled: &Sample, target: &Sample, seed: u64) -> Calibration {
    let calibrator = ShiftCalibrator::new(0.1).unwrap().seed(seed);
    calibrator
        .calibrate(&labeled.probabilities(), &labeled.labels(), &target.probabilities())
        .unwrap()
}

fn decision(calibration: &Calibration) -> Decision {
    match &calibration.learned().evidence {
        Some(Evidence::Auto(decision)) => (**decision).clone(),
        other => panic!("{other:?} should be a decision"),
    }
}

fn uncorrected(labeled: &Sample) -> Threshold {
    let law = WeightedEmpirical::uniform(&labeled.scores()).unwrap();
    conformal_threshold(&law, TestMass::exchangeable(labeled.scores().len()), alpha(0.1))
}

/// Coverage of `auto` and of split conformal prediction on labeled points of the target data, and whether the test rejected.
fn outcome(labeled: &Sample, target: &Sample, test: &Sample, seed: u64) -> (f64, f64, bool) {
    let found = run(labeled, target, seed);
    let law = WeightedEmpirical::uniform(&test.scores()).unwrap();
    let (chosen, split) = (found.threshold(None).unwrap(), uncorrected(labeled));
    (law.cdf(chosen.get()), law.cdf(split.get()), decision(&found).rejected)
}

/// Means over days of `(coverage, uncorrected coverage, rejections)`.
fn means(days: u64, day: impl Fn(u64) -> [Sample; 3]) -> (f64, f64, f64) {
    let mut sums = (0.0, 0.0, 0.0);
    for index in 0..days {
        let [labeled, target, test] = day(index);
        let (chosen, split, rejected) = outcome(&labeled, &target, &test, index);
        sums.0 += chosen / days as f64;
        sums.1 += split / days as f64;
        sums.2 += f64::from(u8::from(rejected)) / days as f64;
    }
    sums
}

/// Nothing changed: the false-alarm rate is the level, and coverage its own.
#[test]
fn without_a_shift_nothing_is_lost() {
    let days = 400;
    let (coverage, _, rejected) = means(days, |day| {
        [sample(300, 1.0, day), sample(300, 1.0, 10_000 + day), sample(1500, 1.0, 20_000 + day)]
    });
    // A day's coverage has a standard deviation of 1.9 points, the mean of one tenth.
    assert!((coverage - 0.9).abs() < 0.015, "{coverage}");
    // 0.05 expected, standard deviation 0.011.
    assert!((rejected - 0.05).abs() < 0.044, "{rejected}");
}

/// As the signal fades coverage falls slowly, without a cliff where the test begins to reject.
#[test]
fn coverage_has_no_cliff() {
    let coverages: Vec<(f64, f64)> = (0..=8)
        .map(|step| {
            let strength = 1.0 - 0.05 * f64::from(step);
            let (chosen, split, _) = means(40, |day| {
                [
                    sample(300, 1.0, 100 + day),
                    sample(300, strength, 1100 + day),
                    sample(1500, strength, 2100 + day),
                ]
            });
            (chosen, split)
        })
        .collect();
    for pair in coverages.windows(2) {
        assert!((pair[0].0 - pair[1].0).abs() < 0.035, "{coverages:?}");
    }
    for (chosen, split) in &coverages {
        assert!(*chosen > split - 0.01, "{coverages:?}");
    }
    // At signal 0.6 split conformal prediction has lost 24 points, `auto` a third of that.
    let (chosen, split) = coverages[8];
    assert!(split < 0.7 && chosen - split > 0.12, "{coverages:?}");
}

/// The model leans toward few classes although the labels are as frequent as ever: what the plan is made for.
#[test]
fn a_collapse_on_few_classes_is_undone() {
    let day = |strength: f64, lean: f64| {
        means(40, |day| {
            [
                sample(300, 1.0, 100 + day),
                collapsed(&sample(300, strength, 1100 + day), lean),
                collapsed(&sample(1500, strength, 2100 + day), lean),
            ]
        })
    };
    let (chosen, split, rejected) = day(0.7, 4.0);
    assert!(rejected > 0.99);
    assert!((chosen - 0.9).abs() < 0.5 * (split - 0.9).abs(), "{chosen} against {split}");
}

/// Classes of other frequencies, confidences unchanged: seen by the test, and answered with caution.
#[test]
fn a_pure_label_shift_is_seen_and_does_not_undercover_much() {
    let shares = [1.0, 1.0, 1.0, 0.5, 0.5, 0.3, 0.2, 0.1, 0.05, 0.05];
    let (chosen, _, rejected) = means(40, |day| {
        [
            sample(300, 1.0, 100 + day),
            with_class_shares(&sample(1300, 1.0, 1100 + day), &shares, 300),
            with_class_shares(&sample(5000, 1.0, 2100 + day), &shares, 1500),
        ]
    });
    assert!(rejected > 0.95, "{rejected}");
    assert!(chosen > 0.87, "{chosen}");
}

fn normal(stream: &mut Stream) -> f64 {
    let (u, v) = (1.0 - stream.uniform(), stream.uniform());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Shares of the classes from a Dirichlet law of this concentration, below one: `Gamma(a) = Gamma(a + 1) U^(1/a)`, and the former as
/// Marsaglia and Tsang draw it.
fn dirichlet(concentration: f64, stream: &mut Stream) -> [f64; CLASSES] {
    let mut gamma = || {
        let d = concentration + 2.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let z = normal(stream);
            let v = (1.0 + c * z).powi(3);
            if v > 0.0 && (1.0 - stream.uniform()).ln() < 0.5 * z * z + d - d * v + d * v.ln() {
                return d * v * (1.0 - stream.uniform()).powf(1.0 / concentration);
            }
        }
    };
    let raw: [f64; CLASSES] = std::array::from_fn(|_| gamma());
    let total: f64 = raw.iter().sum();
    raw.map(|value| value / total)
}

/// One or two classes make up most of the target data: no worse than doing nothing by more than a point and a half.
#[test]
fn an_extreme_label_shift_does_no_harm() {
    let mut stream = Seed::new(7).stream("dirichlet");
    let (mut chosen_error, mut split_error) = (0.0, 0.0);
    let days = 60;
    for day in 0..days {
        let shares = dirichlet(0.1, &mut stream);
        // Largest share one: every row of that class is taken.
        let largest = shares.iter().fold(0.0_f64, |largest, share| largest.max(*share));
        let kept = shares.map(|share| share / largest);
        let target = with_class_shares(&sample(4000, 1.0, 1100 + day), &kept, 300);
        let test = with_class_shares(&sample(12_000, 1.0, 2100 + day), &kept, 1000);
        let (chosen, split, _) = outcome(&sample(300, 1.0, 100 + day), &target, &test, day);
        chosen_error += (chosen - 0.9).abs() / days as f64;
        split_error += (split - 0.9).abs() / days as f64;
    }
    assert!(chosen_error <= split_error + 0.015, "{chosen_error} against {split_error}");
}

#[test]
fn the_decision_says_what_was_done_and_why() {
    let calm = decision(&run(&sample(300, 1.0, 1), &sample(300, 1.0, 2), 0));
    assert_eq!(
        (calm.chosen, calm.rejected, calm.plan.is_none()),
        (Chosen::Uncorrected, false, true)
    );
    let words = calm.to_string();
    assert!(
        words.starts_with("No change was found") && words.contains("300 target points"),
        "{words}"
    );

    let shifted = run(&sample(300, 1.0, 1), &collapsed(&sample(300, 0.6, 2), 3.0), 0);
    let stormy = decision(&shifted);
    assert_eq!((stormy.chosen, stormy.rejected), (Chosen::LabelPlan, true));
    let words = stormy.to_string();
    assert!(words.starts_with("A change was found") && words.contains("This assumes"), "{words}");
    assert_eq!(shifted.account(), Some(words));
    assert_eq!(
        shifted.learned().bound_after,
        stormy.plan.as_ref().map(|plan| plan.certificate.value)
    );
    let json = serde_json::to_string(&stormy).unwrap();
    assert_eq!(serde_json::from_str::<Decision>(&json).unwrap(), stormy);
    assert!(json.contains("\"chosen\":\"label-plan\""));
}

/// There is one `auto`, and its seed is the calibrator's: a check of many points on both sides decides alike, and where both
/// find a shift, they find the same numbers. Where there is none, `auto` may have stopped before all relabelings were drawn.
#[test]
fn a_check_and_auto_make_the_same_test() {
    use evenkeel::check::{CheckSettings, check};
    use evenkeel::level::FailureProbability;
    use evenkeel::score::Score;
    use evenkeel::seed::Seed;

    let (labeled, seeds) = (sample(12_000, 1.0, 1), [0, 7]);
    for (seed, sharpness) in seeds.into_iter().flat_map(|seed| [(seed, 0.999), (seed, 0.9)]) {
        let target = sample(11_000, sharpness, 2);
        let found = decision(&run(&labeled, &target, seed)).test;
        let delta = FailureProbability::new(0.05).unwrap();
        let settings = CheckSettings::new(alpha(0.1), delta, Seed::new(seed));
        let (before, after) = (labeled.probabilities(), target.probabilities());
        let report = check(&before, &labeled.labels(), &after, &Score::Lac, &settings);
        let report = report.unwrap().report;
        assert_eq!(report.shift.detected, found.rejects(delta));
        assert_eq!(report.shift.detected, sharpness < 0.95);
        if report.shift.detected {
            assert_eq!(
                (report.shift.p_value, report.shift.statistic),
                (found.p_value, found.statistic)
            );
        } else {
            assert!(found.permutations <= report.shift.permutations);
        }
    }
}

//! Evaluation against plain loops, and against the golden counts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

use evenkeel::conformal::{LabelSets, label_scores_of_rows, predict_rows};
use evenkeel::evaluation::{
    EvaluationCounts, LabelScoreCounts, coverage, coverage_by_class, coverage_by_size, gap_curve,
    percent_rates, set_sizes, total_coverage_gap,
};
use evenkeel::level::Miscoverage;
use evenkeel::measure::{WeightedEmpirical, Weights};
use evenkeel::rows::Rows;
use evenkeel::score::{Labels, Score};
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};
use proptest::prelude::*;
use serde_json::Value;

fn golden(name: &str) -> Value {
    let path = format!("{}/tests/golden/cases/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn golden_coverage_sizes_and_gap() {
    let cases = ["n30_m40_c5", "n300_m300_c10", "wide_bandwidth", "ties", "extreme", "single"];
    for name in cases {
        let case = golden(name);
        let inputs = &case["inputs"];
        let classes = case["C"].as_u64().unwrap() as usize;
        let values: Vec<f64> =
            inputs["probs_q"].as_array().unwrap().iter().flat_map(numbers).collect();
        let labels: Vec<usize> = numbers(&inputs["labels_q"]).iter().map(|y| *y as usize).collect();
        let block = Rows::new("probabilities", &values, classes).unwrap();
        let scores = label_scores_of_rows(0, block, &Score::Lac, &labels).unwrap();
        let q = WeightedEmpirical::uniform(&scores).unwrap();
        let calibration = numbers(&inputs["s_cal"]);

        let log_weights = numbers(&inputs["logw0"]);
        let unnormalised: f64 = log_weights.iter().map(|l| l.exp()).sum();
        let uniform = WeightedEmpirical::uniform(&calibration).unwrap();
        let weights = Weights::softmax(log_weights).unwrap();
        let weighted = WeightedEmpirical::new(&calibration, &weights).unwrap();
        let gap = total_coverage_gap(&weighted, &q);
        assert!((gap - case["labeled"]["expectation"].as_f64().unwrap()).abs() < 1e-12);

        let free_form = TestMass::from_unnormalised(1.0, unnormalised).unwrap();
        let split = TestMass::exchangeable(calibration.len());
        for (kind, law, test) in [("split", &uniform, split), ("free_form", &weighted, free_form)] {
            for (k, alpha) in numbers(&inputs["alphas"]).into_iter().enumerate() {
                let alpha = Miscoverage::new(alpha).unwrap();
                let threshold = conformal_threshold(law, test, alpha);
                let expected = case["thresholds"][kind][k].as_f64();
                assert_eq!(threshold, expected.map_or(Threshold::AllLabels, Threshold::Finite));

                let sets = predict_rows(0, block, &Score::Lac, threshold).unwrap();
                let counts =
                    EvaluationCounts::new(classes).unwrap().add(0, &sets, &labels).unwrap();
                let gap = total_coverage_gap(law, &q);
                let evaluation = counts.finish(alpha, Some(gap)).unwrap();
                let m = labels.len() as f64;
                let count = |share: &Value| (share.as_f64().unwrap() * m).round();
                let sets = &case["sets"][kind];
                assert_eq!(evaluation.n, labels.len() as u64);
                assert_eq!((evaluation.coverage * m).round(), count(&sets["coverage"][k]));
                assert_eq!((evaluation.mean_size * m).round(), count(&sets["mean_size"][k]));
                assert!(
                    (evaluation.coverage - sets["coverage"][k].as_f64().unwrap()).abs() < 1e-15
                );
                assert!((evaluation.coverage - q.cdf(threshold.get())).abs() < 1e-12, "{name}");
            }
        }
    }
}

/// Sets and labels over up to twenty classes.
fn evaluated() -> impl Strategy<Value = (Vec<bool>, Vec<usize>, usize)> {
    (1usize..20, 1usize..60).prop_flat_map(|(classes, rows)| {
        let members = prop::collection::vec(any::<bool>(), rows * classes);
        let labels = prop::collection::vec(0..classes, rows);
        (members, labels, Just(classes))
    })
}

proptest! {
    #[test]
    fn every_number_is_that_of_a_plain_loop((members, labels, classes) in evaluated()) {
        let n = labels.len();
        let sets = LabelSets::from_bools(&members, classes).unwrap();
        let truth = Labels::new(labels.clone(), classes).unwrap();
        let rows: Vec<&[bool]> = members.chunks_exact(classes).collect();
        let mut sizes: Vec<usize> =
            rows.iter().map(|row| row.iter().filter(|member| **member).count()).collect();
        let hits: Vec<bool> = (0..n).map(|row| rows[row][labels[row]]).collect();
        let share = |chosen: &dyn Fn(usize) -> bool| {
            let points: Vec<usize> = (0..n).filter(|row| chosen(*row)).collect();
            let covered = points.iter().filter(|row| hits[**row]).count();
            (!points.is_empty()).then(|| (points.len() as u64, covered as f64 / points.len() as f64))
        };

        prop_assert_eq!(coverage(&sets, &truth).unwrap(), share(&|_| true).unwrap().1);
        let expected: Vec<_> = (0..classes)
            .filter_map(|y| share(&|row| labels[row] == y).map(|(n, share)| (y, n, share)))
            .collect();
        let found = coverage_by_class(&sets, &truth).unwrap();
        prop_assert_eq!(found.iter().map(|c| (c.label, c.n, c.coverage)).collect::<Vec<_>>(), expected);
        let expected: Vec<_> = (0..=classes)
            .filter_map(|size| share(&|row| sizes[row] == size).map(|(n, share)| (size, n, share)))
            .collect();
        let found = coverage_by_size(&sets, &truth).unwrap();
        prop_assert_eq!(found.iter().map(|c| (c.size, c.n, c.coverage)).collect::<Vec<_>>(), expected);

        let found = set_sizes(&sets).unwrap();
        prop_assert_eq!(found.mean, sizes.iter().sum::<usize>() as f64 / n as f64);
        prop_assert_eq!(found.empty, sizes.iter().filter(|size| **size == 0).count() as u64);
        prop_assert_eq!(found.full, sizes.iter().filter(|size| **size == classes).count() as u64);
        sizes.sort_unstable();
        let median = if n % 2 == 1 {
            sizes[n / 2] as f64
        } else {
            (sizes[n / 2 - 1] + sizes[n / 2]) as f64 / 2.0
        };
        prop_assert_eq!(found.median, median);
    }

    #[test]
    fn any_cut_into_blocks_gives_the_same_evaluation(
        (members, labels, classes) in evaluated(),
        scores in prop::collection::vec(-0.2..1.2f64, 60),
        calibration in prop::collection::vec(0.0..1.0f64, 1..30),
        cut in 1usize..20,
    ) {
        let sets = LabelSets::from_bools(&members, classes).unwrap();
        let p = WeightedEmpirical::uniform(&calibration).unwrap();
        let whole = EvaluationCounts::new(classes).unwrap().add(0, &sets, &labels).unwrap();
        let law = LabelScoreCounts::new(&p).add(0, &scores).unwrap();

        let mut in_order = EvaluationCounts::new(classes).unwrap();
        let mut backwards = EvaluationCounts::new(classes).unwrap();
        let blocks = members.chunks(cut * classes).zip(labels.chunks(cut));
        for (members, labels) in blocks.clone() {
            let sets = LabelSets::from_bools(members, classes).unwrap();
            in_order = in_order.add(0, &sets, labels).unwrap();
        }
        for (members, labels) in blocks.rev() {
            let sets = LabelSets::from_bools(members, classes).unwrap();
            let part = EvaluationCounts::new(classes).unwrap().add(0, &sets, labels).unwrap();
            backwards = backwards.merge(&part).unwrap();
        }
        let alpha = Miscoverage::new(0.1).unwrap();
        let expected = whole.finish(alpha, None).unwrap();
        prop_assert_eq!(&in_order.finish(alpha, None).unwrap(), &expected);
        prop_assert_eq!(&backwards.finish(alpha, None).unwrap(), &expected);

        let mut merged = LabelScoreCounts::new(&p);
        for part in scores.chunks(cut).rev() {
            merged = merged.merge(&LabelScoreCounts::new(&p).add(0, part).unwrap()).unwrap();
        }
        prop_assert_eq!(&merged, &law);
    }

    #[test]
    fn counted_scores_have_the_gap_and_the_curve_of_the_scores_themselves(
        scores in prop::collection::vec(-20i32..120, 1..80),
        calibration in prop::collection::vec(0i32..100, 1..40),
        raw in prop::collection::vec(0.01..1.0f64, 40),
    ) {
        // Multiples of 1/64 tie often.
        let grid = |k: &i32| f64::from(*k) / 64.0;
        let scores: Vec<f64> = scores.iter().map(grid).collect();
        let calibration: Vec<f64> = calibration.iter().map(grid).collect();
        let weights = Weights::normalised(raw[..calibration.len()].to_vec()).unwrap();
        let p = WeightedEmpirical::new(&calibration, &weights).unwrap();
        let q = WeightedEmpirical::uniform(&scores).unwrap();
        let counted = LabelScoreCounts::new(&p).add(0, &scores).unwrap().law().unwrap();

        let share_below = |t: f64| {
            scores.iter().filter(|score| **score <= t).count() as f64 / scores.len() as f64
        };
        let gap: f64 = p
            .atoms()
            .iter()
            .zip(p.masses())
            .map(|(atom, mass)| mass * (p.cdf(*atom) - share_below(*atom)).abs())
            .sum();
        prop_assert!((total_coverage_gap(&p, &q) - gap).abs() < 1e-12);
        prop_assert!((total_coverage_gap(&p, &counted) - gap).abs() < 1e-12);

        let test = TestMass::exchangeable(calibration.len());
        let rates = percent_rates();
        prop_assert_eq!(rates.len(), 99);
        let exact = gap_curve(&p, test, &q, &rates);
        let streamed = gap_curve(&p, test, &counted, &rates);
        for (point, streamed) in exact.iter().zip(&streamed) {
            let covered = share_below(conformal_threshold(&p, test, point.alpha).get());
            prop_assert_eq!(point.threshold, streamed.threshold);
            prop_assert!((point.coverage - covered).abs() < 1e-12);
            prop_assert!((streamed.coverage - covered).abs() < 1e-12);
            prop_assert!((point.gap - (1.0 - point.alpha.get() - covered).abs()).abs() < 1e-12);
        }
    }
}

#[test]
fn an_infinite_threshold_covers_everything() {
    let p = WeightedEmpirical::uniform(&[0.1, 0.2]).unwrap();
    let q = WeightedEmpirical::uniform(&[0.9, 5.0]).unwrap();
    let rates = [Miscoverage::new(0.05).unwrap()];
    let curve = gap_curve(&p, TestMass::exchangeable(2), &q, &rates);
    assert_eq!(curve[0].threshold, Threshold::AllLabels);
    assert_eq!(curve[0].coverage, 1.0);
    let counted = LabelScoreCounts::new(&p).add(0, &[0.9, 5.0]).unwrap().law().unwrap();
    assert_eq!(gap_curve(&p, TestMass::exchangeable(2), &counted, &rates), curve);
}

#[test]
fn what_cannot_be_evaluated_is_refused() {
    let sets = LabelSets::from_bools(&[true, false, true, true], 2).unwrap();
    let alpha = Miscoverage::new(0.1).unwrap();
    let counts = || EvaluationCounts::new(2).unwrap();
    let error = counts().add(0, &sets, &[0]).unwrap_err();
    assert!(error.to_string().starts_with("labels has 1 entries"), "{error}");
    let error = counts().add(40, &sets, &[0, 2]).unwrap_err();
    assert!(error.to_string().starts_with("labels[41] is 2 but there are 2 classes"), "{error}");
    assert!(EvaluationCounts::new(3).unwrap().add(0, &sets, &[0, 1]).is_err());
    assert!(EvaluationCounts::new(0).is_err());
    assert!(counts().merge(&EvaluationCounts::new(3).unwrap()).is_err());
    let error = counts().finish(alpha, None).unwrap_err();
    assert_eq!(error.to_string(), "the evaluated sets is empty; give at least one value");
    assert!(set_sizes(&LabelSets::empty(2).unwrap()).is_err());

    let p = WeightedEmpirical::uniform(&[0.1, 0.2]).unwrap();
    let other = WeightedEmpirical::uniform(&[0.1, 0.3]).unwrap();
    let error = LabelScoreCounts::new(&p).add(10, &[0.5, f64::NAN]).unwrap_err();
    assert!(error.to_string().starts_with("scores[11] is NaN"), "{error}");
    assert!(LabelScoreCounts::new(&p).merge(&LabelScoreCounts::new(&other)).is_err());
    assert!(LabelScoreCounts::new(&p).law().is_err());
}

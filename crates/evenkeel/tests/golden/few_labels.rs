//! A few labels: posterior, law, thresholds and errors of every case of `few_labels.json`.

use std::cell::Cell;
use std::ops::ControlFlow;

use evenkeel::calibration::{Calibration, Evidence, Rule};
use evenkeel::calibrator::{Ended, ShiftCalibrator};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::Method;
use evenkeel::method::few_labels::{
    ChangeBelief, FewLabelsEvidence, FewLabelsSettings, LabelThresholds,
};
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::{Labeled, SideInputs, TargetLabels};
use serde_json::Value;

use crate::case::{assert_close, indices, number, numbers, read};

const TOLERANCE: f64 = 1e-9;
/// Exponentials of the file are another library's, whose last bit may differ.
const SAME_SCORE: f64 = 1e-12;

/// A softmax that adds in the order of the file's library: eight sums side by side, then what is left. Integer logits make ties
/// that only rounding breaks, so the order decides which scores are equal.
fn softmax(logits: &[f64]) -> Vec<f64> {
    let largest = logits.iter().fold(f64::NEG_INFINITY, |largest, z| largest.max(*z));
    let raw: Vec<f64> = logits.iter().map(|z| (z - largest).exp()).collect();
    let total = match raw.as_chunks::<8>() {
        ([r, chunks @ ..], rest) => {
            assert!(chunks.is_empty(), "no case has 16 classes");
            let side_by_side = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
            rest.iter().fold(side_by_side, |sum, value| sum + value)
        }
        ([], rest) => rest.iter().sum(),
    };
    raw.iter().map(|value| value / total).collect()
}

struct World {
    case: Value,
    calibration: Vec<f64>,
    target: Vec<f64>,
    classes: usize,
}

impl World {
    fn new(case: &Value) -> Self {
        let table = |key: &str| -> (Vec<f64>, usize) {
            let rows = case[key].as_array().unwrap();
            let values: Vec<f64> = rows.iter().flat_map(numbers).collect();
            let classes = rows[0].as_array().unwrap().len();
            (values.chunks(classes).flat_map(softmax).collect(), classes)
        };
        let (calibration, classes) = table("logits_cal");
        let (target, _) = table("logits_today");
        Self { case: case.clone(), calibration, target, classes }
    }

    /// Fixed points of the file were iterated to 1e-13.
    fn fit(&self, k: usize, alpha: f64, shifted: bool) -> Calibration {
        self.fit_scored(Score::Lac, k, alpha, shifted)
    }

    fn fit_scored(&self, score: Score, k: usize, alpha: f64, shifted: bool) -> Calibration {
        let settings = FewLabelsSettings {
            change: if shifted { ChangeBelief::Changed } else { ChangeBelief::Unchanged },
            plan: LabelPlanSettings {
                tolerance: 1e-13,
                most_iterations: 100_000,
                ..LabelPlanSettings::default()
            },
            ..FewLabelsSettings::new(FailureProbability::FIVE_PERCENT)
        };
        let calibrator = ShiftCalibrator {
            method: Method::FewLabels(settings),
            score,
            alpha: Miscoverage::new(alpha).unwrap(),
            seed: Seed::new(0),
        };
        let labels = indices(&self.case["labels_today"]);
        let order = indices(&self.case["label_order"]);
        let pairs: Vec<(u64, usize)> =
            order[..k].iter().map(|row| (*row as u64, labels[*row])).collect();
        let target_labels = TargetLabels::new(&pairs, self.classes).unwrap();
        let probabilities = Probabilities::new(&self.calibration, self.classes).unwrap();
        let labeled = Labeled {
            probabilities: &probabilities,
            labels: &Labels::new(indices(&self.case["labels_cal"]), self.classes).unwrap(),
            beside: SideInputs::labels(&target_labels),
        };
        let block = Rows::new("probabilities", &self.target, self.classes).unwrap();
        let fit = calibrator.begin(&labeled).unwrap();
        let fit = fit.add(RowKeys::From(0), block, SideInputs::default()).unwrap();
        match fit.end_pass().unwrap() {
            Ended::Done(ready) => {
                ready.finish(&mut |_| ControlFlow::Continue(())).unwrap().calibration
            }
            Ended::Again(_) => panic!("all rows are kept: one pass is enough"),
        }
    }
}

fn evidence(calibration: &Calibration) -> &FewLabelsEvidence {
    match &calibration.learned().evidence {
        Some(Evidence::FewLabels(evidence)) => evidence,
        other => panic!("{other:?}"),
    }
}

fn thresholds(calibration: &Calibration) -> &LabelThresholds {
    match calibration.rule() {
        Rule::FewLabels { thresholds } => thresholds,
        other => panic!("{other:?}"),
    }
}

fn same_score(what: &str, found: f64, expected: f64) {
    let same = found == expected || (found - expected).abs() < SAME_SCORE;
    assert!(same, "{what}: {found} against {expected}");
}

/// Runs a check on every result of every case; the number of results is the file's.
fn for_every_result(check: impl Fn(&str, &Calibration, &World, &Value)) {
    let file = read("few_labels");
    let mut results = 0;
    for case in file["cases"].as_array().unwrap() {
        let world = World::new(case);
        for result in case["results"].as_array().unwrap() {
            let k = result["k"].as_u64().unwrap() as usize;
            let (alpha, shifted) = (number(&result["alpha"]), result["shifted"].as_bool().unwrap());
            let calibration = world.fit(k, alpha, shifted);
            let name = format!("{} k {k} alpha {alpha} shifted {shifted}", case["name"]);
            check(&name, &calibration, &world, result);
            results += 1;
        }
    }
    assert_eq!(results, 64);
}

#[test]
fn thresholds_are_the_same_scores() {
    for_every_result(|name, calibration, world, result| {
        let expected = number(&result["score_threshold"]);
        assert!(number(&result["margin"]) > 1e-9, "{name}: a neighbouring score would do");
        let found = calibration.threshold(None).unwrap().get();
        same_score(name, found, expected);
        // An atom of the table, to the bit.
        assert!(found.is_infinite() || world.target.iter().any(|p| 1.0 - p == found), "{name}");
        if result["k"] != 0 {
            let at = thresholds(calibration).at(calibration.provenance().alpha);
            same_score(name, at.before_pull.get(), number(&result["refit_score_threshold"]));
            same_score(name, at.split.get(), number(&result["split_conformal_score_threshold"]));
        }
    });
}

/// A label whose score is the quantile itself is covered. In one result of the file it is not: there the label was scored once more, and
/// came out larger by the last bit. What follows from the count is then another number.
fn counts_a_tie_as_a_miss(calibration: &Calibration, result: &Value) -> bool {
    let at = thresholds(calibration).at(calibration.provenance().alpha);
    let more = number(&result["misses"]) - at.misses;
    let file = serde_json::to_value(thresholds(calibration)).unwrap();
    let scores = numbers(&file["labeled"]);
    let ties = scores.iter().filter(|score| **score == at.before_pull.get()).count();
    more.abs() > 0.5 && (1.0..=ties as f64).contains(&more.round())
}

#[test]
fn posterior_shares_and_pull() {
    let ties = Cell::new(0);
    for_every_result(|name, calibration, world, result| {
        let found = evidence(calibration);
        let close = |key: &str, found: &[f64], expected: &Value| {
            let expected: Vec<f64> = match expected.as_array() {
                Some(rows) if rows[0].is_array() => rows.iter().flat_map(numbers).collect(),
                _ => numbers(expected),
            };
            assert_close(&format!("{name} {key}"), found, &expected, TOLERANCE);
        };
        close("temperature", &[found.temperature], &world.case["temperature"]);
        close("mix", &[found.statistics.mix], &world.case["mix"]);
        close("inflation", &[found.statistics.inflation], &world.case["inflation"]);
        close("shares", &found.prior, &world.case["shares"]);
        if result["k"] == 0 {
            assert_eq!((found.pull, number(&result["pull"])), (0.0, 0.0));
            return;
        }
        close("trust", &[found.trust], &result["trust"]);
        if counts_a_tie_as_a_miss(calibration, result) {
            ties.set(ties.get() + 1);
            return;
        }
        close("pull", &[found.pull], &result["pull"]);
        close("misses", &[found.misses], &result["misses"]);
        close("pull_weights", &found.pull_weights, &result["pull_weights"]);
        close("expected_error_sd", &[found.expected_error], &result["expected_error_sd"]);
        if !result["weights"].is_null() {
            close("weights", &found.weights.concat(), &result["weights"]);
            close("shares_today", &found.shares, &result["shares_today"]);
            close("share_weights", &found.share_weights, &result["share_weights"]);
            let alpha = calibration.provenance().alpha;
            let expected = result["law_at"].as_array().unwrap();
            assert_eq!(expected.len(), 4);
            let at = |pair: &Value| thresholds(calibration).posterior_law(alpha, number(&pair[0]));
            let law: Vec<f64> = expected.iter().map(at).collect();
            let expected: Vec<f64> = expected.iter().map(|pair| number(&pair[1])).collect();
            assert_close(&format!("{name} law_at"), &law, &expected, TOLERANCE);
        }
    });
    assert_eq!(ties.get(), 1);
}

/// The posterior mean law as score: sets are `{y : h(y) >= tau}`.
#[test]
fn the_plan_score_cuts_where_the_file_does() {
    let compared = Cell::new(0);
    for_every_result(|name, calibration, world, result| {
        if result["plan_score_tau"].is_null() {
            return;
        }
        let alpha = calibration.provenance().alpha.get();
        let k = result["k"].as_u64().unwrap() as usize;
        let shifted = result["shifted"].as_bool().unwrap();
        let found = world.fit_scored(Score::Plan, k, alpha, shifted);
        let tau = 1.0 - found.threshold(None).unwrap().get();
        assert_close(name, &[tau], &[number(&result["plan_score_tau"])], TOLERANCE);
        compared.set(compared.get() + 1);
    });
    assert!(compared.get() >= 20, "{}", compared.get());
}

/// One fit serves every level.
#[test]
fn another_level_of_the_same_fit_is_the_level_of_another_fit() {
    let file = read("few_labels");
    let world = World::new(&file["cases"][0]);
    let (one, other) = (world.fit(20, 0.1, true), world.fit(20, 0.2, true));
    let alpha = Miscoverage::new(0.2).unwrap();
    assert_eq!(one.threshold(Some(alpha)), other.threshold(None));
    assert_eq!(thresholds(&one).at(alpha), thresholds(&other).at(alpha));
}

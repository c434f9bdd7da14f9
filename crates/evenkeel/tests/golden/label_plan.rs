//! The label plan, every intermediate the file names.

use crate::case::{assert_close, indices, number, numbers, read};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::{WeightedEmpirical, Weights};
use evenkeel::method::label_plan::{
    LabelPlan, LabelPlanSettings, LabelPlanner, LabeledLogits, PlanStop, PreparedPlan, TargetRows,
};
use evenkeel::reading::ReadingName;
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Labels, Score, softmax_rows};
use evenkeel::seed::Seed;
use serde_json::Value;

/// Agreement of what comes after the fixed points, and before them.
const AFTER: f64 = 1e-8;
const BEFORE: f64 = 1e-10;

fn table(value: &Value) -> (Vec<f64>, usize) {
    let rows = value.as_array().unwrap();
    (rows.iter().flat_map(numbers).collect(), rows[0].as_array().unwrap().len())
}

struct Run {
    case: Value,
    target: Vec<f64>,
    classes: usize,
    prepared: PreparedPlan,
    plan: LabelPlan,
}

impl Run {
    /// The file's fixed points were iterated to 1e-13.
    fn new(case: &Value) -> Self {
        let (logits, classes) = table(&case["logits_cal"]);
        let (target, _) = table(&case["logits_target"]);
        let labels = Labels::new(indices(&case["labels_cal"]), classes).unwrap();
        let rows = Rows::new("logits", &logits, classes).unwrap();
        let labeled = LabeledLogits::of_logits(rows, &labels, &Score::Lac).unwrap();
        let settings = LabelPlanSettings {
            tolerance: 1e-13,
            most_iterations: 100_000,
            ..LabelPlanSettings::new(FailureProbability::new(0.05).unwrap())
        };
        let planner = LabelPlanner::new(labeled, Score::Lac, settings, Seed::new(0)).unwrap();
        let block = TargetRows::Logits(Rows::new("logits", &target, classes).unwrap());
        let keys = RowKeys::From(0);
        let first = planner.first_pass().add(keys, &block).unwrap();
        let prepared = planner.prepare(&first).unwrap();
        let second = prepared.second_pass().add(&prepared, keys, &block).unwrap();
        let plan = planner.finish(&prepared, second).unwrap();
        assert_eq!(plan, planner.plan(&block).unwrap());
        Self { case: case.clone(), target, classes, prepared, plan }
    }

    fn name(&self, key: &str) -> String {
        format!("{} {key}", self.case["name"].as_str().unwrap())
    }

    fn close(&self, key: &str, found: &[f64], tolerance: f64) {
        assert!(!self.case[key].is_null(), "no {key}");
        assert_close(&self.name(key), found, &numbers(&self.case[key]), tolerance);
    }
}

fn for_every_case(check: impl Fn(&Run)) {
    let file = read("auto");
    let cases = file.as_array().unwrap();
    assert_eq!(cases.len(), 3);
    cases.iter().for_each(|case| check(&Run::new(case)));
}

#[test]
fn temperature_prior_and_shift_statistics() {
    for_every_case(|run| {
        let evidence = run.plan.evidence();
        run.close("temperature", &[evidence.temperature], BEFORE);
        run.close("prior", &evidence.prior, BEFORE);
        let found = &evidence.statistics;
        run.close("ks", &[found.ks], BEFORE);
        run.close("ks_start", &[found.ks_start], BEFORE);
        run.close("tv", &[found.tv], BEFORE);
        run.close("tv_expected", &[found.tv_expected], BEFORE);
        run.close("james_stein", &[found.james_stein], BEFORE);
        run.close("ramp", &[found.ramp], BEFORE);
        run.close("mix", &[found.mix], BEFORE);
        run.close("inflation", &[found.inflation], BEFORE);
        assert_eq!(evidence.group_of, (0..run.classes).collect::<Vec<_>>());
    });
}

#[test]
fn the_plan_and_its_marginal() {
    for_every_case(|run| {
        let rows: Vec<Vec<f64>> =
            run.target.chunks(run.classes).map(|row| run.prepared.plan_row(row).unwrap()).collect();
        let (expected, _) = table(&run.case["plan_first_rows"]);
        assert_close(&run.name("plan_first_rows"), &rows[..5].concat(), &expected, AFTER);
        let marginal: Vec<f64> = (0..run.classes)
            .map(|class| rows.iter().map(|row| row[class]).sum::<f64>() / rows.len() as f64)
            .collect();
        run.close("plan_marginal", &marginal, AFTER);
        let evidence = run.plan.evidence();
        let shares_moved = number(&run.case["james_stein"]) > 0.0;
        let expected = if shares_moved { PlanStop::Converged } else { PlanStop::NotNeeded };
        assert_eq!(evidence.balanced.stopped, expected);
        let needed = number(&run.case["mix"]) > 0.0;
        let expected = if needed { PlanStop::Converged } else { PlanStop::NotNeeded };
        assert_eq!(evidence.plan.stopped, expected);
    });
}

#[test]
fn laws_weights_and_certificate() {
    for_every_case(|run| {
        let (laws, evidence) = (run.plan.laws(), run.plan.evidence());
        run.close("scores_sorted", run.plan.thresholds().scores(), 1e-12);
        let scores = run.plan.thresholds().scores();
        let at = |reading| laws.cdf_at(reading, scores);
        run.close("F", &at(ReadingName::ClassShares), AFTER);
        // The file's `F_up` and its certificate are those of the first release: another law is the cautious end now.
        run.close("F_down", &at(ReadingName::Calibrated), AFTER);
        run.close("weights_sorted", run.plan.weights().as_slice(), AFTER);
        // A sum of n squares of weights, relative to its size.
        let n_w = evidence.effective_sample_size;
        run.close("effective_sample_size", &[n_w], AFTER * n_w);
        run.close("estimated_gap", &[evidence.estimated_gap], AFTER);
        let certificate = evidence.certificate;
        assert_eq!(certificate.value, run.plan.enclosed_gap(&ReadingName::HULL));
        // Widened at all scores at once, it is wider; and no law of the hull is further from the weights.
        assert!(certificate.with_confidence >= certificate.value);
        assert!(certificate.value >= evidence.estimated_gap);
    });
}

/// The planned law's own quantile, from its atoms: what a threshold falls back on where calibration scores end too early.
#[test]
fn quantiles_of_the_target_law() {
    for_every_case(|run| {
        let evidence = run.plan.evidence();
        let (mix, m) = (evidence.statistics.mix, evidence.m as f64);
        let table = Rows::new("logits", &run.target, run.classes).unwrap();
        let raw = softmax_rows(table, 1.0).unwrap();
        let temperature = evidence.temperature * evidence.statistics.inflation;
        let f = softmax_rows(table, temperature).unwrap();
        let rows = run.target.chunks(run.classes);
        let g: Vec<f64> = rows.flat_map(|row| run.prepared.plan_row(row).unwrap()).collect();
        let scores: Vec<f64> = raw.iter().map(|p| 1.0 - p).collect();
        let masses: Vec<f64> =
            f.iter().zip(&g).map(|(f, g)| ((1.0 - mix) * f + mix * g) / m).collect();
        let law = WeightedEmpirical::new(&scores, &Weights::normalised(masses).unwrap()).unwrap();
        let sorted = run.plan.thresholds().scores();
        assert_close(
            &run.name("F"),
            &law.cdf_at_increasing(sorted),
            &run.plan.laws().cdf_at(ReadingName::ClassShares, sorted),
            1e-12,
        );
        for (alpha, expected) in run.case["thresholds"].as_object().unwrap() {
            let level = Miscoverage::new(alpha.parse().unwrap()).unwrap().level();
            let direct = number(&expected["direct"]);
            assert!((law.quantile(level) - direct).abs() < 1e-12, "{}", run.name(alpha));
        }
    });
}

/// Exactly the calibration score of the file. Its exponentials are another library's, whose last bit may differ, so scores
/// are compared by their rank.
#[test]
fn thresholds_are_the_same_calibration_scores() {
    for_every_case(|run| {
        let sorted = numbers(&run.case["scores_sorted"]);
        let cases = run.case["thresholds"].as_object().unwrap();
        assert_eq!(cases.len(), 3);
        for (alpha, expected) in cases {
            let rank = |score: f64| sorted.iter().position(|s| *s == score).unwrap();
            let found = run.plan.threshold(Miscoverage::new(alpha.parse().unwrap()).unwrap());
            let exhausted = expected["support_exhausted"].as_bool().unwrap();
            assert!(!exhausted, "the file has no such case; compare with `direct` if it does");
            assert_eq!(expected["used"], expected["weighted"]);
            let scores = run.plan.thresholds().scores();
            assert_eq!(found.score, scores[rank(number(&expected["weighted"]))], "{alpha}");
        }
        let margin = number(&run.case["margin"]);
        let levels = run.plan.thresholds().cumulative();
        let nearest = [0.95, 0.9, 0.8]
            .iter()
            .flat_map(|level| levels.iter().map(move |c: &f64| (c - level).abs()));
        let nearest = nearest.fold(f64::INFINITY, f64::min);
        assert!((nearest - margin).abs() < AFTER, "{}", run.name("margin"));
    });
}

//! The accuracy-matched plan and second opinions, every intermediate the file names.

use crate::case::{assert_close, indices, number, numbers, read};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::label_plan::{
    Accuracy, FirstPass, LabelPlan, LabelPlanSettings, LabelPlanner, LabeledLogits, Match,
    PlanQuestion, SecondOpinions, TargetRows, ThresholdSource,
};
use evenkeel::reading::ReadingName;
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Labels, Score};
use evenkeel::seed::Seed;
use serde_json::Value;

/// The file's fixed points end at a change of 1e-4, its temperatures after 30 bisections, as ours do.
const TOLERANCE: f64 = 1e-6;
const BAND: [ReadingName; 2] = [ReadingName::BandLow, ReadingName::BandHigh];

struct World {
    case: Value,
    planner: LabelPlanner,
    first: FirstPass,
    target: Vec<f64>,
    classes: usize,
}

impl World {
    fn new(case: &Value, calibration: &str, target: &str) -> Self {
        let classes = indices(&case["classes"])[0];
        let (logits, target) = (numbers(&case[calibration]), numbers(&case[target]));
        let labels = Labels::new(indices(&case["labels_cal"]), classes).unwrap();
        let rows = Rows::new("logits", &logits, classes).unwrap();
        let labeled = LabeledLogits::of_logits(rows, &labels, &Score::Lac).unwrap();
        let settings = LabelPlanSettings::new(FailureProbability::new(0.05).unwrap());
        let planner = LabelPlanner::new(labeled, Score::Lac, settings, Seed::new(0)).unwrap();
        let block = TargetRows::Logits(Rows::new("logits", &target, classes).unwrap());
        let first = planner.first_pass().add(RowKeys::From(0), &block).unwrap();
        Self { case: case.clone(), planner, first, target, classes }
    }

    /// The plan that aims at the matched reading.
    fn plan(&self, accuracy: Accuracy, thresholds: Vec<f64>) -> LabelPlan {
        let question = PlanQuestion { aim: ReadingName::Matched, accuracy, thresholds };
        let prepared = self.planner.prepare_for(self.first.clone(), &question).unwrap();
        let block = TargetRows::Logits(Rows::new("logits", &self.target, self.classes).unwrap());
        let second = prepared.second_pass().add(&prepared, RowKeys::From(0), &block).unwrap();
        self.planner.finish(&prepared, second).unwrap()
    }

    fn close(&self, part: &str, key: &str, found: &[f64]) {
        let expected = &self.case[part][key];
        assert!(!expected.is_null(), "no {key}");
        let name = format!("{} {part} {key}", self.case["name"]);
        assert_close(&name, found, &numbers(expected), TOLERANCE);
    }

    fn opinions(&self) -> SecondOpinions {
        let other = World::new(&self.case, "second_logits_cal", "second_logits_today");
        let others = vec![(&other.planner, other.first)];
        self.planner.second_opinions(self.first.clone(), others).unwrap()
    }

    /// Threshold, the band there, and the certificate over the band.
    fn follows(&self, part: &str, plan: &LabelPlan, accuracy: Accuracy) {
        let expected = number(&self.case[part]["threshold"]);
        let alpha = Miscoverage::new(number(&self.case["alpha"])).unwrap();
        let found = plan.threshold(alpha);
        // Scores of another library's exponentials, printed to twelve digits.
        assert!((found.score - expected).abs() < 1e-11, "{} against {expected}", found.score);
        let exhausted = plan.evidence().support_reached < alpha.level().get();
        let expected = if exhausted { "planned" } else { "calibration" };
        let source = match found.source {
            ThresholdSource::PlannedLaw => "planned",
            _ => "calibration",
        };
        assert_eq!(source, expected);
        if let Some(known) = self.case[part]["exhausted"].as_bool() {
            assert_eq!(exhausted, known);
        }
        // Beyond the calibration scores a law is exact at the thresholds that were asked about.
        let asked = self.plan(accuracy, vec![found.score]);
        let (low, high) = asked.laws().hull(&BAND, found.score);
        self.close(part, "interval", &[low, high]);
        self.close(part, "certificate", &[plan.enclosed_gap(&BAND)]);
        assert_eq!(asked.weights(), plan.weights());
    }
}

fn for_every_world(check: impl Fn(&World)) {
    let file = read("matched_and_exact");
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 3);
    cases.iter().for_each(|case| check(&World::new(case, "logits_cal", "logits_today")));
}

#[test]
fn accuracy_statistics() {
    for_every_world(|world| {
        let plan = world.plan(Accuracy::Estimated, vec![]);
        let (evidence, close) =
            (plan.evidence(), |key: &str, found: f64| world.close("matched", key, &[found]));
        close("T", evidence.temperature);
        close("tv", evidence.statistics.tv);
        close("tv0", evidence.statistics.tv_expected);
        close("D", evidence.statistics.ks);
        close("d", evidence.statistics.ks_start);
        close("js", evidence.statistics.james_stein);
        let matched = evidence.accuracy.unwrap();
        let accuracy = matched.statistics;
        close("ramp", accuracy.ramp);
        close("mix", accuracy.mix);
        close("a_P", accuracy.calibration);
        close("a_f", accuracy.believed);
        close("a_inflated", accuracy.inflated);
        close("a_plan", accuracy.planned);
        close("a_carry", accuracy.carried);
        close("accuracy", accuracy.estimate);
        close("accuracy_used", matched.used);
    });
}

#[test]
fn matched_laws_weights_and_certificate() {
    for_every_world(|world| {
        let plan = world.plan(Accuracy::Estimated, vec![]);
        let matched = plan.evidence().accuracy.unwrap();
        assert_eq!(matched.matched, Match::Reached);
        world.close("matched", "factor", &[matched.factor]);
        // The file's `up` is the law with the lower accuracy, whose scores are higher.
        world.close("matched", "factor_up", &matched.band_factors[..1]);
        world.close("matched", "factor_down", &matched.band_factors[1..]);
        let scores = plan.thresholds().scores();
        assert_close("scores", scores, &numbers(&world.case["sorted_scores"]), 1e-11);
        world.close("matched", "F", &plan.laws().cdf_at(ReadingName::Matched, scores));
        world.close("matched", "weights", plan.weights().as_slice());
        world.follows("matched", &plan, Accuracy::Estimated);
        // A number that is given takes the place of the one that was estimated.
        let known = Accuracy::Known(matched.used);
        assert_eq!(world.plan(known, vec![]).weights(), plan.weights());
    });
}

#[test]
fn second_opinions() {
    for_every_world(|world| {
        let SecondOpinions { own, others, trust, accuracy } = world.opinions();
        world.close("matched", "accuracy", &[own.estimate]);
        let close = |key: &str, found: f64| world.close("second_opinion", key, &[found]);
        let [other] = others[..] else { panic!("{} opinions", others.len()) };
        close("accuracy_B", other.own);
        close("seen", other.seen);
        close("seen_P", other.seen_calibration);
        close("weight", trust[1]);
        close("accuracy_used", accuracy);
        let known = Accuracy::Known(accuracy);
        let plan = world.plan(known, vec![]);
        close("factor", plan.evidence().accuracy.unwrap().factor);
        world.follows("second_opinion", &plan, known);
    });
}

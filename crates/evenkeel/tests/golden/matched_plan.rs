//! The accuracy-matched plan and second opinions, every intermediate the file names.

use crate::case::{assert_close, indices, number, numbers, read};
use evenkeel::calibration::Evidence;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::check::{Check, CheckEnded, CheckSettings};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::Method;
use evenkeel::method::label_plan::{
    Aiming, Assumption, FirstPass, KnownAccuracy, LabelPlan, LabelPlanSettings, LabelPlanner,
    LabeledLogits, Match, PlanAssumptions, PlanQuestion, SecondOpinions, TargetRows,
    ThresholdSource,
};
use evenkeel::reading::ReadingName;
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::{Labeled, SideInputs};
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

fn planner(case: &Value, calibration: &str, accuracy: Option<f64>) -> LabelPlanner {
    let classes = indices(&case["classes"])[0];
    let logits = numbers(&case[calibration]);
    let labels = Labels::new(indices(&case["labels_cal"]), classes).unwrap();
    let rows = Rows::new("logits", &logits, classes).unwrap();
    let labeled = LabeledLogits::of_logits(rows, &labels, &Score::Lac).unwrap();
    let mut settings = LabelPlanSettings::new(FailureProbability::new(0.05).unwrap());
    settings.assumptions.accuracy = accuracy.map(|share| KnownAccuracy::new(share).unwrap());
    LabelPlanner::new(labeled, Score::Lac, settings, Seed::new(0)).unwrap()
}

/// `softmax` of rows of logits, as a caller of the public route gives them.
fn softmax(logits: &[f64], classes: usize) -> Vec<f64> {
    let of_row = |row: &[f64]| {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let raw: Vec<f64> = row.iter().map(|logit| (logit - largest).exp()).collect();
        let total: f64 = raw.iter().sum();
        raw.into_iter().map(move |value| value / total).collect::<Vec<f64>>()
    };
    logits.chunks_exact(classes).flat_map(of_row).collect()
}

impl World {
    fn of(case: &Value, accuracy: Option<f64>) -> Self {
        Self::with(case, planner(case, "logits_cal", accuracy), None)
    }

    /// With the second model.
    fn with_second(case: &Value) -> Self {
        let others = vec![planner(case, "second_logits_cal", None)];
        let planner = planner(case, "logits_cal", None).with_others(others).unwrap();
        Self::with(case, planner, Some(numbers(&case["second_logits_today"])))
    }

    fn with(case: &Value, planner: LabelPlanner, second: Option<Vec<f64>>) -> Self {
        let classes = indices(&case["classes"])[0];
        let target = numbers(&case["logits_today"]);
        let block = TargetRows::Logits(Rows::new("logits", &target, classes).unwrap());
        let second = second.map(|logits| softmax(&logits, classes));
        let second = second.as_ref().map(|rows| Rows::new("second", rows, classes).unwrap());
        let first = planner.first_pass().add_with(RowKeys::From(0), &block, second).unwrap();
        Self { case: case.clone(), planner, first, target, classes }
    }

    /// The plan that aims at a reading.
    fn plan(&self, aim: ReadingName, thresholds: Vec<f64>) -> LabelPlan {
        let question = PlanQuestion { aiming: Aiming::Reading(aim), thresholds };
        let prepared = self.planner.prepare_for(&self.first, &question).unwrap();
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

    /// Threshold, the band there, and the certificate over the band.
    fn follows(&self, part: &str, plan: &LabelPlan, aim: ReadingName) {
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
        let asked = self.plan(aim, vec![found.score]);
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
    cases.iter().for_each(|case| check(&World::of(case, None)));
}

#[test]
fn accuracy_statistics() {
    for_every_world(|world| {
        let plan = world.plan(ReadingName::Matched, vec![]);
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
        let plan = world.plan(ReadingName::Matched, vec![]);
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
        world.follows("matched", &plan, ReadingName::Matched);
        // A number that is given takes the place of the one that was estimated.
        let known = World::of(&world.case, Some(matched.used));
        assert_eq!(known.plan(ReadingName::Accuracy, vec![]).weights(), plan.weights());
    });
}

#[test]
fn second_opinions() {
    for_every_world(|world| {
        let world = World::with_second(&world.case);
        let opinions = world.planner.second_opinions(&world.first).unwrap();
        let SecondOpinions { own, others, trust, accuracy } = opinions.clone();
        world.close("matched", "accuracy", &[own.estimate]);
        let close = |key: &str, found: f64| world.close("second_opinion", key, &[found]);
        let [other] = others[..] else { panic!("{} opinions", others.len()) };
        close("accuracy_B", other.own);
        close("seen", other.seen);
        close("seen_P", other.seen_calibration);
        close("weight", trust[1]);
        close("accuracy_used", accuracy);
        let plan = world.plan(ReadingName::SecondOpinion, vec![]);
        assert_eq!(plan.evidence().second_opinions.as_ref(), Some(&opinions));
        close("factor", plan.evidence().accuracy.unwrap().factor);
        world.follows("second_opinion", &plan, ReadingName::SecondOpinion);
    });
}

/// Who gives probabilities to the calibrator, or to a check, gets the numbers of the file.
#[test]
fn the_public_route() {
    for_every_world(|world| {
        let case = &world.case;
        let table = |key: &str| softmax(&numbers(&case[key]), world.classes);
        let (cal, target_values) = (table("logits_cal"), table("logits_today"));
        let (second_cal, second) = (table("second_logits_cal"), table("second_logits_today"));
        let labels = Labels::new(indices(&case["labels_cal"]), world.classes).unwrap();
        let rows = |values| Rows::new("second", values, world.classes).unwrap();
        let (cal, target) = (
            Probabilities::new(&cal, world.classes).unwrap(),
            Probabilities::new(&target_values, world.classes).unwrap(),
        );
        let alone = (SideInputs::default(), SideInputs::default());
        let asked = (SideInputs::second(rows(&second_cal)), SideInputs::second(rows(&second)));
        let assumptions =
            PlanAssumptions { assume: Some(Assumption::Matched), ..PlanAssumptions::default() };
        let known = KnownAccuracy::new(number(&case["second_opinion"]["accuracy_used"])).ok();
        let stated = PlanAssumptions { accuracy: known, ..PlanAssumptions::default() };
        for (part, reading, assumptions, (beside, beside_target)) in [
            ("matched", ReadingName::Matched, assumptions, alone),
            ("second_opinion", ReadingName::SecondOpinion, assumptions, asked),
            ("second_opinion", ReadingName::Accuracy, stated, alone),
        ] {
            let settings = LabelPlanSettings { assumptions, ..LabelPlanSettings::default() };
            let calibrator = ShiftCalibrator::new(number(&case["alpha"])).unwrap();
            let calibrator = calibrator.method(Method::LabelPlan(settings));
            let labeled = Labeled { probabilities: &cal, labels: &labels, beside };
            let found = calibrator.calibrate_beside(&labeled, &target, beside_target).unwrap();
            let expected = number(&case[part]["threshold"]);
            let threshold = found.threshold(None).unwrap().get();
            assert!((threshold - expected).abs() < 1e-9, "{threshold} against {expected}");
            let Some(Evidence::LabelPlan { plan, .. }) = &found.learned().evidence else {
                panic!("no plan")
            };
            assert_eq!(plan.reading(), reading);
            world.close(part, "accuracy_used", &[plan.accuracy.unwrap().used]);
            // A check of the same data reads them alike.
            let alpha = Miscoverage::new(number(&case["alpha"])).unwrap();
            let mut settings =
                CheckSettings::new(alpha, FailureProbability::FIVE_PERCENT, Seed::new(0));
            settings.assumptions = assumptions;
            let mut open = Check::begin_beside(&labeled, &Score::Lac, &settings).unwrap();
            let checked = loop {
                let block = Rows::new("probabilities", &target_values, world.classes).unwrap();
                let added = open.add_beside(RowKeys::From(0), block, beside_target);
                match added.unwrap().end_pass().unwrap() {
                    CheckEnded::Again(again) => open = again,
                    CheckEnded::Done(checked) => break checked,
                }
            };
            assert_eq!(checked.report.coverage_estimate.reading, reading);
            assert!(checked.report.readings.iter().any(|one| one.name == reading));
            let uncorrected = plan.uncorrected.as_ref().unwrap();
            assert_eq!(checked.report.coverage_estimate, uncorrected.coverage_estimate);
        }
    });
}

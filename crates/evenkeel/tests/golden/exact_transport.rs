//! `ot` in its exact form: the minimiser, its bound and threshold, and a hundred steps of Adam.

use std::ops::ControlFlow;

use crate::case::{assert_close, indices, number, numbers, read};
use evenkeel::bound::level_gap_between;
use evenkeel::learning::objective::ExactObjective;
use evenkeel::learning::optimise::{AdamSettings, StoppingRule};
use evenkeel::learning::{FreeFormSettings, fit_free_form, minimise_exactly};
use evenkeel::level::Miscoverage;
use evenkeel::measure::{WeightedEmpirical, Weights};
use evenkeel::rows::Rows;
use evenkeel::sandwich::{Sandwich, min_max, model_uniform};
use evenkeel::score::{Labels, Probabilities, Score, softmax_rows};
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};
use serde_json::Value;

/// What the file's values agree to.
const VALUES: f64 = 1e-9;
/// What its weights agree to: roots by 50 bisections there, in closed form here.
const WEIGHTS: f64 = 1e-6;

/// Every case with both pairs of laws: its name, the case, sorted scores, laws, and what the file says of them.
pub(crate) fn for_every_pair(look: impl Fn(&str, &Value, &[f64], &Sandwich, &Value)) {
    let file = read("matched_and_exact");
    for case in file["cases"].as_array().unwrap() {
        let (scores, pairs) = world(case);
        for (name, sandwich) in pairs {
            let what = format!("{} {name}", case["name"].as_str().unwrap());
            look(&what, case, &scores, &sandwich, &case["ot_exact"][name]);
        }
    }
}

/// Sorted calibration scores and both pairs of laws of a case.
fn world(case: &Value) -> (Vec<f64>, [(&'static str, Sandwich); 2]) {
    let classes = number(&case["classes"]) as usize;
    let probabilities = |key: &str| {
        let logits = numbers(&case[key]);
        softmax_rows(Rows::new("logits", &logits, classes).unwrap(), 1.0).unwrap()
    };
    let (calibration, target) = (probabilities("logits_cal"), probabilities("logits_today"));
    let labels = Labels::new(indices(&case["labels_cal"]), classes).unwrap();
    let rows = Probabilities::new(&calibration, classes).unwrap();
    let mut scores = Score::Lac.label_scores(&rows, &labels).unwrap();
    scores.sort_by(f64::total_cmp);
    let target = Probabilities::new(&target, classes).unwrap();
    let candidates = Score::Lac.candidate_scores(&target).unwrap();
    let pairs =
        [("f-u", model_uniform(&candidates).unwrap()), ("min-max", min_max(&candidates).unwrap())];
    (scores, pairs)
}

#[test]
fn the_minimiser_is_that_of_the_file() {
    for_every_pair(|what, case, scores, sandwich, expected| {
        let weights = minimise_exactly(scores, sandwich).unwrap();
        assert_close(what, weights.as_slice(), &numbers(&expected["weights"]), WEIGHTS);
        let law = WeightedEmpirical::new(scores, &weights).unwrap();
        let value = level_gap_between(&law, sandwich);
        assert_close(what, &[value], &[number(&expected["value"])], VALUES);
        let alpha = Miscoverage::new(number(&case["alpha"])).unwrap();
        let threshold = conformal_threshold(&law, TestMass::exchangeable(scores.len()), alpha);
        match (threshold, &expected["threshold"]) {
            (Threshold::AllLabels, Value::Null) => {}
            (Threshold::Finite(found), expected) => {
                // The file's scores went through another softmax: the last bits differ.
                assert_close(what, &[found], &[number(expected)], 1e-12);
            }
            (found, expected) => panic!("{what}: {found:?} and not {expected}"),
        }
    });
}

#[test]
fn a_hundred_steps_are_those_of_the_file() {
    for_every_pair(|what, _, scores, sandwich, expected| {
        let settings = FreeFormSettings {
            adam: AdamSettings::new(0.01).unwrap(),
            stopping: StoppingRule::after(100).unwrap(),
        };
        let fit = fit_free_form(
            scores,
            ExactObjective::new(scores, sandwich).unwrap(),
            &vec![0.0; scores.len()],
            settings,
            Miscoverage::new(0.1).unwrap(),
            &mut |_, _| Ok(()),
            &mut |_| ControlFlow::Continue(()),
        )
        .unwrap();
        let weights = Weights::softmax(fit.log_weights).unwrap();
        let path = numbers(&expected["adam_100_steps_lr_0_01_weights"]);
        assert_close(what, weights.as_slice(), &path, VALUES);
        let law = WeightedEmpirical::new(scores, &weights).unwrap();
        let value = level_gap_between(&law, sandwich);
        assert_close(what, &[value], &[number(&expected["adam_value"])], VALUES);
    });
}

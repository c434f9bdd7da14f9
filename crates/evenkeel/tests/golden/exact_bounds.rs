//! The exact bound on the distance from the level, at the weights the file gives.

use crate::case::{assert_close, indices, number, numbers, read};
use evenkeel::bound::level_gap_between;
use evenkeel::measure::{WeightedEmpirical, Weights};
use evenkeel::rows::Rows;
use evenkeel::sandwich::{Sandwich, min_max, model_uniform};
use evenkeel::score::{Labels, Probabilities, Score, softmax_rows};
use serde_json::Value;

/// What the file's values agree to.
const VALUES: f64 = 1e-9;

fn probabilities(case: &Value, key: &str, classes: usize) -> Vec<f64> {
    let logits = numbers(&case[key]);
    softmax_rows(Rows::new("logits", &logits, classes).unwrap(), 1.0).unwrap()
}

#[test]
fn the_distance_from_the_level_is_that_of_the_file() {
    let file = read("matched_and_exact");
    for case in file["cases"].as_array().unwrap() {
        let classes = number(&case["classes"]) as usize;
        let calibration = probabilities(case, "logits_cal", classes);
        let target = probabilities(case, "logits_today", classes);
        let labels = Labels::new(indices(&case["labels_cal"]), classes).unwrap();
        let rows = Probabilities::new(&calibration, classes).unwrap();
        let mut scores = Score::Lac.label_scores(&rows, &labels).unwrap();
        scores.sort_by(f64::total_cmp);
        let target = Probabilities::new(&target, classes).unwrap();
        let candidates = Score::Lac.candidate_scores(&target).unwrap();
        let pairs: [(&str, Sandwich); 2] = [
            ("f-u", model_uniform(&candidates).unwrap()),
            ("min-max", min_max(&candidates).unwrap()),
        ];
        for (name, sandwich) in pairs {
            let expected = &case["ot_exact"][name];
            let at = |weights: &Weights| {
                level_gap_between(&WeightedEmpirical::new(&scores, weights).unwrap(), &sandwich)
            };
            let what = format!("{} {name}", case["name"].as_str().unwrap());
            let uniform = at(&Weights::uniform(scores.len()).unwrap());
            assert_close(
                &format!("{what} uniform"),
                &[uniform],
                &[number(&expected["uniform_value"])],
                VALUES,
            );
            for (weights, value) in
                [("weights", "value"), ("adam_100_steps_lr_0_01_weights", "adam_value")]
            {
                let weights = Weights::normalised(numbers(&expected[weights])).unwrap();
                assert_close(
                    &format!("{what} {value}"),
                    &[at(&weights)],
                    &[number(&expected[value])],
                    VALUES,
                );
            }
        }
    }
}

//! A calibration survives its file to the last bit, and files are not trusted.

use crate::world::{CLASSES, sample};
use crate::{alpha, transport};
use evenkeel::calibration::Calibration;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::method::TransportSettings;
use evenkeel::rows::Rows;
use evenkeel::score::{Aps, Randomisation, Raps, Score};
use evenkeel::seed::Seed;
use serde_json::{Value, json};

fn fitted(score: Score) -> Calibration {
    let (labeled, target) = (sample(80, 1.0, 1), sample(90, 0.7, 2));
    let calibrator = ShiftCalibrator { score, ..transport(TransportSettings::paper(), 3) };
    calibrator
        .calibrate(&labeled.probabilities(), &labeled.labels(), &target.probabilities())
        .unwrap()
}

#[test]
fn a_calibration_survives_its_file_to_the_last_bit() {
    let drawn = Randomisation::Uniform(Seed::new(7));
    for score in [
        Score::Lac,
        Score::Margin,
        Score::Aps(Aps { randomisation: drawn }),
        Score::Raps(Raps::new(0.02, 3, drawn).unwrap()),
    ] {
        let calibration = fitted(score);
        let text = serde_json::to_string(&calibration).unwrap();
        let read: Calibration = serde_json::from_str(&text).unwrap();
        assert_eq!(read, calibration);
        let test = sample(50, 0.7, 9);
        let rows = Rows::new("probabilities", &test.probabilities, CLASSES).unwrap();
        for rate in [0.05, 0.1, 0.3] {
            let rate = Some(alpha(rate));
            assert_eq!(read.threshold(rate), calibration.threshold(rate));
            let sets = read.predict(0, rows, rate).unwrap();
            assert_eq!(sets, calibration.predict(0, rows, rate).unwrap());
        }
    }
}

#[test]
fn a_file_says_what_it_is() {
    let value = serde_json::to_value(fitted(Score::Lac)).unwrap();
    assert_eq!(value["format"], "evenkeel/calibration");
    assert_eq!(value["version"], 1);
    assert_eq!(value["method"], "ot");
    assert_eq!(value["stopped"], "max-steps");
}

#[test]
fn a_file_that_was_tampered_with_is_refused() {
    let good = serde_json::to_value(fitted(Score::Lac)).unwrap();
    type Tamper = fn(&mut Value);
    let cases: [(&str, Tamper, &str); 9] = [
        ("format", |v| v["format"] = json!("other"), "not a calibration"),
        ("version", |v| v["version"] = json!(2), "version 2"),
        ("no classes", |v| v["classes"] = json!(0), "classes"),
        ("alpha", |v| v["alpha"] = json!(1.5), "alpha is 1.5"),
        ("unsorted", |v| v["scores"][0] = json!(5.0), "calibration scores[1]"),
        ("short", |v| drop(v["weights"].as_array_mut().unwrap().pop()), "the sum of the weights"),
        ("negative", |v| v["weights"][3] = json!(-0.1), "weights[3] is -0.1"),
        ("share", |v| v["test_mass"] = json!(2.0), "share of the mass"),
        ("lambda", |v| v["score"] = json!({"name": "raps", "lambda": -1.0, "k_reg": 2}), "lambda"),
    ];
    for (name, tamper, expected) in cases {
        let mut value = good.clone();
        tamper(&mut value);
        let error = serde_json::from_value::<Calibration>(value).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

//! What is assumed, what is known, and what second models say: from the flags to the numbers.

use crate::FOG;
use crate::running::{Scratch, demo};

/// Readings of a check, by name.
fn readings(document: &serde_json::Value) -> Vec<String> {
    let all = document["readings"].as_array().unwrap();
    all.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

/// A second model needs not be another file to be read as one.
fn second() -> [String; 4] {
    let [cal, target] = [demo("calibration_probs"), demo("fog_3_unlabeled")];
    ["--second-cal-probs".to_owned(), cal, "--second-probs".to_owned(), target]
}

#[test]
fn what_is_assumed_decides_the_reading() {
    let scratch = Scratch::new();
    let out = scratch.at("cal.json");
    for (method, assume, reading) in [
        ("label-plan", "class-shares", "class-shares"),
        ("label-plan", "calibrated", "calibrated"),
        ("label-plan", "matched", "matched"),
        ("auto", "blend", "blend"),
        ("auto", "matched", "matched"),
    ] {
        let given = ["--method", method, "--assume", assume, "--json"];
        let made = FOG.calibrate(&out, &given).json();
        assert_eq!(made["reading"], reading, "{method} {assume}");
        let checked = FOG.check(&["--assume", assume, "--json"]).json();
        assert_eq!(checked["coverage_estimate"]["reading"], reading);
        FOG.evaluate(&out, &["--json"]).json();
    }
    let known = ["--method", "label-plan", "--accuracy", "0.5", "--json"];
    let made = FOG.calibrate(&out, &known).json();
    assert_eq!(made["reading"], "accuracy");
    assert_eq!(made["evidence"]["plan"]["accuracy"]["used"], 0.5);
    let checked = FOG.check(&["--accuracy", "0.5", "--json"]).json();
    assert_eq!(readings(&checked), ["calibrated", "class-shares", "matched", "accuracy"]);
    let command = checked["command"].as_str().unwrap();
    assert!(command.contains("--accuracy 0.5"), "{command}");
    // The score of the law as well.
    let plan = ["--method", "label-plan", "--accuracy", "0.5", "--score", "plan", "--json"];
    assert_eq!(FOG.calibrate(&out, &plan).json()["reading"], "accuracy");
    FOG.evaluate(&out, &["--json"]).json();
}

#[test]
fn second_models_are_heard() {
    let scratch = Scratch::new();
    let out = scratch.at("cal.json");
    let pair = second();
    let mut given: Vec<&str> = pair.iter().chain(&pair).map(String::as_str).collect();
    given.extend(["--assume", "matched", "--json"]);
    let checked = FOG.check(&given).json();
    assert_eq!(checked["coverage_estimate"]["reading"], "second-opinion");
    assert_eq!(readings(&checked), ["calibrated", "class-shares", "matched", "second-opinion"]);
    let opinions = &checked["second_opinions"];
    assert_eq!(opinions["others"].as_array().unwrap().len(), 2);
    assert_eq!(opinions["trust"].as_array().unwrap().len(), 3);
    given.extend(["--method", "auto"]);
    let made = FOG.calibrate(&out, &given).json();
    assert_eq!(made["reading"], "second-opinion");
    let compared = FOG.compare(&[&given[..10], &["--methods", "label-plan", "--json"]].concat());
    assert_eq!(compared.json()["rows"][0]["method"], "label-plan");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let scratch = Scratch::new();
    let out = scratch.at("cal.json");
    for share in ["0", "1.5", "nan", "-0.2"] {
        for ran in [
            FOG.check(&["--accuracy", share]),
            FOG.calibrate(&out, &["--method", "auto", "--accuracy", share]),
        ] {
            assert_eq!(ran.code, 2, "{ran:?}");
            assert!(ran.stderr.contains("--accuracy"), "{ran:?}");
        }
    }
    let refused = FOG.check(&["--accuracy", "0.05"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("a guess among 10 classes"),
        "{refused:?}"
    );
    let refused = FOG.calibrate(&out, &["--assume", "matched"]);
    assert!(refused.code == 2 && refused.stderr.contains("auto and label-plan do"), "{refused:?}");
    let [flag, cal, other_flag, target] = second();
    let refused = FOG.check(&[&flag, &cal]);
    let unpaired = "--second-cal-probs is given once and --second-probs not at all";
    assert!(refused.code == 2 && refused.stderr.contains(unpaired), "{refused:?}");
    let short = demo("fog_3_test_probs");
    let refused = FOG.check(&[&flag, &cal, &other_flag, &short]);
    assert!(refused.code == 2 && refused.stderr.contains("fog_3_test_probs.npy has 2000 rows but"));
    let refused = FOG.check(&[&flag, &short, &other_flag, &target]);
    assert!(refused.code == 2 && refused.stderr.contains("has 2000 rows but"), "{refused:?}");
    let labels = scratch.file("sheet.csv", "row,label\n1,2\n");
    let given = ["--method", "auto", "--target-labels", &labels, "--accuracy", "0.5"];
    let refused = FOG.calibrate(&out, &given);
    assert!(refused.code == 2 && refused.stderr.contains("labels of target rows"), "{refused:?}");
}

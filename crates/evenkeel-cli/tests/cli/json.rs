//! The JSON documents: fields as promised, numbers that round-trip, nothing else on stdout.

use serde_json::Value;

use crate::FOG;
use crate::running::{Scratch, run};

/// The keys of an object, sorted.
fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Fails unless `value` has all the keys.
fn assert_has(value: &Value, promised: &[&str]) {
    for key in promised {
        assert!(value.get(key).is_some(), "no field {key} among {:?}", keys(value));
    }
}

/// Fails unless every number reads back to itself when written by its shortest form.
fn assert_round_trips(text: &str) {
    let value: Value = serde_json::from_str(text).unwrap();
    let again: Value = serde_json::from_str(&serde_json::to_string(&value).unwrap()).unwrap();
    assert_eq!(value, again);
    let mut numbers = 0;
    for word in text.split(|c: char| c.is_whitespace() || ",:[]{}".contains(c)) {
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '-')
            && let Ok(number) = word.parse::<f64>()
        {
            assert_eq!(number.to_string().parse::<f64>().unwrap().to_bits(), number.to_bits());
            assert!(word.len() <= 25, "{word} is no plain number");
            numbers += 1;
        }
    }
    assert!(numbers > 3, "{text}");
}

fn interval(value: &Value) -> [f64; 2] {
    let ends: Vec<f64> =
        value.as_array().unwrap().iter().map(|end| end.as_f64().unwrap()).collect();
    ends.try_into().unwrap()
}

#[test]
fn check() {
    let ran = FOG.check(&["--json"]).done();
    assert_round_trips(&ran.stdout);
    let found = ran.json();
    let promised = [
        "n",
        "m",
        "classes",
        "alpha",
        "shift",
        "threshold",
        "coverage_interval",
        "bounds",
        "dominance",
        "advice",
        "warnings",
    ];
    assert_has(&found, &promised);
    assert_has(&found["shift"], &["statistic", "p_value", "detected"]);
    assert_has(&found["coverage_interval"], &["guaranteed", "assumed", "with_confidence"]);
    assert_has(&found["coverage_interval"]["with_confidence"], &["level", "guaranteed"]);
    for sandwich in ["min_max", "f_u"] {
        let promised = [
            "weighted_cdf",
            "wasserstein",
            "weighted_cdf_dkw",
            "wasserstein_dkw",
            "dkw_confidence",
            "exact_population",
            "level_population",
            "population_confidence",
        ];
        assert_has(&found["bounds"][sandwich], &promised);
        for bound in promised {
            assert!(found["bounds"][sandwich][bound].is_f64(), "{sandwich} {bound}");
        }
    }
    assert_has(&found["dominance"]["f_u"], &["holds", "largest_violation", "at"]);
    assert_eq!(
        (&found["n"], &found["m"], &found["classes"]),
        (&1000.into(), &1000.into(), &10.into())
    );
    assert_eq!(found["alpha"].as_f64(), Some(0.1));
    assert!(found["advice"].is_string() && found["warnings"].is_array());
    let guaranteed = interval(&found["coverage_interval"]["guaranteed"]);
    let assumed = interval(&found["coverage_interval"]["assumed"]);
    let confident = interval(&found["coverage_interval"]["with_confidence"]["guaranteed"]);
    assert!(guaranteed[0] <= assumed[0] && assumed[1] <= guaranteed[1]);
    assert!(confident[0] <= guaranteed[0] && guaranteed[1] <= confident[1]);
}

#[test]
fn calibrate_and_its_file() {
    let scratch = Scratch::new();
    let out = scratch.at("cal.json");
    let ran = FOG.calibrate(&out, &["--json"]).done();
    assert_round_trips(&ran.stdout);
    let found = ran.json();
    let promised = [
        "method",
        "alpha",
        "threshold",
        "effective_sample_size",
        "bound_before",
        "bound_after",
        "total_gap_bound_before",
        "total_gap_bound_after",
        "steps",
        "stopped",
        "seconds",
    ];
    assert_has(&found, &promised);
    assert_eq!(found["method"], "ot");
    assert_eq!(found["steps"], 50);
    let text = std::fs::read_to_string(&out).unwrap();
    assert_round_trips(&text);
    let stored: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(stored["format"], "evenkeel/calibration");
    assert_eq!(stored["version"], 1);
}

#[test]
fn an_infinite_threshold_is_null() {
    let scratch = Scratch::new();
    let out = scratch.at("cal.json");
    // 1000 points cannot promise 99.99 %: every label is in every set.
    let found = FOG
        .calibrate(&out, &["--json", "--method", "uncorrected", "--alpha", "0.0001"])
        .done()
        .json();
    assert!(found["threshold"].is_null(), "{found}");
    let found = FOG.evaluate(&out, &["--json"]).done().json();
    assert_eq!(found["coverage"].as_f64(), Some(1.0));
    assert_eq!(found["full"], found["n"]);
    let rows = FOG.compare(&["--json", "--methods", "uncorrected", "--alpha", "0.0001"]).json();
    assert!(rows["rows"][0]["threshold"].is_null(), "{rows}");
}

#[test]
fn predict() {
    let scratch = Scratch::new();
    let calibration = scratch.at("cal.json");
    FOG.calibrate(&calibration, &[]).done();
    let ran = FOG.predict(&calibration, &scratch.at("sets.npy"), &["--json"]).done();
    assert_has(&ran.json(), &["n", "alpha", "threshold", "mean_size", "empty", "full"]);
}

#[test]
fn evaluate() {
    let scratch = Scratch::new();
    let calibration = scratch.at("cal.json");
    FOG.calibrate(&calibration, &[]).done();
    let ran = FOG.evaluate(&calibration, &["--json"]).done();
    assert_round_trips(&ran.stdout);
    let found = ran.json();
    let promised = [
        "n",
        "alpha",
        "coverage",
        "mean_size",
        "median_size",
        "empty",
        "full",
        "total_coverage_gap",
        "per_class",
        "by_size",
    ];
    assert_has(&found, &promised);
    let classes = found["per_class"].as_array().unwrap();
    assert_eq!(classes.len(), 10);
    for (label, class) in classes.iter().enumerate() {
        assert_has(class, &["label", "n", "coverage"]);
        assert_eq!(class["label"], label);
    }
    let sizes = found["by_size"].as_array().unwrap();
    assert!(sizes.iter().all(|size| keys(size) == ["coverage", "n", "size"]));
    let total = |rows: &[Value]| rows.iter().map(|row| row["n"].as_u64().unwrap()).sum::<u64>();
    assert_eq!((total(classes), total(sizes)), (2000, 2000));
}

#[test]
fn compare_and_demo() {
    let promised = [
        "method",
        "threshold",
        "coverage",
        "mean_size",
        "total_coverage_gap",
        "effective_sample_size",
        "seconds",
    ];
    let ran = FOG.compare(&["--json"]).done();
    assert_round_trips(&ran.stdout);
    for row in ran.json()["rows"].as_array().unwrap() {
        assert_has(row, &promised);
    }
    let scratch = Scratch::new();
    let found = run(&["demo", "--json", "--out", &scratch.at("out")]).done().json();
    assert_eq!(found["days"].as_array().unwrap().len(), 5);
    for day in found["days"].as_array().unwrap() {
        day["rows"].as_array().unwrap().iter().for_each(|row| assert_has(row, &promised));
    }
}

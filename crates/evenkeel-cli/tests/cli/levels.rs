//! Several rates at once: the fields of the first, and a line for each.

use serde_json::Value;

use crate::FOG;
use crate::running::{Scratch, run};

fn alone(document: &Value, fields: &[&str]) -> Value {
    fields.iter().map(|field| ((*field).to_owned(), document[*field].clone())).collect()
}

#[test]
fn check_answers_at_every_level() {
    let several = FOG.check(&["--alpha", "0.1,0.05,0.2", "--json"]).done().json();
    let fields = ["alpha", "threshold", "coverage_estimate", "verdict", "loss", "mean_size"];
    for (place, alpha) in ["0.1", "0.05", "0.2"].iter().enumerate() {
        let single = FOG.check(&["--alpha", alpha, "--json"]).done().json();
        assert_eq!(several["levels"][place], alone(&single, &fields), "{alpha}");
        assert_eq!(single.get("levels"), None);
        if place == 0 {
            let mut several = several.clone();
            several.as_object_mut().unwrap().remove("levels");
            assert_eq!(several["readings"], single["readings"]);
            assert_eq!(several["bounds"], single["bounds"]);
        }
    }
    let text = FOG.check(&["--alpha", "0.1,0.05"]).done().stdout;
    assert!(text.contains("\n  90.0 %") && text.contains("\n  95.0 %"), "{text}");
    for wrong in ["0.1,0.1", "0.1,2", "0.1,"] {
        assert_eq!(FOG.check(&["--alpha", wrong]).code, 2, "{wrong}");
    }
}

#[test]
fn check_of_a_calibration_answers_at_every_level() {
    let scratch = Scratch::new();
    let cal = scratch.at("cal.json");
    FOG.calibrate(&cal, &["--method", "uncorrected"]).done();
    let target = crate::running::demo("fog_3_unlabeled");
    let check = |alpha: &str| {
        let start = ["check", "--calibration", &cal, "--unlabeled", &target, "--json"];
        run(&[&start[..], &["--alpha", alpha]].concat()).done().json()
    };
    let several = check("0.2,0.05");
    for (place, alpha) in ["0.2", "0.05"].iter().enumerate() {
        assert_eq!(several["levels"][place]["threshold"], check(alpha)["threshold"]);
    }
}

#[test]
fn compare_has_a_table_for_every_level() {
    let without_seconds = |rows: &Value| {
        let mut rows = rows.clone();
        rows.as_array_mut().unwrap().iter_mut().for_each(|row| row["seconds"] = Value::Null);
        rows
    };
    let more = ["--methods", "uncorrected,label-plan,oracle", "--json", "--alpha"];
    let several = FOG.compare(&[&more[..], &["0.1,0.2"]].concat()).done().json();
    assert_eq!(without_seconds(&several["levels"][0]["rows"]), without_seconds(&several["rows"]));
    let single = FOG.compare(&[&more[..], &["0.2"]].concat()).done().json();
    assert_eq!(without_seconds(&several["levels"][1]["rows"]), without_seconds(&single["rows"]));
    assert_eq!(single.get("levels"), None);
    let text = FOG.compare(&["--methods", "uncorrected", "--alpha", "0.1,0.2"]).done().stdout;
    assert!(text.contains("\nLevel 80.0 %:\n"), "{text}");
}

#[test]
fn predict_writes_a_file_for_every_level() {
    let scratch = Scratch::new();
    let cal = scratch.at("cal.json");
    FOG.calibrate(&cal, &["--method", "uncorrected"]).done();
    let out = scratch.at("sets-{alpha}.csv");
    let several = FOG.predict(&cal, &out, &["--alpha", "0.1,0.05", "--json"]).done().json();
    for (place, alpha) in ["0.1", "0.05"].iter().enumerate() {
        let file = scratch.at("one.csv");
        let single = FOG.predict(&cal, &file, &["--alpha", alpha, "--json"]).done().json();
        let written = scratch.at(&format!("sets-{alpha}.csv"));
        let level = &several["levels"][place];
        for field in ["alpha", "threshold", "mean_size", "empty", "full"] {
            assert_eq!(level[field], single[field], "{alpha} {field}");
        }
        assert_eq!(level["out"], written.as_str());
        let read = |path: &str| std::fs::read(path).unwrap();
        assert!(read(&written) == read(&file), "{alpha}");
        assert_eq!(single.get("levels"), None);
    }
    let ran = FOG.predict(&cal, &scratch.at("sets.csv"), &["--alpha", "0.1,0.05"]);
    assert!(ran.code == 2 && ran.stderr.contains("sets-{alpha}.csv"), "{ran:?}");
    let ran = FOG.predict(&cal, &out, &[]);
    assert!(ran.code == 2 && ran.stderr.contains("give --alpha"), "{ran:?}");
    // The name with the rate in it may be an input.
    let calibration = scratch.at("cal-0.1.npy");
    std::fs::copy(FOG.test_probs(), &calibration).unwrap();
    let files =
        ["predict", "--calibration", &cal, "--probs", &calibration, "--alpha", "0.1,0.2", "--out"];
    let ran = run(&[&files[..], &[&scratch.at("cal-{alpha}.npy")]].concat());
    assert!(ran.code == 2 && ran.stderr.contains("is the file of --probs"), "{ran:?}");
}

#[test]
fn label_says_what_labels_are_worth_at_every_level() {
    let several = run(&["label", "--for", "5", "--alpha", "0.1,0.2", "--json"]).done().json();
    for (place, alpha) in ["0.1", "0.2"].iter().enumerate() {
        let single = run(&["label", "--for", "5", "--alpha", alpha, "--json"]).done().json();
        assert_eq!(several["levels"][place]["for"], single["for"], "{alpha}");
        assert_eq!(single.get("levels"), None);
    }
    assert_eq!(several["for"], several["levels"][0]["for"]);
    let text = run(&["label", "--for", "5", "--alpha", "0.1,0.2"]).done().stdout;
    assert!(text.contains("near 90 %") && text.contains("near 80 %"), "{text}");
}

/// On the rows that chose it a threshold covers what its rank says, whatever the rows are; by halves it is measured.
#[test]
fn the_oracle_is_measured_on_rows_that_did_not_choose_it() {
    let of = |seed: &str| {
        let more = ["--methods", "oracle", "--json", "--seed", seed];
        FOG.compare(&more).done().json()
    };
    let found = of("0");
    let (row, n) = (&found["rows"][0], found["n"].as_f64().unwrap());
    let coverage = row["coverage"].as_f64().unwrap();
    let optimistic = ((n + 1.0) * 0.9).ceil() / n;
    let others: Vec<f64> =
        ["1", "2", "3"].map(|seed| of(seed)["rows"][0]["coverage"].as_f64().unwrap()).to_vec();
    assert!(others.iter().any(|other| (other - optimistic).abs() > 1e-9), "{others:?}");
    // Valid up to chance: each half of 500 covers 0.9 within four standard errors of both.
    assert!((coverage - 0.9).abs() < 4.0 * (2.0 * 0.09 / n).sqrt() + 2.0 / n, "{coverage}");
    assert_eq!(
        row,
        &of("0")["rows"][0]
            .as_object()
            .map(|same| {
                let mut same = same.clone();
                same["seconds"] = row["seconds"].clone();
                Value::Object(same)
            })
            .unwrap()
    );
    assert!(found["notes"][0].as_str().unwrap().contains("calibrated on one half"));
    let threads = FOG.compare(&["--methods", "oracle", "--json", "--threads", "1"]).done().json();
    assert_eq!(threads["rows"][0]["coverage"], row["coverage"]);
    assert_eq!(threads["rows"][0]["total_coverage_gap"], row["total_coverage_gap"]);
}

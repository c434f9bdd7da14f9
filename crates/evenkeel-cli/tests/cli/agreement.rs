//! Commands agree with each other, with themselves on any number of threads, and with a count by hand.

use serde_json::Value;

use crate::FOG;
use crate::running::{Array, Ran, Scratch};

/// The document without what differs from run to run.
fn without_seconds(ran: &Ran) -> Value {
    let mut found = ran.json();
    let strip = |row: &mut Value| drop(row.as_object_mut().unwrap().remove("seconds"));
    strip(&mut found);
    if let Some(rows) = found.get_mut("rows").and_then(Value::as_array_mut) {
        rows.iter_mut().for_each(strip);
    }
    found
}

/// Coverage and mean size, counted from a bool matrix.
fn counted(sets: &str, labels: &str) -> (f64, f64) {
    let (sets, labels) = (Array::read(sets), Array::read(labels));
    assert!(sets.header.contains("'|b1'"), "{}", sets.header);
    assert_eq!(sets.rows, labels.rows);
    let rows = sets.data.chunks_exact(sets.columns).zip(labels.integers());
    let covered = rows.filter(|(row, label)| row[usize::try_from(*label).unwrap()] == 1).count();
    let members = sets.data.iter().filter(|member| **member == 1).count();
    (covered as f64 / sets.rows as f64, members as f64 / sets.rows as f64)
}

#[test]
fn threads_change_no_byte() {
    let scratch = Scratch::new();
    for score in [&["--score", "lac"][..], &["--score", "raps", "--randomised"]] {
        let of = |threads: &str| {
            let more = |command: &str| -> Vec<&str> {
                let mut more = vec!["--json", "--threads"];
                more.push(if threads == "1" { "1" } else { "2" });
                if command != "stored" {
                    more.extend_from_slice(score);
                }
                more
            };
            let (calibration, sets) =
                (scratch.at(&format!("{threads}.json")), scratch.at(&format!("{threads}.npy")));
            let calibrated = FOG.calibrate(&calibration, &more("calibrate")).done();
            let answers = [
                FOG.check(&more("check")).done().stdout,
                without_seconds(&calibrated).to_string(),
                FOG.predict(&calibration, &sets, &more("stored")).done().stdout,
                FOG.evaluate(&calibration, &more("stored")).done().stdout,
                without_seconds(&FOG.compare(&more("compare")).done()).to_string(),
            ];
            let files = [std::fs::read(calibration).unwrap(), std::fs::read(sets).unwrap()];
            (answers, files)
        };
        let (one, two) = (of("1"), of("2"));
        assert_eq!(one.0, two.0);
        assert!(one.1 == two.1, "files differ");
    }
}

#[test]
fn predict_evaluate_and_compare_tell_the_same_story() {
    let scratch = Scratch::new();
    for method in ["uncorrected", "ot"] {
        for score in ["lac", "aps", "raps", "margin"] {
            let (calibration, sets) = (scratch.at("cal.json"), scratch.at("sets.npy"));
            let more = ["--method", method, "--score", score];
            FOG.calibrate(&calibration, &more).done();
            let predicted = FOG.predict(&calibration, &sets, &["--json"]).done().json();
            let evaluated = FOG.evaluate(&calibration, &["--json"]).done().json();
            let more = ["--json", "--methods", method, "--score", score];
            let compared = FOG.compare(&more).done().json();
            let row = &compared["rows"][0];
            let (coverage, mean_size) = counted(&sets, &FOG.test_labels());
            assert_eq!(evaluated["coverage"], coverage, "{method} {score}");
            assert_eq!(evaluated["mean_size"], mean_size, "{method} {score}");
            assert_eq!(predicted["mean_size"], mean_size, "{method} {score}");
            assert_eq!(predicted["threshold"], row["threshold"], "{method} {score}");
            for field in ["coverage", "mean_size", "total_coverage_gap"] {
                assert_eq!(evaluated[field], row[field], "{method} {score} {field}");
            }
        }
    }
}

#[test]
fn one_calibration_serves_every_alpha() {
    let scratch = Scratch::new();
    let (calibration, sets) = (scratch.at("cal.json"), scratch.at("sets.npy"));
    FOG.calibrate(&calibration, &["--method", "uncorrected"]).done();
    let mut last = 1.0;
    for alpha in ["0.01", "0.05", "0.1", "0.2", "0.5", "0.9"] {
        let found = FOG.evaluate(&calibration, &["--json", "--alpha", alpha]).done().json();
        assert_eq!(found["alpha"].as_f64(), alpha.parse().ok());
        // The weights of `uncorrected` do not depend on alpha, so a calibration made for it gives the same.
        let other = scratch.at("other.json");
        FOG.calibrate(&other, &["--method", "uncorrected", "--alpha", alpha]).done();
        assert_eq!(found, FOG.evaluate(&other, &["--json"]).done().json());
        FOG.predict(&calibration, &sets, &["--alpha", alpha]).done();
        assert_eq!(found["coverage"], counted(&sets, &FOG.test_labels()).0);
        let coverage = found["coverage"].as_f64().unwrap();
        assert!(coverage <= last, "smaller sets cover no more");
        last = coverage;
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let scratch = Scratch::new();
    let of = |name: &str, seed: &str| {
        let path = scratch.at(name);
        let more = ["--seed", seed, "--score", "aps", "--randomised"];
        FOG.calibrate(&path, &more).done();
        std::fs::read(path).unwrap()
    };
    let first = of("a.json", "7");
    assert!(first == of("b.json", "7"));
    assert!(first != of("c.json", "8"));
}

/// Equal weights with one for the test point are split conformal prediction; zeros leave points out.
#[test]
fn fixed_weights() {
    let scratch = Scratch::new();
    let (ones, plain) = (scratch.at("ones.json"), scratch.at("plain.json"));
    let weights = scratch.file("weights.csv", "weight\n".to_owned() + &"1\n".repeat(1000));
    FOG.calibrate(&ones, &["--method", "fixed", "--weights-file", &weights]).done();
    FOG.calibrate(&plain, &["--method", "uncorrected"]).done();
    let evaluated = |path: &str| FOG.evaluate(path, &["--json"]).done().json();
    assert_eq!(evaluated(&ones), evaluated(&plain));
    let few =
        scratch.file("few.csv", "weight\n".to_owned() + &"1\n".repeat(3) + &"0\n".repeat(997));
    let ran = FOG.calibrate(
        &scratch.at("few.json"),
        &["--json", "--method", "fixed", "--weights-file", &few],
    );
    assert!(ran.done().json()["threshold"].is_null(), "three points cannot reach 90 %");
    for (name, contents, words) in [
        ("short.csv", "weight\n1\n".to_owned(), "has 1000"),
        ("negative.csv", "weight\n".to_owned() + &"1\n".repeat(999) + "-1\n", "-1"),
        ("zero.csv", "weight\n".to_owned() + &"0\n".repeat(1000), "sum to zero"),
    ] {
        let file = scratch.file(name, contents);
        let ran =
            FOG.calibrate(&scratch.at("no.json"), &["--method", "fixed", "--weights-file", &file]);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        assert!(!std::path::Path::new(&scratch.at("no.json")).exists());
    }
    let ran = FOG.calibrate(&scratch.at("no.json"), &["--method", "fixed"]);
    assert!(ran.code == 2 && ran.stderr.contains("--weights-file"), "{ran:?}");
}

/// The oracle takes labels of the test points, which only a comparison has; how it is measured is asked in `levels`.
#[test]
fn oracle() {
    let scratch = Scratch::new();
    let ran = FOG.calibrate(&scratch.at("cal.json"), &["--method", "oracle"]);
    assert!(ran.code == 2 && ran.stderr.contains("comparison"), "{ran:?}");
}

/// `predict` then `evaluate` gives what `compare` says, for every method.
#[test]
fn every_method_is_the_same_in_a_file_and_in_a_comparison() {
    let scratch = Scratch::new();
    let methods = [
        "auto",
        "label-plan",
        "ot",
        "uncorrected",
        "likelihood-ratio",
        "ecp",
        "qtc",
        "conditional",
        "label-shift",
    ];
    let compared = FOG.compare(&["--json", "--methods", &methods.join(",")]).done().json();
    for (method, row) in methods.iter().zip(compared["rows"].as_array().unwrap()) {
        let (calibration, sets) = (scratch.at(&format!("{method}.json")), scratch.at("sets.npy"));
        FOG.calibrate(&calibration, &["--method", method]).done();
        let predicted = FOG.predict(&calibration, &sets, &["--json"]).done().json();
        let evaluated = FOG.evaluate(&calibration, &["--json"]).done().json();
        assert_eq!(row["method"], *method);
        assert_eq!(predicted["mean_size"], row["mean_size"], "{method}");
        for field in ["coverage", "mean_size", "total_coverage_gap"] {
            assert_eq!(evaluated[field], row[field], "{field} of {method}");
        }
        assert_eq!(predicted["threshold"], row["threshold"], "{method}");
        let text = std::fs::read_to_string(&calibration).unwrap();
        let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
        file.as_object_mut().unwrap().remove("rule");
        let damaged = scratch.file("damaged.json", file.to_string());
        assert_eq!(FOG.evaluate(&damaged, &[]).code, 2, "{method} without its rule");
    }
}

/// Files beside the probabilities that nobody asked for, or that lack their counterpart, are refused.
#[test]
fn what_stands_beside_must_be_of_use() {
    let scratch = Scratch::new();
    let ones = scratch.file("ones.csv", "one\n".to_owned() + &"1\n".repeat(1000));
    let plain = scratch.at("plain.json");
    for (more, words) in [
        (&["--method", "uncorrected", "--weights-file", &ones][..], "--weights-file"),
        (&["--method", "ecp", "--cal-ratios", &ones], "--cal-ratios"),
        (
            &["--method", "likelihood-ratio", "--ratio", "logistic", "--cal-ratios", &ones],
            "--cal-ratios",
        ),
        (
            &["--method", "qtc", "--qtc-rule", "source-threshold", "--score", "margin"],
            "works with the scores lac and aps only",
        ),
    ] {
        let ran = FOG.calibrate(&plain, more);
        assert!(ran.code == 2 && ran.stderr.contains(words), "{more:?}: {}", ran.stderr);
    }
    FOG.calibrate(&plain, &["--method", "uncorrected"]).done();
    let ran = FOG.evaluate(&plain, &["--ratios", &ones]);
    assert!(ran.code == 2 && ran.stderr.contains("uncorrected"), "{}", ran.stderr);
    let ran = FOG.compare(&["--methods", "likelihood-ratio", "--cal-ratios", &ones]);
    assert!(ran.code == 2 && ran.stderr.contains("--test-ratios"), "{}", ran.stderr);
}

#[test]
fn check_promises_what_the_command_it_recommends_delivers() {
    let scratch = Scratch::new();
    for delta in ["0.05", "0.01", "0.001"] {
        let found = FOG.check(&["--json", "--delta", delta]).done().json();
        let promised = &found["recommended"];
        let out = scratch.at("cal.json");
        let more = ["--json", "--method", "auto", "--shift-level", delta];
        let delivered = FOG.calibrate(&out, &more).done().json();
        let evidence = &delivered["evidence"];
        assert_eq!(promised["threshold"], delivered["threshold"], "delta {delta}");
        assert_eq!(promised["certificate"], evidence["plan"]["certificate"], "delta {delta}");
        assert_eq!(found["shift"]["p_value"], evidence["test"]["p_value"], "delta {delta}");
        let text = FOG.check(&["--delta", delta]).stdout;
        let level = if delta == "0.05" { "auto --out" } else { "auto --shift-level 0.0" };
        assert!(text.contains(&format!("--method {level}")), "{text}");
    }
}

#[test]
fn class_names_are_used_where_classes_are_shown() {
    let scratch = Scratch::new();
    let letters: Vec<String> = (0..10).map(|label| format!("kind-{label}")).collect();
    let names = scratch.file("names.txt", letters.join("\n").into_bytes());
    let named = ["--class-names", names.as_str()];
    let (out, page) = (scratch.at("cal.json"), scratch.at("page.html"));
    let json = [&named[..], &["--json"]].concat();
    let checked = FOG.check(&json).done().json();
    assert_eq!(checked["per_class"][4]["name"], "kind-4");
    let text = FOG.check(&[&named[..], &["--explain", "--html", &page]].concat()).done().stdout;
    assert!(text.contains("for kind-"), "{text}");
    assert!(std::fs::read_to_string(page).unwrap().contains("kind-4"));
    let calibrated = FOG.calibrate(&out, &json).done().json();
    assert_eq!(calibrated["class_names"][4], "kind-4");
    assert!(std::fs::read_to_string(&out).unwrap().contains("kind-4"));
    let kept = FOG.evaluate(&out, &["--json"]).done().json();
    assert_eq!(kept["per_class"][4]["name"], "kind-4");
    let evaluated = FOG.evaluate(&out, &json).done().json();
    assert_eq!(evaluated["per_class"][4]["name"], "kind-4");
}

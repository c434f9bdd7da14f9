//! Coverage for each class and each group, from calibration to page.

use std::fmt::Write as _;
use std::fs;

use crate::running::{Ran, Scratch, demo, run};
use crate::{FOG, call, options};

/// A csv file with an id and the group of each of so many rows.
fn groups(
    scratch: &Scratch,
    name: &str,
    rows: usize,
    of: impl Fn(usize) -> &'static str,
) -> String {
    let mut text = "id,site\n".to_owned();
    for row in 0..rows {
        writeln!(text, "{row},{}", of(row)).unwrap();
    }
    scratch.file(name, text)
}

fn rows_of(json: &serde_json::Value, name: &str) -> usize {
    json[name].as_u64().unwrap() as usize
}

fn evaluate(calibration: &str, more: &[&str]) -> Ran {
    let files = [
        ("--calibration", calibration.to_owned()),
        ("--probs", demo("fog_3_test_probs")),
        ("--labels", demo("fog_3_test_labels")),
    ];
    run(&call("evaluate", options(&files), more))
}

#[test]
fn a_threshold_for_each_class_goes_from_calibration_to_evaluation() {
    let scratch = Scratch::new();
    let cal = scratch.at("cal.json");
    for method in ["auto", "label-plan", "uncorrected", "label-shift"] {
        let document =
            FOG.calibrate(&cal, &["--method", method, "--per", "class", "--json"]).json();
        assert_eq!(
            (document["per"].as_str(), document["threshold"].is_null()),
            (Some("class"), true)
        );
        let lines = document["per_class"].as_array().unwrap().clone();
        assert_eq!(lines.len(), 10, "{document}");
        let evaluated = evaluate(&cal, &["--json"]).json();
        for (line, row) in lines.iter().zip(evaluated["per_class"].as_array().unwrap()) {
            assert_eq!(line["threshold"], row["threshold"], "{method}");
        }
    }
    let said = FOG.calibrate(&cal, &["--method", "uncorrected", "--per", "class"]).done();
    assert!(said.stdout.contains("10 of 10 classes have their own"), "{}", said.stdout);
    let (sets, table) = (scratch.at("sets.csv"), evaluate(&cal, &[]).done());
    assert!(table.stdout.contains("threshold"), "{}", table.stdout);
    let predicting = [("--calibration", cal.clone()), ("--probs", demo("fog_3_test_probs"))];
    let ran = run(&call("predict", options(&predicting), &["--out", &sets])).done();
    assert!(ran.stdout.contains("a threshold for each label"), "{}", ran.stdout);
    // Commands that ask about one threshold say that there is none.
    let unlabeled = [("--calibration", cal), ("--unlabeled", demo("fog_3_unlabeled"))];
    let refused = run(&call("check", options(&unlabeled), &[]));
    assert!(refused.code == 2 && refused.stderr.contains("for each class or group"), "{refused:?}");
}

#[test]
fn groups_go_from_calibration_to_page() {
    let scratch = Scratch::new();
    let (cal, page) = (scratch.at("cal.json"), scratch.at("page.html"));
    let (n, m) = {
        let document = FOG.check(&["--json"]).json();
        (rows_of(&document, "n"), rows_of(&document, "m"))
    };
    let of = |row: usize| if row.is_multiple_of(3) { "north" } else { "south, far" };
    let quoted = |row: usize| if row.is_multiple_of(3) { "north" } else { "\"south, far\"" };
    let of_cal = groups(&scratch, "cal.csv", n, quoted);
    let of_target = groups(&scratch, "target.csv", m, quoted) + ":site";
    let given = ["--per", "site", "--cal-groups", &of_cal, "--unlabeled-groups", &of_target];
    let document = FOG.calibrate(&cal, &[&given[..], &["--json"]].concat()).json();
    let lines = document["per_group"].as_array().unwrap();
    assert_eq!(
        (lines[0]["group"].as_str(), lines[1]["group"].as_str()),
        (Some(of(0)), Some(of(1)))
    );
    assert_eq!(document["by"], "site");
    // The same for any number of threads.
    let again = scratch.at("again.json");
    FOG.calibrate(&again, &[&given[..], &["--threads", "1"]].concat()).done();
    assert_eq!(fs::read(&cal).unwrap(), fs::read(&again).unwrap());
    let rows = rows_of(&evaluate_plain(&scratch), "n");
    let of_test = groups(&scratch, "test.csv", rows, quoted);
    let found =
        evaluate(&cal, &["--groups", &of_test, "--html", &page, "--json", "--quiet"]).json();
    assert_eq!(found["per_group"].as_array().unwrap().len(), 2);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("Each group") && text.contains("south, far"));
    // A check has a line for each, and its page too.
    let checked = FOG.check(&[&given[..], &["--html", &page, "--json", "--quiet"]].concat()).json();
    let lines = checked["per_group"].as_array().unwrap();
    assert!(lines.iter().all(|line| line["coverage_estimate"]["value"].is_number()), "{checked}");
    assert!(fs::read_to_string(&page).unwrap().contains("Each group"));
    let said = FOG.check(&given).done();
    assert!(said.stdout.contains("estimated coverage"), "{}", said.stdout);
    let classes = FOG.check(&["--per", "class", "--json"]).json();
    assert!(classes["per_class"][0]["coverage_estimate"].is_number(), "{classes}");
    // Groups are needed, must be known, and must be as many as rows.
    let missing = evaluate(&cal, &[]);
    assert!(missing.code == 2 && missing.stderr.contains("have no groups"), "{missing:?}");
    let other = groups(&scratch, "other.csv", rows, |row| if row == 5 { "west" } else { "north" });
    let unknown = evaluate(&cal, &["--groups", &other]);
    assert!(unknown.code == 2 && unknown.stderr.contains("row 5 is of the group \"west\""));
    let short = groups(&scratch, "short.csv", rows - 1, quoted);
    assert_eq!(evaluate(&cal, &["--groups", &short]).code, 2);
}

/// An evaluation of a calibration with one threshold.
fn evaluate_plain(scratch: &Scratch) -> serde_json::Value {
    let cal = scratch.at("plain.json");
    FOG.calibrate(&cal, &["--method", "uncorrected"]).done();
    evaluate(&cal, &["--json"]).json()
}

#[test]
fn words_that_do_not_go_together_are_refused() {
    let scratch = Scratch::new();
    let (cal, file) = (scratch.at("cal.json"), groups(&scratch, "g.csv", 3, |_| "a"));
    let refused = |more: &[&str], words: &str| {
        let ran = FOG.calibrate(&cal, more);
        assert!(ran.code == 2 && ran.stderr.contains(words), "{more:?}: {ran:?}");
        assert!(fs::metadata(&cal).is_err());
    };
    refused(&["--per", "site"], "--cal-groups");
    refused(&["--cal-groups", &file], "--unlabeled-groups");
    refused(
        &["--per", "class", "--cal-groups", &file, "--unlabeled-groups", &file],
        "takes no groups",
    );
    refused(&["--small-groups", "refuse"], "--per");
    refused(&["--per", "class", "--other-groups", "pooled"], "--cal-groups");
    refused(&["--per", "class", "--method", "ot"], "ot has no thresholds for each class");
    refused(
        &["--per", "x", "--cal-groups", &file, "--unlabeled-groups", &file],
        "groups need one column",
    );
    let one = format!("{file}:site");
    refused(&["--cal-groups", &one, "--unlabeled-groups", &one], "has 3 groups but");
    let alpha = ["--per", "class", "--method", "uncorrected", "--alpha", "0.0005"];
    refused(&alpha, "needs at least 1999 calibration points");
    // An input must not be replaced.
    let out = FOG.calibrate(&file, &["--cal-groups", &one, "--unlabeled-groups", &one]);
    assert!(out.code == 2 && out.stderr.contains("--cal-groups"), "{out:?}");
}

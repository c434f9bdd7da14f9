//! stdout, stderr and exit code of every command.

use std::path::Path;

use crate::running::{Scratch, assert_snapshot, run};
use crate::{CLEAN, FOG, normalise};

const COMMANDS: [&str; 11] = [
    "demo",
    "check",
    "calibrate",
    "predict",
    "evaluate",
    "compare",
    "label",
    "monitor",
    "reproduce",
    "completions",
    "manual",
];

#[test]
fn check() {
    let scratch = Scratch::new();
    assert_snapshot("cli/snapshots/check-fog.txt", &normalise(&FOG.check(&[]), &scratch));
    assert_snapshot("cli/snapshots/check-clean.txt", &normalise(&CLEAN.check(&[]), &scratch));
    let page = scratch.at("check.html");
    let ran = FOG.check(&["--html", &page, "--score", "aps", "--alpha", "0.05"]);
    assert_snapshot("cli/snapshots/check-html.txt", &normalise(&ran, &scratch));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
    assert!(page.trim_end().ends_with("</html>"));
}

#[test]
fn check_answers_in_its_first_three_lines() {
    let shifted = FOG.check(&[]).stdout;
    let lines: Vec<&str> = shifted.lines().take(5).collect();
    assert!(lines[0].starts_with("Coverage is probably about 32 % (range "), "{lines:?}");
    assert!(lines[1].starts_with("Calibrate anew: about 9"), "{lines:?}");
    assert!(lines[2].starts_with("Estimated from 1000 unlabeled rows"), "{lines:?}");
    assert!(
        lines[3].is_empty() && lines[4].starts_with("  evenkeel calibrate --cal-probs "),
        "{lines:?}"
    );
    assert!(CLEAN.check(&[]).stdout.starts_with("Coverage holds: about 90 %"));
    let explained = FOG.check(&["--explain"]).done().stdout;
    assert!(explained.starts_with(&shifted), "{explained}");
    for said in [
        "class-shares",
        "Shift detected (p < 0.001)",
        "With min-max these two are guaranteed",
        "above 1: says nothing",
    ] {
        assert!(explained.contains(said), "{said} is not in {explained}");
    }
    assert_snapshot(
        "cli/snapshots/check-explain.txt",
        &normalise(&FOG.check(&["--explain"]), &Scratch::new()),
    );
}

#[test]
fn calibrate_predict_and_evaluate() {
    let scratch = Scratch::new();
    let calibration = scratch.at("cal.json");
    let ran = FOG.calibrate(&calibration, &[]);
    assert_snapshot("cli/snapshots/calibrate-ot.txt", &normalise(&ran, &scratch));
    let ran = FOG.calibrate(&scratch.at("plain.json"), &["--method", "uncorrected"]);
    assert_snapshot("cli/snapshots/calibrate-uncorrected.txt", &normalise(&ran, &scratch));
    for extension in ["npy", "csv", "jsonl", "parquet"] {
        let out = scratch.at(&format!("sets.{extension}"));
        let ran = FOG.predict(&calibration, &out, &[]);
        let name = format!("cli/snapshots/predict-{extension}.txt");
        assert_snapshot(&name, &normalise(&ran, &scratch));
    }
    let head = |name: &str| -> String {
        let text = std::fs::read_to_string(scratch.at(name)).unwrap();
        text.lines().take(12).map(|line| format!("{line}\n")).collect()
    };
    assert_snapshot("cli/snapshots/sets-head.csv", &head("sets.csv"));
    assert_snapshot("cli/snapshots/sets-head.jsonl", &head("sets.jsonl"));
    let ran = FOG.evaluate(&calibration, &[]);
    assert_snapshot("cli/snapshots/evaluate.txt", &normalise(&ran, &scratch));
}

#[test]
fn compare_with_its_files() {
    let scratch = Scratch::new();
    let (table, page) = (scratch.at("rows.csv"), scratch.at("page.html"));
    let ran = FOG.compare(&["--csv", &table, "--html", &page]);
    assert_snapshot("cli/snapshots/compare.txt", &normalise(&ran, &scratch));
    let table = std::fs::read_to_string(table).unwrap();
    let mut lines = table.lines();
    assert_eq!(
        lines.next().unwrap(),
        "method,threshold,coverage,mean_size,total_coverage_gap,effective_sample_size,seconds,assumption"
    );
    let methods: Vec<&str> = lines.map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(methods, ["uncorrected", "ot"]);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.trim_end().ends_with("</html>"));
    // The page must work without a network.
    for remote in
        ["src=\"http", "href=\"http://", "<link rel=\"stylesheet\" href=\"http", "@import"]
    {
        assert!(!page.contains(remote), "{remote}");
    }
}

/// The files of the repository, to the byte; those of the target rows' labels and ids are not handed out.
#[test]
fn demo_writes_its_data_alone() {
    let scratch = Scratch::new();
    let ran = run(&["demo", "--data", &scratch.at("data")]);
    assert_eq!((ran.code, &ran.stdout[..]), (0, ""), "{}", ran.stderr);
    let mut written = 0;
    for entry in std::fs::read_dir(scratch.at("data")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/demo").join(name);
        assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(shipped).unwrap(), "{name:?}");
        written += 1;
    }
    assert_eq!(written, 18);
    let both = run(&["demo", "--data", &scratch.at("data"), "--nights", &scratch.at("nights")]);
    assert_eq!(both.code, 2, "{}", both.stderr);
    for (option, folder) in [("--data", "again"), ("--nights", "nights")] {
        let ran = run(&["demo", option, &scratch.at(folder), "--json"]).done();
        assert_eq!(ran.json(), serde_json::json!({ "wrote": scratch.at(folder) }));
    }
}

#[test]
fn demo_runs_the_whole_job() {
    let scratch = Scratch::new();
    let out = scratch.at("report");
    let ran = run(&["demo", "--out", &out]);
    assert_snapshot("cli/snapshots/demo.txt", &normalise(&ran, &scratch));
    assert!(std::fs::metadata(scratch.at("report/report.html")).unwrap().len() > 10_000);
    // What it writes are the repository's files, every row, and the command it suggests works.
    let written = std::fs::read(scratch.at("report/data/fog_3_unlabeled.npy")).unwrap();
    let shipped = std::fs::read(crate::running::demo("fog_3_unlabeled")).unwrap();
    assert!(written == shipped);
    let suggested = ran.stdout.lines().last().unwrap().trim();
    let words: Vec<&str> = suggested.split(' ').skip(1).collect();
    run(&words).done();
}

#[test]
fn completions_for_every_shell() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish"] {
        let ran = run(&["completions", shell]).done();
        let name = format!("cli/snapshots/completions.{shell}.txt");
        assert_snapshot(&name, &normalise(&ran, &scratch));
        for command in COMMANDS {
            assert!(ran.stdout.contains(command), "{shell} does not know {command}");
        }
    }
}

#[test]
fn manual() {
    let ran = run(&["manual"]).done();
    assert_snapshot("cli/snapshots/manual.txt", &normalise(&ran, &Scratch::new()));
    assert!(ran.stdout.contains(".TH evenkeel"));
    for command in COMMANDS {
        assert!(ran.stdout.contains(command), "{command}");
    }
}

/// The page of the documentation is what the program prints.
#[test]
fn reference() {
    let ran = run(&["manual", "--format", "markdown"]).done();
    assert_snapshot("../../../docs/reference/cli.md", &ran.stdout);
    for command in COMMANDS {
        assert!(ran.stdout.contains(&format!("\n## evenkeel {command}\n")), "{command}");
    }
    assert!(ran.stdout.contains("| `--fail-below <COVERAGE>`"), "{}", ran.stdout);
}

#[test]
fn help_and_version() {
    let scratch = Scratch::new();
    let ran = run(&["--help"]).done();
    assert_snapshot("cli/snapshots/help.txt", &normalise(&ran, &scratch));
    for command in COMMANDS {
        let ran = run(&[command, "--help"]).done();
        assert_snapshot(&format!("cli/snapshots/help-{command}.txt"), &normalise(&ran, &scratch));
        assert!(ran.stdout.contains("Example:\n  evenkeel "), "{command} --help has no example");
        assert_eq!(ran.stderr, "");
    }
    let ran = run(&["--version"]).done();
    assert_eq!(ran.stdout, format!("evenkeel {}\n", env!("CARGO_PKG_VERSION")));
    let ran = run::<&str>(&[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "nothing asked for, nothing done");
}

#[test]
fn conditions_that_were_asked_to_fail_on() {
    let scratch = Scratch::new();
    let calibration = scratch.at("cal.json");
    FOG.calibrate(&calibration, &["--method", "uncorrected"]).done();
    for (more, code) in [
        (&["--fail-on-shift"][..], 1),
        (&["--fail-below", "0.99"], 1),
        (&["--fail-below", "0"], 0),
        (&["--fail-below-worst-case", "0.5"], 1),
        (&["--fail-below-worst-case", "0.05"], 0),
        (&["--fail-below-guaranteed", "0.9"], 1),
        (&["--fail-below-guaranteed", "0"], 0),
        (&[], 0),
    ] {
        let ran = FOG.check(more);
        assert_eq!(ran.code, code, "{more:?}");
        // Whoever is woken by the exit code is told why: the condition, the limit and the number.
        let told =
            ran.stderr.lines().any(|line| line.starts_with(&format!("failed: {}", more.join(" "))));
        assert_eq!(told, code == 1, "{more:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, FOG.check(&[]).stdout, "the condition changes the code only");
        let document = FOG.check(&[more, &["--json"]].concat()).json();
        assert_eq!(document["failed"].as_array().unwrap().len(), usize::from(code == 1));
    }
    let failed = FOG.check(&["--fail-below", "0.85", "--json"]).json()["failed"][0].clone();
    assert_eq!(
        (failed["condition"].as_str(), failed["limit"].as_f64()),
        (Some("fail-below"), Some(0.85))
    );
    assert!(failed["value"].as_f64().unwrap() < 0.6);
    assert_eq!(CLEAN.check(&["--fail-below", "0.85"]).code, 0);
    assert_eq!(CLEAN.check(&["--fail-on-shift"]).code, 0);
    for (floor, code) in [("0.999", 1), ("0", 0)] {
        let ran = FOG.evaluate(&calibration, &["--fail-below", floor]);
        assert_eq!((ran.code, ran.stderr.contains("failed: --fail-below")), (code, code == 1));
    }
    assert_eq!(FOG.evaluate(&calibration, &[]).code, 0);
}

/// A calibration keeps what a later check needs, and labels decide where there are any.
#[test]
fn check_of_a_calibration_in_use() {
    let scratch = Scratch::new();
    let calibration = scratch.at("cal.json");
    CLEAN.calibrate(&calibration, &["--method", "uncorrected"]).done();
    let target = crate::running::demo("fog_3_unlabeled");
    let target = target.as_str();
    let asked = ["check", "--calibration", &calibration, "--unlabeled", target];
    let json = |more: &[&str]| run(&[&asked[..], more, &["--json"]].concat());
    let document = json(&[]).done().json();
    let from_files = FOG.check(&["--json"]).done().json();
    assert_eq!(document["coverage_estimate"], from_files["coverage_estimate"]);
    assert_eq!(document["shift"], from_files["shift"]);
    let page = scratch.at("page.html");
    run(&[&asked[..], &["--html", &page, "--title", "nightly <1>"]].concat()).done();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("nightly &lt;1&gt;") && page.contains("Does coverage still hold?"));
    // Every label wrong: none is covered by sets of one label or two.
    let sheet: String = (0..40).map(|row| format!("{row},{}\n", row % 10)).collect();
    let sheet = scratch.file("sheet.csv", format!("row,label\n{sheet}41,\n"));
    let document = json(&["--target-labels", &sheet, "--fail-below", "0.85"]);
    assert_eq!(document.code, 1, "{}", document.stderr);
    let document = document.json();
    assert_eq!(
        (document["coverage_measured"]["k"].as_u64(), document["verdict"].as_str()),
        (Some(40), Some("loss"))
    );
    for (text, said) in [
        ("row,label\n0,1\n0,2\n", "row 0 is labeled twice"),
        ("row,label\n0,10\n", "there are 10 classes"),
        ("row,label\n5000,1\n", "do not have so many rows"),
        ("row,label\n0,cat\n", "line 2: found 'cat'"),
    ] {
        let sheet = scratch.file("bad.csv", text);
        let ran = json(&["--target-labels", &sheet]);
        assert!(ran.code == 2 && ran.stderr.contains(said), "{}", ran.stderr);
    }
    let ran = run(&[&asked[..], &["--score", "aps"]].concat());
    assert!(
        ran.code == 2 && ran.stderr.contains("--score has no use with --calibration"),
        "{}",
        ran.stderr
    );
    // A file of before keeps no rows.
    let text = std::fs::read_to_string(&calibration).unwrap();
    let mut old: serde_json::Value = serde_json::from_str(&text).unwrap();
    old.as_object_mut().unwrap().remove("reference");
    let old = scratch.file("old.json", old.to_string());
    let ran = run(&["check", "--calibration", &old, "--unlabeled", target]);
    assert!(
        ran.code == 2 && ran.stderr.contains("does not keep its calibration data"),
        "{}",
        ran.stderr
    );
    let per_point = scratch.at("per_point.json");
    CLEAN.calibrate(&per_point, &["--method", "likelihood-ratio"]).done();
    let ran = run(&["check", "--calibration", &per_point, "--unlabeled", target]);
    assert!(ran.code == 2 && ran.stderr.contains("from point to point"), "{}", ran.stderr);
}

/// The README shows what the program prints.
#[test]
fn the_readme_shows_the_demo() {
    let readme =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let scratch = Scratch::new();
    let ran = run(&["demo", "--out", &scratch.at("evenkeel-demo")]).done();
    let shown = ran.stdout.split("Next, with").next().unwrap().replace(&scratch.at(""), "");
    assert!(readme.contains(shown.trim()), "the README shows something else than:\n{shown}");
}

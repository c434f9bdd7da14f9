//! stdout, stderr and exit code of every command.

use crate::running::{Scratch, assert_snapshot, run};
use crate::{CLEAN, FOG, normalise};

const COMMANDS: [&str; 9] = [
    "demo",
    "check",
    "calibrate",
    "predict",
    "evaluate",
    "compare",
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
    let lines: Vec<&str> = shifted.lines().take(4).collect();
    assert!(lines[0].starts_with("Shift detected") && lines[0].contains("p = "), "{lines:?}");
    assert!(lines[1].starts_with("Expected coverage") && lines[1].contains('%'), "{lines:?}");
    assert!(!lines[2].is_empty() && lines[3].is_empty(), "{lines:?}");
    assert!(CLEAN.check(&[]).stdout.starts_with("No shift detected"));
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

#[test]
fn demo_runs_the_whole_job() {
    let scratch = Scratch::new();
    let out = scratch.at("report");
    let ran = run(&["demo", "--out", &out]);
    assert_snapshot("cli/snapshots/demo.txt", &normalise(&ran, &scratch));
    assert!(std::fs::metadata(scratch.at("report/report.html")).unwrap().len() > 10_000);
    // What it writes are the first 300 rows of the repository's files, and the command it suggests works.
    let written = std::fs::read(scratch.at("report/data/fog_3_unlabeled.npy")).unwrap();
    let shipped = std::fs::read(crate::running::demo("fog_3_unlabeled")).unwrap();
    let rows = 128..128 + 300 * 10 * 4;
    assert!(written.len() == rows.end && written[rows.clone()] == shipped[rows]);
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
        (&["--fail-below-guaranteed", "0.9"], 1),
        (&["--fail-below-guaranteed", "0"], 0),
        (&[], 0),
    ] {
        let ran = FOG.check(more);
        assert_eq!((ran.code, ran.stderr.as_str()), (code, ""), "{more:?}");
        assert_eq!(ran.stdout, FOG.check(&[]).stdout, "the condition changes the code only");
    }
    assert_eq!(CLEAN.check(&["--fail-on-shift"]).code, 0);
    for (floor, code) in [("0.999", 1), ("0", 0)] {
        let ran = FOG.evaluate(&calibration, &["--fail-below", floor]);
        assert_eq!((ran.code, ran.stderr.as_str()), (code, ""));
    }
    assert_eq!(FOG.evaluate(&calibration, &[]).code, 0);
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

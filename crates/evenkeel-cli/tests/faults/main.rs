//! Faults on purpose: every command that writes, with one system call failing, cut short or being its last.
//!
//! `shim.c` stands between the program and the C library. For each command its calls are counted once; then it is run again
//! and again, and each time another call fails (EIO, ENOSPC, EINTR, half a write, no memory). `tracer.c` kills the process
//! (SIGKILL) at one of its system calls after the other, with the target absent and with an earlier result in its place.
//! Afterwards every file is as it was, absent, or complete; an error is exit code 2 and one sentence; a clean run then leaves
//! exactly the files it should, and nothing of the dead one's.
//!
//! A sample of the calls by default; `scripts/faults` takes each in turn and prints the figures.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../running/mod.rs"]
mod running;
mod store;
mod subject;
mod tree;

use running::demo;
use subject::Subject;
use tree::Compared;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Calibration and target data of the demo, one thread, nothing on stderr but errors.
fn fitting(command: &str, more: &str) -> Vec<String> {
    let (probs, labels, target) =
        (demo("calibration_probs"), demo("calibration_labels"), demo("fog_3_unlabeled"));
    words(&format!(
        "{command} --cal-probs {probs} --cal-labels {labels} --unlabeled {target} --threads 1 --quiet {more}"
    ))
}

#[test]
fn calibrate() {
    let mut subject = Subject::new("calibrate", &["cal.json"], 4);
    subject.arguments = fitting("calibrate", "--method uncorrected --out out/cal.json");
    subject.run_all();
}

fn predict(name: &'static str, file: &'static str, earlier: &'static [&'static str]) {
    let mut subject = Subject::new(name, earlier, 3);
    let calibration = subject.scratch.at("cal.json");
    let fit = fitting("calibrate", &format!("--method uncorrected --out {calibration}"));
    running::run(&fit).done();
    let probs = demo("fog_3_test_probs");
    subject.arguments = words(&format!(
        "predict --calibration {calibration} --probs {probs} --out out/{file} --threads 1 --quiet"
    ));
    subject.run_all();
}

#[test]
fn predict_npy() {
    predict("predict to npy", "sets.npy", &["sets.npy"]);
}

#[test]
fn predict_csv() {
    predict("predict to csv", "sets.csv", &["sets.csv"]);
}

#[test]
fn predict_jsonl() {
    predict("predict to jsonl", "sets.jsonl", &["sets.jsonl"]);
}

#[test]
fn predict_parquet() {
    predict("predict to parquet", "sets.parquet", &["sets.parquet"]);
}

#[test]
fn check() {
    let mut subject = Subject::new("check --html", &["page.html"], 2);
    subject.arguments = fitting("check", "--html out/page.html");
    subject.run_all();
}

#[test]
fn compare() {
    let mut subject = Subject::new("compare --html --csv", &["page.html", "rows.csv"], 2);
    subject.compared = Compared::WithoutNumbers;
    let (test, labels) = (demo("fog_3_test_probs"), demo("fog_3_test_labels"));
    let tested = format!("--test-probs {test} --test-labels {labels}");
    let outputs = "--methods uncorrected,label-shift --html out/page.html --csv out/rows.csv";
    subject.arguments = fitting("compare", &format!("{tested} {outputs}"));
    subject.run_all();
}

/// Labels of fifty target rows.
fn sheet() -> String {
    demo("fifty_labels").replace(".npy", ".csv")
}

#[test]
fn calibrate_update() {
    let mut subject = Subject::new("calibrate --update", &["new.json"], 3);
    let (stored, sheet) = (subject.scratch.at("cal.json"), sheet());
    let few = format!("--method few-labels --target-labels {sheet} --out {stored}");
    running::run(&fitting("calibrate", &few)).done();
    let target = demo("fog_3_unlabeled");
    subject.arguments = words(&format!(
        "calibrate --update {stored} --unlabeled {target} --target-labels {sheet} --out out/new.json --threads 1 --quiet"
    ));
    subject.run_all();
}

#[test]
fn evaluate() {
    let mut subject = Subject::new("evaluate --html", &["page.html"], 2);
    let calibration = subject.scratch.at("cal.json");
    let fit = fitting("calibrate", &format!("--method uncorrected --out {calibration}"));
    running::run(&fit).done();
    let (probs, labels) = (demo("fog_3_test_probs"), demo("fog_3_test_labels"));
    subject.arguments = words(&format!(
        "evaluate --calibration {calibration} --probs {probs} --labels {labels} --html out/page.html --threads 1 --quiet"
    ));
    subject.run_all();
}

#[test]
fn label() {
    let mut subject = Subject::new("label", &["rows.csv"], 3);
    let target = demo("fog_3_unlabeled");
    subject.arguments = words(&format!(
        "label --unlabeled {target} --budget 20 --out out/rows.csv --threads 1 --quiet"
    ));
    subject.run_all();
}

#[test]
fn calibrate_per_class() {
    let mut subject = Subject::new("calibrate --per class", &["cal.json"], 2);
    subject.arguments = fitting("calibrate", "--method uncorrected --per class --out out/cal.json");
    subject.run_all();
}

/// Several rates in one run: a file for each, of which each is whole.
#[test]
fn predict_at_two_rates() {
    let mut subject = Subject::new("predict at two rates", &[], 2);
    let calibration = subject.scratch.at("cal.json");
    let fit = fitting("calibrate", &format!("--method uncorrected --out {calibration}"));
    running::run(&fit).done();
    let probs = demo("fog_3_test_probs");
    subject.arguments = words(&format!(
        "predict --calibration {calibration} --probs {probs} --alpha 0.1,0.2 --out out/sets-{{alpha}}.csv --threads 1 --quiet"
    ));
    subject.run_all();
}

/// Stdin is kept in a temporary file, which a later run removes too.
#[test]
fn check_from_stdin() {
    let mut subject = Subject::new("check of stdin --html", &["page.html"], 2);
    subject.stdin = Some(demo("fog_3_unlabeled"));
    let (probs, labels) = (demo("calibration_probs"), demo("calibration_labels"));
    subject.arguments = words(&format!(
        "check --cal-probs {probs} --cal-labels {labels} --unlabeled - --threads 1 --quiet --html out/page.html"
    ));
    subject.run_all();
}

#[test]
fn demo_command() {
    let mut subject = Subject::new("demo", &["report.html"], 1);
    subject.compared = Compared::WithoutNumbers;
    subject.arguments = words("demo --out out --threads 1 --quiet");
    subject.run_all();
}

#[test]
fn reproduce() {
    let mut subject = Subject::new("reproduce regression", &["report.html"], 1);
    subject.arguments = words(
        "reproduce regression --simulations 1 --samples 40 --epochs 2 --out out --threads 1 --quiet",
    );
    subject.run_all();
}

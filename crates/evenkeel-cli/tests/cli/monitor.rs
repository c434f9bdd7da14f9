//! `evenkeel monitor`: thirty nights, twice the same files, and what is wrong with stores.

use std::fs;
use std::path::Path;

use crate::running::{Ran, Scratch, finish, program};

fn run(scratch: &Scratch, words: &str) -> Ran {
    let mut command = program();
    command.args(words.split_whitespace()).current_dir(scratch.path());
    finish(command.env("SOURCE_DATE_EPOCH", "1793491200"))
}

/// The nights of the tutorial and a calibration.
fn nights() -> Scratch {
    let scratch = Scratch::new();
    run(&scratch, "demo --nights nights --quiet").done();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/demo");
    for name in ["calibration_probs.npy", "calibration_labels.npy"] {
        fs::copy(demo.join(name), scratch.at(name)).unwrap();
    }
    run(
        &scratch,
        "calibrate --cal-probs calibration_probs.npy --cal-labels calibration_labels.npy --method uncorrected --out cal.json --quiet",
    )
    .done();
    scratch
}

#[test]
fn thirty_nights_are_quiet_then_noisy_then_foggy() {
    let scratch = nights();
    let quiet = run(
        &scratch,
        "monitor run --reference cal.json --batches nights/2026-10-0?.npy nights/2026-10-1?.npy nights/2026-10-20.npy --store ek.sqlite",
    );
    assert_eq!(quiet.code, 0, "{}", quiet.stderr);
    assert!(quiet.stderr.is_empty(), "{}", quiet.stderr);
    assert_eq!(quiet.stdout.lines().filter(|line| line.contains(" rows ")).count(), 20);
    // The same command again: nothing is new.
    let again = run(&scratch, "monitor run --batches nights/2026-10-0?.npy --store ek.sqlite");
    assert!(
        again.code == 0 && again.stdout.starts_with("0 new batches, 9 known\n"),
        "{}",
        again.stdout
    );
    let bad = run(
        &scratch,
        "monitor run --batches nights/2026-10-2?.npy nights/2026-10-30.npy --store ek.sqlite --json",
    );
    assert_eq!(bad.code, 1, "{}", bad.stderr);
    assert!(bad.stderr.contains("alarm: model batch "), "{}", bad.stderr);
    let found: serde_json::Value = serde_json::from_str(&bad.stdout).unwrap();
    assert_eq!(found["known"], 1);
    assert_eq!(found["batches"].as_array().unwrap().len(), 10);
    assert_eq!(found["failed"].as_array().unwrap().len(), 1, "one alarm a watch");
    assert_eq!(found["status"]["proposal"]["state"], "open");
    assert_eq!(run(&scratch, "monitor status --store ek.sqlite --fail-on-alarm").code, 1);
    // A person decides; the calibration changes then and not before.
    run(&scratch, "monitor calibration --store ek.sqlite --out before.json --quiet").done();
    assert_eq!(
        fs::read(scratch.at("before.json")).unwrap(),
        fs::read(scratch.at("cal.json")).unwrap()
    );
    run(&scratch, "monitor approve --store ek.sqlite --who Ada --why camera --out after.json")
        .done();
    assert_ne!(
        fs::read(scratch.at("after.json")).unwrap(),
        fs::read(scratch.at("cal.json")).unwrap()
    );
    assert_eq!(run(&scratch, "monitor status --store ek.sqlite --fail-on-alarm").code, 0);
    assert_eq!(run(&scratch, "monitor approve --store ek.sqlite --who Ada --why camera").code, 2);
    // Late labels, files for others, a copy.
    let labels = run(
        &scratch,
        "monitor labels --store ek.sqlite --batch 2026-10-30.npy --labels nights/labels-2026-10-30.csv --json",
    );
    let counted: serde_json::Value = serde_json::from_str(&labels.stdout).unwrap();
    assert_eq!(counted["measured"]["k"], 40, "{}", labels.stderr);
    run(
        &scratch,
        "monitor status --store ek.sqlite --html trend.html --prometheus ek.prom --verify",
    )
    .done();
    let page = fs::read_to_string(scratch.at("trend.html")).unwrap();
    assert!(page.contains("approved by Ada") && page.matches("<svg").count() == 2);
    assert!(
        fs::read_to_string(scratch.at("ek.prom"))
            .unwrap()
            .contains("evenkeel_batches_total{model=\"model\"} 30")
    );
    let table = run(&scratch, "monitor export --store ek.sqlite --out - --from 2026-10-21");
    assert_eq!(table.stdout.lines().count(), 11, "{}", table.stdout);
    run(&scratch, "monitor export --store ek.sqlite --out history.parquet --quiet").done();
    run(&scratch, "monitor backup --store ek.sqlite --out copy.sqlite --quiet").done();
    assert_eq!(
        run(&scratch, "monitor status --store copy.sqlite").stdout,
        run(&scratch, "monitor status --store ek.sqlite")
            .stdout
            .replace("ek.sqlite", "copy.sqlite")
    );
}

#[test]
fn mistakes_are_told_and_leave_nothing_behind() {
    let scratch = nights();
    fs::write(scratch.at("notes.txt"), "no database").unwrap();
    fs::write(scratch.at("wrong.npy"), fs::read(scratch.at("calibration_labels.npy")).unwrap())
        .unwrap();
    for (words, expected) in [
        ("monitor status --store none.sqlite", "there is no store"),
        ("monitor status --store notes.txt", "not a store of Evenkeel"),
        ("monitor run --batches nights/*.npy --store none.sqlite", "there is no store"),
        (
            "monitor run --reference nothing.json --batches nights/*.npy --store new.sqlite",
            "nothing.json: cannot be read",
        ),
        (
            "monitor run --reference cal.json --batches missing/*.npy --store new.sqlite",
            "the folder cannot be read",
        ),
        (
            "monitor run --reference cal.json --batches nights/*.parquet --store new.sqlite",
            "no file has such a name",
        ),
        ("monitor run --reference cal.json --batches nights --store new.sqlite", "is not a file"),
        (
            "monitor add --reference cal.json --store new.sqlite --model a/b",
            "cannot be the name of a model",
        ),
        ("monitor add --reference cal.json --store cal.json", "which it would replace"),
        (
            "monitor run --reference cal.json --batches nights/2026-10-01.npy --store x.sqlite --html x.sqlite",
            "name the same file",
        ),
        ("monitor add --reference cal.json --store new.sqlite --delta 2", "delta"),
    ] {
        let ran = run(&scratch, words);
        assert_eq!(ran.code, 2, "{words}: {}", ran.stdout);
        assert!(ran.stderr.contains(expected), "{words}: {}", ran.stderr);
    }
    // A batch of another model: named, and not counted.
    let ran =
        run(&scratch, "monitor run --reference cal.json --batches wrong.npy --store ek.sqlite");
    assert!(ran.code == 2 && ran.stderr.contains("wrong.npy"), "{}", ran.stderr);
    assert!(
        run(&scratch, "monitor status --store ek.sqlite")
            .stdout
            .contains("no batch has arrived yet")
    );
    for (words, expected) in [
        (
            "monitor labels --store ek.sqlite --batch 7 --labels nights/labels-2026-10-30.csv",
            "has no batch 7",
        ),
        (
            "monitor labels --store ek.sqlite --batch x.npy --labels nights/labels-2026-10-30.csv",
            "no batch has this name",
        ),
        ("monitor approve --store ek.sqlite --who A --why B", "no proposal that waits"),
        ("monitor approve --store ek.sqlite --proposal 3 --who A --why B", "has no proposal 3"),
        ("monitor calibration --store ek.sqlite --version 9 --out v.json", "has no version 9"),
        ("monitor propose --store ek.sqlite", "were not kept"),
        ("monitor export --store ek.sqlite --from yesterday --out -", "is no time"),
        ("monitor export --store ek.sqlite --out history.txt", "neither .csv nor .parquet"),
        ("monitor status --store ek.sqlite --model other", "it has model"),
    ] {
        let ran = run(&scratch, words);
        assert_eq!(ran.code, 2, "{words}: {}", ran.stdout);
        assert!(ran.stderr.contains(expected), "{words}: {}", ran.stderr);
    }
}

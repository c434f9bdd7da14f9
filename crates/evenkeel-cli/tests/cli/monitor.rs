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
    let audit = run(&scratch, "monitor export --store ek.sqlite --audit --out -").done().stdout;
    assert!(audit.starts_with("line,time,who,what,model,details\n1,"), "{audit}");
    assert!(audit.contains(",model added,"), "{audit}");
    let later = "monitor export --store ek.sqlite --audit --out - --from 9999-01-01";
    assert_eq!(run(&scratch, later).done().stdout.lines().count(), 1);
    run(&scratch, "monitor backup --store ek.sqlite --out copy.sqlite --quiet").done();
    assert_eq!(
        run(&scratch, "monitor status --store copy.sqlite").stdout,
        run(&scratch, "monitor status --store ek.sqlite")
            .stdout
            .replace("ek.sqlite", "copy.sqlite")
    );
}

/// A copy that fails leaves nothing where the next one is to lie.
#[test]
fn a_backup_is_whole_or_absent() {
    let scratch = nights();
    let nights =
        "monitor run --reference cal.json --batches nights/2026-10-0?.npy --store ek.sqlite";
    run(&scratch, nights).done();
    let mut store = fs::read(scratch.at("ek.sqlite")).unwrap();
    // Of every page but the first, the byte that says what kind it is.
    for page in store.chunks_mut(4096).skip(1) {
        page[0] ^= 0x55;
    }
    fs::write(scratch.at("damaged.sqlite"), store).unwrap();
    let before = scratch.contents();
    let failed = run(&scratch, "monitor backup --store damaged.sqlite --out copy.sqlite");
    assert_eq!(failed.code, 2, "{failed:?}");
    assert_eq!(before, scratch.contents());
    run(&scratch, "monitor backup --store ek.sqlite --out copy.sqlite --quiet").done();
    let again = run(&scratch, "monitor backup --store ek.sqlite --out copy.sqlite --quiet");
    assert!(again.code == 2 && again.stderr.contains("choose a new name"), "{again:?}");
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

/// Killed again and again while it stores batches: none is lost, none is counted twice, and the history is that of a run in peace.
#[test]
fn kills_lose_nothing_and_count_nothing_twice() {
    let scratch = nights();
    let words = |store: &str| {
        format!("monitor run --reference cal.json --batches nights/*.npy --store {store}")
    };
    run(&scratch, &words("peace.sqlite"));
    for kill in 0..25_u64 {
        let mut command = program();
        command.args(words("killed.sqlite").split_whitespace()).current_dir(scratch.path());
        command.env("SOURCE_DATE_EPOCH", "1793491200");
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(3 + 7 * kill));
        // Gone already if it was fast enough.
        let _ = child.kill();
        child.wait().unwrap();
    }
    run(&scratch, &words("killed.sqlite"));
    run(&scratch, "monitor status --store killed.sqlite --verify").done();
    let history = |store: &str| {
        run(&scratch, &format!("monitor export --store {store} --out -")).done().stdout
    };
    assert_eq!(history("killed.sqlite"), history("peace.sqlite"));
    assert_eq!(history("peace.sqlite").lines().count(), 31);
}

/// Three probabilities a row behind a column of ids, and the labels they were drawn by.
fn orders(rows: u64, seed: u64) -> (String, Vec<u64>) {
    let (mut table, mut labels) = (String::from("order,coat,bag,boot\n"), Vec::new());
    let mut state = seed;
    for row in 0..rows {
        // Numbers that differ from row to row; nothing here depends on their law.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (label, sure) = ((state >> 33) % 3, 0.4 + ((state >> 40) % 500) as f64 / 1000.0);
        let rest = (1.0 - sure) / 2.0;
        let shares = [0, 1, 2].map(|class| if class == label { sure } else { rest });
        let [a, b, c] = shares;
        table += &format!("o-{row},{a},{b},{c}\n");
        labels.push(label);
    }
    (table, labels)
}

/// Labels that come late name rows by the ids of their table, in any order; the same labels by number count the same.
#[test]
fn late_labels_name_rows_by_their_ids() {
    let scratch = Scratch::new();
    let (table, labels) = orders(300, 1);
    fs::write(scratch.at("cal.csv"), table).unwrap();
    let word = |label: u64| ["coat", "bag", "boot"][label as usize];
    let lines: Vec<&str> = labels.iter().map(|label| word(*label)).collect();
    fs::write(scratch.at("labels.csv"), format!("label\n{}\n", lines.join("\n"))).unwrap();
    run(
        &scratch,
        "calibrate --cal-probs cal.csv --cal-labels labels.csv --prob-cols coat,bag,boot --method uncorrected --out cal.json --quiet",
    )
    .done();
    let (table, labels) = orders(60, 2);
    fs::write(scratch.at("night-2026-11-01.csv"), table).unwrap();
    let words = "monitor run --reference cal.json --batches night-2026-11-01.csv --id-col";
    run(&scratch, &format!("{words} order --store ids.sqlite --quiet")).done();
    run(&scratch, &format!("{words} order --store rows.sqlite --quiet")).done();
    // From the last row to the first, with the words for classes.
    let by_id: Vec<String> =
        (0..20).rev().map(|row| format!("{},o-{row}", word(labels[row as usize]))).collect();
    fs::write(scratch.at("by-id.csv"), format!("label,order\n{}\n", by_id.join("\n"))).unwrap();
    let by_row: Vec<String> =
        (0..20).rev().map(|row| format!("{row},{}", word(labels[row as usize]))).collect();
    fs::write(scratch.at("by-row.csv"), format!("row,label\n{}\n", by_row.join("\n"))).unwrap();
    let sheet = "monitor labels --batch 1 --json --store";
    let named = run(&scratch, &format!("{sheet} ids.sqlite --labels by-id.csv --id-col order"));
    let numbered = run(&scratch, &format!("{sheet} rows.sqlite --labels by-row.csv"));
    assert_eq!(named.code, 0, "{}", named.stderr);
    assert_eq!(named.stdout, numbered.stdout);
    let found: serde_json::Value = serde_json::from_str(&named.stdout).unwrap();
    assert_eq!(found["new"], 20);

    fs::write(scratch.at("other.csv"), "order,label\no-99,bag\n").unwrap();
    fs::write(scratch.at("twice.csv"), "order,coat,bag,boot\na,1,0,0\na,0,1,0\n").unwrap();
    for (words, expected) in [
        (
            "monitor labels --store ids.sqlite --batch 1 --labels other.csv --id-col order",
            "has no row \"o-99\"",
        ),
        ("monitor labels --store ids.sqlite --batch 1 --labels other.csv --id-col id", "'id'"),
        (
            "monitor labels --store ids.sqlite --batch 1 --labels other.csv --id-col label --label-col label",
            "both name label",
        ),
        ("monitor run --store ids.sqlite --batches twice.csv --id-col order", "\"a\" of row 1"),
        ("monitor run --store ids.sqlite --batches twice.csv --id-col night", "'night'"),
    ] {
        let ran = run(&scratch, words);
        assert_eq!(ran.code, 2, "{words}: {}", ran.stdout);
        assert!(ran.stderr.contains(expected), "{words}: {}", ran.stderr);
    }
    let status = run(&scratch, "monitor status --store ids.sqlite --json").done().stdout;
    assert!(status.contains("\"batches\": 1") || status.contains("\"batches\":1"), "{status}");
}

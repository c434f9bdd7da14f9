//! Folders and several files: no row twice, none left out in silence, and no output among the inputs.

use crate::running::{Ran, Scratch, fixture, run};

fn rows(these: std::ops::Range<usize>) -> String {
    let text = std::fs::read_to_string(fixture("table.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    lines[..1].iter().chain(&lines[1..][these]).map(|line| format!("{line}\n")).collect()
}

fn check(target: &[&str]) -> Ran {
    let cal = fixture("table.csv");
    let words = ["check", "--cal", &cal, "--label-col", "label", "--prob-cols", "p_*", "--json"];
    run(&[&words[..], &["--unlabeled"], target].concat())
}

/// The answer, and of how many rows.
fn answer(ran: Ran) -> [serde_json::Value; 2] {
    let found = ran.done().json();
    ["m", "coverage_estimate"].map(|field| found[field].clone())
}

#[track_caller]
fn refused(ran: &Ran, words: &str) {
    assert!(ran.code == 2 && ran.stderr.contains(words), "{ran:?}");
}

#[test]
fn parts_without_rows_are_passed_over() {
    let scratch = Scratch::new();
    let folder = scratch.folder("parts");
    // First, between others and last; with and without a header; in other forms.
    for (name, text) in [
        ("a.csv", String::new()),
        ("b.csv", rows(0..25)),
        ("c.csv", rows(0..0)),
        ("d.csv", rows(25..60)),
        ("e.csv", String::new()),
        ("f.jsonl", String::new()),
    ] {
        scratch.file(&format!("parts/{name}"), text);
    }
    assert_eq!(answer(check(&[&folder])), answer(check(&[&fixture("table.csv")])));
    // Ids are read beside the same rows.
    let stored = scratch.at("cal.json");
    let cal = fixture("table.csv");
    let by_name = ["--prob-cols", "p_*"];
    let made = [
        "calibrate",
        "--cal",
        &cal,
        "--label-col",
        "label",
        "--method",
        "uncorrected",
        "--out",
        &stored,
    ];
    run(&[&made[..], &by_name].concat()).done();
    let sets = |probs: &str, name: &str| {
        let out = scratch.at(name);
        let words = [
            "predict",
            "--calibration",
            &stored,
            "--probs",
            probs,
            "--id-cols",
            "id,label",
            "--out",
            &out,
        ];
        run(&[&words[..], &by_name].concat()).done();
        std::fs::read_to_string(out).unwrap()
    };
    assert_eq!(sets(&folder, "one.csv"), sets(&cal, "two.csv"));
    let empty = scratch.folder("empty");
    scratch.file("empty/a.csv", rows(0..0));
    scratch.file("empty/b.csv", "");
    refused(&check(&[&empty]), "holds no rows");
}

#[test]
fn no_row_is_read_twice() {
    let scratch = Scratch::new();
    let table = scratch.file("day.csv", rows(0..60));
    refused(&check(&[&table, &table]), "day.csv: is given twice, and its rows would count twice");
    let folder = scratch.folder("days");
    let part = scratch.file("days/a.csv", rows(0..30));
    scratch.file("days/b.csv", rows(30..60));
    check(&[&folder]).done();
    refused(&check(&[&folder, &part]), "a.csv: is given twice");
    // The same table in two forms.
    std::fs::copy(fixture("codec_zstd.parquet"), scratch.at("days/a.parquet")).unwrap();
    refused(&check(&[&folder]), "a.csv lies beside it and has the same name");
    refused(&check(&[&scratch.at("days/a*")]), "the same rows twice?");
    check(&[&scratch.at("days/*.csv")]).done();
}

#[test]
fn nothing_in_a_folder_is_left_out_in_silence() {
    let scratch = Scratch::new();
    let folder = scratch.folder("days");
    scratch.file("days/a.csv", rows(0..60));
    scratch.file("days/readme.txt", "not a table");
    scratch.file("days/_SUCCESS", "");
    scratch.file("days/.a.csv.crc", "x");
    check(&[&folder]).done();
    for name in ["b.npy", "b.parquet.gz", "b.csv.bz2", "b.xlsx"] {
        let path = scratch.file(&format!("days/{name}"), "x");
        refused(
            &check(&[&folder]),
            &format!("{name}: a folder is read as csv, jsonl, parquet or arrow"),
        );
        std::fs::remove_file(path).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn links_lead_somewhere_and_not_in_circles() {
    let scratch = Scratch::new();
    let folder = scratch.folder("days");
    scratch.file("days/a.csv", rows(0..60));
    std::os::unix::fs::symlink("nowhere.csv", scratch.at("days/b.csv")).unwrap();
    refused(&check(&[&folder]), "b.csv: cannot be read: No such file or directory");
    std::fs::remove_file(scratch.at("days/b.csv")).unwrap();
    scratch.folder("days/sub");
    std::os::unix::fs::symlink("..", scratch.at("days/sub/up")).unwrap();
    refused(&check(&[&folder]), "does a link lead upward?");
}

#[test]
fn an_output_is_no_table_of_the_folder_that_is_read() {
    let scratch = Scratch::new();
    let folder = scratch.folder("days");
    scratch.file("days/a.csv", rows(0..60));
    let (stored, cal) = (scratch.at("days/cal.json"), fixture("table.csv"));
    // A calibration is no table, and may stand there.
    run(&[
        "calibrate",
        "--cal",
        &cal,
        "--label-col",
        "label",
        "--prob-cols",
        "p_*",
        "--unlabeled",
        &folder,
        "--out",
        &stored,
    ])
    .done();
    let predict = |probs: &str, out: &str| {
        let words = [
            "predict",
            "--calibration",
            &stored,
            "--prob-cols",
            "p_*",
            "--probs",
            probs,
            "--out",
            out,
        ];
        run(&words)
    };
    let pattern = scratch.at("days/*.csv");
    for (probs, out) in
        [(&folder, "days/sets.csv"), (&folder, "days/sets.npy"), (&pattern, "days/sets.csv")]
    {
        let before = scratch.contents();
        refused(&predict(probs, &scratch.at(out)), "would be one of the tables of --probs");
        assert_eq!(before, scratch.contents());
    }
    refused(&predict(&folder, &scratch.at("days/a.csv")), "--probs");
    predict(&pattern, &scratch.at("days/sets.jsonl")).done();
    predict(&pattern, &scratch.at("sets.csv")).done();
}

/// A row of several parts is counted through all of them, and is not blamed on the part that was read last.
#[test]
fn a_label_that_is_missing_is_not_blamed_on_another_part() {
    let scratch = Scratch::new();
    let rows = "p_a,p_b\n0.75,0.25\n0.25,0.75\n";
    for part in ["kind=__HIVE_DEFAULT_PARTITION__", "kind=a", "kind=b"] {
        scratch.folder(&format!("days/{part}"));
        scratch.file(&format!("days/{part}/part.csv"), rows);
    }
    let cal = scratch.file("cal.csv", "p_a,p_b,kind\n0.75,0.25,a\n0.25,0.75,b\n");
    let (stored, days) = (scratch.at("cal.json"), scratch.at("days"));
    let columns = ["--prob-cols", "p_*", "--label-col", "kind"];
    let start = ["calibrate", "--cal", &cal, "--method", "uncorrected", "--out", &stored];
    run(&[&start[..], &columns].concat()).done();
    let ran =
        run(&[&["evaluate", "--calibration", &stored, "--probs", &days][..], &columns].concat());
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.starts_with(&format!("error: {days}:kind: row 0 has no label")),
        "{}",
        ran.stderr
    );
}

//! Mistakes of people with real tables: each is understood, or refused with what was found, where, and what to do. None changes the answer
//! in silence.

use serde_json::Value;

use crate::running::{Ran, Scratch, fixture, npy_f64, run};

/// Rows of the table of the fixtures, with its names first: id, p_cat, p_dog, p_eel, label, when.
fn table() -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(fixture("table.csv")).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn csv(rows: &[Vec<String>]) -> String {
    rows.iter().map(|row| row.join(",") + "\n").collect()
}

/// These columns of the table, under these names.
fn columns(places: &[usize], names: &[&str]) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = table()
        .iter()
        .map(|row| places.iter().map(|place| row[*place].clone()).collect())
        .collect();
    rows[0] = names.iter().map(|name| (*name).to_owned()).collect();
    rows
}

/// The classes of the rows, as numbers.
fn classes() -> Vec<usize> {
    let class = |row: &Vec<String>| ["cat", "dog", "eel"].iter().position(|name| *name == row[4]);
    table()[1..].iter().map(|row| class(row).unwrap()).collect()
}

/// Probabilities under these names, with the number of the class plus `from` beside them.
fn numbered(places: &[usize], names: &[&str], from: usize) -> Vec<Vec<String>> {
    let mut rows = columns(places, names);
    rows[0].push("label".into());
    rows[1..]
        .iter_mut()
        .zip(classes())
        .for_each(|(row, class)| row.push((class + from).to_string()));
    rows
}

/// Logarithms of the probabilities, without names.
fn logits() -> Vec<Vec<String>> {
    let log = |cell: &String| format!("{:?}", cell.parse::<f64>().unwrap().ln());
    columns(&[1, 2, 3], &[])[1..].iter().map(|row| row.iter().map(log).collect()).collect()
}

fn labels(scratch: &Scratch) -> String {
    scratch.file("y.csv", classes().iter().map(|class| format!("{class}\n")).collect::<String>())
}

fn calibrate(scratch: &Scratch, words: &[&str]) -> Ran {
    let out = scratch.at("cal.json");
    run(&[&["calibrate", "--method", "uncorrected", "--json", "--out", &out], words].concat())
}

fn of_table(scratch: &Scratch, cal: &str, more: &[&str]) -> Ran {
    calibrate(scratch, &[&["--cal", cal, "--label-col", "label"], more].concat())
}

fn threshold(ran: Ran) -> Value {
    ran.done().json()["threshold"].clone()
}

fn expected(scratch: &Scratch) -> Value {
    threshold(of_table(scratch, &fixture("table.csv"), &["--prob-cols", "p_*"]))
}

#[track_caller]
fn refused(ran: &Ran, words: &str) {
    assert!(ran.code == 2 && ran.stderr.contains(words), "{ran:?}");
    if !ran.stdout.is_empty() {
        let error: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert!(error["error"]["message"].as_str().unwrap().contains(words), "{error}");
    }
}

#[test]
fn numbers_over_the_columns_are_their_names() {
    let scratch = Scratch::new();
    let (y, plain) = (labels(&scratch), expected(&scratch));
    let of = |header: &str, rows: &[Vec<String>], more: &[&str]| {
        let file = scratch.file("p.csv", format!("{header}\n{}", csv(rows)));
        calibrate(&scratch, &[&["--cal-probs", &file, "--cal-labels", &y], more].concat())
    };
    let probs = &columns(&[1, 2, 3], &[])[1..];
    assert_eq!(threshold(of("0,1,2", probs, &[])), plain);
    // A label of this file is a name: 0 is none of 1, 2, 3.
    refused(&of("1,2,3", probs, &[]), "names no class; the classes are 1, 2, 3");
    let reversed: Vec<Vec<String>> =
        probs.iter().map(|row| row.iter().rev().cloned().collect()).collect();
    assert_eq!(threshold(of("2,1,0", &reversed, &[])), plain);
    // Of logits nothing but the names could tell: no row more, and no class in the place of another.
    let target = |header: &str, rows: &[Vec<String>]| {
        let cal = scratch.file("z.csv", csv(&logits()));
        let file = scratch.file("t.csv", format!("{header}{}", csv(rows)));
        let words = [
            "check",
            "--cal-probs",
            &cal,
            "--cal-labels",
            &y,
            "--unlabeled",
            &file,
            "--logits",
            "--json",
        ];
        let found = run(&words).done().json();
        (found["m"].clone(), found["coverage_estimate"].clone())
    };
    let plain = target("", &logits());
    assert_eq!(plain.0, 60);
    let reversed: Vec<Vec<String>> =
        logits().iter().map(|row| row.iter().rev().cloned().collect()).collect();
    assert_eq!(target("0,1,2\n", &logits()), plain);
    assert_eq!(target("1,2,3\n", &logits()), plain);
    assert_eq!(target("2,1,0\n", &reversed), plain);
    // Over two columns it may as well be a row.
    let two = scratch.file("two.csv", "1,0\n0.75,0.25\n0.5,0.5\n");
    let y = scratch.file("two_y.csv", "0\n1\n1\n");
    refused(
        &calibrate(&scratch, &["--cal-probs", &two, "--cal-labels", &y]),
        "the first line, 1,0, may be the names of the columns or a row",
    );
}

#[test]
fn columns_with_numbers_are_the_classes_of_these_numbers() {
    let scratch = Scratch::new();
    let plain = expected(&scratch);
    let names = ["p_1", "p_2", "p_3"];
    let cal = scratch.file("cal.csv", csv(&numbered(&[1, 2, 3], &names, 1)));
    // However the columns are chosen.
    for choice in [&["--prob-cols", "p_*"][..], &["--prob-cols", "p_1..p_3"], &[]] {
        assert_eq!(threshold(of_table(&scratch, &cal, choice)), plain, "{choice:?}");
    }
    // In another order of the columns, with labels that are numbers.
    let moved = numbered(&[3, 1, 2], &["p_2", "p_0", "p_1"], 0);
    let moved = scratch.file("moved.csv", csv(&moved));
    assert_eq!(threshold(of_table(&scratch, &moved, &[])), plain);
    // An array counts from 0, and the columns from 1: either may be meant.
    let rows = scratch.file("rows.csv", csv(&columns(&[1, 2, 3], &names)));
    let values: Vec<f64> = classes().iter().map(|class| *class as f64).collect();
    let array = scratch.file("y.npy", npy_f64(&values, 1));
    let ran =
        calibrate(&scratch, &["--cal-probs", &rows, "--cal-labels", &array, "--prob-cols", "p_*"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    of_table(&scratch, &cal, &["--prob-cols", "p_*"]).done();
    let stored = scratch.at("cal.json");
    let ran = run(&["evaluate", "--calibration", &stored, "--probs", &rows, "--labels", &array]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn an_index_and_twin_columns_are_no_classes() {
    let scratch = Scratch::new();
    let y = labels(&scratch);
    let of = |rows: &[Vec<String>], more: &[&str]| {
        let file = scratch.file("p.csv", csv(rows));
        calibrate(&scratch, &[&["--cal-probs", &file, "--cal-labels", &y], more].concat())
    };
    // As pandas writes a table, and as it is written again after it was read.
    for name in ["", "Unnamed: 0"] {
        let mut rows = logits();
        rows.iter_mut().enumerate().for_each(|(row, cells)| cells.insert(0, row.to_string()));
        rows.insert(0, [name, "l_cat", "l_dog", "l_eel"].map(str::to_owned).to_vec());
        refused(&of(&rows, &["--logits"]), "column 0 has no name, and the others have");
        of(&rows, &["--logits", "--prob-cols", "l_*"]).done();
    }
    let twins = columns(&[1, 2, 3], &["p_cat", "p_cat", "p_eel"]);
    refused(&of(&twins, &[]), "two columns are called 'p_cat'");
    let mut twins = table();
    twins[0][5] = "label".into();
    let twins = scratch.file("twins.csv", csv(&twins));
    refused(&of_table(&scratch, &twins, &["--prob-cols", "p_*"]), "two columns are called 'label'");
    let one = columns(&[1], &["p"]);
    refused(&of(&one, &[]), "it has one column of numbers");
    // A flag that is never raised is a column of numbers that breaks no sum.
    let mut rows = columns(&[1, 2, 3, 0], &["p_cat", "p_dog", "p_eel", "flag"]);
    rows[1..].iter_mut().for_each(|row| row[3] = "0".into());
    let found = of(&rows, &[]).done().json();
    assert!(
        found["warnings"].to_string().contains("column 'flag' was taken for a class"),
        "{found}"
    );
}

#[test]
fn a_class_in_words_is_not_left_out() {
    let scratch = Scratch::new();
    let line = |row: &[String], third: &str| {
        format!("{{\"l_0\": {}, \"l_1\": {}, \"l_2\": {third}}}\n", row[0], row[1])
    };
    let text: String = logits().iter().map(|row| line(row, &format!("\"{}\"", row[2]))).collect();
    let file = scratch.file("p.jsonl", text);
    let y = labels(&scratch);
    let ran = calibrate(&scratch, &["--cal-probs", &file, "--cal-labels", &y, "--logits"]);
    refused(&ran, "column \"l_2\" holds");
}

#[test]
fn names_in_another_order_than_the_columns_are_refused() {
    let scratch = Scratch::new();
    let cal = fixture("table.csv");
    for (names, words) in [
        ("eel\ndog\ncat\n", Some("the class names have eel in another place")),
        ("Katze\nHund\nAal\n", Some("which names no class; the classes are Katze, Hund, Aal")),
        ("cat\ndog\neel\n", None),
    ] {
        let names = scratch.file("names.txt", names);
        let ran = of_table(&scratch, &cal, &["--prob-cols", "p_*", "--class-names", &names]);
        match words {
            Some(words) => refused(&ran, words),
            None => assert_eq!(threshold(ran), expected(&scratch)),
        }
    }
    // Later commands too: sets would be given the names of other classes.
    let names = scratch.file("names.txt", "dog\ncat\neel\n");
    let (stored, out) = (scratch.at("cal.json"), scratch.at("sets.csv"));
    let predict =
        ["predict", "--calibration", &stored, "--probs", &cal, "--prob-cols", "p_*", "--out", &out];
    let ran = run(&[&predict[..], &["--class-names", &names]].concat());
    refused(
        &ran,
        "dog stands in another place than among the classes of the calibration data, cat, dog, eel",
    );
    let translated = scratch.file("names.txt", "Katze\nHund\nAal\n");
    run(&[&predict[..], &["--class-names", &translated]].concat()).done();
    assert!(std::fs::read_to_string(out).unwrap().contains("Katze"));
}

#[test]
fn text_in_another_encoding_is_refused() {
    let scratch = Scratch::new();
    let latin = |text: String| {
        text.replace("cat", "ch\u{e2}t").chars().map(|c| c as u8).collect::<Vec<u8>>()
    };
    let cal = scratch.file("latin.csv", latin(csv(&table())));
    refused(
        &of_table(&scratch, &cal, &["--prob-cols", "p_*"]),
        "latin.csv, line 1: this is not text",
    );
    let mut rows = table();
    rows[0][1] = "p_CAT".into();
    let cal = scratch.file("latin.csv", latin(csv(&rows)));
    refused(
        &of_table(&scratch, &cal, &["--prob-cols", "p_*"]),
        "this is not text; save the table as plain CSV in UTF-8",
    );
    // In UTF-8 the same name is one.
    let utf8 = scratch.file("utf8.csv", csv(&table()).replace("cat", "ch\u{e2}t"));
    assert_eq!(threshold(of_table(&scratch, &utf8, &["--prob-cols", "p_*"])), expected(&scratch));
}

#[test]
fn files_of_other_kinds_say_what_they_are() {
    let scratch = Scratch::new();
    let tabs = scratch.file("cal.tsv", csv(&table()).replace(',', "\t"));
    assert_eq!(threshold(of_table(&scratch, &tabs, &["--prob-cols", "p_*"])), expected(&scratch));
    for (name, text) in [
        ("array.jsonl", "[{\"p_cat\": 0.5, \"p_dog\": 0.5, \"label\": \"cat\"}]"),
        ("pretty.jsonl", "[\n  {\"p_cat\": 0.5, \"p_dog\": 0.5, \"label\": \"cat\"}\n]"),
    ] {
        let file = scratch.file(name, text);
        refused(
            &of_table(&scratch, &file, &["--prob-cols", "p_*"]),
            "this is one array of objects",
        );
    }
    let mut rows = table();
    for (cell, words) in [
        ("NA", "fill the empty cell or remove the row"),
        ("12%", "write shares as numbers from 0 to 1"),
        ("", "fill the empty cell or remove the row"),
        ("0,5", "6 cells"),
    ] {
        rows[3][1] = cell.into();
        let file = scratch.file("cell.csv", csv(&rows));
        let ran = of_table(&scratch, &file, &["--prob-cols", "p_*"]);
        let words = if cell == "0,5" { "7 cells where the first line has 6" } else { words };
        refused(&ran, words);
    }
    let mut rows = table();
    rows[7][4] = String::new();
    let gap = scratch.file("gap.csv", csv(&rows));
    refused(&of_table(&scratch, &gap, &["--prob-cols", "p_*"]), "row 6 has no label");
}

#[test]
fn what_came_on_stdin_is_called_so() {
    use std::io::Write;
    let scratch = Scratch::new();
    let out = scratch.at("cal.json");
    for (text, words) in
        [("", "-: holds no rows"), ("p_a,p_b,label\n0.5,x,a\n", "-, line 2: column 1 is \"x\"")]
    {
        let mut child = crate::running::program()
            .args([
                "calibrate",
                "--cal",
                "-",
                "--label-col",
                "label",
                "--prob-cols",
                "p_*",
                "--out",
                &out,
            ])
            .stdin(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .args(["--method", "uncorrected"])
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains(words), "{stderr}");
    }
}

#[test]
fn labels_to_come_are_read_from_the_column_that_is_named() {
    let scratch = Scratch::new();
    let cal = fixture("table.csv");
    let check = |labels: &str| {
        let words = [
            "check",
            "--cal",
            &cal,
            "--label-col",
            "label",
            "--prob-cols",
            "p_*",
            "--unlabeled",
            &cal,
        ];
        run(&[&words[..], &["--target-labels", labels, "--json"]].concat())
    };
    let measured = |ran: Ran| ran.done().json()["coverage_measured"].clone();
    let sheet: String =
        (0..60).map(|row| format!("{row},{},wrong\n", table()[row + 1][4])).collect();
    let sheet = scratch.file("sheet.csv", format!("row,label,other\n{sheet}"));
    let plain = measured(check(&sheet));
    assert_eq!(plain["k"], 60);
    // The column of the table itself, in text and in parquet, whose labels are words.
    assert_eq!(measured(check(&format!("{cal}:label"))), plain);
    assert_eq!(measured(check(&format!("{}:label", fixture("codec_zstd.parquet")))), plain);
    refused(&check(&format!("{sheet}:other")), "found 'wrong'; expected a label");
}

#[test]
fn words_beside_classes_without_names_are_told() {
    let scratch = Scratch::new();
    let (cal, y) =
        (scratch.file("p.csv", csv(&columns(&[1, 2, 3], &["a", "b", "c"]))), labels(&scratch));
    calibrate(&scratch, &["--cal-probs", &cal, "--cal-labels", &y]).done();
    let mut rows = columns(&[1, 2, 3, 4], &["a", "b", "c", "label"]);
    rows[1][3] = "dog".into();
    let test = scratch.file("test.csv", csv(&rows));
    let stored = scratch.at("cal.json");
    let ran =
        run(&["evaluate", "--calibration", &stored, "--probs", &test, "--label-col", "label"]);
    refused(&ran, "its labels are words, and the classes of the calibration have no names");
}

#[test]
fn evaluate_has_lines_by_column_and_says_what_failed() {
    let scratch = Scratch::new();
    let mut rows = table();
    rows[0].push("site".into());
    rows[1..]
        .iter_mut()
        .enumerate()
        .for_each(|(row, cells)| cells.push(["n", "s"][row % 2].into()));
    let test = scratch.file("test.csv", csv(&rows));
    of_table(&scratch, &test, &["--prob-cols", "p_*"]).done();
    let stored = scratch.at("cal.json");
    let evaluate = |more: &[&str]| {
        let words = [
            "evaluate",
            "--calibration",
            &stored,
            "--probs",
            &test,
            "--label-col",
            "label",
            "--prob-cols",
            "p_*",
        ];
        run(&[&words[..], more].concat())
    };
    let groups = format!("{test}:site");
    let found = evaluate(&["--per", "site", "--json"]).done().json();
    assert_eq!(found["per_group"].as_array().unwrap().len(), 2);
    assert_eq!(found, evaluate(&["--groups", &groups, "--json"]).done().json());
    assert_eq!(
        evaluate(&["--json"]).done().json(),
        evaluate(&["--per", "class", "--json"]).done().json()
    );
    refused(&evaluate(&["--per", "nowhere"]), "has no column 'nowhere'");
    let ran = evaluate(&["--fail-below", "0.99", "--json"]);
    assert!(
        ran.code == 1 && ran.stderr.starts_with("failed: --fail-below 0.99: coverage is "),
        "{ran:?}"
    );
    let found = ran.json();
    assert_eq!(found["failed"][0]["condition"], "fail-below");
    assert_eq!(
        (&found["failed"][0]["limit"], &found["failed"][0]["value"]),
        (&Value::from(0.99), &found["coverage"])
    );
    assert_eq!(evaluate(&["--fail-below", "0.1", "--json"]).done().json().get("failed"), None);
}

#[test]
fn every_rate_that_was_meant_as_a_level_is_told() {
    let scratch = Scratch::new();
    let cal = fixture("table.csv");
    let told = |found: &Value| {
        let warnings = found["warnings"].to_string();
        assert!(warnings.contains("alpha = 0.9 lets 90.0 % of the sets miss"), "{found}");
    };
    let choice = ["--prob-cols", "p_*", "--alpha", "0.1,0.9"];
    told(&of_table(&scratch, &cal, &choice).done().json());
    let stored = scratch.at("cal.json");
    let labeled = ["--label-col", "label", "--json"];
    let evaluate = ["evaluate", "--calibration", &stored, "--probs", &cal];
    told(&run(&[&evaluate[..], &choice, &labeled].concat()).done().json());
    let check = ["check", "--cal", &cal, "--unlabeled", &cal];
    told(&run(&[&check[..], &choice, &labeled].concat()).done().json());
    let compare = [
        "compare",
        "--cal",
        &cal,
        "--unlabeled",
        &cal,
        "--test-probs",
        &cal,
        "--methods",
        "uncorrected",
    ];
    told(&run(&[&compare[..], &choice, &labeled].concat()).done().json());
    let out = scratch.at("sets-{alpha}.csv");
    let predict = ["predict", "--calibration", &stored, "--probs", &cal, "--out", &out, "--json"];
    told(&run(&[&predict[..], &choice].concat()).done().json());
    let text = run(&[&check[..], &choice, &labeled[..2]].concat()).done().stdout;
    assert_eq!(text.matches("alpha = 0.9 lets").count(), 1, "{text}");
}

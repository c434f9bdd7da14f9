//! The same numbers in another dress give the same answers.

use crate::running::{Array, Scratch, csv, demo, npy_f64, npz, run};
use crate::{FOG, call, options};

/// The JSON of a check on given files.
fn check(cal: &str, labels: &str, target: &str, more: &[&str]) -> serde_json::Value {
    let files = options(&[
        ("--cal-probs", cal.into()),
        ("--cal-labels", labels.into()),
        ("--unlabeled", target.into()),
    ]);
    let mut document = run(&call("check", files, &[&["--json"], more].concat())).done().json();
    // What to type next names the files, which differ here.
    let command = document.as_object_mut().unwrap().remove("command").unwrap();
    assert!(command.as_str().unwrap().starts_with("evenkeel calibrate --cal-probs "), "{command}");
    document
}

/// Fails unless two documents agree but for numbers, which may differ by the tolerance.
fn assert_close(one: &serde_json::Value, two: &serde_json::Value, tolerance: f64) {
    use serde_json::Value::{Array, Number, Object};
    match (one, two) {
        (Number(a), Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= tolerance, "{a} and {b}");
        }
        (Array(a), Array(b)) => {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).for_each(|(a, b)| assert_close(a, b, tolerance));
        }
        (Object(a), Object(b)) => {
            assert_eq!(a.len(), b.len());
            a.iter().for_each(|(key, a)| assert_close(a, &b[key], tolerance));
        }
        _ => assert_eq!(one, two),
    }
}

#[test]
fn csv_and_npz_read_as_npy() {
    let scratch = Scratch::new();
    let (cal, labels) = (demo("calibration_probs"), demo("calibration_labels"));
    let target = demo("fog_3_unlabeled");
    let as_npy = check(&cal, &labels, &target, &[]);
    let text = |name: &str, path: &str| {
        let array = Array::read(path);
        scratch.file(name, csv(&array.floats(), array.columns))
    };
    let integers = Array::read(&labels).integers();
    let lines: String = integers.iter().map(|label| format!("{label}\n")).collect();
    let label_lines = scratch.file("labels.csv", format!("label\n{lines}"));
    let as_csv = check(&text("cal.csv", &cal), &label_lines, &text("target.csv", &target), &[]);
    assert_eq!(as_npy, as_csv);
    let bytes = |path: &str| std::fs::read(path).unwrap();
    let archive = scratch.file(
        "all.npz",
        npz(&[
            ("cal.npy", &bytes(&cal)),
            ("labels.npy", &bytes(&labels)),
            ("target.npy", &bytes(&target)),
        ]),
    );
    let part = |key: &str| format!("{archive}:{key}");
    assert_eq!(as_npy, check(&part("cal"), &part("labels"), &part("target"), &[]));
    let wide = |name: &str, path: &str| {
        let array = Array::read(path);
        scratch.file(name, npy_f64(&array.floats(), array.columns))
    };
    assert_eq!(as_npy, check(&wide("cal8.npy", &cal), &labels, &wide("target8.npy", &target), &[]));
}

#[test]
fn logits_are_probabilities_before_the_softmax() {
    let scratch = Scratch::new();
    // Logits whose softmax is known, and that softmax computed here.
    let logits = |path: &str| -> Vec<f64> {
        Array::read(path).floats().iter().map(|value| (value + 1e-6).ln() * 1.5 + 300.0).collect()
    };
    let softmax = |logits: &[f64]| -> Vec<f64> {
        let row = |row: &[f64]| {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let raised: Vec<f64> = row.iter().map(|value| (value - largest).exp()).collect();
            let total: f64 = raised.iter().sum();
            raised.into_iter().map(move |value| value / total)
        };
        logits.chunks_exact(10).flat_map(row).collect()
    };
    let labels = demo("calibration_labels");
    let (cal, target) = (logits(&demo("calibration_probs")), logits(&demo("fog_3_unlabeled")));
    let file = |name: &str, values: &[f64]| scratch.file(name, npy_f64(values, 10));
    let from_logits =
        check(&file("cal.npy", &cal), &labels, &file("target.npy", &target), &["--logits"]);
    let from_probabilities = check(
        &file("cal-soft.npy", &softmax(&cal)),
        &labels,
        &file("the target data-soft.npy", &softmax(&target)),
        &[],
    );
    assert_close(&from_logits, &from_probabilities, 1e-12);
}

#[test]
fn sets_are_the_same_in_every_format() {
    let scratch = Scratch::new();
    let calibration = scratch.at("cal.json");
    FOG.calibrate(&calibration, &[]).done();
    let write = |name: &str| {
        let path = scratch.at(name);
        FOG.predict(&calibration, &path, &[]).done();
        path
    };
    let matrix = Array::read(&write("sets.npy"));
    assert_eq!((matrix.rows, matrix.columns), (2000, 10));
    let members: Vec<Vec<usize>> = matrix
        .data
        .chunks_exact(10)
        .map(|row| (0..10).filter(|label| row[*label] == 1).collect())
        .collect();
    let lines = std::fs::read_to_string(write("sets.jsonl")).unwrap();
    let listed: Vec<Vec<usize>> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(members, listed);
    let table = std::fs::read_to_string(write("sets.csv")).unwrap();
    let listed: Vec<Vec<usize>> = table
        .lines()
        .skip(1)
        .map(|line| {
            let labels = line.splitn(3, ',').nth(2).unwrap();
            labels
                .split(';')
                .filter(|label| !label.is_empty())
                .map(|label| label.parse().unwrap())
                .collect()
        })
        .collect();
    assert_eq!(members, listed);
    let parquet = std::fs::read(write("sets.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
}

#[test]
fn class_names_appear_in_every_output() {
    let scratch = Scratch::new();
    let list = [
        "T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag",
        "boot",
    ];
    let names = scratch.file("names.txt", list.join("\n"));
    let more = ["--class-names", names.as_str()];
    let calibration = scratch.at("cal.json");
    FOG.calibrate(&calibration, &more).done();
    FOG.check(&more).done();
    for extension in ["csv", "jsonl", "parquet"] {
        let path = scratch.at(&format!("sets.{extension}"));
        FOG.predict(&calibration, &path, &more).done();
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let found = list.iter().filter(|name| text.contains(**name)).count();
        // Compression may cut a name in two, never all of them.
        let least = if extension == "parquet" { 1 } else { list.len() };
        assert!(found >= least, "{found} names in the {extension}");
    }
    let text = FOG.evaluate(&calibration, &more).done().stdout;
    let found = FOG.evaluate(&calibration, &[&more[..], &["--json"]].concat()).done().json();
    let page = scratch.at("page.html");
    FOG.compare(&[&more[..], &["--html", &page]].concat()).done();
    let page = std::fs::read_to_string(page).unwrap();
    for (label, name) in list.iter().enumerate() {
        assert!(text.contains(name), "{name} is not in the text");
        assert!(page.contains(name), "{name} is not in the page");
        assert_eq!(found["per_class"][label]["name"], *name);
    }
}

//! Where tables come from: compressed, in several files, on stdin; and several levels at once.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::running::{Array, Ran, Scratch, csv, demo, fixture, program, run};
use crate::{FOG, call, options};

fn calibrate(scratch: &Scratch, target: &str, more: &[&str]) -> Ran {
    let files = options(&[
        ("--cal-probs", demo("calibration_probs")),
        ("--cal-labels", demo("calibration_labels")),
        ("--unlabeled", target.to_owned()),
        ("--out", scratch.at("cal.json")),
    ]);
    run(&call("calibrate", files, &[&["--method", "ot", "--json"], more].concat()))
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The same rows from a file, compressed, from several files, from a pattern and on stdin: the same bytes of a calibration.
#[test]
fn the_same_rows_from_anywhere_give_the_same_bytes() {
    let scratch = Scratch::new();
    let stored = || std::fs::read(scratch.at("cal.json")).unwrap();
    calibrate(&scratch, &demo("fog_3_unlabeled"), &[]).done();
    let expected = stored();
    let target = Array::read(&demo("fog_3_unlabeled"));
    let text = csv(&target.floats(), 10);
    let plain = scratch.file("target.csv", &text);
    let packed = scratch.file("target.csv.gz", gzipped(text.as_bytes()));
    // What is compressed is known by its bytes, whatever its name.
    let unnamed = scratch.file("packed.csv", gzipped(text.as_bytes()));
    let folder = scratch.folder("parts");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for (part, rows) in lines.chunks(137).enumerate() {
        let month = scratch.folder(&format!("parts/month={:02}", part / 3));
        std::fs::write(format!("{month}/part-{part:02}.csv"), rows.concat()).unwrap();
        scratch.file(&format!("piece-{part:02}.csv"), rows.concat());
    }
    std::fs::write(format!("{folder}/_SUCCESS"), "").unwrap();
    for from in [&plain, &packed, &unnamed, &folder, &scratch.at("piece-*.csv")] {
        calibrate(&scratch, from, &[]).done();
        assert!(expected == stored(), "{from}");
    }
    let mut child = program()
        .args(call(
            "calibrate",
            options(&[
                ("--cal-probs", demo("calibration_probs")),
                ("--cal-labels", demo("calibration_labels")),
                ("--unlabeled", "-".to_owned()),
                ("--out", scratch.at("cal.json")),
            ]),
            &["--method", "ot"],
        ))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .env("TMPDIR", scratch.folder("temporary"))
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&gzipped(text.as_bytes())).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(expected == stored(), "stdin");
    assert_eq!(std::fs::read_dir(scratch.at("temporary")).unwrap().count(), 0, "left behind");
}

/// What is wrong with stdin is said of stdin, not of the file that keeps it for the run.
#[test]
fn errors_in_stdin_name_it() {
    for (text, words) in [
        ("a,b,c\n0.5,0.5,x\n", "error: -, line 2: column 2 is \"x\""),
        ("", "error: -: holds no rows"),
        ("\u{93}NUMPY", "error: -"),
        ("{\"p\": 1\n", "error: -, line 1"),
    ] {
        let mut child = program()
            .args(call(
                "check",
                options(&[
                    ("--cal-probs", demo("calibration_probs")),
                    ("--cal-labels", demo("calibration_labels")),
                    ("--unlabeled", "-".to_owned()),
                ]),
                &[],
            ))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.starts_with(words), "{said}");
    }
}

#[test]
fn parts_must_fit_each_other() {
    let scratch = Scratch::new();
    let header = (0..10).map(|class| format!("c{class}")).collect::<Vec<_>>().join(",");
    let row = ["0.1"; 10].join(",");
    let good = format!("{header}\n{row}\n");
    scratch.folder("mixed");
    scratch.file("mixed/a.csv", &good);
    scratch.file("mixed/b.csv", good.replace("c3", "c33"));
    let ran = calibrate(&scratch, &scratch.at("mixed"), &[]);
    assert!(
        ran.code == 2 && ran.stderr.contains("b.csv: it has no column for c3, and c33"),
        "{ran:?}"
    );
    scratch.folder("narrow");
    scratch.file("narrow/a.csv", format!("{row}\n{row}\n"));
    scratch.file("narrow/b.csv", "0.5,0.5\n");
    let ran = calibrate(&scratch, &scratch.at("narrow"), &[]);
    assert!(ran.code == 2 && ran.stderr.contains("b.csv: 2 columns, but 10 are needed"), "{ran:?}");
    // A folder without tables, and a pattern that fits nothing.
    let ran = calibrate(&scratch, &scratch.folder("empty"), &[]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(calibrate(&scratch, &scratch.at("none-*.csv"), &[]).code, 2);
    // Half a stream.
    let cut = gzipped(good.repeat(2000).as_bytes());
    let cut = scratch.file("cut.csv.gz", &cut[..cut.len() / 2]);
    let ran = calibrate(&scratch, &cut, &[]);
    assert!(ran.code == 2 && ran.stderr.contains("cut.csv.gz"), "{ran:?}");
    let files = options(&[
        ("--cal-probs", "-".to_owned()),
        ("--cal-labels", demo("calibration_labels")),
        ("--unlabeled", "-".to_owned()),
    ]);
    let ran = run(&call("check", files, &[]));
    assert!(ran.code == 2 && ran.stderr.contains("both stdin"), "{ran:?}");
}

#[test]
fn sets_go_to_stdout() {
    let scratch = Scratch::new();
    let (cal, sets) = (scratch.at("cal.json"), scratch.at("sets.csv"));
    FOG.calibrate(&cal, &["--method", "uncorrected"]).done();
    FOG.predict(&cal, &sets, &[]).done();
    let ran = FOG.predict(&cal, "-", &["--quiet"]).done();
    assert_eq!(ran.stdout, std::fs::read_to_string(sets).unwrap());
    let ran = FOG.predict(&cal, "-", &["--json"]);
    assert!(ran.code == 2 && ran.stderr.contains("both write to stdout"), "{ran:?}");
}

#[test]
fn several_levels_at_once() {
    let scratch = Scratch::new();
    let cal = scratch.at("cal.json");
    let several = ["--method", "ot", "--alpha", "0.1,0.05,0.2", "--json"];
    let found = FOG.calibrate(&cal, &several).done().json();
    let single = |alpha: &str| {
        let other = scratch.at("single.json");
        let ran =
            FOG.calibrate(&other, &["--method", "ot", "--alpha", alpha, "--json"]).done().json();
        (ran["threshold"].clone(), FOG.evaluate(&other, &["--json"]).done().json())
    };
    let evaluated = FOG.evaluate(&cal, &["--json", "--alpha", "0.1,0.05,0.2"]).done().json();
    for (place, alpha) in ["0.1", "0.05", "0.2"].iter().enumerate() {
        let (threshold, alone) = single(alpha);
        assert_eq!(found["levels"][place]["threshold"], threshold, "{alpha}");
        assert_eq!(found["levels"][place]["alpha"].to_string(), *alpha);
        for field in ["alpha", "coverage", "mean_size", "median_size", "empty", "full"] {
            assert_eq!(evaluated["levels"][place][field], alone[field], "{alpha} {field}");
        }
        if place == 0 {
            assert_eq!(
                (&found["threshold"], &evaluated["coverage"]),
                (&threshold, &alone["coverage"])
            );
            assert_eq!(evaluated["per_class"], alone["per_class"]);
        }
    }
    // One rate has no levels, and the file is that of the first.
    let one = FOG.calibrate(&scratch.at("one.json"), &["--method", "ot", "--json"]).done().json();
    assert_eq!(one.get("levels"), None);
    let bytes = |name: &str| std::fs::read(scratch.at(name)).unwrap();
    assert_eq!(bytes("one.json"), bytes("cal.json"));
    for wrong in ["0.1,0.1", "0.1,2", "0.1,", "a"] {
        assert_eq!(FOG.calibrate(&cal, &["--alpha", wrong]).code, 2, "{wrong}");
    }
}

#[test]
fn uncorrected_needs_no_target_data() {
    let scratch = Scratch::new();
    let files = options(&[
        ("--cal-probs", demo("calibration_probs")),
        ("--cal-labels", demo("calibration_labels")),
        ("--out", scratch.at("cal.json")),
    ]);
    let alone = run(&call("calibrate", files.clone(), &["--method", "uncorrected", "--json"]))
        .done()
        .json();
    let with = FOG
        .calibrate(&scratch.at("with.json"), &["--method", "uncorrected", "--json"])
        .done()
        .json();
    assert_eq!(alone["threshold"], with["threshold"]);
    let ran = run(&call("calibrate", files, &[]));
    assert!(
        ran.code == 2
            && ran.stderr.contains("--unlabeled is missing: auto learns from the target data"),
        "{ran:?}"
    );
}

/// Every codec a writer of parquet may have used.
#[test]
fn parquet_of_every_codec_is_read() {
    let read = |codec: &str| {
        let file = fixture(&format!("codec_{codec}.parquet"));
        let labels = Scratch::new();
        let cal = labels.at("cal.json");
        let files =
            options(&[("--cal", file.clone()), ("--label-col", "label".into()), ("--out", cal)]);
        let more = ["--prob-cols", "p_*", "--method", "uncorrected", "--json"];
        let found = run(&call("calibrate", files, &more)).done().json();
        (found["threshold"].clone(), found["class_names"].clone())
    };
    let expected = read("none");
    assert_eq!(expected.1, Value::from(vec!["cat", "dog", "eel"]));
    for codec in ["snappy", "gzip", "zstd", "lz4", "brotli"] {
        assert_eq!(read(codec), expected, "{codec}");
    }
}

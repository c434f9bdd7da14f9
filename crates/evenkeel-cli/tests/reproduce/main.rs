//! `evenkeel reproduce` as people call it, in tiny versions: what it writes, how it resumes, how it refuses.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../running/mod.rs"]
mod running;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use running::{Scratch, npy_f64, npy_i64, npz, program, run};

/// Every file below a folder but the timing, by path.
fn contents(folder: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_path_buf();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(Path::new(folder), Path::new(folder), &mut found);
    assert!(found.remove(Path::new("timing.csv")).is_some());
    found
}

/// Finished cells in a folder.
fn cells(folder: &str) -> usize {
    let entries = std::fs::read_dir(Path::new(folder).join("cells"));
    let names = entries.into_iter().flatten().map(|entry| entry.unwrap().file_name());
    // Files that are being written have names that start with a dot.
    names.filter(|name| !name.to_string_lossy().starts_with('.')).count()
}

/// Pseudo-random numbers in [0, 1) for made-up softmax files.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// Logits of a three-class world: larger noise, more mistakes.
fn logits(rows: usize, noise: f64, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut out = Vec::new();
    for row in 0..rows {
        for class in 0..3 {
            let centre = if class == row % 3 { 2.0 } else { 0.0 };
            let sum: f64 = (0..12).map(|_| uniform(&mut state)).sum();
            out.push(centre + noise * (sum - 6.0));
        }
    }
    out
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let row = |row: &[f64]| {
        let total: f64 = row.iter().map(|value| value.exp()).sum();
        row.iter().map(|value| value.exp() / total).collect::<Vec<_>>()
    };
    logits.chunks_exact(3).flat_map(row).collect()
}

/// A data folder with probabilities in one file and logits in the other.
fn data_folder(scratch: &Scratch) -> String {
    let folder = scratch.folder("data");
    let rows = 400;
    let whole = |values: &dyn Fn(usize) -> usize| {
        npy_i64(&(0..rows).map(|row| i64::try_from(values(row)).unwrap()).collect::<Vec<_>>())
    };
    let (labels, ids) = (whole(&|row| row % 3), whole(&|row| 1000 + row));
    let clean = softmax(&logits(rows, 0.8, 1));
    let foggy = logits(rows, 1.5, 2);
    for (file, key, values) in [("clean", "probs.npy", clean), ("fog_1", "logits.npy", foggy)] {
        let table = npy_f64(&values, 3);
        let archive = npz(&[(key, &table), ("labels.npy", &labels), ("image_id.npy", &ids)]);
        scratch.file(&format!("data/{file}.npz"), archive);
    }
    folder
}

fn small_images<'a>(data: &'a str, out: &'a str) -> Vec<&'a str> {
    vec![
        "reproduce",
        "images",
        "--data",
        data,
        "--out",
        out,
        "--seeds",
        "2",
        "--calibration",
        "50",
        "--unlabeled",
        "60",
        "--methods",
        "uncorrected,oracle,ecp,qtc,ff-f-u,label-plan,auto",
    ]
}

#[test]
fn images_from_the_users_own_files() {
    let scratch = Scratch::new();
    let (data, out) = (data_folder(&scratch), scratch.at("run"));
    let mut arguments = small_images(&data, &out);
    arguments.push("--json");
    let document = run(&arguments).done().json();
    assert_eq!(document["cells"], 4);
    assert_eq!(document["resumed"], 0);
    let names: Vec<&str> = document["tables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|table| table["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["distance", "table-1", "table-4", "table-5", "table-6"]);
    for name in names {
        assert!(Path::new(&out).join(format!("tables/{name}.csv")).exists());
        assert!(Path::new(&out).join(format!("tables/{name}.md")).exists());
    }
    let page = std::fs::read_to_string(Path::new(&out).join("report.html")).unwrap();
    for name in ["coverage-same-labels", "coverage-label-shift", "bound-and-gap"] {
        assert!(Path::new(&out).join(format!("figures/{name}.svg")).exists(), "{name}");
        assert!(page.contains(&format!("id=\"figure-{name}\"")), "{name}");
    }
    let configuration =
        std::fs::read_to_string(Path::new(&out).join("configuration.json")).unwrap();
    let configuration: serde_json::Value = serde_json::from_str(&configuration).unwrap();
    assert_eq!(configuration["calibration"], 50);
    assert_eq!(configuration["classes"], 3);
    // A second call finds everything done and changes nothing.
    let before = contents(&out);
    assert_eq!(run(&arguments).done().json()["resumed"], 4);
    assert_eq!(contents(&out), before);
}

#[test]
fn the_other_experiments_run_on_the_users_own_files() {
    let scratch = Scratch::new();
    let data = data_folder(&scratch);
    let calls: [(&str, &[&str], &str); 4] = [
        ("sample-size", &["--seeds", "1", "--sizes", "20,60"], "figures/gap-by-size.svg"),
        (
            "tightness",
            &["--seeds", "1", "--calibration", "50", "--unlabeled", "50", "--severity", "1"],
            "figures/bound-and-gap.svg",
        ),
        (
            "figures",
            &[
                "--calibration",
                "50",
                "--unlabeled",
                "50",
                "--figure-1",
                "fog_1",
                "--figure-2",
                "fog_1",
            ],
            "figures/figure-2.svg",
        ),
        (
            "few-labels",
            &[
                "--seeds",
                "1",
                "--labels",
                "10,30",
                "--calibration",
                "60",
                "--unlabeled",
                "60",
                "--severities",
                "1",
            ],
            "figures/error-corrupted.svg",
        ),
    ];
    for (experiment, more, file) in calls {
        let out = scratch.at(experiment);
        let arguments = [&["reproduce", experiment, "--data", &data, "--out", &out], more].concat();
        run(&arguments).done();
        assert!(Path::new(&out).join(file).exists(), "{experiment}");
        assert!(Path::new(&out).join("report.html").exists(), "{experiment}");
    }
}

/// Killed without a chance to clean up, half-way; resumed; the same bytes as a run nobody disturbed.
#[test]
fn a_killed_run_resumes_to_the_same_bytes() {
    let scratch = Scratch::new();
    let arguments = |out: &str| -> Vec<String> {
        [
            "reproduce",
            "regression",
            "--simulations",
            "40",
            "--samples",
            "500",
            "--epochs",
            "2,4",
            "--threads",
            "1",
            "--json",
            "--out",
            out,
        ]
        .map(str::to_owned)
        .to_vec()
    };
    let (whole, killed) = (scratch.at("whole"), scratch.at("killed"));
    assert_eq!(run(&arguments(&whole)).done().json()["resumed"], 0);
    let mut child = program()
        .args(arguments(&killed))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while cells(&killed) < 10 {
        assert!(started.elapsed() < Duration::from_secs(60), "no cell was finished in a minute");
        std::thread::sleep(Duration::from_millis(1));
    }
    // On Unix this is SIGKILL.
    child.kill().unwrap();
    child.wait().unwrap();
    let finished = cells(&killed);
    assert!((10..40).contains(&finished), "killed too late to show anything: {finished}");
    assert!(!Path::new(&killed).join("report.html").exists());
    let document = run(&arguments(&killed)).done().json();
    let resumed = document["resumed"].as_u64().unwrap();
    assert!((9..40).contains(&resumed), "{resumed}");
    let mut found = contents(&killed);
    // What was being written when the process died is left under a temporary name.
    found.retain(|path, _| !path.to_string_lossy().ends_with(".tmp"));
    assert!(contents(&whole) == found, "{:?}", found.keys());
}

#[test]
fn refusals_name_what_is_wrong_and_what_to_do() {
    let scratch = Scratch::new();
    let (data, out) = (data_folder(&scratch), scratch.at("run"));
    let refused = |arguments: &[&str], parts: &[&str]| {
        let ran = run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stdout);
        for part in parts {
            assert!(ran.stderr.contains(part), "{arguments:?}: {}", ran.stderr);
        }
    };
    let nowhere = scratch.at("nowhere");
    refused(
        &["reproduce", "images", "--out", &out, "--fashion-mnist", &nowhere],
        &["apt-get install dataset-fashion-mnist", "nowhere"],
    );
    refused(
        &["reproduce", "images", "--data", &nowhere, "--out", &out],
        &["clean.npz", "image_id"],
    );
    let unknown = [&small_images(&data, &out)[..12], &["--methods", "magic"]].concat();
    refused(&unknown, &["magic", "label-plan"]);
    let severities = [&small_images(&data, &out)[..], &["--severities", "4"]].concat();
    refused(&severities, &["NAME_4.npz"]);
    refused(
        &["reproduce", "regression", "--epochs", "30,10", "--out", &out],
        &["epochs", "more than the one before"],
    );
    refused(
        &["reproduce", "images", "--severities", "300", "--out", &out],
        &["severity 300 is out of range"],
    );
    let large = [&small_images(&data, &out)[..8], &["--calibration", "5000"]].concat();
    refused(&large, &["the clean table has 400 rows", "10000"]);
    refused(
        &["reproduce", "few-labels", "--data", &data, "--out", &out, "--labels", "10,500"],
        &["the largest number of labels", "500", "which are what is labeled"],
    );
    let out = scratch.at("other");
    run(&small_images(&data, &out)).done();
    let other = [&small_images(&data, &out)[..], &["--alpha", "0.2"]].concat();
    refused(&other, &["alpha is 0.1 there and 0.2 now", "--out"]);
}

/// Another experiment's folder is refused before a single image is classified, in few words.
#[test]
fn a_foreign_folder_is_refused_before_any_work() {
    let scratch = Scratch::new();
    let out = scratch.at("run");
    let small = ["--simulations", "1", "--samples", "30", "--epochs", "1", "--out", &out];
    run(&[&["reproduce", "regression"], &small[..]].concat()).done();
    for experiment in ["images", "tightness", "sample-size", "figures", "few-labels"] {
        let nowhere = scratch.at("nowhere");
        let ran = run(&["reproduce", experiment, "--out", &out, "--fashion-mnist", &nowhere]);
        assert_eq!(ran.code, 2);
        let words = format!("experiment is \"regression\" there and \"{experiment}\" now");
        assert!(ran.stderr.contains(&words) && ran.stderr.len() < 400, "{}", ran.stderr);
        assert!(!Path::new(&out).join("softmax").exists());
    }
}

/// A file that does not fit ends the run before its first cell, with its name; the corrected command then goes on.
#[test]
fn all_files_are_checked_before_the_first_cell() {
    let scratch = Scratch::new();
    let (data, out) = (data_folder(&scratch), scratch.at("run"));
    let labels = |odd: i64| {
        let label = |row: i64| if row == 7 { odd } else { row % 3 };
        npy_i64(&(0..400).map(label).collect::<Vec<_>>())
    };
    let ids = npy_i64(&(0..400).collect::<Vec<_>>());
    let probabilities = softmax(&logits(400, 1.0, 3));
    let with = |first: f64| npy_f64(&[&[first], &probabilities[1..]].concat(), 3);
    let archive = |probs: &[u8], labels: &[u8]| {
        npz(&[("probs.npy", probs), ("labels.npy", labels), ("image_id.npy", &ids)])
    };
    let good = archive(&npy_f64(&probabilities, 3), &labels(1));
    let bad = [
        (archive(&with(f64::NAN), &labels(1)), "snow_1.npz, array probs: probs[row 0, column 0]"),
        (archive(&with(-3.0), &labels(1)), "an array of logits must be named logits"),
        (archive(&npy_f64(&probabilities, 3), &labels(3)), "snow_1.npz, array labels"),
    ];
    for (file, words) in bad {
        scratch.file("data/snow_1.npz", file);
        let ran = run(&small_images(&data, &out));
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains(words) && !ran.stderr.contains("--logits"), "{}", ran.stderr);
        assert_eq!(cells(&out), 0);
    }
    scratch.file("data/snow_1.npz", &good);
    let twice = [&small_images(&data, &out)[..12], &["--methods", "oracle,oracle"]].concat();
    let ran = run(&twice);
    assert!(ran.code == 2 && ran.stderr.contains("--methods names oracle twice"), "{}", ran.stderr);
    // Nothing was finished under the configurations that failed: this one replaces them.
    run(&small_images(&data, &out)).done();
    scratch.file("data/fog_01.npz", good);
    let ran = run(&small_images(&data, &out));
    assert!(ran.code == 2 && ran.stderr.contains("rename it to fog_1.npz"), "{}", ran.stderr);
}

#[test]
fn every_experiment_has_help_with_an_example() {
    let help = run(&["reproduce", "--help"]).done().stdout;
    let experiments = ["regression", "images", "sample-size", "tightness", "figures", "few-labels"];
    for experiment in experiments {
        assert!(help.contains(experiment), "{help}");
        let help = run(&["reproduce", experiment, "--help"]).done().stdout;
        assert!(help.contains(&format!("evenkeel reproduce {experiment}")), "{help}");
        assert!(help.contains("--out") && help.contains("--seed"), "{help}");
    }
}

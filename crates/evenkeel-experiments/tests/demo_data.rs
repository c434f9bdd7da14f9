//! The shipped demo files are what their README says, and making them again gives the same bytes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use evenkeel::score::Probabilities;
use evenkeel::seed::Seed;
use evenkeel_experiments::classifier::Classifier;
use evenkeel_experiments::demo::{CONDITIONS, RoleSizes, Roles, demo_files, write_files};
use evenkeel_experiments::fashion_mnist::CLASSES;
use evenkeel_experiments::performance::Performance;

mod synthetic;
use synthetic::{bars, on_threads};

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/demo")
}

/// The entries of a shipped file, after its header was found to be exactly this one.
fn entries(name: &str, description: &str, shape: &str) -> Vec<u8> {
    let bytes = fs::read(demo().join(name)).unwrap();
    assert_eq!(bytes[..8], *b"\x93NUMPY\x01\x00", "{name}");
    let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8(bytes[10..end].to_vec()).unwrap();
    let expected =
        format!("{{'descr': '{description}', 'fortran_order': False, 'shape': {shape}, }}");
    assert_eq!(header.trim_end(), expected, "{name}");
    bytes[end..].to_vec()
}

fn probabilities(name: &str, rows: usize) -> Vec<f32> {
    let bytes = entries(name, "<f4", &format!("({rows}, {CLASSES})"));
    let values: Vec<f32> =
        bytes.as_chunks().0.iter().map(|entry| f32::from_le_bytes(*entry)).collect();
    assert_eq!(values.len(), rows * CLASSES, "{name}");
    Probabilities::new(&values, CLASSES).unwrap();
    for row in values.chunks_exact(CLASSES) {
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{name}: {row:?}");
    }
    values
}

fn integers(name: &str, rows: usize) -> Vec<usize> {
    let bytes = entries(name, "<i8", &format!("({rows},)"));
    let values = bytes.as_chunks().0.iter().map(|entry| i64::from_le_bytes(*entry));
    let values: Vec<usize> = values.map(|value| usize::try_from(value).unwrap()).collect();
    assert_eq!(values.len(), rows, "{name}");
    values
}

#[test]
fn no_image_plays_two_roles() {
    let ids = [("calibration", 1000), ("unlabeled", 1000), ("test", 2000)]
        .map(|(role, rows)| integers(&format!("{role}_ids.npy"), rows));
    let distinct: BTreeSet<usize> = ids.iter().flatten().copied().collect();
    assert_eq!(distinct.len(), 4000);
    assert!(distinct.iter().all(|id| *id < 10_000));
    let dealt = Roles::deal(10_000, RoleSizes::default(), Seed::new(0)).unwrap();
    assert_eq!(ids, [dealt.calibration, dealt.unlabeled, dealt.test]);
}

#[test]
fn shapes_sums_and_labels_are_right_and_accuracies_are_the_documented_ones() {
    let readme = fs::read_to_string(demo().join("README.md")).unwrap();
    let check = |name: &str, probabilities: &[f32], labels: &[usize]| {
        assert!(labels.iter().all(|label| *label < CLASSES));
        let Performance { accuracy, confidence } = Performance::of(probabilities, labels);
        let row = format!("| {name} | {accuracy:.4} | {confidence:.4} |");
        assert!(readme.contains(&row), "the README lacks: {row}");
    };
    let calibration = probabilities("calibration_probs.npy", 1000);
    check("calibration", &calibration, &integers("calibration_labels.npy", 1000));
    for name in CONDITIONS {
        probabilities(&format!("{name}_unlabeled.npy"), 1000);
        let labels = integers(&format!("{name}_test_labels.npy"), 2000);
        assert_eq!(labels, integers("clean_test_labels.npy", 2000));
        check(name, &probabilities(&format!("{name}_test_probs.npy"), 2000), &labels);
    }
}

#[test]
fn nothing_else_is_shipped_and_all_of_it_is_small() {
    let mut total = 0;
    let mut count = 0;
    for entry in fs::read_dir(demo()).unwrap() {
        total += entry.unwrap().metadata().unwrap().len();
        count += 1;
    }
    assert_eq!(count, 6 + 3 * CONDITIONS.len() + 1);
    assert!(total < 1_000_000, "{total} bytes");
}

/// The fifty labels are rows of the unlabeled data, each once, with labels of the ten classes.
#[test]
fn the_fifty_labels_belong_to_unlabeled_rows() {
    let text = fs::read_to_string(demo().join("fifty_labels.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("row,label"));
    let pairs: Vec<(usize, usize)> = lines
        .map(|line| line.split_once(',').unwrap())
        .map(|(row, label)| (row.parse().unwrap(), label.parse().unwrap()))
        .collect();
    assert_eq!(pairs.len(), 50);
    assert!(pairs.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert!(pairs.iter().all(|(row, label)| *row < 1000 && *label < 10));
}

/// The whole way on images that need no data set.
#[test]
fn the_files_are_the_same_bytes_for_any_number_of_threads() {
    let images = bars(60, 1);
    let sizes = RoleSizes { calibration: 10, unlabeled: 15, test: 35 };
    let classifier = Classifier::initialised(Seed::new(2));
    let files = |threads| {
        on_threads(threads, || demo_files(&images, &classifier, sizes, Seed::new(0)).unwrap())
    };
    let one = files(1);
    assert_eq!(files(3), one);

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo");
    write_files(&one, &folder).unwrap();
    for file in &one {
        assert_eq!(fs::read(folder.join(&file.name)).unwrap(), file.bytes, "{}", file.name);
    }
    let too_many = RoleSizes { test: 36, ..sizes };
    let error = demo_files(&images, &classifier, too_many, Seed::new(0)).unwrap_err();
    assert!(error.to_string().contains("needs 61 images, found 60"), "{error}");
}

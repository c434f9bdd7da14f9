//! Every stored input through its target, with a stable compiler: what was once found stays mended.

#![allow(missing_docs)]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use evenkeel_fuzz_targets::{TARGETS, sealed_seeds};

/// All stored inputs together: they are part of every checkout.
const MOST_BYTES: u64 = 300_000;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The inputs of a target in a folder of `fuzz/`, in order.
fn inputs(folder: &str, target: &str) -> Vec<PathBuf> {
    let directory = fuzz().join(folder).join(target);
    let Ok(entries) = std::fs::read_dir(&directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Runs a target on files and gives the names of those that it panics on.
fn panics(run: fn(&[u8]), paths: &[PathBuf]) -> Vec<String> {
    let found = |path: &&PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        catch_unwind(AssertUnwindSafe(|| run(&bytes))).is_err()
    };
    paths.iter().filter(found).map(|path| path.display().to_string()).collect()
}

#[test]
fn every_stored_input_is_refused_or_consistent() {
    for (name, run) in TARGETS {
        let (regressions, seeds) = (inputs("regressions", name), inputs("seeds", name));
        assert!(!regressions.is_empty(), "fuzz/regressions/{name} holds hostile cases");
        let found = [panics(run, &regressions), panics(run, &seeds)].concat();
        assert!(found.is_empty(), "{name} panics on {found:#?}");
    }
}

/// The seeds that other tests keep for us.
#[test]
fn every_fixture_is_refused_or_consistent() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let of = |folder: &str, ending: &str| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(crates.join(folder)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
    };
    for (name, run) in TARGETS {
        let paths = match name {
            "npy" | "npz" | "csv" | "parquet" | "arrow" => of("evenkeel-io/tests/fixtures", name),
            "calibration" => of("evenkeel/tests/files_v1/cases", "json"),
            _ => continue,
        };
        assert!(!paths.is_empty(), "{name}");
        let found = panics(run, &paths);
        assert!(found.is_empty(), "{name} panics on {found:#?}");
    }
}

/// The wire form may change with its version; the fuzzer then needs new seeds. `EVENKEEL_REWRITE=1` writes them.
#[test]
fn the_seeds_of_states_are_those_of_this_version() {
    let folder = fuzz().join("seeds/state");
    for (name, seed) in sealed_seeds() {
        let path = folder.join(&name);
        if std::env::var_os("EVENKEEL_REWRITE").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &seed).unwrap();
        }
        assert!(std::fs::read(&path).unwrap() == seed, "{name} is of another version");
    }
}

#[test]
fn the_stored_inputs_are_small() {
    let folders = ["regressions", "seeds", "dictionaries"];
    let mut total = 0;
    for folder in folders {
        let mut open = vec![fuzz().join(folder)];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            } else {
                total += path.metadata().unwrap().len();
            }
        }
    }
    assert!(total < MOST_BYTES, "{total} bytes in fuzz/");
}

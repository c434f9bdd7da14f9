//! docs/paper-map.md names functions and tests that exist, and leaves out no equation of the method.

#![allow(missing_docs)]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
const MAP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/paper-map.md");

/// `(paper, function, test)` of every row of the table.
fn rows() -> Vec<(String, String, String)> {
    let text = fs::read_to_string(MAP).unwrap();
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect()
    };
    let rows = text.lines().filter(|line| line.starts_with('|')).skip(2).map(cells);
    rows.map(|row| (row[0].clone(), row[2].clone(), row[3].clone())).collect()
}

/// All Rust text of a module: a file, or a folder's files.
fn module_text(name: &str) -> String {
    let file = Path::new(SOURCES).join(format!("{name}.rs"));
    if file.exists() {
        return fs::read_to_string(file).unwrap();
    }
    let mut folders = vec![Path::new(SOURCES).join(name)];
    let mut text = String::new();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|_| panic!("no module {name}"));
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                text.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    text
}

fn defines(text: &str, function: &str) -> bool {
    text.contains(&format!("fn {function}(")) || text.contains(&format!("fn {function}<"))
}

#[test]
fn every_function_in_the_map_exists() {
    for (paper, function, _) in rows() {
        let (module, name) = function.split_once("::").expect("module::function");
        assert!(defines(&module_text(module), name), "{paper}: no function {function}");
    }
}

#[test]
fn every_test_in_the_map_exists() {
    for (paper, _, test) in rows() {
        let (file, name) = test.split_once("::").expect("file::test");
        let path: PathBuf = Path::new(TESTS).join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{paper}: no file {file}"));
        assert!(defines(&text, name), "{paper}: no test {test}");
    }
}

#[test]
fn no_equation_of_the_method_is_left_out() {
    let found: Vec<String> = rows().into_iter().map(|(paper, ..)| paper).collect();
    for needed in [
        "Def 3.1",
        "Thm 3.2",
        "eq 5",
        "eq 6",
        "Thm 3.3",
        "eq 7",
        "eq 8",
        "eq 9",
        "eq 10",
        "eq 11",
        "Alg 1",
        "Prop A.3",
        "Lemma A.4",
        "Rem A.5",
        "Thm A.6",
        "Rem A.8",
        "Prop A.9",
        "Thm A.11",
        "Alg 2",
    ] {
        assert!(found.iter().any(|paper| paper == needed), "{needed} is not in the map");
    }
}

//! What tutorials show is what the program prints.

use std::fs;
use std::path::Path;

use crate::running::{Scratch, finish, program};

/// Commands of the `console` blocks of a page, each with what it should print.
fn shown(page: &str) -> Vec<(String, String)> {
    let blocks = page.split("```console\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let mut commands = Vec::new();
    for (block, _) in blocks {
        for command in block.split("$ evenkeel ").skip(1) {
            let (line, printed) = command.split_once('\n').unwrap_or((command, ""));
            commands.push((line.to_owned(), printed.to_owned()));
        }
    }
    commands
}

#[test]
fn the_tutorial_on_a_few_labels_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/tutorials/few-labels.md")).unwrap();
    let scratch = Scratch::new();
    scratch.folder("evenkeel-demo");
    scratch.folder("evenkeel-demo/data");
    for entry in fs::read_dir(root.join("data/demo")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        fs::copy(&path, scratch.at(&format!("evenkeel-demo/data/{name}"))).unwrap();
    }
    let run = |words: &str| {
        let words = words.split_whitespace();
        finish(program().args(words).arg("--quiet").current_dir(scratch.path()))
    };
    let commands = shown(&page);
    assert!(commands.len() >= 6, "{commands:?}");
    for (command, printed) in commands {
        let ran = run(&command).done();
        assert_eq!(ran.stdout, printed, "evenkeel {command}");
    }
    // The table of what came of it.
    for calibration in ["cal.json", "blur.json", "signed.json"] {
        let ran = run(&format!(
            "evaluate --calibration {calibration} --probs evenkeel-demo/data/motion_blur_5_test_probs.npy --labels \
             evenkeel-demo/data/motion_blur_5_test_labels.npy --json"
        ));
        let found = ran.json();
        let coverage = 100.0 * found["coverage"].as_f64().unwrap();
        let size = found["mean_size"].as_f64().unwrap();
        let row =
            page.lines().find(|line| line.starts_with(&format!("| `{calibration}`"))).unwrap();
        assert!(
            row.ends_with(&format!("| {coverage:.1} % | {size:.2} |")),
            "{row}: {coverage} {size}"
        );
    }
}

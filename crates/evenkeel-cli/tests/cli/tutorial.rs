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

/// Commands of the `sh` blocks of a page that call the program, without their comments.
fn typed(page: &str) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let lines = blocks.flat_map(|(block, _)| block.lines());
    let commands = lines.filter_map(|line| line.trim().strip_prefix("evenkeel "));
    commands.map(|line| line.split('#').next().unwrap_or_default().trim().to_owned()).collect()
}

/// Files of the demo under other names.
fn copied(scratch: &Scratch, names: &[(&str, &str)]) {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/demo");
    for (from, to) in names {
        fs::copy(demo.join(from), scratch.at(to)).unwrap();
    }
}

/// The lines of the README, typed one after the other on files of these names.
#[test]
fn the_commands_of_the_readme_work() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let scratch = Scratch::new();
    let names = [
        ("calibration_probs.npy", "cal.npy"),
        ("calibration_labels.npy", "labels.npy"),
        ("fog_3_unlabeled.npy", "target.npy"),
        ("fog_3_test_probs.npy", "test.npy"),
        ("fog_3_test_labels.npy", "test_labels.npy"),
    ];
    copied(&scratch, &names);
    let commands = typed(&readme);
    assert!(commands.len() >= 8, "{commands:?}");
    for command in commands {
        finish(
            program().args(command.split_whitespace()).arg("--quiet").current_dir(scratch.path()),
        )
        .done();
        if command.starts_with("label ") {
            // Somebody fills the sheet in: with these rows, whose labels are known.
            copied(&scratch, &[("fifty_labels.csv", "rows.csv")]);
        }
    }
    assert!(scratch.path().join("page.html").exists() && scratch.path().join("new.json").exists());
}

#[test]
fn the_commands_of_the_quickstart_work() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/quickstart.md")).unwrap();
    let scratch = Scratch::new();
    let mut folder = scratch.path().to_owned();
    let commands = typed(&page);
    assert!(commands.len() >= 8 && commands[0] == "demo", "{commands:?}");
    for command in commands {
        finish(program().args(command.split_whitespace()).arg("--quiet").current_dir(&folder))
            .done();
        // As the page does: `cd evenkeel-demo/data`.
        folder = scratch.path().join("evenkeel-demo/data");
    }
    assert!(folder.join("new.json").exists());
    // Its Rust is an example of the library, which is compiled with the tests.
    let example = fs::read_to_string(root.join("crates/evenkeel/examples/quickstart.rs")).unwrap();
    let shown = example.split_once("\n\n").unwrap().1;
    assert!(shown.starts_with("use evenkeel::prelude::*;") && page.contains(shown), "{shown}");
}

/// Thirty nights: every line that the page shows, and alarms where it says that there are some.
#[test]
fn the_tutorial_on_monitoring_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/monitoring.md")).unwrap();
    let scratch = Scratch::new();
    let commands = shown(&page);
    assert!(commands.len() >= 8, "{commands:?}");
    let mut alarms = 0;
    for (command, printed) in commands {
        let mut program = program();
        program.args(command.split_whitespace()).arg("--quiet").current_dir(scratch.path());
        // The day of the last night: the page would tell another one every day.
        let ran = finish(program.env("SOURCE_DATE_EPOCH", "1793491200"));
        assert_eq!(ran.stdout, printed, "evenkeel {command}: {}", ran.stderr);
        assert!(ran.code < 2, "evenkeel {command}: {}", ran.stderr);
        alarms += i32::from(ran.code == 1);
        assert_eq!(ran.code == 1, ran.stderr.starts_with("alarm: "), "{}", ran.stderr);
    }
    assert!(alarms >= 1, "{alarms}");
    let trend = fs::read_to_string(scratch.at("trend.html")).unwrap();
    assert!(trend.contains("approved by Ada"));
}

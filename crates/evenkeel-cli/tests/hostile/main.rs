//! Inputs that cannot be worked on: exit code 2, one message that says what and where, nothing left behind.
//!
//! `snapshots/messages.txt` holds every message in full; `EVENKEEL_UPDATE_SNAPSHOTS=1` writes it anew.
#![allow(clippy::unwrap_used, clippy::panic)]

mod corpus;
#[path = "../running/mod.rs"]
mod running;

use std::fmt::Write as _;
use std::fs::OpenOptions;

use corpus::{Row, World};
use running::{Ran, assert_snapshot, finish, program, run};

/// The corpus promises at least so many inputs.
const LEAST_ROWS: usize = 60;

#[test]
fn every_hostile_input_is_refused_with_one_clear_message() {
    let world = World::new();
    let rows = corpus::rows(&world);
    assert!(rows.len() >= LEAST_ROWS, "{} rows", rows.len());
    let mut before = world.scratch.contents();
    let (mut messages, mut wrong) = (String::new(), String::new());
    for row in &rows {
        let ran = run(&row.arguments);
        for complaint in complaints(row, &ran) {
            let _ = writeln!(wrong, "{}: {complaint}\n    {}", row.name, ran.stderr.trim_end());
        }
        let after = world.scratch.contents();
        if after != before {
            let _ = writeln!(wrong, "{}: a file appeared, vanished or changed", row.name);
            before = after;
        }
        let _ = writeln!(messages, "{}\n    {}", row.name, normalise(&ran.stderr, &world));
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert_snapshot("hostile/snapshots/messages.txt", &messages);
}

/// Everything about a run that is not as it must be.
fn complaints(row: &Row, ran: &Ran) -> Vec<String> {
    let mut found = Vec::new();
    if ran.code != 2 {
        found.push(format!("exit code {}", ran.code));
    }
    if !ran.stdout.is_empty() {
        found.push(format!("stdout holds {:?}", ran.stdout));
    }
    if !ran.stderr.starts_with("error: ") || ran.stderr.matches("error:").count() != 1 {
        found.push("not one message that starts with \"error: \"".into());
    }
    // What clap says about usage has several lines; our own messages have one.
    if !ran.stderr.contains("--help") && ran.stderr.lines().count() != 1 {
        found.push(format!("{} lines", ran.stderr.lines().count()));
    }
    for word in ["panicked", "RUST_BACKTRACE", "os error", "unwrap"] {
        if ran.stderr.contains(word) {
            found.push(format!("the message contains {word:?}"));
        }
    }
    for words in &row.says {
        if !ran.stderr.contains(words.as_str()) {
            found.push(format!("the message lacks {words:?}"));
        }
    }
    found
}

/// A message without this machine's paths.
fn normalise(message: &str, world: &World) -> String {
    let folder = world.scratch.path().display().to_string();
    let fixtures = running::fixture("");
    let message = message.replace(&folder, "DIR").replace(&fixtures, "FIXTURES/");
    message.trim_end().replace('\n', "\n    ")
}

#[test]
fn names_in_the_corpus_are_unique() {
    let world = World::new();
    let mut names: Vec<String> = corpus::rows(&world).into_iter().map(|row| row.name).collect();
    names.sort();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
}

/// A full device under stdout is no success either.
#[test]
fn no_space_left_on_stdout() {
    if !std::path::Path::new("/dev/full").exists() {
        return; // Only Linux has a device that is always full.
    }
    let world = World::new();
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    for arguments in [world.check(&[], &[]), world.check(&[], &["--json"]), vec!["manual".into()]] {
        let ran = finish_into(full(), &arguments);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.starts_with("error: could not write to stdout"), "{ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    }
}

fn finish_into(stdout: std::fs::File, arguments: &[String]) -> Ran {
    let child = program()
        .args(arguments)
        .stdout(stdout)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::new(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn an_argument_that_is_no_unicode_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"/nowhere/\xff.npy");
    let ran = finish(program().args(["check", "--cal-probs"]).arg(name));
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.starts_with("error: "), "{ran:?}");
}

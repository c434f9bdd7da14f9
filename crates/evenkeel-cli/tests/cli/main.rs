//! The command line as people call it: what it prints, what it writes, how it ends.
//!
//! Golden texts are in `snapshots`; `EVENKEEL_UPDATE_SNAPSHOTS=1` writes them anew.
#![allow(clippy::unwrap_used, clippy::panic)]

mod advised;
mod agreement;
mod assume;
mod commands;
mod field_trial;
mod folders;
mod formats;
mod forms;
mod grouped;
mod json;
mod label;
mod levels;
#[cfg(unix)]
mod limits;
mod manners;
mod mistakes;
mod monitor;
mod no_harm;
mod options;
#[cfg(unix)]
mod replacing;
#[path = "../running/mod.rs"]
mod running;
mod sources;
mod tables;
mod tutorial;

use running::{Ran, Scratch, demo, run};

/// Files of one day of the demo data, as options of a command.
pub(crate) struct Day(&'static str);

/// The day with a clear shift.
pub(crate) const FOG: Day = Day("fog_3");
/// The day without one.
pub(crate) const CLEAN: Day = Day("clean");

impl Day {
    pub(crate) fn labeled_and_unlabeled(&self) -> Vec<String> {
        options(&[
            ("--cal-probs", demo("calibration_probs")),
            ("--cal-labels", demo("calibration_labels")),
            ("--unlabeled", demo(&format!("{}_unlabeled", self.0))),
        ])
    }

    pub(crate) fn test_probs(&self) -> String {
        demo(&format!("{}_test_probs", self.0))
    }

    pub(crate) fn test_labels(&self) -> String {
        demo(&format!("{}_test_labels", self.0))
    }

    pub(crate) fn check(&self, more: &[&str]) -> Ran {
        run(&call("check", self.labeled_and_unlabeled(), more))
    }

    /// Calibrates, by `ot` in few steps unless told otherwise.
    pub(crate) fn calibrate(&self, out: &str, more: &[&str]) -> Ran {
        let named = more.iter().position(|word| *word == "--method");
        let method: &[&str] = if named.is_some() { &[] } else { &["--method", "ot"] };
        let by_ot = named.is_none_or(|at| more.get(at + 1) == Some(&"ot"));
        let steps: &[&str] = if by_ot { &["--steps", "50"] } else { &[] };
        let few = [&["--out", out], steps, method, more].concat();
        run(&call("calibrate", self.labeled_and_unlabeled(), &few))
    }

    pub(crate) fn evaluate(&self, calibration: &str, more: &[&str]) -> Ran {
        let files = options(&[
            ("--calibration", calibration.to_owned()),
            ("--probs", self.test_probs()),
            ("--labels", self.test_labels()),
        ]);
        run(&call("evaluate", files, more))
    }

    pub(crate) fn predict(&self, calibration: &str, out: &str, more: &[&str]) -> Ran {
        let files = options(&[
            ("--calibration", calibration.to_owned()),
            ("--probs", self.test_probs()),
            ("--out", out.to_owned()),
        ]);
        run(&call("predict", files, more))
    }

    /// Compares `uncorrected` and `ot`, in few steps, unless told otherwise.
    pub(crate) fn compare(&self, more: &[&str]) -> Ran {
        let mut files = self.labeled_and_unlabeled();
        files.extend(options(&[
            ("--test-probs", self.test_probs()),
            ("--test-labels", self.test_labels()),
        ]));
        let two: &[&str] =
            if more.contains(&"--methods") { &[] } else { &["--methods", "uncorrected,ot"] };
        let named = more.iter().position(|word| *word == "--methods");
        let with_ot = named
            .and_then(|at| more.get(at + 1))
            .is_none_or(|names| names.split(',').any(|name| ["ot", "all"].contains(&name.trim())));
        let steps: &[&str] = if with_ot { &["--steps", "50"] } else { &[] };
        run(&call("compare", files, &[steps, two, more].concat()))
    }
}

/// Options and their values, one after the other.
pub(crate) fn options(pairs: &[(&str, String)]) -> Vec<String> {
    pairs.iter().flat_map(|(option, value)| [(*option).to_owned(), value.clone()]).collect()
}

/// A command, its files and more.
pub(crate) fn call(command: &str, files: Vec<String>, more: &[&str]) -> Vec<String> {
    let mut arguments = vec![command.to_owned()];
    arguments.extend(files);
    arguments.extend(more.iter().map(|word| (*word).to_owned()));
    arguments
}

/// A run as a text: exit code, stdout, stderr, without this machine's paths and this run's seconds.
pub(crate) fn normalise(ran: &Ran, scratch: &Scratch) -> String {
    let folder = scratch.path().display().to_string();
    let data = demo("").trim_end_matches(".npy").to_owned();
    let clean = |text: &str| -> String {
        let text = text.replace(&folder, "DIR").replace(&data, "DEMO/");
        text.lines().map(|line| without_seconds(line) + "\n").collect()
    };
    format!(
        "exit code {}\n--- stdout\n{}--- stderr\n{}",
        ran.code,
        clean(&ran.stdout),
        clean(&ran.stderr)
    )
}

/// A line with `in 1.234 s` made `in SECONDS s`, and the column `seconds` of a row of `compare` likewise.
fn without_seconds(line: &str) -> String {
    if let Some((before, after)) = line.rsplit_once(" in ")
        && let Some(seconds) = after.strip_suffix(" s.")
        && seconds.parse::<f64>().is_ok()
    {
        return format!("{before} in SECONDS s.");
    }
    // A row of `compare`: method, coverage, "%", size, gap, threshold, n_w, seconds, assumption.
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.len() > 8 && words[2] == "%" && words[7].parse::<f64>().is_ok() {
        let at = line.find(&format!(" {}  ", words[7])).map_or(0, |at| at + 1);
        return format!("{}  SECONDS{}", line[..at].trim_end(), &line[at + words[7].len()..]);
    }
    line.to_owned()
}

//! Faults on purpose: every command that writes, with one system call failing, cut short or being its last.
//!
//! `shim.c` stands between the program and the C library. For each command its calls are counted once; then it is run again
//! and again, and each time another call fails (EIO, ENOSPC, EINTR, half a write, no memory) or the process is killed there
//! (SIGKILL). Afterwards every file is as it was, absent, or complete; an error is exit code 2 and one sentence; a clean run
//! then leaves exactly the files it should, and nothing of the dead one's.
//!
//! A sample of the calls by default; `scripts/faults` takes each in turn and prints the figures.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../running/mod.rs"]
mod running;
mod tree;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use running::{Scratch, demo, finish, program};
use tree::{Compared, Tree};

const EINTR: i32 = 4;
const EIO: i32 = 5;
const ENOMEM: i32 = 12;
const ENOSPC: i32 = 28;
/// As `shim.c` counts them.
const SHORT: i32 = -1;
const KILL: i32 = -2;

/// Calls, and how each of them is made to fail.
const FAULTS: [(&str, &[i32]); 7] = [
    ("write", &[EIO, ENOSPC, EINTR, SHORT]),
    ("fsync", &[EIO, ENOSPC, EINTR]),
    ("rename", &[EIO, ENOSPC, EINTR]),
    ("open", &[EIO, ENOSPC, EINTR]),
    ("mmap", &[EIO, ENOSPC, ENOMEM]),
    ("alloc", &[ENOMEM]),
    ("writing", &[KILL]),
];

/// Compiles the shim once. Whoever links Rust has a C compiler.
fn shim() -> &'static PathBuf {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/shim.c");
        let shim = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("faults-shim.so");
        let flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", source, "-o"];
        assert!(Command::new("cc").args(flags).arg(&shim).status().unwrap().success());
        shim
    })
}

/// A command that writes below a folder.
struct Subject {
    name: &'static str,
    scratch: Scratch,
    arguments: Vec<String>,
    /// Files that stand below the folder before, in every other run: what they held must be seen again.
    earlier: &'static [&'static str],
    /// Faults of each kind that the short form tries.
    sample: usize,
    /// Whether results hold seconds.
    compared: Compared,
}

/// How many runs were made, and what came of them.
#[derive(Default)]
struct Tally {
    faults: usize,
    kills: usize,
    refused: usize,
    unharmed: usize,
    aborted: usize,
}

impl Subject {
    fn new(name: &'static str, earlier: &'static [&'static str], sample: usize) -> Self {
        let (scratch, arguments) = (Scratch::new(), Vec::new());
        Self { name, scratch, arguments, earlier, sample, compared: Compared::ToTheByte }
    }

    /// The folder the command writes to.
    fn out(&self) -> String {
        self.scratch.at("out")
    }

    fn command(&self) -> Command {
        let mut command = program();
        command.args(&self.arguments).current_dir(self.scratch.path());
        command
    }

    /// The command with the shim in between.
    fn with_fault(&self, call: &str, at: usize, how: i32) -> Command {
        let mut command = self.command();
        command.env("LD_PRELOAD", shim()).env("FAULTS_CALL", call);
        command.env("FAULTS_AT", at.to_string()).env("FAULTS_HOW", how.to_string());
        command
    }

    /// An empty folder, or one with earlier results.
    fn prepare(&self, earlier: bool) {
        drop(std::fs::remove_dir_all(self.out()));
        std::fs::create_dir(self.out()).unwrap();
        for name in self.earlier.iter().filter(|_| earlier) {
            std::fs::write(PathBuf::from(self.out()).join(name), tree::EARLIER).unwrap();
        }
    }

    fn tree(&self) -> Tree {
        Tree::read(&PathBuf::from(self.out()))
    }

    /// How many calls of a kind a run makes.
    fn count(&self, call: &str) -> usize {
        self.prepare(false);
        let log = self.scratch.at("calls");
        let mut command = self.with_fault(call, 0, EIO);
        finish(command.env("FAULTS_LOG", OsString::from(&log))).done();
        let counted = std::fs::read_to_string(&log).unwrap_or_else(|error| {
            panic!("the shim was not loaded ({error}); these tests need a program linked to glibc")
        });
        counted.trim().parse().unwrap()
    }

    /// Runs the command once for each fault.
    fn run_all(&self) {
        let everything = std::env::var_os("EVENKEEL_FAULTS").is_some_and(|value| value == "all");
        self.prepare(false);
        finish(&mut self.command()).done();
        let expected = self.tree().expected(self.compared);
        let mut tally = Tally::default();
        for (call, kinds) in FAULTS {
            // The first page is the runtime's, before the first line of the program: it aborts without it.
            let before = usize::from(call == "mmap");
            let calls = self.count(call) - before;
            // Allocations go into the ten thousands: some of them, evenly spread, even in the long form.
            let most = match (everything, call) {
                (true, "alloc") => 50 * self.sample,
                (true, _) => usize::MAX,
                (false, _) => self.sample,
            };
            let tried = calls.min(most);
            for how in kinds {
                for k in 0..tried {
                    let at = before + 1 + k * calls / tried;
                    self.run_one(call, at, *how, &expected, &mut tally);
                }
            }
        }
        let Tally { faults, kills, refused, unharmed, aborted } = tally;
        println!(
            "{}: {faults} faults ({refused} refused with a sentence, {unharmed} made good, {aborted} ended by the runtime), \
             {kills} kills",
            self.name
        );
        assert!(
            aborted * 20 <= faults,
            "{aborted} of {faults} allocations ended the process without a sentence"
        );
    }

    fn run_one(&self, call: &str, at: usize, how: i32, expected: &Tree, tally: &mut Tally) {
        let place = format!("{}: {call} number {at}, {how}", self.name);
        self.prepare(at.is_multiple_of(2));
        let output = ended(self.with_fault(call, at, how), &place);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let after = self.tree();
        after.assert_whole(expected, &place);
        if how == KILL {
            tally.kills += 1;
            // None if the run made fewer calls this time and ended by itself.
            assert!(matches!(output.status.code(), None | Some(0)), "{place}: {stderr}");
        } else {
            tally.faults += 1;
            let code = output.status.code();
            assert!(after.leftovers() == 0 || code.is_none(), "{place}: {after:?}");
            match code {
                Some(0) => {
                    tally.unharmed += 1;
                    after.assert_complete(expected, &place);
                }
                Some(2) => {
                    tally.refused += 1;
                    let sentence = stderr.lines().last().unwrap_or_default();
                    assert!(sentence.starts_with("error: "), "{place}: {stderr:?}");
                    // A call that was only interrupted, or did part of the work, is done again.
                    assert!(how != EINTR && how != SHORT, "{place}: {stderr}");
                }
                // Rust's runtime and the C library keep a few dozen bytes for each thread, which they get past our
                // allocator and cannot do without.
                None if call == "alloc" && stderr.contains("memory") => tally.aborted += 1,
                code => panic!("{place}: ended with {code:?}: {stderr}"),
            }
        }
        // A clean run in the same place: complete, and nothing of the dead one left.
        finish(&mut self.command()).done();
        let clean = self.tree();
        assert_eq!(clean.leftovers(), 0, "{place}: {clean:?}");
        clean.assert_complete(expected, &place);
    }
}

/// What a run left that must not wait forever.
fn ended(mut command: Command, place: &str) -> Output {
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while running.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            running.kill().unwrap();
            panic!("{place}: does not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    running.wait_with_output().unwrap()
}

/// Far longer than any of the commands takes.
const PATIENCE: Duration = Duration::from_secs(120);

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Calibration and target data of the demo, one thread, nothing on stderr but errors.
fn fitting(command: &str, more: &str) -> Vec<String> {
    let (probs, labels, target) =
        (demo("calibration_probs"), demo("calibration_labels"), demo("fog_3_unlabeled"));
    words(&format!(
        "{command} --cal-probs {probs} --cal-labels {labels} --unlabeled {target} --threads 1 --quiet {more}"
    ))
}

#[test]
fn calibrate() {
    let mut subject = Subject::new("calibrate", &["cal.json"], 4);
    subject.arguments = fitting("calibrate", "--method uncorrected --out out/cal.json");
    subject.run_all();
}

fn predict(name: &'static str, file: &'static str, earlier: &'static [&'static str]) {
    let mut subject = Subject::new(name, earlier, 3);
    let calibration = subject.scratch.at("cal.json");
    let fit = fitting("calibrate", &format!("--method uncorrected --out {calibration}"));
    running::run(&fit).done();
    let probs = demo("fog_3_test_probs");
    subject.arguments = words(&format!(
        "predict --calibration {calibration} --probs {probs} --out out/{file} --threads 1 --quiet"
    ));
    subject.run_all();
}

#[test]
fn predict_npy() {
    predict("predict to npy", "sets.npy", &["sets.npy"]);
}

#[test]
fn predict_csv() {
    predict("predict to csv", "sets.csv", &["sets.csv"]);
}

#[test]
fn predict_jsonl() {
    predict("predict to jsonl", "sets.jsonl", &["sets.jsonl"]);
}

#[test]
fn predict_parquet() {
    predict("predict to parquet", "sets.parquet", &["sets.parquet"]);
}

#[test]
fn check() {
    let mut subject = Subject::new("check --html", &["page.html"], 2);
    subject.arguments = fitting("check", "--html out/page.html");
    subject.run_all();
}

#[test]
fn compare() {
    let mut subject = Subject::new("compare --html --csv", &["page.html", "rows.csv"], 2);
    subject.compared = Compared::WithoutNumbers;
    let (test, labels) = (demo("fog_3_test_probs"), demo("fog_3_test_labels"));
    let tested = format!("--test-probs {test} --test-labels {labels}");
    let outputs = "--methods uncorrected,label-shift --html out/page.html --csv out/rows.csv";
    subject.arguments = fitting("compare", &format!("{tested} {outputs}"));
    subject.run_all();
}

#[test]
fn demo_command() {
    let mut subject = Subject::new("demo", &["report.html"], 1);
    subject.compared = Compared::WithoutNumbers;
    subject.arguments = words("demo --out out --threads 1 --quiet");
    subject.run_all();
}

#[test]
fn reproduce() {
    let mut subject = Subject::new("reproduce regression", &["report.html"], 1);
    subject.arguments = words(
        "reproduce regression --simulations 1 --samples 40 --epochs 2 --out out --threads 1 --quiet",
    );
    subject.run_all();
}

//! `monitor run` with one call failing, or killed at one of its system calls: a batch is in the store or it is not, never twice and
//! never in part.

use std::process::Command;

use crate::running::{Scratch, binary, demo, finish, program};
use crate::subject::{FAULTS, ended, shim, tracer};

/// Faults of each kind, and kills, that are tried.
const SAMPLE: usize = 3;
const KILLS: usize = 24;

struct Store {
    scratch: Scratch,
}

impl Store {
    /// A store with a model and no batch, and beside it a copy to begin with anew.
    fn new() -> Self {
        let scratch = Scratch::new();
        let (probs, labels) = (demo("calibration_probs"), demo("calibration_labels"));
        let store = Self { scratch };
        store.run(&format!(
            "calibrate --cal-probs {probs} --cal-labels {labels} --method uncorrected --out cal.json --quiet"
        ));
        store.run("monitor add --store ek.sqlite --reference cal.json --quiet");
        store.run("monitor backup --store ek.sqlite --out first.sqlite --quiet");
        store
    }

    fn run(&self, words: &str) -> serde_json::Value {
        let mut command = program();
        command.args(words.split_whitespace()).current_dir(self.scratch.path());
        let ran = finish(&mut command).done();
        serde_json::from_str(&ran.stdout).unwrap_or_default()
    }

    /// The words of a run with one batch that is quiet.
    fn batch(&self) -> Vec<String> {
        let rows = demo("gaussian_noise_1_unlabeled");
        let line = format!("monitor run --store ek.sqlite --batches {rows} --threads 1 --quiet");
        line.split_whitespace().map(str::to_owned).collect()
    }

    /// The store as it was before any batch.
    fn begin_anew(&self) {
        for end in ["-wal", "-shm"] {
            drop(std::fs::remove_file(self.scratch.at(&format!("ek.sqlite{end}"))));
        }
        std::fs::copy(self.scratch.at("first.sqlite"), self.scratch.at("ek.sqlite")).unwrap();
    }

    /// Whole, and with at most one batch; with one after the same run once more.
    fn assert_counts_once(&self, place: &str) {
        let batches = |found: &serde_json::Value| found["models"][0]["model"]["batches"].clone();
        let before = batches(&self.run("monitor status --store ek.sqlite --verify --json"));
        assert!(before == 0 || before == 1, "{place}: {before}");
        let mut again = program();
        again.args(self.batch()).current_dir(self.scratch.path());
        let again = finish(&mut again);
        assert!([0, 1].contains(&again.code), "{place}: {}", again.stderr);
        let known = if before == 1 { "0 new batches, 1 known" } else { "1 new batches, 0 known" };
        assert!(again.stdout.contains(known), "{place}: {}", again.stdout);
        assert_eq!(batches(&self.run("monitor status --store ek.sqlite --verify --json")), 1);
    }
}

#[test]
fn monitor_run_with_faults() {
    let store = Store::new();
    for (call, kinds) in FAULTS {
        store.begin_anew();
        let with_fault = |at: usize, how: i32| {
            let mut command = program();
            command.args(store.batch()).current_dir(store.scratch.path());
            command.env("LD_PRELOAD", shim()).env("FAULTS_CALL", call);
            command.env("FAULTS_AT", at.to_string()).env("FAULTS_HOW", how.to_string());
            command
        };
        let log = store.scratch.at("calls");
        let counted = ended(
            {
                let mut command = with_fault(0, kinds[0]);
                command.env("FAULTS_LOG", &log);
                command
            },
            call,
        );
        assert!(counted.status.code().is_some_and(|code| code < 2), "{counted:?}");
        let calls: usize = std::fs::read_to_string(&log).unwrap().trim().parse().unwrap();
        // The first page is the runtime's, before the first line of the program.
        let before = usize::from(call == "mmap");
        let calls = calls.saturating_sub(before);
        let tried = calls.min(SAMPLE);
        for how in kinds {
            for k in 0..tried {
                let at = before + 1 + k * calls / tried;
                let place = format!("monitor run: {call} number {at}, {how}");
                store.begin_anew();
                let output = ended(with_fault(at, *how), &place);
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                match output.status.code() {
                    Some(0 | 1) => {}
                    Some(2) => assert!(said.contains("error: "), "{place}: {said}"),
                    None if call == "alloc" && said.contains("memory") => {}
                    code => panic!("{place}: ended with {code:?}: {said}"),
                }
                store.assert_counts_once(&place);
            }
        }
    }
}

#[test]
fn monitor_run_killed() {
    let store = Store::new();
    let traced = |at: usize| {
        let mut command = Command::new(tracer());
        command.arg(at.to_string()).arg(store.scratch.at("calls")).arg(binary());
        command.args(store.batch()).current_dir(store.scratch.path());
        command.stdin(std::process::Stdio::null());
        command
    };
    store.begin_anew();
    ended(traced(0), "monitor run");
    let log = std::fs::read_to_string(store.scratch.at("calls")).unwrap();
    let calls: usize = log.trim().parse().unwrap();
    let tried = calls.min(KILLS);
    for k in 0..tried {
        // The last call, which ends the process, is always among them.
        let at = (k + 1) * calls / tried;
        let place = format!("monitor run: killed at system call {at} of {calls}");
        store.begin_anew();
        let output = ended(traced(at), &place);
        // A run may make fewer calls than the one that was counted, and end by itself.
        assert!(output.status.code().is_some_and(|code| code < 2), "{place}: {output:?}");
        store.assert_counts_once(&place);
    }
}

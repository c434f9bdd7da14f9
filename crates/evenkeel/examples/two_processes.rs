//! A calibration whose target rows are read by other processes: plan out, states back, the same bytes as in one process.
//!
//! ```text
//! driver   begin -> plan ------------------------> worker   Part::begin(plan).add(rows) -> state
//!          absorb(state), end_pass -> plan of pass 2 -> ...                          -> calibration
//! ```
//! Run with `cargo run --example two_processes`. The driver starts itself again as its workers and talks to them through pipes;
//! on a cluster the bytes would travel by whatever the engine has.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    unreachable_pub
)]

#[allow(dead_code, reason = "shared with the other examples")]
mod world;

use std::error::Error;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::process::{Command, Stdio};

use evenkeel::calibrator::{Ended, Part};
use evenkeel::prelude::*;
use evenkeel::rows::RowKeys;
use evenkeel::side_inputs::{Labeled, SideInputs};
use world::{CLASSES, Sample, sample};

/// Target rows of the example.
const ROWS: usize = 900;
/// Processes that read them.
const WORKERS: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1) {
        Some(index) => work(index.parse()?),
        None => drive(),
    }
}

/// The rows that lie with one worker: every second one, so that their order is not that of the table.
fn keys_of(worker: usize) -> Vec<u64> {
    (0..ROWS as u64).filter(|key| *key as usize % WORKERS == worker).collect()
}

fn target() -> Sample {
    sample(ROWS, 0.8, 2)
}

/// A worker: plan from stdin, state to stdout. It knows its rows and nothing else of the job.
fn work(worker: usize) -> Result<(), Box<dyn Error>> {
    let mut plan = Vec::new();
    std::io::stdin().read_to_end(&mut plan)?;
    let (target, keys) = (target(), keys_of(worker));
    let row = |key: &u64| &target.probabilities[*key as usize * CLASSES..][..CLASSES];
    let rows: Vec<f64> = keys.iter().flat_map(row).copied().collect();
    let block = Rows::new("probabilities", &rows, CLASSES)?;
    // Numbered, so that a state which is delivered twice is refused.
    let part = Part::begin(&plan)?.numbered(worker as u64);
    let part = part.add(RowKeys::Each(&keys), block, SideInputs::default())?;
    std::io::stdout().write_all(&part.state()?)?;
    Ok(())
}

fn drive() -> Result<(), Box<dyn Error>> {
    let (calibration, labels) = (sample(300, 1.0, 1), sample(300, 1.0, 1).labels());
    let probabilities = calibration.probabilities();
    let labeled =
        Labeled { probabilities: &probabilities, labels: &labels, beside: SideInputs::default() };
    let calibrator = ShiftCalibrator::new(0.1)?;

    // The number of rows, where it is known, keeps states small.
    let mut fit = calibrator.begin(&labeled)?.expecting(ROWS as u64);
    let mut pass = 1;
    let distributed = loop {
        let plan = fit.plan()?;
        for worker in 0..WORKERS {
            let state = in_another_process(worker, &plan)?;
            println!("pass {pass}: plan of {} bytes, state of {} bytes", plan.len(), state.len());
            fit = fit.absorb(&state)?;
        }
        match fit.end_pass()? {
            Ended::Again(again) => (fit, pass) = (again, pass + 1),
            Ended::Done(ready) => break ready.finish(&mut |_| ControlFlow::Continue(()))?,
        }
    };
    let whole = calibrator.calibrate(&probabilities, &labels, &target().probabilities())?;
    assert_eq!(
        serde_json::to_string(&distributed.calibration)?,
        serde_json::to_string(&whole)?,
        "the bytes of one process"
    );
    println!("{ROWS} rows in {WORKERS} processes: the bytes of one process");
    Ok(())
}

fn in_another_process(worker: usize, plan: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg(worker.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    // Dropped at the end of the statement, so that the worker sees the end of the plan.
    child.stdin.take().ok_or("no pipe to the worker")?.write_all(plan)?;
    let output = child.wait_with_output()?;
    if output.status.success() { Ok(output.stdout) } else { Err("a worker failed".into()) }
}

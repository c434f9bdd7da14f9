//! Exit codes: 0 done; 1 done, and a condition the user asked to fail on holds; 2 could not run.

use std::process::ExitCode;

use crate::failure::Failure;

/// Ended by Ctrl-C or a request to terminate, as shells count it.
pub(crate) const INTERRUPTED: i32 = 130;

/// How a command that ran to its end turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well, or nothing was asked for.
    Done,
    /// A condition of a `--fail-...` option holds.
    ConditionHolds,
}

/// Reports a failure on stderr and chooses the code.
pub(crate) fn of_outcome(outcome: Result<Outcome, Failure>) -> ExitCode {
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        // Not 2: a monitor must tell "coverage is low" from "the check did not run".
        Ok(Outcome::ConditionHolds) => ExitCode::from(1),
        Err(failure) => {
            // One line, on stderr: stdout may be a JSON document that someone parses.
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}

/// Help and version are successes; anything else that clap says is a failure to run.
pub(crate) fn of_usage(error: &clap::Error) -> ExitCode {
    // Printing can only fail when the terminal is gone.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

//! Exit codes: 0 done; 1 done, and a condition the user asked to fail on holds; 2 could not run; 128 + n ended by signal n.

use std::io::Write;
use std::process::ExitCode;

use crate::error_document::ErrorDocument;
use crate::failure::Failure;
use crate::output::{in_one_line, print_json};

/// Added to the number of the signal that ended a run, as shells count it: 130 for Ctrl-C, 143 for a request to
/// terminate, 129 for a terminal that was closed.
pub(crate) const BY_SIGNAL: i32 = 128;

/// Could not run.
pub(crate) const COULD_NOT_RUN: u8 = 2;

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
            // Not `eprintln!`, which panics when stderr is gone; the code still tells.
            let _ = writeln!(std::io::stderr(), "error: {}", in_one_line(&failure.to_string()));
            tell_program(|| ErrorDocument::of_failure(&failure));
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

/// Prints what went wrong as JSON where results were asked for as JSON: a program must not find an empty document.
fn tell_program(document: impl FnOnce() -> ErrorDocument) {
    // Of the arguments as typed: those that are no command are not understood in any other way.
    if wants_json() {
        // The code still tells if stdout is gone.
        let _ = print_json(&document());
    }
}

/// Whether results were asked for as JSON, by the arguments as they were typed.
pub(crate) fn wants_json() -> bool {
    std::env::args_os().any(|word| word == "--json")
}

/// Whether `serve` was typed, which this program does not know.
#[cfg(not(feature = "serve"))]
pub(crate) fn is_of_serve(error: &clap::Error) -> bool {
    use clap::error::{ContextKind, ContextValue};
    let asked = error.get(ContextKind::InvalidSubcommand);
    matches!(asked, Some(ContextValue::String(name)) if name == "serve")
}

/// Help and version are successes; anything else that clap says is a failure to run.
pub(crate) fn of_usage(error: &clap::Error) -> ExitCode {
    // Printing can only fail when the terminal is gone.
    let _ = error.print();
    if error.use_stderr() {
        tell_program(|| ErrorDocument::of_usage(error));
    }
    ExitCode::from(if error.use_stderr() { COULD_NOT_RUN } else { 0 })
}

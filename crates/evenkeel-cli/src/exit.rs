//! Exit codes: 0 done; 1 done, and a condition the user asked to fail on holds; 2 could not run; 128 + n ended by signal n.

use std::io::Write;
use std::process::ExitCode;

use crate::error_document::ErrorDocument;
use crate::failure::Failure;
use crate::output::print_json;

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
            let _ = writeln!(std::io::stderr(), "error: {}", one_line(&failure.to_string()));
            tell_program(|| ErrorDocument::of_failure(&failure));
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

/// Characters of an error that are shown; its JSON has all.
const MOST_SHOWN: usize = 4000;

/// An error as one line for a terminal. Names of columns and files are anybody's: a line break in one would begin a sentence of its own, and an
/// escape sequence would be obeyed.
fn one_line(words: &str) -> String {
    let mut line = String::with_capacity(words.len());
    for (count, character) in words.chars().enumerate() {
        if count == MOST_SHOWN {
            line.push_str(" ...");
            break;
        }
        match character.is_control() {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    line
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

/// Help and version are successes; anything else that clap says is a failure to run.
pub(crate) fn of_usage(error: &clap::Error) -> ExitCode {
    // Printing can only fail when the terminal is gone.
    let _ = error.print();
    if error.use_stderr() {
        tell_program(|| ErrorDocument::of_usage(error));
    }
    ExitCode::from(if error.use_stderr() { COULD_NOT_RUN } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_anybodys_stay_in_their_line() {
        assert_eq!(one_line("column p\nerror: x\u{1b}[31m é"), "column p\\nerror: x\\u{1b}[31m é");
        let long = one_line(&"x".repeat(60_000));
        assert!(long.len() == MOST_SHOWN + 4 && long.ends_with(" ..."), "{}", long.len());
    }
}

//! One file per subcommand, named as typed.

mod calibrate;
mod check;
mod compare;
mod completions;
mod demo;
mod evaluate;
mod label;
mod manual;
mod monitor;
mod nights;
mod predict;
mod reproduce;
#[cfg(feature = "serve")]
mod serve;

pub(crate) use predict::outs;

use crate::args::{Command, Deferred};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::outputs::require_apart;

/// Runs a command to its end.
pub(crate) fn run(command: &Command) -> Result<Outcome, Failure> {
    require_apart(command)?;
    match command {
        Command::Demo(Deferred(args)) => demo::run(args),
        Command::Check(Deferred(args)) => check::run(args),
        Command::Calibrate(Deferred(args)) => calibrate::run(args),
        Command::Predict(Deferred(args)) => predict::run(args),
        Command::Evaluate(Deferred(args)) => evaluate::run(args),
        Command::Compare(Deferred(args)) => compare::run(args),
        Command::Label(Deferred(args)) => label::run(args),
        Command::Monitor(command) => monitor::run(command),
        Command::Reproduce(command) => reproduce::run(command),
        #[cfg(feature = "serve")]
        Command::Serve(Deferred(args)) => serve::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Manual(args) => manual::run(args),
    }
}

/// Whether a command waits for signals itself.
pub(crate) fn ends_by_itself(command: &Command) -> bool {
    match command {
        #[cfg(feature = "serve")]
        Command::Serve(_) => true,
        _ => false,
    }
}

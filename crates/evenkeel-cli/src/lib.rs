//! `evenkeel`: arguments as typed -> arguments resolved -> work -> exit code.
//!
//! The program is [`main`]. It is a library so that arguments can be tried without a process: see [`understand`].

mod args;
mod commands;
mod error_document;
mod exit;
mod failure;
mod files;
mod label_args;
mod memory;
mod method_args;
mod monitor_args;
mod output;
mod outputs;
mod page;
mod panics;
mod per_args;
mod progress;
mod reference;
mod reproduce_args;
#[cfg(feature = "serve")]
mod serve_args;
mod settings;
mod signals;
mod spelling;
mod table;
mod table_args;
mod typed_numbers;
mod understood;

use std::process::ExitCode;

use clap::Parser;

pub use memory::OrError;
pub use understood::{Refusal, understand};

/// The program: reads the arguments of the process, does what they ask for, and says how it turned out.
pub fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        #[cfg(not(feature = "serve"))]
        Err(error) if exit::is_of_serve(&error) => {
            return exit::of_outcome(Err(failure::without_server()));
        }
        Err(error) => return exit::of_usage(&error),
    };
    panics::watch();
    if exit::wants_json() {
        memory::tell_as_json();
    }
    // A server ends in good order when it is told to; everything else removes what is unfinished and is gone.
    if !commands::ends_by_itself(&cli.command) {
        signals::watch();
    }
    let outcome = commands::run(&cli.command);
    // What came on stdin was kept in a file; the process ends.
    evenkeel_io::write::remove_unfinished();
    exit::of_outcome(outcome)
}

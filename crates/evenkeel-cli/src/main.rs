//! `evenkeel`: arguments as typed -> arguments resolved -> work -> exit code.

mod args;
mod commands;
mod comparison;
mod exit;
mod inputs;
mod job;
mod page;
mod progress;
mod reproduce_args;
mod table;
mod tally;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::of_usage(&error),
    };
    let outcome = commands::run(&cli.command);
    exit::of_outcome(outcome)
}

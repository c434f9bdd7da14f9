//! `evenkeel`: arguments as typed -> arguments resolved -> work -> exit code.

mod args;
mod commands;
mod exit;
mod failure;
mod files;
mod label_args;
mod memory;
mod method_args;
mod output;
mod outputs;
mod page;
mod progress;
mod reproduce_args;
mod settings;
mod signals;
mod spelling;
mod table;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::of_usage(&error),
    };
    memory::watch();
    signals::watch();
    let outcome = commands::run(&cli.command);
    exit::of_outcome(outcome)
}

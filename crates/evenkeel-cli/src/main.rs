//! `evenkeel`: arguments as typed -> arguments resolved -> work -> exit code.

mod args;
mod commands;
mod exit;
mod failure;
mod files;
mod method_args;
mod output;
mod page;
mod progress;
mod reproduce_args;
mod settings;
mod spelling;
mod table;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::of_usage(&error),
    };
    // Ctrl-C ends the process without dropping anything: unfinished files are removed here. Where no handler can be set,
    // they would only be left behind under their temporary names.
    let handled = ctrlc::set_handler(|| {
        evenkeel_io::write::remove_unfinished();
        std::process::exit(exit::INTERRUPTED);
    });
    drop(handled);
    let outcome = commands::run(&cli.command);
    exit::of_outcome(outcome)
}

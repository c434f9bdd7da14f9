//! `evenkeel`: the process around [`evenkeel_cli::main`].

use std::process::ExitCode;

// Here and not in the library: whoever links the library keeps an allocator of their own.
#[global_allocator]
static ALLOCATOR: evenkeel_cli::OrError = evenkeel_cli::OrError;

fn main() -> ExitCode {
    evenkeel_cli::main()
}

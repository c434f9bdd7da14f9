//! What goes to stdout.

use std::io::Write;

use crate::failure::Failure;

/// Prints to stdout. A reader that went away (`| head`) is not an error of ours, and the exit code still tells it what
/// it asked for.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    // Not `println!`, which panics when the reader has gone.
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Stdout(error)),
        _ => Ok(()),
    }
}

/// Prints one JSON document.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::Json)?;
    print(&format!("{text}\n"))
}

/// One line of JSON.
pub(crate) fn to_json(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(Failure::Json)
}

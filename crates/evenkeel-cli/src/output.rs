//! What goes to stdout, and documents that go to files.

use std::io::Write;

use evenkeel_io::AtomicFile;

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

/// Puts one line of JSON in the place of a file, written while it is made: a calibration may keep megabytes of rows.
pub(crate) fn write_json(
    mut out: AtomicFile,
    value: &impl serde::Serialize,
) -> Result<(), Failure> {
    match serde_json::to_writer(&mut out, value) {
        Ok(()) => Ok(out.write_whole("\n")?),
        Err(error) if error.is_io() => Err(out.error(error.into()).into()),
        Err(error) => Err(Failure::Json(error)),
    }
}

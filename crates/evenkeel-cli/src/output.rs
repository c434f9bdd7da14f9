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

/// A warning as people read it, on a line of its own.
pub(crate) fn warning_line(said: &str) -> String {
    format!("Warning: {}.\n", in_one_line(said))
}

/// Characters of an error or a warning that are shown; its JSON has all.
const MOST_SHOWN: usize = 4000;

/// An error or a warning as one line for a terminal. Names of columns and files are anybody's: a line break in one would begin
/// a sentence of its own, and an escape sequence would be obeyed.
pub(crate) fn in_one_line(words: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_anybodys_stay_in_their_line() {
        assert_eq!(
            in_one_line("column p\nerror: x\u{1b}[31m é"),
            "column p\\nerror: x\\u{1b}[31m é"
        );
        let long = in_one_line(&"x".repeat(60_000));
        assert!(long.len() == MOST_SHOWN + 4 && long.ends_with(" ..."), "{}", long.len());
    }
}

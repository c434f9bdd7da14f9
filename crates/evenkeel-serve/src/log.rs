//! The server's log: lines on stderr, each with its time. No secrets, no rows.

use std::io::Write as _;

use evenkeel_monitor::Instant;

/// Writes a line. A log that cannot be written must not stop the server, so that nothing is made of an error.
pub(crate) fn line(words: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr().lock(), "{} {words}", Instant::now());
}

//! What is typed: understood, or refused in words.

use std::ffi::OsString;

use evenkeel_cli::understand;

/// Arguments of one line each, without the program's name.
pub fn arguments(data: &[u8]) {
    let lines = data.split(|byte| *byte == b'\n').take(64).map(typed);
    if let Err(refusal) = understand([OsString::from("evenkeel")].into_iter().chain(lines)) {
        assert!(!refusal.words.trim().is_empty(), "refused without a word");
        assert!(refusal.code == 0 || refusal.code == 2, "exit code {}", refusal.code);
    }
}

/// Any bytes are an argument to the system.
#[cfg(unix)]
fn typed(line: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(line.to_vec())
}

#[cfg(not(unix))]
fn typed(line: &[u8]) -> OsString {
    String::from_utf8_lossy(line).into_owned().into()
}

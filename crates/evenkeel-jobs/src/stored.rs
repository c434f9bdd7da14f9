//! A stored calibration, read back.

use evenkeel::calibration::{Calibration, CalibrationHeader};

use crate::error::{JobError, Result};

/// Reads and checks the text of a calibration file.
///
/// # Errors
/// If it is something else, of a later version, or damaged.
pub fn parse_calibration(text: &str) -> Result<Calibration> {
    // What it is comes first: a file of a later version should not be called one with missing fields.
    let header = serde_json::from_str::<CalibrationHeader>(text);
    if let Ok(header) = &header {
        header.check().map_err(|error| JobError::Calibration(error.to_string()))?;
    }
    serde_json::from_str(text).map_err(|error| {
        let (words, known) = (error.to_string(), header.is_ok());
        JobError::Calibration(if known { damaged(&words) } else { other(&words) })
    })
}

/// What is wrong with a text that says it is a calibration; the core's words call some of them damaged already.
fn damaged(error: &str) -> String {
    let found = error.strip_prefix("this calibration is damaged: ").unwrap_or(error);
    let found = found.replace("; make it again", "");
    format!("this calibration is damaged: {found}; give a file written by `evenkeel calibrate`")
}

/// What is wrong with a text that does not say what it is.
fn other(error: &str) -> String {
    format!("this is not a calibration: {error}; give a file written by `evenkeel calibrate`")
}

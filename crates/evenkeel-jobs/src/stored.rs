//! A stored calibration, read back.

use evenkeel::calibration::{Calibration, CalibrationHeader};

use crate::error::{JobError, Result};

/// Reads and checks the text of a calibration file.
///
/// # Errors
/// If it is something else, of a later version, or damaged.
pub fn parse_calibration(text: &str) -> Result<Calibration> {
    // What it is comes first: a file of a later version should not be called one with missing fields.
    if let Ok(header) = serde_json::from_str::<CalibrationHeader>(text) {
        header.check().map_err(|error| JobError::Calibration(error.to_string()))?;
    }
    serde_json::from_str(text).map_err(|error| JobError::Calibration(damaged(&error.to_string())))
}

/// What is wrong with a text that says it is a calibration; the core's words already call some of them damaged.
fn damaged(error: &str) -> String {
    let found = error.strip_prefix("this calibration is damaged: ").unwrap_or(error);
    let found = found.replace("; make it again", "");
    format!(
        "this is not a calibration, or it is damaged: {found}; give a file written by `calibrate`"
    )
}

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
    serde_json::from_str(text).map_err(|error| {
        JobError::Calibration(format!("{error}; give a file written by `evenkeel calibrate`"))
    })
}

//! Calibrations that the first release wrote are read, and written again to the same bytes.
//!
//! The files in `cases` were written by version 0.1 of the command line, one for each method and score.

#![allow(missing_docs)]
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::disallowed_types)]

use std::fs;
use std::path::Path;

use evenkeel::calibration::Calibration;

#[test]
fn stored_calibrations_keep_their_bytes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files_v1/cases");
    let mut read = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let calibration: Calibration = serde_json::from_str(&text).unwrap();
        let written = serde_json::to_string(&calibration).unwrap();
        assert_eq!(written, text.trim_end(), "{}", path.display());
        read += 1;
    }
    assert!(read >= 17, "{read} files");
}

/// Nothing is allocated by a number in a file.
#[test]
fn more_classes_than_a_table_can_have_are_damage() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files_v1/cases/uncorrected.json");
    let mut file: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for classes in [1_u64 << 30, 1 << 63, u64::MAX] {
        file["classes"] = classes.into();
        let error = serde_json::from_value::<Calibration>(file.clone()).unwrap_err().to_string();
        assert!(error.contains("this calibration is damaged"), "{error}");
    }
}

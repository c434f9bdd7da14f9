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

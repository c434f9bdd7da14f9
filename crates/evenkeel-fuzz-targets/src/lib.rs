//! # What the fuzzer runs and the tests replay
//!
//! One function of bytes for each door of the library. A function returns if the bytes were refused with an error or taken
//! and found consistent; it panics if not. The fuzzer (`fuzz/`, `scripts/fuzz`) looks for bytes that make one panic; the
//! test `replay` of this crate runs all of them on `fuzz/seeds` and `fuzz/regressions` with a stable compiler.
//!
//! ```text
//! npy npz csv parquet   a matrix: the same numbers for any block size, as many rows as claimed
//! jsonl arrow           the same, and the same cells as text
//! calibration           read, written and read again: the same; sets are what the threshold says
//! state                 plans and states of every method under a fitting checksum: decode, encode, the same bytes
//! class_names           read, written and read again: the same
//! target_labels         read, written as a sheet and read again: the same
//! late_labels           labels by ids: read, written and read again: the same
//! batch_json            the body of a batch: rows of one width within the limits, the same when read again
//! store                 a store with damaged bytes: every call ends in an answer or in words
//! arguments             understood, or refused in words with exit code 0 or 2
//! core                  check, calibrate, predict and merge of small worlds: same bytes for any cut, nested sets
//! ```

mod arguments;
mod batch_json;
mod calibration_file;
mod class_names;
mod core_jobs;
mod drawn_world;
mod every_method;
mod late_labels;
mod matrix_files;
mod scratch;
mod set_checks;
mod store_file;
mod target_labels;
mod wire_state;

pub use arguments::arguments;
pub use batch_json::batch_json;
pub use calibration_file::calibration;
pub use class_names::class_names;
pub use core_jobs::core;
pub use late_labels::late_labels;
pub use matrix_files::{arrow, csv, jsonl, npy, npz, parquet};
pub use store_file::store;
pub use target_labels::target_labels;
pub use wire_state::{sealed_seeds, state};

/// A target: its name, as the fuzzer and the folders of inputs call it, and what it does with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 15] = [
    ("npy", npy),
    ("npz", npz),
    ("csv", csv),
    ("jsonl", jsonl),
    ("parquet", parquet),
    ("arrow", arrow),
    ("calibration", calibration),
    ("state", state),
    ("class_names", class_names),
    ("target_labels", target_labels),
    ("late_labels", late_labels),
    ("batch_json", batch_json),
    ("store", store),
    ("arguments", arguments),
    ("core", core),
];

/// The Rust block of the repository's README, compiled and run as a test. It stands here because this crate is not published: what is
/// published asks for nothing outside of its own folder.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

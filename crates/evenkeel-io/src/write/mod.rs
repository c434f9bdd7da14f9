//! `write beside, then rename`: output files appear whole or not at all.

mod atomic;
mod npy_sets;
mod parquet_sets;
mod sets;
mod text_sets;

pub use atomic::{AtomicFile, remove_unfinished, write_file};
pub use sets::{SetFormat, SetWriter};

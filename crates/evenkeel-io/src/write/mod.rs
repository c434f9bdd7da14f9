//! `write beside, then rename`: output files appear whole or not at all.

mod atomic;
mod identity;
mod npy_sets;
mod parquet_sets;
mod sets;
mod table_file;
mod target;
mod temporary;
mod text_sets;

pub use atomic::{AtomicFile, write_file};
pub use identity::{FileIdentity, identity};
pub use sets::{STDOUT, SetFormat, SetWriter};
pub use table_file::{Cells, csv, write_table};
pub(crate) use temporary::create_temporary;
pub use temporary::{remove_unfinished, try_remove_unfinished};
pub(crate) use text_sets::csv_cell;

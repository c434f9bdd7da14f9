//! # Files in and out: matrices in npy, npz, csv, JSON lines, parquet and Arrow; labels; prediction sets
//!
//! ```text
//! MatrixSource   "probs.npz:test"           what was typed            -> file, selector, format
//! MatrixReader   npy npz csv jsonl parquet arrow   streams rows       -> Block (f32 or f64), memory of the block
//! FileSource     probabilities or logits    all files of some points  -> blocks for a job (a RowSource)
//! LabeledFiles   probabilities and labels   whole in memory           -> the calibration data of a job
//! read_*         small inputs               whole in memory           -> matrix, labels, weights, class names
//! GroupFile      .csv or whole numbers     the group of every row    -> read beside the rows of a job
//! LabelSheet     .csv                      rows to label             -> filled in by people, read as target labels
//! SetWriter      .npy .csv .jsonl .parquet  the core's LabelSets      -> a file, written atomically
//! ```
//!
//! What a file says about itself is a claim: shapes, lengths and counts are checked against the bytes that are there
//! before anything is allocated for them. Every error names the file, and the row and column where there is one.
//!
//! ```no_run
//! use evenkeel_io::{MatrixReader, MatrixSource, ValueKind};
//!
//! # fn main() -> evenkeel_io::Result<()> {
//! let mut reader = MatrixReader::open(&MatrixSource::parse("target.npz:probs")?)?;
//! let (rows, mut softmax) = (reader.rows_within(8 << 20), Vec::new());
//! while let Some(block) = reader.next_block(rows)? {
//!     let probabilities = block.probabilities(ValueKind::Logits, &mut softmax)?;
//!     assert_eq!(probabilities.columns(), block.columns());
//! }
//! # Ok(())
//! # }
//! ```

mod arrow;
mod block;
mod class_names;
mod class_of_label;
mod column_choice;
mod column_problem;
mod companion;
mod csv;
mod decimal;
mod doubtful_columns;
mod error;
mod file_source;
mod folder;
mod group_file;
mod input;
mod instant;
mod json_lines;
mod label_names;
mod label_sheet;
mod labeled_files;
mod labels_of_ids;
mod matrix;
#[cfg(fuzzing)]
mod memory_input;
mod npy;
mod npz;
mod parquet;
mod partitions;
mod parts;
mod place;
mod reader;
mod source;
mod stdin;
mod table_reading;
mod target_labels;
mod text_rows;
mod vectors;
pub mod write;

pub use arrow::ArrowProblem;
pub use block::{Block, Values};
pub use class_names::{ClassNameProblem, MAX_CLASS_NAMES_BYTES, read_class_names};
pub use column_choice::{ColumnChoice, ColumnPatterns};
pub use column_problem::ColumnProblem;
pub use companion::RowAligned;
pub use csv::{CsvProblem, MAX_RECORD_BYTES};
pub use error::{Category, IoError, Result};
pub use evenkeel_jobs::{AnyRows, ValueKind};
pub use file_source::{FileSource, PointFiles};
pub use folder::FolderProblem;
pub use group_file::GroupFile;
pub use input::Packing;
pub use instant::date as date_of_day;
pub use json_lines::JsonLineProblem;
pub use label_names::LabelNames;
pub use label_sheet::{IdColumns, LABEL, LabelSheet, ROW, read_id_columns};
pub use labeled_files::{LabeledFiles, SideFiles, read_second};
pub use labels_of_ids::read_labels_of_ids;
pub use matrix::{Matrix, read_matrix};
#[cfg(fuzzing)]
pub use memory_input::hold;
pub use npy::{MAX_HEADER_BYTES, NpyProblem};
pub use npz::{FORTRAN_MEMORY_CAP, NpzProblem};
#[doc(hidden)]
pub use parquet::no_panic;
pub use parquet::{MAX_PAGE_BYTES, ParquetProblem, undecodable_here};
pub use reader::{MAX_COLUMNS, MatrixReader};
pub use source::{Format, Gaps, MatrixSource, text_of_path};
pub use table_reading::TableReading;
pub use target_labels::{LabelsOfRows, read_labels_of_rows, read_target_labels};
pub use text_rows::TextRows;
pub use vectors::{read_labels, read_weights};
pub use write::{AtomicFile, STDOUT, SetFormat, SetWriter, write_file};

//! `MatrixSource -> Block, Block, ...`: one reader for all formats, in the memory of one block.

use crate::block::{Block, Precision, Values};
use crate::column_choice::ColumnChoice;
use crate::error::{IoError, Result};
use crate::input::file_length;
use crate::partitions::{FolderNumbers, beside_file};
use crate::parts::PartRows;
use crate::source::{Format, MatrixSource};
use crate::{arrow, csv, json_lines, npy, npz, parquet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Widest row that is read: 32 MB of `f64`. Extreme classification has a few million labels; a wider "row" is a
/// transposed matrix or a false claim, and reading it would exhaust memory.
pub const MAX_COLUMNS: usize = 1 << 22;

/// What every format provides: rows in order, in one precision.
pub(crate) trait RowStream: Send {
    /// Number of columns, from 1 to [`MAX_COLUMNS`].
    fn columns(&self) -> usize;
    /// Number of rows in the file, where the format tells.
    fn rows(&self) -> Option<u64>;
    /// Names of the columns, where they have any.
    fn names(&self) -> Option<&[String]> {
        None
    }
    /// Precision of the numbers.
    fn precision(&self) -> Precision;
    /// Replaces `values` by the next rows, at most `rows` of them; returns how many there are, 0 only at the end.
    fn fill(&mut self, rows: usize, values: &mut Values) -> Result<usize>;
}

/// Reads a matrix file in blocks of rows.
pub struct MatrixReader {
    stream: Box<dyn RowStream>,
    block: Block,
    next_row: usize,
    /// Bytes of the file.
    stored: u64,
}

impl MatrixReader {
    /// Opens a source and reads what it says about itself. A file without rows is an error.
    ///
    /// # Errors
    /// [`IoError::Open`] or [`IoError::NotAFile`] if there is no readable file, [`IoError::NoRows`] for an empty one,
    /// [`IoError::TooWide`] for rows of more than [`MAX_COLUMNS`] entries, and the format's own variant for a file that
    /// is not what its name says or that claims more than its bytes can hold.
    pub fn open(source: &MatrixSource) -> Result<Self> {
        Self::open_choosing(source, &ColumnChoice::default())
    }

    /// The same with a choice of the columns of a table.
    ///
    /// # Errors
    /// As [`open`](Self::open), [`IoError::NoColumn`] for a column that is not there, [`IoError::NoNames`] where columns
    /// have no names to choose by, [`IoError::OtherColumns`] where they are not the ones expected.
    pub fn open_choosing(source: &MatrixSource, choice: &ColumnChoice) -> Result<Self> {
        let origin: Arc<str> = source.to_string().into();
        let mut stored = 0_u64;
        for part in source.parts() {
            stored = stored.saturating_add(file_length(part.path())?);
        }
        let stream = match source.is_whole() {
            true => open_stream(source, choice)?,
            false => Box::new(PartRows::open(source, choice)?),
        };
        let block = Block {
            origin,
            first_row: 0,
            columns: stream.columns(),
            values: Values::none(stream.precision()),
        };
        Ok(Self { stream, block, next_row: 0, stored })
    }

    /// The input as the user typed it.
    pub fn origin(&self) -> &Arc<str> {
        &self.block.origin
    }

    /// Number of columns, from 1 to [`MAX_COLUMNS`].
    pub fn columns(&self) -> usize {
        self.block.columns
    }

    /// Names of the columns, where each has one of its own.
    pub fn names(&self) -> Option<&[String]> {
        self.stream.names().filter(|names| are_names(names))
    }

    /// Number of rows in the file, where that is known without reading it: always but for text.
    pub fn rows(&self) -> Option<u64> {
        self.stream.rows()
    }

    /// Bytes of the file.
    pub(crate) fn stored(&self) -> u64 {
        self.stored
    }

    /// How many rows fit into `bytes`; at least one.
    pub fn rows_within(&self, bytes: usize) -> usize {
        (bytes / (self.columns() * self.stream.precision().bytes())).max(1)
    }

    /// The next rows, at most `rows` of them (at least one is read), in a buffer that the next call overwrites.
    /// `None` after the last row.
    ///
    /// # Errors
    /// [`IoError::Read`] if reading fails, and the format's own variant for damage or for a cell that is not a number,
    /// with its place in the file.
    pub fn next_block(&mut self, rows: usize) -> Result<Option<&Block>> {
        let (stream, block) = (&mut *self.stream, &mut self.block);
        let filled = fill_from(stream, &mut self.next_row, rows, block)?;
        Ok(filled.then_some(&self.block))
    }

    /// The same into a block that the caller owns (from [`Self::empty_block`]), so that one block can be read while
    /// others are worked on. Returns whether there were rows.
    ///
    /// # Errors
    /// As for [`next_block`](Self::next_block).
    pub fn fill_block(&mut self, rows: usize, block: &mut Block) -> Result<bool> {
        block.origin = Arc::clone(&self.block.origin);
        block.columns = self.block.columns;
        fill_from(&mut *self.stream, &mut self.next_row, rows, block)
    }

    /// A block of this file's width and precision without rows, to be filled.
    pub fn empty_block(&self) -> Block {
        Block { values: Values::none(self.stream.precision()), first_row: 0, ..self.block.clone() }
    }
}

/// Opens one file and reads what it says about itself.
pub(crate) fn open_stream(
    source: &MatrixSource,
    choice: &ColumnChoice,
) -> Result<Box<dyn RowStream>> {
    let origin: Arc<str> = source.to_string().into();
    if let Some(column) = source.selector()
        && let Some(cell) = beside_file(source, column, &origin)?
    {
        return Ok(Box::new(FolderNumbers::open(source, column, &cell, &origin)?));
    }
    Ok(match source.format() {
        Format::Npy => npy::open(source.path(), &origin)?,
        Format::Npz => npz::open(source.path(), source.selector(), &origin)?,
        Format::Csv => match source.selector() {
            Some(column) => {
                let one = ColumnChoice::Named(vec![column.to_owned()]);
                csv::open(source.path(), &one, &origin)?
            }
            None => csv::open(source.path(), choice, &origin)?,
        },
        Format::Jsonl => json_lines::open(source, choice, &origin)?,
        Format::Parquet => parquet::open(source, choice, &origin)?,
        Format::Arrow => arrow::open(source, choice, &origin)?,
    })
}

fn fill_from(
    stream: &mut dyn RowStream,
    next_row: &mut usize,
    rows: usize,
    block: &mut Block,
) -> Result<bool> {
    // At least one row: 0 means the end of the file, and a caller that asks for 0 would stop there.
    let found = stream.fill(rows.max(1), &mut block.values)?;
    block.first_row = *next_row;
    *next_row += found;
    Ok(found > 0)
}

impl std::fmt::Debug for MatrixReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MatrixReader")
            .field("origin", &self.block.origin)
            .field("columns", &self.block.columns)
            .field("rows", &self.stream.rows())
            .field("next_row", &self.next_row)
            .finish()
    }
}

/// Whether every column has a name of its own, and not just its number.
pub(crate) fn are_names(names: &[String]) -> bool {
    let distinct: BTreeSet<&String> = names.iter().collect();
    distinct.len() == names.len()
        && !are_numbers(names)
        && names.iter().all(|name| !name.is_empty())
}

/// Whether the columns are called `0, 1, 2, ...`, as programs call columns without names.
pub(crate) fn are_numbers(names: &[String]) -> bool {
    names.iter().enumerate().all(|(place, name)| *name == place.to_string())
}

/// Checks a width that a file claims.
pub(crate) fn check_columns(origin: &Arc<str>, columns: u64) -> Result<usize> {
    match usize::try_from(columns) {
        Ok(columns) if (1..=MAX_COLUMNS).contains(&columns) => Ok(columns),
        // Rows without columns hold nothing, however many there are said to be.
        Ok(0) => Err(IoError::NoRows { origin: Arc::clone(origin) }),
        _ => Err(IoError::TooWide { origin: Arc::clone(origin), columns, limit: MAX_COLUMNS }),
    }
}

//! `file.parquet[:column] -> rows`: Parquet tables, numeric columns side by side or one column of lists.
//!
//! Read with the column readers of the `parquet` crate (no arrow). Memory is that of the block and of one page per
//! column: a file of a thousand plain columns holds a thousand open pages, where one list column holds one.

mod columns;
mod footer;
mod guard;
mod leaf_reader;
mod net;
mod number;
mod packed_pages;
mod page_header;
mod problem;
mod rows;
mod text;

pub use guard::MAX_PAGE_BYTES;
pub use net::{no_panic, undecodable_here};
pub use problem::ParquetProblem;
pub(crate) use text::ParquetText;

use crate::column_choice::ColumnChoice;
use crate::error::{IoError, Result};
use crate::input::open_file;
use crate::reader::RowStream;
use crate::source::MatrixSource;
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use columns::Layout;
use guard::GuardedFile;
use rows::ParquetRows;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// What the end of a file says of it, with the file.
fn read_footer(path: &Path, origin: &Arc<str>) -> Result<(File, u64, ParquetMetaData)> {
    let (file, length) = open_file(path)?;
    let fail = |problem| IoError::Parquet { origin: Arc::clone(origin), problem };
    footer::check(&file, length).map_err(fail)?;
    let metadata = ParquetMetaDataReader::new()
        .parse_and_finish(&file)
        .map_err(|error| fail(ParquetProblem::from(error)))?;
    Ok((file, length, metadata))
}

/// Names of the top-level columns of a file.
pub(crate) fn column_names(path: &Path, origin: &Arc<str>) -> Result<Vec<String>> {
    let (_, _, metadata) = read_footer(path, origin)?;
    let fields = metadata.file_metadata().schema().get_fields();
    Ok(fields.iter().map(|field| field.name().to_owned()).collect())
}

/// Names of the plain columns of numbers; a list column has no names for its entries.
pub(crate) fn number_columns(path: &Path, origin: &Arc<str>) -> Result<Vec<String>> {
    let (_, _, metadata) = read_footer(path, origin)?;
    Ok(columns::number_columns(&metadata))
}

/// Opens a parquet file: the column or list column that is selected, or without a selector the columns of `choice`.
pub(crate) fn open(
    source: &MatrixSource,
    choice: &ColumnChoice,
    origin: &Arc<str>,
) -> Result<Box<dyn RowStream>> {
    let (file, length, metadata) = read_footer(source.path(), origin)?;
    if metadata.row_groups().iter().all(|group| group.num_rows() == 0) {
        return Err(IoError::NoRows { origin: Arc::clone(origin) });
    }
    let layout = Layout::choose(&metadata, source.selector(), choice, origin)?;
    let file = GuardedFile::new(file, length);
    let rows = ParquetRows::new(file, metadata, (layout, source.gaps()), origin)?;
    Ok(Box::new(rows))
}

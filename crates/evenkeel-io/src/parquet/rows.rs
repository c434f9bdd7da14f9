//! Rows from the columns of row groups.

use super::columns::{Layout, Leaf};
use super::guard::{GuardedColumn, GuardedFile, GuardedPages};
use super::leaf_reader::LeafReader;
use super::net::no_panic;
use super::packed_pages::{PackedPages, Unpacker};
use super::problem::ParquetProblem;
use crate::block::{Precision, Values};
use crate::error::{IoError, Result};
use crate::reader::{RowStream, check_columns};
use crate::source::Gaps;
use ::parquet::basic::Compression;
use ::parquet::column::page::PageReader;
use ::parquet::column::reader::{ColumnReader, get_column_reader};
use ::parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use ::parquet::file::serialized_reader::SerializedPageReader;
use ::parquet::schema::types::ColumnDescPtr;
use std::sync::Arc;

/// Values read from a column at a time, so that the memory of levels and of claimed row counts stays small.
const STEP_VALUES: usize = 1 << 18;

/// Rows of a parquet file, one row group after the other.
pub(super) struct ParquetRows {
    file: Arc<GuardedFile>,
    metadata: ParquetMetaData,
    layout: Layout,
    gaps: Gaps,
    columns: usize,
    names: Option<Vec<String>>,
    rows: u64,
    next_row: u64,
    next_group: usize,
    /// Readers of the current row group, one per leaf, and the rows left in it.
    readers: Vec<LeafReader>,
    group_left: u64,
    origin: Arc<str>,
}

impl ParquetRows {
    pub(super) fn new(
        file: GuardedFile,
        metadata: ParquetMetaData,
        (layout, gaps): (Layout, Gaps),
        origin: &Arc<str>,
    ) -> Result<Self> {
        let fail = |problem| IoError::Parquet { origin: Arc::clone(origin), problem };
        let file = Arc::new(file);
        // Summed now, so that progress bars and companions know the length before a page is read.
        let mut rows = 0_u64;
        for group in metadata.row_groups() {
            let count = u64::try_from(group.num_rows()).ok();
            // Checked: the counts of row groups are claims, and a sum that wraps around would look like a short file.
            rows = count.and_then(|count| rows.checked_add(count)).ok_or_else(|| {
                fail(ParquetProblem::Damaged { what: "its row counts make no sense" })
            })?;
        }
        let width = match &layout {
            Layout::Columns(leaves) => leaves.len() as u64,
            Layout::Lists(leaf) => list_width(origin, &file, &metadata, leaf).map_err(fail)?,
        };
        let columns = check_columns(origin, width)?;
        let (readers, origin) = (Vec::new(), Arc::clone(origin));
        let (next_row, next_group, group_left, names) = (0, 0, 0, layout.names());
        Ok(Self {
            file,
            metadata,
            layout,
            gaps,
            columns,
            names,
            rows,
            next_row,
            next_group,
            readers,
            group_left,
            origin,
        })
    }

    /// Opens the next row group that has rows; false after the last.
    fn open_group(&mut self) -> Result<bool, ParquetProblem> {
        while self.group_left == 0 {
            if self.next_group == self.metadata.num_row_groups() {
                return Ok(false);
            }
            let group = self.metadata.row_group(self.next_group);
            self.next_group += 1;
            self.group_left = group.num_rows().unsigned_abs();
            if self.group_left > 0 {
                let open = |leaf| open_leaf(&self.file, group, leaf);
                self.readers = self.layout.leaves().iter().map(open).collect::<Result<_, _>>()?;
            }
        }
        Ok(true)
    }

    /// Rows read at a time.
    fn step_rows(&self) -> usize {
        match &self.layout {
            Layout::Columns(_) => STEP_VALUES,
            Layout::Lists(_) => (STEP_VALUES / self.columns).max(1),
        }
    }

    /// Adds `count` rows of the current group to `values`, row-major.
    fn read_rows(&mut self, count: usize, values: &mut Values) -> Result<(), ParquetProblem> {
        let (first_row, columns) = (self.next_row, self.columns);
        match &self.layout {
            Layout::Lists(_) => {
                for reader in &mut self.readers {
                    reader.read_lists(first_row, count, columns)?;
                    reader.append(values);
                }
            }
            Layout::Columns(_) => {
                let start = values.len();
                values.extend_zeros(count * columns);
                for (column, reader) in self.readers.iter_mut().enumerate() {
                    reader.read_column(first_row, count, self.gaps)?;
                    reader.scatter(values, start + column, columns);
                }
            }
        }
        self.next_row += count as u64;
        self.group_left -= count as u64;
        Ok(())
    }
}

/// Numbers in the first list; the others are held to it as they are read.
fn list_width(
    origin: &Arc<str>,
    file: &Arc<GuardedFile>,
    metadata: &ParquetMetaData,
    leaf: &Leaf,
) -> Result<u64, ParquetProblem> {
    match metadata.row_groups().iter().find(|group| group.num_rows() > 0) {
        Some(group) => no_panic(origin, || open_leaf(file, group, leaf)?.first_length()),
        None => Ok(0),
    }
}

/// Opens a leaf column of a row group, after a look at where it says it lies.
fn open_leaf(
    file: &Arc<GuardedFile>,
    group: &RowGroupMetaData,
    leaf: &Leaf,
) -> Result<LeafReader, ParquetProblem> {
    Ok(LeafReader::new(open_column(file, group, leaf.index, &leaf.descriptor)?, leaf))
}

/// The same for a column of any type.
pub(super) fn open_column(
    file: &Arc<GuardedFile>,
    group: &RowGroupMetaData,
    index: usize,
    descriptor: &ColumnDescPtr,
) -> Result<ColumnReader, ParquetProblem> {
    let damaged = ParquetProblem::Damaged { what: "a column lies outside the file" };
    let Some(chunk) = group.columns().get(index) else { return Err(damaged) };
    // Signed claims, which the decoder takes for granted not to be negative.
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let (Ok(_), Ok(_), Ok(values)) = (
        u64::try_from(start),
        u64::try_from(chunk.compressed_size()),
        u64::try_from(chunk.num_values()),
    ) else {
        return Err(damaged);
    };
    let rows = usize::try_from(group.num_rows()).map_err(|_| damaged)?;
    let unpacker = Unpacker::of(chunk.compression())?;
    let plain;
    let chunk = if unpacker.is_some() {
        let builder = chunk.clone().into_builder();
        plain = builder.set_compression(Compression::UNCOMPRESSED).build()?;
        &plain
    } else {
        chunk
    };
    // A column that holds no lists has a value for each row, whatever it says.
    let most = if descriptor.max_rep_level() == 0 { values.min(rows as u64) } else { values };
    let file = GuardedColumn::new(Arc::clone(file), most, descriptor);
    let claimed = file.claimed();
    let pages = SerializedPageReader::new(Arc::new(file), chunk, rows, None)?;
    let pages: Box<dyn PageReader> = match unpacker {
        Some(unpacker) => Box::new(PackedPages::new(pages, unpacker, claimed)),
        None => Box::new(pages),
    };
    let pages = GuardedPages::new(pages, values, descriptor);
    Ok(get_column_reader(descriptor.clone(), Box::new(pages)))
}

impl RowStream for ParquetRows {
    fn columns(&self) -> usize {
        self.columns
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    fn precision(&self) -> Precision {
        self.layout.precision()
    }

    fn fill(&mut self, rows: usize, values: &mut Values) -> Result<usize> {
        match values {
            Values::F32(values) => values.clear(),
            Values::F64(values) => values.clear(),
        }
        let origin = Arc::clone(&self.origin);
        let mut filled = 0;
        let outcome = loop {
            if filled == rows {
                break Ok(());
            }
            match no_panic(&origin, || self.open_group()) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(problem) => break Err(problem),
            }
            let left = usize::try_from(self.group_left).unwrap_or(usize::MAX);
            // In steps: a group may claim billions of rows, and levels are kept for all that are asked for at once.
            let count = left.min(rows - filled).min(self.step_rows());
            if let Err(problem) = no_panic(&origin, || self.read_rows(count, values)) {
                break Err(problem);
            }
            filled += count;
        };
        match outcome {
            Ok(()) => Ok(filled),
            Err(problem) => Err(IoError::Parquet { origin, problem }),
        }
    }
}

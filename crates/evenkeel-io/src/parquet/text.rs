//! `column -> text`: labels by name and columns that are passed through.

use super::columns::type_words;
use super::guard::GuardedFile;
use super::net::no_panic;
use super::problem::ParquetProblem;
use super::read_footer;
use super::rows::open_column;
use crate::column_problem::ColumnProblem;
use crate::decimal::{decimal, from_high_byte_first};
use crate::error::{IoError, Result, some_of};
use crate::instant::Clock;
use crate::reader::check_columns;
use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{AsBytes, DataType};
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};
use std::path::Path;
use std::sync::Arc;

/// How the cells of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Text,
    Plain,
    Unsigned,
    Date,
    /// Units in a second, and whose.
    Instant(i64, Clock),
    /// Units of `10^-scale`.
    Decimal(i32),
}

/// Digits of the largest decimals that are read: those of 128 bits.
const MOST_DIGITS: i32 = 38;

impl Written {
    fn of(column: &ColumnDescriptor) -> Option<Self> {
        let (logical, converted) = (column.logical_type_ref(), column.converted_type());
        match (column.physical_type(), logical) {
            (_, Some(LogicalType::Decimal(decimal))) => {
                (decimal.precision <= MOST_DIGITS).then_some(Self::Decimal(decimal.scale))
            }
            (_, None) if converted == ConvertedType::DECIMAL => {
                let fits = column.type_precision() <= MOST_DIGITS;
                fits.then_some(Self::Decimal(column.type_scale()))
            }
            (Physical::BYTE_ARRAY, _) => Some(Self::Text),
            (_, Some(LogicalType::Date)) => Some(Self::Date),
            (_, Some(LogicalType::Timestamp(timestamp))) => {
                let units = match timestamp.unit {
                    TimeUnit::MILLIS => 1_000,
                    TimeUnit::MICROS => 1_000_000,
                    TimeUnit::NANOS => 1_000_000_000,
                };
                let clock = if timestamp.is_adjusted_to_u_t_c { Clock::Utc } else { Clock::Wall };
                Some(Self::Instant(units, clock))
            }
            (_, Some(LogicalType::Integer(integer))) if !integer.is_signed => Some(Self::Unsigned),
            (_, Some(LogicalType::Time(_))) => None,
            (Physical::INT96 | Physical::FIXED_LEN_BYTE_ARRAY, _) => None,
            (_, _) => match converted {
                ConvertedType::DATE => Some(Self::Date),
                // The old form has no other clock.
                ConvertedType::TIMESTAMP_MILLIS => Some(Self::Instant(1_000, Clock::Utc)),
                ConvertedType::TIMESTAMP_MICROS => Some(Self::Instant(1_000_000, Clock::Utc)),
                ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS => None,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64 => Some(Self::Unsigned),
                _ => Some(Self::Plain),
            },
        }
    }
}

/// A column of cells.
struct TextLeaf {
    index: usize,
    name: String,
    written: Written,
    descriptor: ColumnDescPtr,
}

/// Cells of some columns, row for row.
pub(crate) struct ParquetText {
    file: Arc<GuardedFile>,
    metadata: ParquetMetaData,
    leaves: Vec<TextLeaf>,
    rows: u64,
    next_group: usize,
    readers: Vec<ColumnReader>,
    group_left: u64,
    origin: Arc<str>,
}

/// Longest cell that is read: one entry of a dictionary can stand in every row, so that a small file could fill any machine.
const MOST_CELL_BYTES: usize = 4096;

/// Rows read from a column at a time: a group may claim billions.
const STEP_ROWS: usize = 1 << 14;

impl ParquetText {
    /// Opens these columns, or without names the one that there is.
    pub(crate) fn open(path: &Path, names: Option<&[String]>, origin: &Arc<str>) -> Result<Self> {
        let (file, length, metadata) = read_footer(path, origin)?;
        let fail = |problem| IoError::Parquet { origin: Arc::clone(origin), problem };
        let schema = metadata.file_metadata().schema_descr();
        let fields: Vec<String> =
            schema.root_schema().get_fields().iter().map(|field| field.name().to_owned()).collect();
        check_columns(origin, fields.len() as u64)?;
        let leaf_of = |name: &String| {
            let no_such = || IoError::NoColumn {
                origin: Arc::clone(origin),
                name: name.clone(),
                found: some_of(&fields),
            };
            let plain =
                |column: &&(usize, &ColumnDescPtr)| column.1.path().parts() == [name.clone()];
            let columns: Vec<(usize, &ColumnDescPtr)> =
                schema.columns().iter().enumerate().collect();
            match columns.iter().find(plain) {
                None if !fields.contains(name) => Err(no_such()),
                None => Err(fail(not_text(name, "records or lists".into()))),
                Some((index, descriptor)) => {
                    let written =
                        Written::of(descriptor).filter(|_| descriptor.max_rep_level() == 0);
                    let written =
                        written.ok_or_else(|| fail(not_text(name, type_words(descriptor))))?;
                    let (name, descriptor) = (name.clone(), (*descriptor).clone());
                    Ok(TextLeaf { index: *index, name, written, descriptor })
                }
            }
        };
        let leaves = match (names, &fields[..]) {
            (Some(names), _) => names.iter().map(leaf_of).collect::<Result<_>>()?,
            (None, [name]) => vec![leaf_of(name)?],
            (None, _) => {
                let origin = Arc::clone(origin);
                return Err(IoError::NotOneColumn {
                    origin,
                    what: "labels",
                    columns: fields.len(),
                });
            }
        };
        let mut counts =
            metadata.row_groups().iter().map(|group| u64::try_from(group.num_rows()).ok());
        // Checked: the counts of row groups are claims.
        let rows = counts.try_fold(0_u64, |sum, count| sum.checked_add(count?));
        let rows = rows.ok_or_else(|| {
            fail(ParquetProblem::Damaged { what: "its row counts make no sense" })
        })?;
        let (file, origin) = (Arc::new(GuardedFile::new(file, length)), Arc::clone(origin));
        let (next_group, readers, group_left) = (0, Vec::new(), 0);
        Ok(Self { file, metadata, leaves, rows, next_group, readers, group_left, origin })
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The next rows, fewer only at the end.
    pub(crate) fn next_rows(&mut self, rows: usize) -> Result<Vec<Vec<String>>> {
        let (mut found, origin) = (Vec::new(), Arc::clone(&self.origin));
        while found.len() < rows {
            let wanted = rows - found.len();
            match no_panic(&origin, || self.step(wanted)) {
                Ok(step) if step.is_empty() => break,
                Ok(step) => found.extend(step),
                Err(problem) => {
                    return Err(IoError::Parquet { origin, problem });
                }
            }
        }
        Ok(found)
    }

    /// Some rows of the current group; none after the last.
    fn step(&mut self, wanted: usize) -> Result<Vec<Vec<String>>, ParquetProblem> {
        while self.group_left == 0 {
            if self.next_group == self.metadata.num_row_groups() {
                return Ok(Vec::new());
            }
            let group = self.metadata.row_group(self.next_group);
            self.next_group += 1;
            self.group_left = group.num_rows().unsigned_abs();
            let open =
                |leaf: &TextLeaf| open_column(&self.file, group, leaf.index, &leaf.descriptor);
            self.readers = self.leaves.iter().map(open).collect::<Result<_, _>>()?;
        }
        let left = usize::try_from(self.group_left).unwrap_or(usize::MAX);
        let count = wanted.min(left).min(STEP_ROWS);
        let mut rows = vec![Vec::with_capacity(self.leaves.len()); count];
        for (reader, leaf) in self.readers.iter_mut().zip(&self.leaves) {
            let cells = cells(reader, leaf, count)?;
            rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
        }
        self.group_left -= count as u64;
        Ok(rows)
    }
}

fn not_text(name: &str, found: String) -> ParquetProblem {
    ColumnProblem::NotText { column: name.to_owned(), found }.into()
}

/// The next `count` cells of a column; those that are missing are empty.
fn cells(
    reader: &mut ColumnReader,
    leaf: &TextLeaf,
    count: usize,
) -> Result<Vec<String>, ParquetProblem> {
    let written = leaf.written;
    let whole = move |value: i64| match written {
        Written::Date => crate::instant::date(value),
        Written::Instant(units, clock) => crate::instant::instant(value, units, clock),
        Written::Decimal(scale) => decimal(i128::from(value), scale),
        _ => value.to_string(),
    };
    let of_bytes = |bytes: &[u8]| match written {
        Written::Decimal(scale) => from_high_byte_first(bytes)
            .map(|units| decimal(units, scale))
            .ok_or(ParquetProblem::Damaged { what: "a decimal has too many bytes" }),
        // Old writers do not say that a column of bytes is text; if it is not, its cells must not be passed on mutilated.
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(ColumnProblem::NotUtf8 { column: leaf.name.clone() }.into()),
        },
    };
    match reader {
        ColumnReader::BoolColumnReader(reader) => {
            typed(reader, leaf, count, |value| Ok(value.to_string()))
        }
        ColumnReader::Int32ColumnReader(reader) => {
            typed(reader, leaf, count, |value| match written {
                Written::Unsigned => Ok(value.cast_unsigned().to_string()),
                _ => Ok(whole(i64::from(*value))),
            })
        }
        ColumnReader::Int64ColumnReader(reader) => {
            typed(reader, leaf, count, |value| match written {
                Written::Unsigned => Ok(value.cast_unsigned().to_string()),
                _ => Ok(whole(*value)),
            })
        }
        ColumnReader::FloatColumnReader(reader) => {
            typed(reader, leaf, count, |value| Ok(value.to_string()))
        }
        ColumnReader::DoubleColumnReader(reader) => {
            typed(reader, leaf, count, |value| Ok(value.to_string()))
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            typed(reader, leaf, count, |value| of_bytes(value.data()))
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            typed(reader, leaf, count, |value| of_bytes(value.data()))
        }
        ColumnReader::Int96ColumnReader(_) => {
            Err(ParquetProblem::Damaged { what: "a column changed its type" })
        }
    }
}

fn typed<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    leaf: &TextLeaf,
    count: usize,
    text: impl Fn(&T::T) -> Result<String, ParquetProblem>,
) -> Result<Vec<String>, ParquetProblem> {
    let (mut definitions, mut values, mut records) = (Vec::new(), Vec::new(), 0);
    // A call may stop at the end of a page.
    while records < count {
        let (found, _, levels) =
            reader.read_records(count - records, Some(&mut definitions), None, &mut values)?;
        records += found;
        if found == 0 && levels == 0 {
            return Err(ParquetProblem::Damaged { what: "a column is shorter than the table" });
        }
    }
    if values.iter().any(|value| std::mem::size_of_val(value.as_bytes()) > MOST_CELL_BYTES) {
        let (column, limit) = (leaf.name.clone(), MOST_CELL_BYTES);
        return Err(ColumnProblem::LongCell { column, limit }.into());
    }
    let most = leaf.descriptor.max_def_level();
    if most == 0 {
        return values.iter().map(text).collect();
    }
    let mut values = values.iter();
    let cell = |level: &i16| match *level == most {
        true => match values.next() {
            Some(value) => text(value),
            None => Err(ParquetProblem::Damaged { what: "a column lost values" }),
        },
        false => Ok(String::new()),
    };
    definitions.iter().map(cell).collect()
}

impl std::fmt::Debug for TextLeaf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

//! `definition and repetition levels -> numbers`: one leaf column, with nulls and ragged lists found out.

use super::columns::{Leaf, Number};
use super::problem::ParquetProblem;
use crate::block::Values;
use crate::column_problem::ColumnProblem;
use crate::source::Gaps;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{DataType, FixedLenByteArray};
use half::f16;

/// The values of one batch, in the type they are stored in.
#[derive(Default)]
struct Batch {
    bools: Vec<bool>,
    i32s: Vec<i32>,
    i64s: Vec<i64>,
    f32s: Vec<f32>,
    f64s: Vec<f64>,
    bytes: Vec<FixedLenByteArray>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

/// Reads a leaf column of one row group.
pub(super) struct LeafReader {
    reader: ColumnReader,
    number: Number,
    name: String,
    max_definition: i16,
    batch: Batch,
}

impl LeafReader {
    pub(super) fn new(reader: ColumnReader, leaf: &Leaf) -> Self {
        let (number, name) = (leaf.number, leaf.name.clone());
        let max_definition = leaf.descriptor.max_def_level();
        Self { reader, number, name, max_definition, batch: Batch::default() }
    }

    /// Reads `count` numbers; `first_row` names rows in errors.
    pub(super) fn read_column(
        &mut self,
        first_row: u64,
        count: usize,
        gaps: Gaps,
    ) -> Result<(), ParquetProblem> {
        let found = self.read(count)?;
        match gaps {
            Gaps::Refused => {
                self.check_nulls(first_row)?;
                found.require(count, count)
            }
            Gaps::AreNan => found.require(count, count - self.gaps()),
        }
    }

    /// Values of the batch that are missing.
    fn gaps(&self) -> usize {
        let defined = self.max_definition;
        self.batch.definitions.iter().filter(|level| **level != defined).count()
    }

    /// Reads `count` lists of `width` numbers each.
    pub(super) fn read_lists(
        &mut self,
        first_row: u64,
        count: usize,
        width: usize,
    ) -> Result<(), ParquetProblem> {
        let found = self.read(count)?;
        // Lengths before nulls: a list that is missing is better called that than a null inside
        // one.
        self.check_lengths(first_row, width)?;
        self.check_nulls(first_row)?;
        found.require(count, count * width)
    }

    /// Length of the next list.
    pub(super) fn first_length(mut self) -> Result<u64, ParquetProblem> {
        let found = self.read(1)?;
        self.check_nulls(0)?;
        let length = self.batch.repetitions.len();
        found.require(1, length)?;
        Ok(length as u64)
    }

    fn read(&mut self, count: usize) -> Result<Found, ParquetProblem> {
        let Batch { bools, i32s, i64s, f32s, f64s, bytes, definitions, repetitions } =
            &mut self.batch;
        let levels = (definitions, repetitions);
        let found = match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => read_typed(reader, count, levels, bools),
            ColumnReader::Int32ColumnReader(reader) => read_typed(reader, count, levels, i32s),
            ColumnReader::Int64ColumnReader(reader) => read_typed(reader, count, levels, i64s),
            ColumnReader::FloatColumnReader(reader) => read_typed(reader, count, levels, f32s),
            ColumnReader::DoubleColumnReader(reader) => read_typed(reader, count, levels, f64s),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                read_typed(reader, count, levels, bytes)
            }
            ColumnReader::Int96ColumnReader(_) | ColumnReader::ByteArrayColumnReader(_) => {
                return Err(ParquetProblem::Damaged { what: "a column changed its type" });
            }
        };
        Ok(found?)
    }

    /// An error at the first value that is missing.
    fn check_nulls(&self, first_row: u64) -> Result<(), ParquetProblem> {
        let definitions = &self.batch.definitions;
        match definitions.iter().position(|level| *level != self.max_definition) {
            None => Ok(()),
            Some(at) => {
                let row = match &self.batch.repetitions[..] {
                    [] => at as u64,
                    levels => levels[..=at].iter().filter(|level| **level == 0).count() as u64 - 1,
                };
                let (row, column) = (first_row + row, self.name.clone());
                Err(ColumnProblem::Null { row, column }.into())
            }
        }
    }

    /// An error at the first list that has not `width` entries, empty and missing lists included.
    fn check_lengths(&self, first_row: u64, width: usize) -> Result<(), ParquetProblem> {
        let levels = &self.batch.repetitions;
        let mut start = 0;
        let mut row = first_row;
        while start < levels.len() {
            let rest = levels[start + 1..].iter();
            let found = 1 + rest.take_while(|level| **level > 0).count();
            // One level with no value is an empty or missing list.
            let missing = found == 1
                && self.batch.definitions.get(start).is_some_and(|d| *d < self.max_definition);
            if found != width && !missing {
                let column = self.name.clone();
                return Err(ColumnProblem::Ragged {
                    row,
                    column,
                    found: found as u64,
                    expected: width,
                }
                .into());
            }
            (start, row) = (start + found, row + 1);
        }
        Ok(())
    }

    /// Adds the numbers of the batch to `values`.
    pub(super) fn append(&self, values: &mut Values) {
        match values {
            Values::F32(values) => self.for_each_f32(|value| values.push(value)),
            Values::F64(values) => self.for_each_f64(|value| values.push(value)),
        }
    }

    /// Writes the numbers of the batch to every `stride`-th place from `start` on.
    pub(super) fn scatter(&self, values: &mut Values, start: usize, stride: usize) {
        match values {
            Values::F32(values) => {
                let mut slots = self.present(values[start..].iter_mut().step_by(stride), f32::NAN);
                self.for_each_f32(|value| slots.next().into_iter().for_each(|slot| *slot = value));
                // Gaps after the last value.
                slots.for_each(drop);
            }
            Values::F64(values) => {
                let mut slots = self.present(values[start..].iter_mut().step_by(stride), f64::NAN);
                self.for_each_f64(|value| slots.next().into_iter().for_each(|slot| *slot = value));
                slots.for_each(drop);
            }
        }
    }

    /// The slots that have a value; those of missing ones become NaN on the way.
    fn present<'a, T: Copy + 'a>(
        &'a self,
        slots: impl Iterator<Item = &'a mut T> + 'a,
        nan: T,
    ) -> impl Iterator<Item = &'a mut T> + 'a {
        slots.enumerate().filter_map(move |(place, slot)| {
            // A column without nulls in its schema has no levels.
            let level = self.batch.definitions.get(place).copied();
            if level.is_none_or(|level| level == self.max_definition) {
                return Some(slot);
            }
            *slot = nan;
            None
        })
    }

    fn for_each_f32(&self, mut take: impl FnMut(f32)) {
        match self.number {
            Number::F16 => self.batch.bytes.iter().for_each(|half| take(half_of(half).to_f32())),
            // Only halves and singles are read in single precision, by `Layout::precision`.
            _ => self.batch.f32s.iter().for_each(|value| take(*value)),
        }
    }

    fn for_each_f64(&self, mut take: impl FnMut(f64)) {
        let batch = &self.batch;
        match self.number {
            Number::Bool => batch.bools.iter().for_each(|x| take(f64::from(u8::from(*x)))),
            Number::I32 => batch.i32s.iter().for_each(|x| take(f64::from(*x))),
            Number::U32 => batch.i32s.iter().for_each(|x| take(f64::from(x.cast_unsigned()))),
            Number::I64 => batch.i64s.iter().for_each(|x| take(*x as f64)),
            Number::U64 => batch.i64s.iter().for_each(|x| take(x.cast_unsigned() as f64)),
            Number::F16 => batch.bytes.iter().for_each(|half| take(half_of(half).to_f64())),
            Number::F32 => batch.f32s.iter().for_each(|x| take(f64::from(*x))),
            Number::F64 => batch.f64s.iter().for_each(|x| take(*x)),
        }
    }
}

/// How much a read brought.
struct Found {
    records: usize,
    values: usize,
}

impl Found {
    fn require(&self, records: usize, values: usize) -> Result<(), ParquetProblem> {
        match (self.records == records, self.values == values) {
            (true, true) => Ok(()),
            (false, _) => {
                Err(ParquetProblem::Damaged { what: "a column is shorter than the table" })
            }
            (true, false) => Err(ParquetProblem::Damaged { what: "a column lost values" }),
        }
    }
}

fn half_of(bytes: &FixedLenByteArray) -> f16 {
    bytes.data().first_chunk().map_or(f16::NAN, |bytes| f16::from_le_bytes(*bytes))
}

/// Replaces levels and values by those of the next `count` records; returns what there was.
fn read_typed<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    count: usize,
    (definitions, repetitions): (&mut Vec<i16>, &mut Vec<i16>),
    values: &mut Vec<T::T>,
) -> ::parquet::errors::Result<Found> {
    definitions.clear();
    repetitions.clear();
    values.clear();
    let mut found = Found { records: 0, values: 0 };
    // A call may stop at the end of a page.
    while found.records < count {
        let (records, read, levels) = reader.read_records(
            count - found.records,
            Some(definitions),
            Some(repetitions),
            values,
        )?;
        found.records += records;
        found.values += read;
        if levels == 0 {
            break;
        }
    }
    Ok(found)
}

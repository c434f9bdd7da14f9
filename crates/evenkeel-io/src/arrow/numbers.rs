//! Numbers of one column of a batch, some at a time.

use super::buffer::{Bits, Buffer};
use super::messages::{Codec, Column};
use super::problem::ArrowProblem;
use super::schema::{Number, Offsets};
use half::f16;
use std::fs::File;
use std::sync::Arc;

const CONTRADICTION: ArrowProblem = ArrowProblem::Damaged { what: "a column lost a buffer" };

/// Opens the buffers of a column.
#[derive(Clone, Copy)]
pub(super) struct Opening<'a> {
    pub(super) file: &'a Arc<File>,
    pub(super) codec: Codec,
}

impl Opening<'_> {
    pub(super) fn buffer(&self, column: &Column, place: usize) -> Result<Buffer, ArrowProblem> {
        let buffer = column.buffers.get(place).ok_or(CONTRADICTION)?;
        Buffer::open(self.file, *buffer, self.codec)
    }

    /// Which entries of the node are there; nothing where all are.
    pub(super) fn validity(
        &self,
        column: &Column,
        (node, place): (usize, usize),
    ) -> Result<Option<Bits>, ArrowProblem> {
        let (rows, nulls) = column.nodes.get(node).ok_or(CONTRADICTION)?;
        match nulls {
            0 => Ok(None),
            _ => Ok(Some(Bits::new(self.buffer(column, place)?, *rows))),
        }
    }
}

/// Numbers of a node, with its gaps.
pub(super) struct Numbers {
    number: Number,
    validity: Option<Bits>,
    data: Data,
    scratch: Vec<u8>,
}

enum Data {
    Bytes(Buffer),
    Bits(Bits),
}

impl Numbers {
    /// The numbers whose validity and data are these buffers of the column.
    pub(super) fn open(
        opening: Opening<'_>,
        column: &Column,
        (node, place): (usize, usize),
        number: Number,
    ) -> Result<Self, ArrowProblem> {
        let (rows, _) = column.nodes.get(node).ok_or(CONTRADICTION)?;
        let buffer = opening.buffer(column, place + 1)?;
        let data = match number {
            Number::Bool => Data::Bits(Bits::new(buffer, *rows)),
            _ => Data::Bytes(buffer),
        };
        let validity = opening.validity(column, (node, place))?;
        Ok(Self { number, validity, data, scratch: Vec::new() })
    }

    /// Passes over numbers.
    pub(super) fn skip(&mut self, count: u64) -> Result<(), ArrowProblem> {
        if let Some(validity) = &mut self.validity {
            (0..count).try_for_each(|_| validity.next().map(drop))?;
        }
        match &mut self.data {
            Data::Bits(bits) => (0..count).try_for_each(|_| bits.next().map(drop)),
            Data::Bytes(buffer) => {
                let bytes = count.checked_mul(self.number.width() as u64).ok_or(CONTRADICTION)?;
                buffer.skip(bytes)
            }
        }
    }

    /// Reads the next numbers and hands each over with its place, none for a gap. The caller asks for a step at a time.
    pub(super) fn read(
        &mut self,
        count: usize,
        mut take: impl FnMut(usize, Option<Value>),
    ) -> Result<(), ArrowProblem> {
        let validity = &mut self.validity;
        let mut is_there = move || validity.as_mut().map_or(Ok(true), Bits::next);
        let buffer = match &mut self.data {
            Data::Bits(bits) => {
                for place in 0..count {
                    let (there, bit) = (is_there()?, bits.next()?);
                    take(place, there.then_some(Value::Bool(bit)));
                }
                return Ok(());
            }
            Data::Bytes(buffer) => buffer,
        };
        let width = self.number.width();
        self.scratch.resize(count * width, 0);
        buffer.read(&mut self.scratch)?;
        macro_rules! each {
            ($bytes:literal, $value:expr) => {
                for (place, bytes) in self.scratch.as_chunks::<$bytes>().0.iter().enumerate() {
                    let there = is_there()?;
                    let value: fn([u8; $bytes]) -> Value = $value;
                    take(place, there.then(|| value(*bytes)));
                }
            };
        }
        match self.number {
            Number::F64 => each!(8, |bytes| Value::F64(f64::from_le_bytes(bytes))),
            Number::F32 => each!(4, |bytes| Value::F32(f32::from_le_bytes(bytes))),
            Number::F16 => each!(2, |bytes| Value::F32(f16::from_le_bytes(bytes).to_f32())),
            Number::I64 => each!(8, |bytes| Value::I64(i64::from_le_bytes(bytes))),
            Number::U64 => each!(8, |bytes| Value::U64(u64::from_le_bytes(bytes))),
            Number::I32 => each!(4, |bytes| Value::I64(i32::from_le_bytes(bytes).into())),
            Number::U32 => each!(4, |bytes| Value::U64(u32::from_le_bytes(bytes).into())),
            Number::I16 => each!(2, |bytes| Value::I64(i16::from_le_bytes(bytes).into())),
            Number::U16 => each!(2, |bytes| Value::U64(u16::from_le_bytes(bytes).into())),
            Number::I8 => each!(1, |bytes| Value::I64(i8::from_le_bytes(bytes).into())),
            Number::U8 | Number::Bool => each!(1, |bytes| Value::U64(bytes[0].into())),
        }
        Ok(())
    }
}

/// A number as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    Bool(bool),
    I64(i64),
    U64(u64),
    F32(f32),
    F64(f64),
}

impl Value {
    pub(super) fn to_f64(self) -> f64 {
        match self {
            Self::Bool(value) => f64::from(u8::from(value)),
            Self::I64(value) => value as f64,
            Self::U64(value) => value as f64,
            Self::F32(value) => f64::from(value),
            Self::F64(value) => value,
        }
    }

    pub(super) fn to_text(self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::I64(value) => value.to_string(),
            Self::U64(value) => value.to_string(),
            Self::F32(value) => value.to_string(),
            Self::F64(value) => value.to_string(),
        }
    }
}

/// Lengths of lists or texts: the differences of neighbouring offsets.
pub(super) struct Lengths {
    buffer: Buffer,
    width: Offsets,
    last: u64,
}

impl Lengths {
    /// Opens offsets; the first of them is how much of the data comes before.
    pub(super) fn open(
        opening: Opening<'_>,
        column: &Column,
        (place, rows): (usize, u64),
        width: Offsets,
    ) -> Result<Self, ArrowProblem> {
        let mut lengths = Self { buffer: opening.buffer(column, place)?, width, last: 0 };
        // A column without rows may leave out even the first.
        if rows > 0 {
            lengths.last = lengths.offset()?;
        }
        Ok(lengths)
    }

    /// Where the data of the next row begin.
    pub(super) fn start(&self) -> u64 {
        self.last
    }

    fn offset(&mut self) -> Result<u64, ArrowProblem> {
        let offset = match self.width {
            Offsets::Four => {
                let mut bytes = [0; 4];
                self.buffer.read(&mut bytes)?;
                i64::from(i32::from_le_bytes(bytes))
            }
            Offsets::Eight => {
                let mut bytes = [0; 8];
                self.buffer.read(&mut bytes)?;
                i64::from_le_bytes(bytes)
            }
        };
        u64::try_from(offset).map_err(|_| BACKWARDS)
    }

    /// Length of the next row.
    pub(super) fn next(&mut self) -> Result<u64, ArrowProblem> {
        let offset = self.offset()?;
        let length = offset.checked_sub(self.last).ok_or(BACKWARDS)?;
        self.last = offset;
        Ok(length)
    }
}

const BACKWARDS: ArrowProblem = ArrowProblem::Damaged { what: "a list ends before it begins" };

//! `labels: list<int32>` or `list<string>`: sets as a parquet list column.

use super::atomic::AtomicFile;
use super::sets::SetSink;
use ::parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type;
use evenkeel::conformal::LabelSets;
use std::io;
use std::sync::Arc;

/// Labels collected before a row group is written. A group per block would make many tiny groups, one for the whole
/// file would hold every label in memory.
const GROUP_LABELS: usize = 1 << 20;

/// Writes one column `labels` of lists: integers, or names where given.
///
/// ```text
/// required group labels (LIST) { repeated group list { required int32 element; } }
/// repetition 0 starts a row;   definition 0 is an empty set, 1 a label
/// ```
pub(super) struct ParquetSets {
    writer: SerializedFileWriter<AtomicFile>,
    names: Option<Vec<ByteArray>>,
    /// Cells that are passed through, column by column.
    ids: Vec<Vec<ByteArray>>,
    labels: Vec<i32>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

impl ParquetSets {
    pub(super) fn new(
        file: AtomicFile,
        names: Option<&[String]>,
        ids: &[String],
    ) -> io::Result<Self> {
        let start = || {
            let schema = Arc::new(schema(names.is_some(), ids)?);
            let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
            SerializedFileWriter::new(file, schema, Arc::new(properties.build()))
        };
        Ok(Self {
            writer: start().map_err(io_error)?,
            names: names.map(|names| names.iter().map(|name| name.as_str().into()).collect()),
            ids: vec![Vec::new(); ids.len()],
            labels: Vec::new(),
            definitions: Vec::new(),
            repetitions: Vec::new(),
        })
    }

    fn write_group(&mut self) -> Result<()> {
        if self.repetitions.is_empty() {
            return Ok(());
        }
        let levels = (Some(&self.definitions[..]), Some(&self.repetitions[..]));
        let mut group = self.writer.next_row_group()?;
        for cells in &mut self.ids {
            if let Some(mut column) = group.next_column()? {
                column.typed::<ByteArrayType>().write_batch(cells, None, None)?;
                column.close()?;
            }
            cells.clear();
        }
        if let Some(mut column) = group.next_column()? {
            match &self.names {
                None => {
                    column.typed::<Int32Type>().write_batch(&self.labels, levels.0, levels.1)?;
                }
                Some(names) => {
                    // Labels come from sets over as many classes as there are names.
                    let label_names = |label: &i32| names[label.unsigned_abs() as usize].clone();
                    let labels: Vec<ByteArray> = self.labels.iter().map(label_names).collect();
                    column.typed::<ByteArrayType>().write_batch(&labels, levels.0, levels.1)?;
                }
            }
            column.close()?;
        }
        group.close()?;
        self.labels.clear();
        self.definitions.clear();
        self.repetitions.clear();
        Ok(())
    }
}

impl SetSink for ParquetSets {
    fn write(&mut self, sets: &LabelSets, beside: &[Vec<String>]) -> io::Result<()> {
        for (row, labels) in sets.iter().enumerate() {
            for (column, cell) in self.ids.iter_mut().zip(beside.get(row).into_iter().flatten()) {
                column.push(cell.as_str().into());
            }
            if labels.len() == 0 {
                self.definitions.push(0);
                self.repetitions.push(0);
            }
            for (position, label) in labels.enumerate() {
                self.labels.push(i32::try_from(label).map_err(io::Error::other)?);
                self.definitions.push(1);
                self.repetitions.push(i16::from(position > 0));
            }
            if self.repetitions.len() >= GROUP_LABELS {
                self.write_group().map_err(io_error)?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<AtomicFile> {
        self.write_group().map_err(io_error)?;
        self.writer.into_inner().map_err(io_error)
    }
}

fn schema(named: bool, ids: &[String]) -> Result<Type> {
    // Names are told from bytes by the logical type alone; without it readers show them as binary.
    let (physical, logical) = match named {
        true => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        false => (Physical::INT32, None),
    };
    let element = Type::primitive_type_builder("element", physical)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(logical)
        .build()?;
    let list = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    let labels = Type::group_type_builder("labels")
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::List))
        // The older annotation too: readers from before logical types see plain groups without it.
        .with_converted_type(ConvertedType::LIST)
        .with_fields(vec![Arc::new(list)])
        .build()?;
    let text = |name: &String| {
        let column = Type::primitive_type_builder(name, Physical::BYTE_ARRAY);
        let column = column.with_repetition(Repetition::REQUIRED);
        column.with_logical_type(Some(LogicalType::String)).build().map(Arc::new)
    };
    let mut fields = ids.iter().map(text).collect::<Result<Vec<_>>>()?;
    fields.push(Arc::new(labels));
    Type::group_type_builder("sets").with_fields(fields).build()
}

/// The system's error where the parquet writer wraps one.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

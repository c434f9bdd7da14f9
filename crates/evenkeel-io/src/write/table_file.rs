//! A small table as `.csv` or `.parquet`, written whole or not at all.

use std::io;
use std::path::Path;
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::errors::Result as ParquetResult;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::Type;

use super::atomic::AtomicFile;
use crate::error::{IoError, Result};

/// The cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Words.
    Text(Vec<String>),
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Numbers, or gaps.
    Number(Vec<Option<f64>>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Self::Text(cells) => cells.len(),
            Self::Whole(cells) => cells.len(),
            Self::Number(cells) => cells.len(),
        }
    }

    /// A cell as csv has it: gaps are empty, words with a comma, a quote or a line end are quoted.
    fn csv(&self, row: usize) -> String {
        match self {
            Self::Text(cells) => match cells.get(row) {
                Some(text) if text.contains([',', '"', '\n', '\r']) => {
                    format!("\"{}\"", text.replace('"', "\"\""))
                }
                Some(text) => text.clone(),
                None => String::new(),
            },
            Self::Whole(cells) => cells.get(row).map(ToString::to_string).unwrap_or_default(),
            Self::Number(cells) => {
                cells.get(row).copied().flatten().map(|value| value.to_string()).unwrap_or_default()
            }
        }
    }
}

/// Writes named columns of equal length; the format follows the name of the file.
///
/// # Errors
/// If the name ends in neither `.csv` nor `.parquet`, or the file cannot be written.
pub fn write_table(path: &Path, columns: &[(&str, Cells)]) -> Result<()> {
    let name = path.to_string_lossy().to_lowercase();
    let file = AtomicFile::create(path)?;
    if name.ends_with(".parquet") {
        return parquet(file, path, columns);
    }
    if !name.ends_with(".csv") {
        let error = io::Error::new(
            io::ErrorKind::InvalidInput,
            "the name ends in neither .csv nor .parquet",
        );
        return Err(file.error(error));
    }
    file.write_whole(csv(columns))
}

/// The table as text.
pub fn csv(columns: &[(&str, Cells)]) -> String {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let rows = columns.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
    let mut text = names.join(",") + "\n";
    for row in 0..rows {
        let cells: Vec<String> = columns.iter().map(|(_, cells)| cells.csv(row)).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

fn parquet(file: AtomicFile, path: &Path, columns: &[(&str, Cells)]) -> Result<()> {
    let write = || -> ParquetResult<AtomicFile> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer =
            SerializedFileWriter::new(file, Arc::new(schema(columns)?), Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        for (_, cells) in columns {
            column(&mut group, cells)?;
        }
        group.close()?;
        writer.into_inner()
    };
    let failed = |error: ::parquet::errors::ParquetError| IoError::Write {
        path: path.to_path_buf(),
        error: io::Error::other(error),
    };
    write().map_err(failed)?.commit()
}

fn column(
    group: &mut SerializedRowGroupWriter<'_, AtomicFile>,
    cells: &Cells,
) -> ParquetResult<()> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    match cells {
        Cells::Text(cells) => {
            let cells: Vec<ByteArray> = cells.iter().map(|cell| cell.as_str().into()).collect();
            column.typed::<ByteArrayType>().write_batch(&cells, None, None)?;
        }
        Cells::Whole(cells) => {
            column.typed::<Int64Type>().write_batch(cells, None, None)?;
        }
        Cells::Number(cells) => {
            let known: Vec<f64> = cells.iter().copied().flatten().collect();
            let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
            column.typed::<DoubleType>().write_batch(&known, Some(&levels), None)?;
        }
    }
    column.close()
}

fn schema(columns: &[(&str, Cells)]) -> ParquetResult<Type> {
    let field = |(name, cells): &(&str, Cells)| {
        let (physical, logical, repetition) = match cells {
            Cells::Text(_) => {
                (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED)
            }
            Cells::Whole(_) => (Physical::INT64, None, Repetition::REQUIRED),
            Cells::Number(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
        };
        let built = Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(built))
    };
    let fields = columns.iter().map(field).collect::<ParquetResult<Vec<_>>>()?;
    Type::group_type_builder("schema").with_fields(fields).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_and_gaps_are_empty() {
        let columns = [
            ("name", Cells::Text(vec!["a,b".into(), "say \"x\"".into()])),
            ("rows", Cells::Whole(vec![3, -1])),
            ("value", Cells::Number(vec![None, Some(0.1)])),
        ];
        assert_eq!(csv(&columns), "name,rows,value\n\"a,b\",3,\n\"say \"\"x\"\"\",-1,0.1\n");
    }
}

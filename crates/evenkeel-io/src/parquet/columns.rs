//! `schema, selector -> leaf columns`: which columns of a table make the matrix.

use super::problem::ParquetProblem;
use crate::block::Precision;
use crate::column_choice::ColumnChoice;
use crate::column_problem::ColumnProblem;
use crate::error::{IoError, Result};
use ::parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};
use std::sync::Arc;

/// How the bits of a numeric column are to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Bool,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

impl Number {
    fn of(column: &ColumnDescriptor) -> Option<Self> {
        let logical = column.logical_type_ref();
        let unsigned = match (logical, column.converted_type()) {
            (Some(LogicalType::Integer(integer)), _) => Some(!integer.is_signed),
            (
                None,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => Some(true),
            (
                None,
                ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64,
            ) => Some(false),
            // Dates, times and decimals are integers in disguise.
            _ => None,
        };
        match (column.physical_type(), unsigned) {
            (Physical::BOOLEAN, _) => Some(Self::Bool),
            (Physical::FLOAT, _) => Some(Self::F32),
            (Physical::DOUBLE, _) => Some(Self::F64),
            (Physical::INT32, Some(unsigned)) => Some(if unsigned { Self::U32 } else { Self::I32 }),
            (Physical::INT64, Some(unsigned)) => Some(if unsigned { Self::U64 } else { Self::I64 }),
            (Physical::FIXED_LEN_BYTE_ARRAY, _)
                if logical == Some(&LogicalType::Float16) && column.type_length() == 2 =>
            {
                Some(Self::F16)
            }
            _ => None,
        }
    }

    fn precision(self) -> Precision {
        match self {
            Self::F16 | Self::F32 => Precision::Single,
            _ => Precision::Double,
        }
    }
}

/// A leaf column of numbers.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub(super) index: usize,
    pub(super) name: String,
    pub(super) number: Number,
    pub(super) descriptor: ColumnDescPtr,
}

/// The columns that make the matrix.
#[derive(Debug, Clone)]
pub(super) enum Layout {
    /// Numeric columns side by side, at least one.
    Columns(Vec<Leaf>),
    /// One column of lists, one list per row.
    Lists(Leaf),
}

impl Layout {
    /// The column of this name, or without one: the columns chosen, all numeric columns in order, or else the one list
    /// column.
    pub(super) fn choose(
        metadata: &ParquetMetaData,
        selector: Option<&str>,
        choice: &ColumnChoice,
        origin: &Arc<str>,
    ) -> Result<Self> {
        Self::of(metadata, selector, choice, origin)?
            .map_err(|problem| IoError::Parquet { origin: Arc::clone(origin), problem })
    }

    /// What is chosen, or what the file lacks; the outer error is about names.
    fn of(
        metadata: &ParquetMetaData,
        selector: Option<&str>,
        choice: &ColumnChoice,
        origin: &Arc<str>,
    ) -> Result<Result<Self, ParquetProblem>> {
        let schema = metadata.file_metadata().schema_descr();
        let fields = schema.root_schema().get_fields();
        let columns = || fields.iter().map(|field| field.name().to_owned()).collect();
        // The leaves below every field; plain columns and lists of numbers have one.
        let mut leaves = vec![Vec::new(); fields.len()];
        for (index, leaf) in schema.columns().iter().enumerate() {
            if let Some(below) = leaves.get_mut(schema.get_column_root_idx(index)) {
                below.push((index, leaf));
            }
        }
        let layout_of = |field: usize| {
            let name = fields[field].name();
            match leaves[field][..] {
                [(index, leaf)] => Self::single(name, index, leaf),
                _ => {
                    let (column, found) = (name.into(), "records".into());
                    Err(ColumnProblem::NotNumeric { column, found }.into())
                }
            }
        };
        if let Some(name) = selector {
            return Ok(match fields.iter().position(|field| field.name() == name) {
                Some(field) => layout_of(field),
                None => {
                    let (column, columns) = (name.into(), columns());
                    Err(ColumnProblem::NoSuchColumn { column, columns }.into())
                }
            });
        }
        let is_number = |field: usize| {
            // The index that pandas adds to a table it did not number itself.
            !fields[field].name().starts_with("__index_level_")
                && matches!(layout_of(field), Ok(Self::Columns(_)))
        };
        let names: Vec<String> = columns();
        let chosen = choice.places(origin, &names, is_number)?;
        if choice.needs_names() {
            return Ok(match &chosen[..] {
                [field] => layout_of(*field),
                several => several
                    .iter()
                    .try_fold(Vec::new(), |mut leaves, field| {
                        match layout_of(*field)? {
                            Self::Columns(mut leaf) => leaves.append(&mut leaf),
                            Self::Lists(leaf) => {
                                let (column, found) = (leaf.name, "lists, not numbers".into());
                                return Err(ColumnProblem::NotNumeric { column, found }.into());
                            }
                        }
                        Ok(leaves)
                    })
                    .map(Self::Columns),
            });
        }
        let (mut plain, mut lists) = (Vec::new(), Vec::new());
        for (field, name) in names.iter().enumerate() {
            match layout_of(field) {
                Ok(Self::Columns(mut leaf)) if chosen.contains(&field) => plain.append(&mut leaf),
                Ok(Self::Lists(leaf)) if !name.starts_with("__index_level_") => lists.push(leaf),
                _ => {}
            }
        }
        // Numeric columns win over a list: a table with features and an embedding means its
        // columns.
        Ok(match (plain.is_empty(), lists.len()) {
            (false, _) => Ok(Self::Columns(plain)),
            (true, 1) => Ok(Self::Lists(lists.remove(0))),
            (true, 0) => Err(ColumnProblem::NoNumericColumn { columns: columns() }.into()),
            (true, _) => {
                let columns = lists.into_iter().map(|leaf| leaf.name).collect();
                Err(ColumnProblem::SeveralLists { columns }.into())
            }
        })
    }

    /// Names of the columns of the matrix; entries of lists have none.
    pub(super) fn names(&self) -> Option<Vec<String>> {
        match self {
            Self::Columns(leaves) => Some(leaves.iter().map(|leaf| leaf.name.clone()).collect()),
            Self::Lists(_) => None,
        }
    }

    fn single(name: &str, index: usize, leaf: &ColumnDescPtr) -> Result<Self, ParquetProblem> {
        let not_numeric = |found: String| {
            ParquetProblem::from(ColumnProblem::NotNumeric { column: name.into(), found })
        };
        let number = Number::of(leaf).ok_or_else(|| not_numeric(type_words(leaf)))?;
        let (name, descriptor) = (name.to_owned(), leaf.clone());
        let leaf = Leaf { index, name, number, descriptor };
        match (leaf.descriptor.max_rep_level(), leaf.descriptor.path().parts().len()) {
            (0, 1) => Ok(Self::Columns(vec![leaf])),
            (1, _) => Ok(Self::Lists(leaf)),
            // A path of several parts without repetition is a field of a record, not a column.
            (0, _) => Err(not_numeric("records".into())),
            _ => Err(not_numeric("lists of lists".into())),
        }
    }

    /// Single only where every column is.
    pub(super) fn precision(&self) -> Precision {
        let leaves = self.leaves();
        // One column that needs double precision decides for all: a block has one type.
        match leaves.iter().all(|leaf| leaf.number.precision() == Precision::Single) {
            true => Precision::Single,
            false => Precision::Double,
        }
    }

    /// The leaf columns that are read.
    pub(super) fn leaves(&self) -> &[Leaf] {
        match self {
            Self::Columns(leaves) => leaves,
            Self::Lists(leaf) => std::slice::from_ref(leaf),
        }
    }
}

/// Names of the plain columns of numbers.
pub(super) fn number_columns(metadata: &ParquetMetaData) -> Vec<String> {
    let schema = metadata.file_metadata().schema_descr();
    let plain = schema.columns().iter().filter(|leaf| {
        leaf.max_rep_level() == 0 && leaf.path().parts().len() == 1 && Number::of(leaf).is_some()
    });
    let names = plain.map(|leaf| leaf.name().to_owned());
    names.filter(|name| !name.starts_with("__index_level_")).collect()
}

/// What a column holds, for the error.
pub(super) fn type_words(column: &ColumnDescriptor) -> String {
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::String), _) | (None, ConvertedType::UTF8) => "text".into(),
        (Some(LogicalType::Decimal(_)), _) | (None, ConvertedType::DECIMAL) => "decimals".into(),
        (Some(LogicalType::Timestamp(_)), _)
        | (None, ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS) => {
            "instants".into()
        }
        (Some(LogicalType::Time(_)), _)
        | (None, ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS) => "times of day".into(),
        (Some(logical), _) => format!("{logical:?}").to_lowercase(),
        (None, ConvertedType::NONE) => format!("{:?}", column.physical_type()).to_lowercase(),
        (None, converted) => format!("{converted:?}").to_lowercase(),
    }
}

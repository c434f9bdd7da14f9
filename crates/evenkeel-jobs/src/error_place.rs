//! Where an error was found, as data: for shells whose readers are programs.

use evenkeel::error::{At, Error};
use serde::Serialize;

use crate::error::{JobError, row_of};

/// Where something is wrong, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ErrorPlace {
    /// The file or argument, as the user typed it.
    pub file: Option<String>,
    /// The row, from 0, a header not counted.
    pub row: Option<u64>,
    /// The column: its name, or its number from 0 where it has none.
    pub column: Option<String>,
    /// The line of a text file, from 1.
    pub line: Option<u64>,
}

impl ErrorPlace {
    /// Row and column that the core names.
    pub fn of_core(error: &Error) -> Self {
        let column = match error {
            Error::NotFinite { at: At::Cell { column, .. }, .. }
            | Error::Negative { at: At::Cell { column, .. }, .. }
            | Error::OutsideRange { at: At::Cell { column, .. }, .. } => Some(column.to_string()),
            _ => None,
        };
        let row = match error {
            Error::NoGroup { row, .. } | Error::UnknownGroup { row, .. } => Some(*row),
            other => row_of(other),
        };
        Self { row: row.map(|row| row as u64), column, ..Self::default() }
    }
}

impl JobError {
    /// Input, row and column of the error; a source explains itself.
    pub fn place(&self) -> ErrorPlace {
        let input =
            |input: &String| ErrorPlace { file: Some(input.clone()), ..ErrorPlace::default() };
        match self {
            Self::Core(error) => ErrorPlace::of_core(error),
            Self::In { input, error } => {
                ErrorPlace { file: Some(input.clone()), ..ErrorPlace::of_core(error) }
            }
            Self::Classes { input: name, .. }
            | Self::Count { input: name, .. }
            | Self::NoRows { input: name }
            | Self::NoLabels { input: name }
            | Self::OtherNumberOfRows { input: name, .. }
            | Self::NoneFilledIn { input: name }
            | Self::NoGroups { input: name }
            | Self::GroupsNotUsed { input: name }
            | Self::NotCheckable { input: name, .. } => input(name),
            Self::LabeledTwice { input: name, row }
            | Self::LabeledOtherwise { input: name, row, .. }
            | Self::NoSuchClass { input: name, row, .. }
            | Self::NoSuchRow { input: name, row } => {
                ErrorPlace { row: Some(*row as u64), ..input(name) }
            }
            Self::OtherRow { input: name, row, .. } => {
                ErrorPlace { row: Some(*row), ..input(name) }
            }
            Self::Group { error, .. } => error.place(),
            Self::Calibration(_) | Self::Stopped | Self::Source(_) => ErrorPlace::default(),
        }
    }
}

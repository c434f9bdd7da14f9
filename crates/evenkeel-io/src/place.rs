//! Where in a file an error was found, as data: for shells whose readers are programs.

use crate::csv::CsvProblem;
use crate::error::IoError;
use crate::json_lines::JsonLineProblem;
use crate::parquet::ParquetProblem;
use evenkeel_jobs::ErrorPlace;
use std::fmt;
use std::path::Path;

/// Where a label stands: arrays and columns have rows, sheets have lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelPlace {
    /// A row, counted from 0.
    Row(usize),
    /// A line of a text, counted from 1.
    Line(usize),
}

impl fmt::Display for LabelPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row(row) => write!(f, "row {row}"),
            Self::Line(line) => write!(f, "line {line}"),
        }
    }
}

impl IoError {
    /// File, row, line and column of the error, as far as it has them.
    pub fn place(&self) -> ErrorPlace {
        let file =
            |origin: &str| ErrorPlace { file: Some(origin.to_owned()), ..ErrorPlace::default() };
        let named = |path: &Path| file(&crate::text_of_path(path));
        match self {
            Self::UnknownFormat { origin } => file(origin),
            Self::UnexpectedSelector { path, .. }
            | Self::EmptySelector { path, .. }
            | Self::Open { path, .. }
            | Self::NotAFile { path, .. }
            | Self::UnknownOutputFormat { path }
            | Self::NeedsAFile { path }
            | Self::IdsNeedATable { path }
            | Self::IdColumn { path, .. }
            | Self::NameWithSeparator { path, .. }
            | Self::Folder { path, .. }
            | Self::Write { path, .. }
            | Self::KeepStdin { folder: path, .. } => named(path),
            Self::ClassName { path, line, .. } => {
                ErrorPlace { line: Some(*line as u64), ..named(path) }
            }
            Self::Read { origin, .. }
            | Self::NoRows { origin }
            | Self::TooWide { origin, .. }
            | Self::Npy { origin, .. }
            | Self::Npz { origin, .. }
            | Self::NotOneColumn { origin, .. }
            | Self::Swapped { labels: origin, .. }
            | Self::WrongCount { origin, .. }
            | Self::NoNames { origin }
            | Self::OneClass { origin }
            | Self::NoClassNames { origin }
            | Self::GivenTwice { origin }
            | Self::NamesInAnotherOrder { origin, .. }
            | Self::OtherColumns { origin, .. }
            | Self::OtherClasses { origin, .. }
            | Self::Inflated { origin, .. }
            | Self::OutOfMemory { origin, .. } => file(origin),
            Self::NoColumn { origin, name, .. } | Self::SameNames { origin, name } => {
                ErrorPlace { column: Some(name.clone()), ..file(origin) }
            }
            Self::TargetLabels { origin, line, .. }
            | Self::AmbiguousLabel { origin, place: LabelPlace::Line(line), .. } => {
                ErrorPlace { line: Some(*line as u64), ..file(origin) }
            }
            Self::UnnamedColumn { origin, column } => {
                ErrorPlace { column: Some(column.to_string()), ..file(origin) }
            }
            Self::NamesOrRow { origin, .. } => ErrorPlace { line: Some(1), ..file(origin) },
            Self::NotALabel { origin, row, .. }
            | Self::NoLabel { origin, row }
            | Self::AmbiguousLabel { origin, place: LabelPlace::Row(row), .. }
            | Self::NotAClass { origin, row, .. } => {
                ErrorPlace { row: Some(*row as u64), ..file(origin) }
            }
            Self::Csv { origin, line, problem } => ErrorPlace {
                line: Some(*line),
                column: match problem {
                    CsvProblem::NotANumber { column, .. } => Some(column.to_string()),
                    _ => None,
                },
                ..file(origin)
            },
            Self::JsonLine { origin, line, problem } => ErrorPlace {
                line: Some(*line),
                column: match problem {
                    JsonLineProblem::Missing { field }
                    | JsonLineProblem::Twice { field }
                    | JsonLineProblem::NewField { field }
                    | JsonLineProblem::NotANumber { field, .. } => Some(field.clone()),
                    _ => None,
                },
                ..file(origin)
            },
            Self::Column { origin, problem }
            | Self::Parquet { origin, problem: ParquetProblem::Column(problem) } => {
                let (row, column) = problem.place();
                ErrorPlace { row, column: column.map(str::to_owned), ..file(origin) }
            }
            Self::Arrow { origin, .. } | Self::Parquet { origin, .. } => file(origin),
            Self::Core { origin, error } => {
                ErrorPlace { file: Some(origin.to_string()), ..ErrorPlace::of_core(error) }
            }
        }
    }
}

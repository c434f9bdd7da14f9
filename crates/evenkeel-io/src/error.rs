//! The one error type of reading and writing: which file, where in it, what was found, what to do.

use crate::arrow::ArrowProblem;
use crate::class_names::ClassNameProblem;
use crate::column_problem::ColumnProblem;
use crate::csv::CsvProblem;
use crate::folder::FolderProblem;
use crate::json_lines::JsonLineProblem;
use crate::npy::NpyProblem;
use crate::npz::NpzProblem;
use crate::parquet::ParquetProblem;
use crate::place::LabelPlace;
use crate::source::Format;
use evenkeel_jobs::{JobError, PerRow, counted_from};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Result of every fallible operation of this crate.
pub type Result<T, E = IoError> = std::result::Result<T, E>;

/// What can go wrong between a path and a matrix, or between sets and a file.
///
/// `origin` is the input as the user typed it, selector included; rows and columns count from 0, lines from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The name of an input does not say what it is.
    #[error(
        "{origin}: unknown file type; expected .npy, .npz, .csv, .tsv, .jsonl, .parquet or .arrow"
    )]
    UnknownFormat {
        /// The argument as the user typed it.
        origin: String,
    },
    /// A selector after a file that has nothing to select from.
    #[error("{}: a {format} file holds one matrix; drop ':{selector}'", path.display())]
    UnexpectedSelector {
        /// Path of the file.
        path: PathBuf,
        /// What stands after the colon.
        selector: String,
        /// Format of the file.
        format: Format,
    },
    /// A colon with nothing after it.
    #[error("{}: nothing stands after the ':'; name {} or drop the colon", path.display(), format.part())]
    EmptySelector {
        /// Path of the file.
        path: PathBuf,
        /// Format of the file.
        format: Format,
    },
    /// The system would not open a file.
    #[error("{}: cannot be opened: {}; check the path and its permissions", path.display(), reason(error))]
    Open {
        /// Path of the file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A path that leads to something else than a file.
    #[error("{}: is {found}, not a file; give the path of a file", path.display())]
    NotAFile {
        /// The path as it was given.
        path: PathBuf,
        /// What it leads to, in words.
        found: &'static str,
    },
    /// Reading failed after the file was opened.
    #[error("{origin}: cannot be read: {}; the file may be damaged", reason(error))]
    Read {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// What the system or the decoder said.
        error: io::Error,
    },
    /// A sheet of labels with something else in it.
    #[error("{origin}: line {line}: found '{found}'; expected {expected}")]
    TargetLabels {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// The line, from 1.
        line: usize,
        /// What stands there, cut short.
        found: String,
        /// What should stand there.
        expected: &'static str,
    },
    /// A table without a column that is needed.
    #[error("{origin}: has no column '{name}', only {found}; name one of these")]
    NoColumn {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// The column.
        name: String,
        /// Columns that are there.
        found: String,
    },
    /// Columns are chosen by name, and have none.
    #[error(
        "{origin}: its columns have no names to choose by; add a header, or give a table that has one"
    )]
    NoNames {
        /// The input as the user typed it.
        origin: Arc<str>,
    },
    /// Two columns of one name, of which one is chosen.
    #[error("{origin}: two columns are called '{name}'; give each a name of its own")]
    SameNames {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// The name.
        name: String,
    },
    /// Columns whose names are not those of the calibration data.
    #[error("{}", other_columns_words(origin, missing.as_deref(), surplus.as_deref()))]
    OtherColumns {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// Classes that have no column.
        missing: Option<String>,
        /// Columns that are no class.
        surplus: Option<String>,
    },
    /// A row without a label.
    #[error("{origin}: row {row} has no label; fill the gap or remove the row")]
    NoLabel {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// Row of the file, counted from 0.
        row: usize,
    },
    /// Labels that are words, beside classes without names.
    #[error(
        "{origin}: its labels are words, and the classes of the calibration have no names; give their names in the order of the columns \
         (--class-names), or labels that are numbers from 0"
    )]
    NoClassNames {
        /// The input as the user typed it.
        origin: Arc<str>,
    },
    /// Class names that are those of the columns, in another order.
    #[error(
        "{origin}: its columns are {columns}, and the class names have {name} in another place; put the names in the order of the columns, \
         or leave --class-names out"
    )]
    NamesInAnotherOrder {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// The first name that stands elsewhere.
        name: String,
        /// What the columns are called.
        columns: String,
    },
    /// A matrix of probabilities with a single column.
    #[error(
        "{origin}: it has one column of numbers, and sets need one for each class, two at least; for two classes give both, 1 - p and p"
    )]
    OneClass {
        /// The input as the user typed it.
        origin: Arc<str>,
    },
    /// A column without a name among columns that have names.
    #[error(
        "{origin}: column {column} has no name, and the others have; it is likely the index of a table: write it without one (index=False), \
         or say which columns are classes (--prob-cols)"
    )]
    UnnamedColumn {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// The column, counted from 0.
        column: usize,
    },
    /// A first line that may be names or numbers.
    #[error(
        "{origin}: the first line, {line}, may be the names of the columns or a row; name them by words, or write the row with decimals (1.0)"
    )]
    NamesOrRow {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// The line.
        line: String,
    },
    /// A folder or a pattern in which something cannot be read as it stands.
    #[error("{}: {problem}", path.display())]
    Folder {
        /// What was found.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: FolderProblem,
    },
    /// A file that is given more than once.
    #[error("{origin}: is given twice, and its rows would count twice; give each file once")]
    GivenTwice {
        /// The file.
        origin: Arc<str>,
    },
    /// A label that names no class.
    #[error(
        "{origin}: row {row} has the label '{found}', which names no class; the classes are {classes}; give them names (--class-names), or \
         choose their columns with a star for the names (--prob-cols 'p_*')"
    )]
    NotAClass {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// Row of the file, counted from 0.
        row: usize,
        /// What stands there, cut short.
        found: String,
        /// The names of the classes.
        classes: String,
    },
    /// Labels that name other classes than there are columns.
    #[error(
        "{origin}: its labels are {found} words ({names}), but there are {classes} classes; name the classes with --class-names, or \
         give them columns of their names"
    )]
    OtherClasses {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// Different labels found.
        found: usize,
        /// Some of them.
        names: String,
        /// Number of classes.
        classes: usize,
    },
    /// A label that is one class by its number and another by its name.
    #[error(
        "{origin}: {place}: '{found}' is the number of one class and the name of another; write the name of the class in a column of \
         a table, or number the columns from 0 in their order and leave other class names out"
    )]
    AmbiguousLabel {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// Where it stands.
        place: LabelPlace,
        /// What stands there.
        found: String,
    },
    /// A file without a single row.
    #[error("{origin}: holds no rows; give at least one")]
    NoRows {
        /// The input as the user typed it.
        origin: Arc<str>,
    },
    /// More columns than a row may have.
    #[error(
        "{origin}: a row of {columns} columns; at most {limit} can be read; is the matrix transposed?"
    )]
    TooWide {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// Number of columns found.
        columns: u64,
        /// Largest number of columns that can be read.
        limit: usize,
    },
    /// Something is wrong in an npy array.
    #[error("{origin}: {problem}")]
    Npy {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// What was found, and what to do about it.
        problem: NpyProblem,
    },
    /// Something is wrong in an npz archive.
    #[error("{origin}: {problem}")]
    Npz {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// What was found, and what to do about it.
        problem: NpzProblem,
    },
    /// Something is wrong in a line of a csv file.
    #[error("{origin}, line {line}: {problem}")]
    Csv {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// The line, counted from 1.
        line: u64,
        /// What was found, and what to do about it.
        problem: CsvProblem,
    },
    /// Something is wrong in a parquet file.
    #[error("{origin}: {problem}")]
    Parquet {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// What was found, and what to do about it.
        problem: ParquetProblem,
    },
    /// Something is wrong in a line of a file of JSON lines.
    #[error("{origin}, line {line}: {problem}")]
    JsonLine {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// The line, counted from 1.
        line: u64,
        /// What was found, and what to do about it.
        problem: JsonLineProblem,
    },
    /// Something is wrong in an Arrow file or stream.
    #[error("{origin}: {problem}")]
    Arrow {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// What was found, and what to do about it.
        problem: ArrowProblem,
    },
    /// Something is wrong with a column of a table.
    #[error("{origin}: {problem}")]
    Column {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// What was found, and what to do about it.
        problem: ColumnProblem,
    },
    /// Several columns where one is needed.
    #[error(
        "{origin}: {what} need one column, found {columns}; select one (file.npz:key, file.csv:column, file.parquet:column), \
         and check that this is not the matrix of probabilities"
    )]
    NotOneColumn {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// What was to be read.
        what: &'static str,
        /// Number of columns found.
        columns: usize,
    },
    /// Several columns where labels are needed, beside a matrix of probabilities: most likely the two were swapped.
    #[error(
        "{labels} has {columns} columns, but labels are one integer per row; were {matrix} and {labels} swapped?"
    )]
    Swapped {
        /// What was given as labels.
        labels: Arc<str>,
        /// Its columns.
        columns: usize,
        /// What was given as probabilities.
        matrix: String,
    },
    /// A number that is not a label.
    #[error(
        "{origin}: labels[{row}] is {value:?}; labels are whole numbers from 0: remove the row, or give its label"
    )]
    NotALabel {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// Row of the file, counted from 0.
        row: usize,
        /// What was found there.
        value: f64,
    },
    /// Fewer or more entries than the rows or classes they belong to.
    #[error("{origin}: {found} {what}, but {expected} are needed; do the files belong together?")]
    WrongCount {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// What was counted, in the plural.
        what: &'static str,
        /// Number of entries found.
        found: usize,
        /// Number of entries needed.
        expected: usize,
    },
    /// Something is wrong in a file of class names.
    #[error("{}, line {line}: {problem}", path.display())]
    ClassName {
        /// Path of the file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What was found, and what to do about it.
        problem: ClassNameProblem,
    },
    /// The core refused what the file holds.
    #[error("{origin}: {error}")]
    Core {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// What the core found, rows counted in the file.
        error: Box<evenkeel::Error>,
    },
    /// The name of an output does not say what to write.
    #[error("{}: prediction sets are written to .npy, .csv, .jsonl or .parquet; choose one of these", path.display())]
    UnknownOutputFormat {
        /// The path as it was given.
        path: PathBuf,
    },
    /// Columns to pass through to a matrix.
    #[error("{}: an npy file holds sets and nothing else; write .csv, .jsonl or .parquet to pass columns through", path.display())]
    IdsNeedATable {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A column to pass through whose name is taken.
    #[error("{}: column '{name}' cannot be passed through, the file has one of this name; rename it", path.display())]
    IdColumn {
        /// The path as it was given.
        path: PathBuf,
        /// The column.
        name: String,
    },
    /// A pipe or device where the format needs a file.
    #[error(
        "{}: is a pipe or device, and npy has its row count in front, which is known only in the end; \
         name a file, or write .csv, .jsonl or .parquet",
        path.display()
    )]
    NeedsAFile {
        /// The path as it was given.
        path: PathBuf,
    },
    /// More numbers than a machine should hold, in a small file.
    #[error(
        "{origin}: {bytes} bytes of numbers in a file of {stored}, more than is read into memory at once; \
         give fewer rows, or save them as .npy"
    )]
    Inflated {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// Bytes that the numbers take in memory, as far as they were counted.
        bytes: u64,
        /// Bytes of the file.
        stored: u64,
    },
    /// The machine has no room for the numbers.
    #[error("{origin}: {bytes} bytes of numbers do not fit into memory; give fewer rows")]
    OutOfMemory {
        /// The input as the user typed it.
        origin: Arc<str>,
        /// Bytes that could not be had.
        bytes: u64,
    },
    /// An output could not be written; nothing was left behind.
    #[error("{}: cannot be written: {}; {}", path.display(), reason(error), remedy(error))]
    Write {
        /// The file that was to be written.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// What came on stdin could not be kept, which it must be to be read twice.
    #[error(
        "-: what comes on stdin cannot be kept in {}: {}; make room there, or set TMPDIR to a folder that has it",
        folder.display(),
        reason(error)
    )]
    KeepStdin {
        /// The folder for temporary files.
        folder: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A class name that the format cannot hold unambiguously.
    #[error(
        "{}: class name {name:?} contains '{separator}', which separates labels here; write .jsonl or .parquet",
        path.display()
    )]
    NameWithSeparator {
        /// The file that was to be written.
        path: PathBuf,
        /// The class name.
        name: String,
        /// What the format puts between labels.
        separator: char,
    },
}

/// What kind of trouble an error is: exit codes and exceptions follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// The argument itself is wrong: path, selector or file name extension.
    Argument,
    /// The file does not hold what it should.
    Content,
    /// Several inputs do not fit each other.
    Incompatible,
    /// The system refused: permissions, space, devices.
    System,
    /// The core refused the numbers.
    Core(evenkeel::error::Category),
}

impl IoError {
    /// The kind of trouble, for callers that map errors to codes.
    pub fn category(&self) -> Category {
        match self {
            Self::UnknownFormat { .. }
            | Self::UnexpectedSelector { .. }
            | Self::EmptySelector { .. }
            | Self::NotAFile { .. }
            | Self::UnknownOutputFormat { .. }
            | Self::NeedsAFile { .. }
            | Self::IdsNeedATable { .. }
            | Self::IdColumn { .. }
            | Self::Folder { .. }
            | Self::GivenTwice { .. }
            | Self::NameWithSeparator { .. } => Category::Argument,
            Self::Open { .. }
            | Self::Write { .. }
            | Self::KeepStdin { .. }
            | Self::OutOfMemory { .. } => Category::System,
            Self::Read { .. }
            | Self::NoRows { .. }
            | Self::TargetLabels { .. }
            | Self::NoColumn { .. }
            | Self::NoNames { .. }
            | Self::SameNames { .. }
            | Self::NotAClass { .. }
            | Self::NoLabel { .. }
            | Self::OneClass { .. }
            | Self::NoClassNames { .. }
            | Self::UnnamedColumn { .. }
            | Self::NamesOrRow { .. }
            | Self::AmbiguousLabel { .. }
            | Self::TooWide { .. }
            | Self::Inflated { .. }
            | Self::Npy { .. }
            | Self::Npz { .. }
            | Self::Csv { .. }
            | Self::Parquet { .. }
            | Self::JsonLine { .. }
            | Self::Arrow { .. }
            | Self::Column { .. }
            | Self::NotOneColumn { .. }
            | Self::NotALabel { .. }
            | Self::ClassName { .. } => Category::Content,
            Self::WrongCount { .. }
            | Self::NamesInAnotherOrder { .. }
            | Self::OtherColumns { .. }
            | Self::OtherClasses { .. }
            | Self::Swapped { .. } => Category::Incompatible,
            Self::Core { error, .. } => Category::Core(error.category()),
        }
    }

    /// Labels with many columns next to a matrix: most likely the two were swapped.
    pub(crate) fn or_swapped(self, what: PerRow, matrix: &str) -> Self {
        match self {
            Self::NotOneColumn { origin: labels, columns, .. } if what == PerRow::Label => {
                Self::Swapped { labels, columns, matrix: matrix.to_owned() }
            }
            other => other,
        }
    }

    /// An error of the core about rows that start at `first_row` of the input.
    ///
    /// The core counts rows from the start of what it was given; with `first_row > 0` they are counted in the file.
    pub fn from_core(origin: &Arc<str>, first_row: usize, error: evenkeel::Error) -> Self {
        Self::Core { origin: Arc::clone(origin), error: Box::new(counted_from(first_row, error)) }
    }
}

impl From<IoError> for JobError {
    fn from(error: IoError) -> Self {
        Self::from_source(error)
    }
}

/// The system's words without "(os error 2)", which tells a user nothing.
fn reason(error: &io::Error) -> String {
    let words = error.to_string();
    match words.find(" (os error") {
        Some(end) => words[..end].to_owned(),
        None => words,
    }
}

/// What to do about a failed write.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "create the directory first",
        io::ErrorKind::IsADirectory => "name a file in it",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "free some space or write elsewhere"
        }
        _ => "check the path and its permissions",
    }
}

/// What is wrong with the columns of a table, and what to do.
fn other_columns_words(origin: &str, missing: Option<&str>, surplus: Option<&str>) -> String {
    let finding = match (missing, surplus) {
        (Some(missing), Some(surplus)) => {
            format!(
                "it has no column for {missing}, and {surplus} are not among the columns of the calibration data"
            )
        }
        (Some(missing), None) => {
            format!("it has no column for {missing}, which the calibration data have")
        }
        (None, surplus) => {
            format!(
                "{} are not among the columns of the calibration data",
                surplus.unwrap_or_default()
            )
        }
    };
    format!(
        "{origin}: {finding}; give the outputs of the same model, and say which columns they are (--prob-cols)"
    )
}

/// A few names in words; files may hold thousands.
pub(crate) fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

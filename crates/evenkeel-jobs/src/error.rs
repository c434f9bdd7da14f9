//! Why a job could not be done: what was found, and in which input.

use evenkeel::error::{At, Category, Error};

/// Result of every job.
pub type Result<T, E = JobError> = std::result::Result<T, E>;

/// Says an error of the core in the words of a shell, which knows how its options are typed.
pub type Spell<'a> = &'a dyn Fn(&Error) -> String;

/// The core's own words: what a shell without options of its own passes as [`Spell`].
///
/// Options then have the core's own names.
pub fn plainly(error: &Error) -> String {
    error.to_string()
}

/// Why a job could not be done. `input` is what the caller calls a source of rows: a file, an argument.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// A setting, or data that no single input is to blame for.
    #[error("{0}")]
    Core(#[from] Error),
    /// What an input holds.
    #[error("{input}: {error}")]
    In {
        /// The input at fault, as the shell names it: a path, or an argument.
        input: String,
        /// What is wrong; rows are counted from the start of the input.
        error: Box<Error>,
    },
    /// Rows of another model.
    #[error(
        "{input} has {found} columns but the calibration data have {classes} classes; give the outputs of the same model"
    )]
    Classes {
        /// The input at fault, as the shell names it: a path, or an argument.
        input: String,
        /// Number of columns it has.
        found: usize,
        /// Classes of the calibration data.
        classes: usize,
    },
    /// Labels or side inputs that are not as many as the rows they belong to.
    #[error(
        "{input} has {found} {} but {matrix} has {}{rows} rows; give one {} for each",
        what.many(),
        if *more { "at least " } else { "" },
        what.one()
    )]
    Count {
        /// The input at fault, as the shell names it: a path, or an argument.
        input: String,
        /// What one row of it should hold.
        what: PerRow,
        /// How many there are.
        found: usize,
        /// The input they belong to.
        matrix: String,
        /// Its rows, as far as they are known.
        rows: usize,
        /// Whether it may have more.
        more: bool,
    },
    /// A source without rows.
    #[error("{input}: holds no rows; give at least one")]
    NoRows {
        /// The input at fault, as the shell names it: a path, or an argument.
        input: String,
    },
    /// Labels are needed and none were given.
    #[error("{input}: its rows have no labels; give one label for each")]
    NoLabels {
        /// The input at fault, as the shell names it: a path, or an argument.
        input: String,
    },
    /// A target row that is labeled twice.
    #[error("{input}: row {row} is labeled twice; give each row at most one label")]
    LabeledTwice {
        /// The input at fault, as the shell names it: a path, or an argument.
        input: String,
        /// The row, from 0.
        row: usize,
    },
    /// A target row that has another label than before.
    #[error(
        "{input}: row {row} has the label {label}, but the calibration was made with the label {before} for it; correct one of them, \
         or calibrate anew with all labels"
    )]
    LabeledOtherwise {
        /// The input at fault, as the shell names it: a path, or an argument.
        input: String,
        /// The row, from 0.
        row: usize,
        /// Its label there.
        label: usize,
        /// Its label before.
        before: usize,
    },
    /// A labeled target row that is another one than when the calibration was made.
    #[error(
        "{input}: row {row} has other probabilities than when {calibration} was made; give the same target rows in the same order, or \
         calibrate anew"
    )]
    OtherRow {
        /// The target rows, as the shell names them.
        input: String,
        /// The calibration, as the shell names it.
        calibration: String,
        /// The row, from 0.
        row: u64,
    },
    /// A label of a target row that is no class.
    #[error(
        "{input}: row {row} has the label {label}, but there are {classes} classes; labels run from 0 to {}",
        classes.saturating_sub(1)
    )]
    NoSuchClass {
        /// The input at fault, as the shell names it: a path, or an argument.
        input: String,
        /// The row, from 0.
        row: usize,
        /// Its label.
        label: usize,
        /// Number of classes.
        classes: usize,
    },
    /// A label of a row that the target data do not have.
    #[error(
        "{input}: row {row} is labeled, but the target data do not have so many rows; rows count from 0"
    )]
    NoSuchRow {
        /// The input at fault, as the shell names it: a path, or an argument.
        input: String,
        /// The row, from 0.
        row: usize,
    },
    /// Labels that stand in a column of another length than the target data.
    #[error(
        "{input}: it has {entries} entries and the target data have {rows} rows; give one for each row, with gaps where a label is not \
         known, or a sheet with the columns row and label"
    )]
    OtherNumberOfRows {
        /// The input at fault, as the shell names it: a path, or an argument.
        input: String,
        /// Entries, labels and gaps.
        entries: usize,
        /// Rows of the target data.
        rows: usize,
    },
    /// Labels were promised and none is there.
    #[error("{input}: there is no label in it; fill some in, or leave it out")]
    NoneFilledIn {
        /// The input at fault, as the shell names it: a path, or an argument.
        input: String,
    },
    /// What went wrong with the rows of one group.
    #[error("group {group}: {error}")]
    Group {
        /// Its name, or those of the groups it is merged with.
        group: String,
        /// What.
        error: Box<Self>,
    },
    /// A calibration per group, and rows without groups.
    #[error(
        "{input}: its rows have no groups, and the calibration is one for each group; give the group of each row"
    )]
    NoGroups {
        /// The rows, as the shell names them.
        input: String,
    },
    /// Groups for a calibration that does not know any.
    #[error(
        "{input}: groups have no use here: the calibration has one for all groups; leave them out, or calibrate per group"
    )]
    GroupsNotUsed {
        /// The groups, as the shell names them.
        input: String,
    },
    /// A calibration with which this cannot be done: a check, or adding labels.
    #[error("{input}: {why}")]
    NotCheckable {
        /// The calibration, as the shell names it.
        input: String,
        /// Why not, and what to do instead.
        why: &'static str,
    },
    /// A text that should be a calibration and is not.
    #[error("{0}")]
    Calibration(String),
    /// The observer asked the job to end.
    #[error("stopped on request")]
    Stopped,
    /// What a source of rows says about itself: a file that cannot be read, a connection that broke.
    #[error("{0}")]
    Source(Box<dyn std::error::Error + Send + Sync>),
}

impl JobError {
    /// What a source, or a place results go to, says about itself.
    pub fn from_source(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Source(Box::new(error))
    }

    /// An error of the core about what `input` holds.
    pub fn found_in(input: &str, error: Error) -> Self {
        Self::In { input: input.to_owned(), error: Box::new(error) }
    }

    /// Names the input whose rows were being read when the error came up.
    ///
    /// A setting that comes to light while rows are read is not the rows' fault.
    #[must_use]
    pub fn while_reading(self, input: &str) -> Self {
        match self {
            Self::Core(error) if error.category() == Category::InvalidInput => {
                Self::found_in(input, error)
            }
            other => other,
        }
    }

    /// Whether what the core was given was the reason, so that another method might do.
    pub fn is_about_data(&self) -> bool {
        matches!(self, Self::Core(_) | Self::In { .. })
    }

    /// The kind of mistake; none where a source or an observer ended the job.
    pub fn category(&self) -> Option<Category> {
        match self {
            Self::Core(error) => Some(error.category()),
            Self::In { error, .. } => Some(error.category()),
            Self::Classes { .. }
            | Self::Count { .. }
            | Self::NoRows { .. }
            | Self::LabeledTwice { .. }
            | Self::LabeledOtherwise { .. }
            | Self::OtherRow { .. }
            | Self::NoSuchClass { .. }
            | Self::NoSuchRow { .. }
            | Self::OtherNumberOfRows { .. }
            | Self::NoneFilledIn { .. }
            | Self::NoGroups { .. }
            | Self::NoLabels { .. } => Some(Category::InvalidInput),
            Self::Group { error, .. } => error.category(),
            Self::Calibration(_) | Self::NotCheckable { .. } | Self::GroupsNotUsed { .. } => {
                Some(Category::Incompatible)
            }
            // Nobody's mistake, or one that the source explains itself.
            Self::Stopped | Self::Source(_) => None,
        }
    }

    /// The row the core found at fault, counted from the start of the input.
    pub fn row(&self) -> Option<usize> {
        match self {
            Self::Core(error) => row_of(error),
            Self::In { error, .. } => row_of(error),
            Self::Group { error, .. } => error.row(),
            _ => None,
        }
    }

    /// The key it is about, where that is no row at hand: one of two rows, or of a row that did not come.
    pub fn key(&self) -> Option<u64> {
        match self {
            Self::Core(error) => key_of(error),
            Self::In { error, .. } => key_of(error),
            Self::Group { error, .. } => error.key(),
            _ => None,
        }
    }

    /// The message, with errors of the core in a shell's own words.
    pub fn spelled(&self, spell: Spell<'_>) -> String {
        match self {
            Self::Core(error) => spell(error),
            Self::In { input, error } => format!("{input}: {}", spell(error)),
            Self::Group { group, error } => format!("group {group}: {}", error.spelled(spell)),
            other => other.to_string(),
        }
    }
}

/// What there is one of for each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerRow {
    /// A class index, from 0.
    Label,
    /// A row of features.
    Features,
    /// A likelihood ratio `dQ/dP`, zero or positive.
    Ratio,
    /// A weight of the user, zero or positive.
    Weight,
    /// A row of a second model's probabilities.
    Second,
    /// The name of a group.
    Group,
}

impl PerRow {
    /// One of them, in words.
    pub fn one(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Features => "row of features",
            Self::Ratio => "ratio",
            Self::Weight => "weight",
            Self::Second => "row of probabilities",
            Self::Group => "group",
        }
    }

    /// Many of them.
    pub fn many(self) -> &'static str {
        match self {
            Self::Label => "labels",
            Self::Features => "rows of features",
            Self::Ratio => "ratios",
            Self::Weight => "weights",
            Self::Second => "rows",
            Self::Group => "groups",
        }
    }
}

/// The row an error of the core speaks of.
pub(crate) fn row_of(error: &Error) -> Option<usize> {
    match error {
        Error::NotFinite { at, .. }
        | Error::Negative { at, .. }
        | Error::OutsideRange { at, .. } => match at {
            At::Anywhere => None,
            At::Index(row) | At::Row(row) | At::Cell { row, .. } => Some(*row),
        },
        Error::NotNormalised { row, .. }
        | Error::NoAllowedLabel { row }
        | Error::NoPlausibleLabel { row }
        | Error::NoGroup { row, .. }
        | Error::UnknownGroup { row, .. }
        | Error::LabelOutOfRange { index: row, .. } => Some(*row),
        _ => None,
    }
}

fn key_of(error: &Error) -> Option<u64> {
    match error {
        Error::DuplicateKey { key } | Error::LabelWithoutRow { key, .. } => Some(*key),
        _ => None,
    }
}

/// The same error with its rows counted from the start of the whole input, of which the rows at hand begin at `first_row`.
pub fn counted_from(first_row: usize, mut error: Error) -> Error {
    match &mut error {
        Error::NotFinite { at, .. }
        | Error::Negative { at, .. }
        | Error::OutsideRange { at, .. } => {
            match at {
                // The name says it all: there is no row to count.
                At::Anywhere => {}
                At::Index(row) | At::Row(row) | At::Cell { row, .. } => *row += first_row,
            }
        }
        Error::NotNormalised { row, .. }
        | Error::NoAllowedLabel { row }
        | Error::NoPlausibleLabel { row }
        | Error::LabelOutOfRange { index: row, .. } => *row += first_row,
        _ => {}
    }
    error
}

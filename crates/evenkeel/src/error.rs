//! The one error type of the core: data in fields, and in words what was found, where, and what to do.
//!
//! Errors about something a caller gave carry an [`Input`]; [`Error::spelled`] says it in the words of a shell.

mod spelling;

use std::fmt;

pub use spelling::{Input, PointSet, SideInput, User};
// Hidden: how our shells put their own names of inputs into the text of an error.
#[doc(hidden)]
pub use spelling::{Neutral, Spelling};
use spelling::{listed, not_used};

/// Result of every fallible operation of the core.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Where in the input a value stands. Positions count from 0, as in the user's arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// An entry of a vector.
    Index(usize),
    /// Somewhere: the name says it all.
    Anywhere,
    /// Some entry of a row.
    Row(usize),
    /// An entry of a matrix.
    Cell {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
    },
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Anywhere => Ok(()),
            Self::Row(row) => write!(f, " of row {row}"),
            Self::Cell { row, column } => write!(f, "[row {row}, column {column}]"),
        }
    }
}

/// What can be wrong with what the core was given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing was given where at least one value is needed.
    #[error("{what} is empty; give at least one value")]
    Empty {
        /// Name of the input.
        what: &'static str,
    },
    /// The second pass over the target data saw other rows than the first.
    #[error(
        "the second pass read {now} target rows, the first read {before}, or rows with other keys; read the same rows in both passes"
    )]
    OtherRows {
        /// Rows of the first pass.
        before: u64,
        /// Rows of the second.
        now: u64,
    },
    /// Two inputs that describe the same points have different lengths.
    #[error(
        "{what} has {found} entries but {other} has {expected}; the two must describe the same points"
    )]
    LengthMismatch {
        /// Name of the offending input.
        what: &'static str,
        /// Its length.
        found: usize,
        /// Name of the input it must match.
        other: &'static str,
        /// Length of that input.
        expected: usize,
    },
    /// A flat buffer cannot be cut into rows of the stated width.
    #[error(
        "{what} holds {values} values, which is not a whole number of rows of {columns} columns; check the shape"
    )]
    Ragged {
        /// Name of the input.
        what: &'static str,
        /// Values in the buffer.
        values: usize,
        /// Columns asked for.
        columns: usize,
    },
    /// A NaN or an infinity where a finite number is needed.
    #[error("{what}{at} is {value:?}; remove the point or impute a finite value")]
    NotFinite {
        /// Name of the input.
        what: &'static str,
        /// Position of the value.
        at: At,
        /// The value found.
        value: f64,
    },
    /// A negative number where a mass, weight or probability is needed.
    #[error("{what}{at} is {value:?}; it must be zero or positive{}", logits_hint(what, &Neutral))]
    Negative {
        /// Name of the input.
        what: &'static str,
        /// Position of the value.
        at: At,
        /// The value found.
        value: f64,
    },
    /// A row that should be a probability vector does not sum to one.
    #[error(
        "{what} row {row} sums to {sum:?}; rows must sum to 1 within {tolerance}{}",
        logits_hint(what, &Neutral)
    )]
    NotNormalised {
        /// Name of the input.
        what: &'static str,
        /// The row.
        row: usize,
        /// Its sum.
        sum: f64,
        /// Largest deviation from one that is accepted.
        tolerance: f64,
    },
    /// All weights are zero, so they cannot be normalised.
    #[error("{what} sum to zero; at least one must be positive")]
    ZeroTotal {
        /// Name of the input.
        what: &'static str,
    },
    /// A label that names no class.
    #[error(
        "{what}[{index}] is {label} but there are {classes} classes, so labels run from 0 to {}; \
         check that labels start at 0 and belong to this matrix",
        classes.saturating_sub(1)
    )]
    LabelOutOfRange {
        /// Name of the input.
        what: &'static str,
        /// Position of the label.
        index: usize,
        /// The label found.
        label: usize,
        /// Number of classes.
        classes: usize,
    },
    /// A row whose mask forbids every label.
    #[error("the label mask allows no label in row {row}; allow at least one")]
    NoAllowedLabel {
        /// The row.
        row: usize,
    },
    /// A row whose plausibility is zero on every allowed label.
    #[error(
        "the plausibility of row {row} is zero for every label the mask allows; widen the mask or raise the temperature"
    )]
    NoPlausibleLabel {
        /// The row.
        row: usize,
    },
    /// A construction that needs plausibilities met a table without them.
    #[error(
        "the {construction} sandwich needs a plausibility for every candidate label; \
         give one (for a classifier, its probabilities) or use min-max"
    )]
    NoPlausibility {
        /// The construction asked for.
        construction: &'static str,
    },
    /// A parameter outside its range.
    #[error("{what} is {value:?}; it must be {expected}")]
    OutOfRange {
        /// Name of the parameter.
        what: &'static str,
        /// The value found.
        value: f64,
        /// The range, in words.
        expected: &'static str,
    },
    /// Too few of something for the operation to mean anything.
    #[error("{what}: {found} given, but at least {least} needed")]
    TooFew {
        /// Name of the quantity.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are needed.
        least: usize,
    },
    /// More of something than memory or time allow.
    #[error("{what}: {found} given, but at most {most} are possible; {instead}")]
    TooMany {
        /// Name of the quantity.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are possible.
        most: usize,
        /// What to do.
        instead: &'static str,
    },
    /// An iteration that ends on every well-scaled problem did not.
    #[error(
        "{what} did not converge: after {steps} steps the optimality conditions are still violated by {remaining:e}, more \
         than the {tolerance:e} allowed; rescale features and scores to about one, or raise the penalty"
    )]
    NotConverged {
        /// What was computed.
        what: &'static str,
        /// Steps taken.
        steps: usize,
        /// What is still wrong.
        remaining: f64,
        /// What would have been accepted.
        tolerance: f64,
    },
    /// The two ends of an interval are in the wrong order.
    #[error(
        "{what} runs from {low:?} to {high:?}; the low end must be below the high end, and the width finite"
    )]
    EmptyInterval {
        /// Name of the interval.
        what: &'static str,
        /// Low end.
        low: f64,
        /// High end.
        high: f64,
    },
    /// A sequence that should increase does not.
    #[error("{what}[{index}] is smaller than the value before it; sort them first")]
    NotIncreasing {
        /// Name of the sequence.
        what: &'static str,
        /// First entry out of order.
        index: usize,
    },
    /// A score outside the range the density, grid or sketch was told to cover.
    #[error(
        "{what}{at} is {value:?}, outside the score range [{low:?}, {high:?}]; widen the range"
    )]
    OutsideRange {
        /// Name of the input.
        what: &'static str,
        /// Position of the value.
        at: At,
        /// The value found.
        value: f64,
        /// Low end of the range.
        low: f64,
        /// High end of the range.
        high: f64,
    },
    /// A method was not given what it works on.
    #[error("{}", missing(*what, *whose, &Neutral))]
    Missing {
        /// What is missing.
        what: Input,
        /// Who needs it.
        whose: User,
    },
    /// Something was given that has no use here; the result would not be what was meant.
    #[error("{}", not_used(*what, *by, owners, &Neutral))]
    NotUsed {
        /// What was given.
        what: Input,
        /// Who does not use it.
        by: User,
        /// Who does.
        owners: Vec<User>,
    },
    /// Something stands beside the calibration points or the target points, but not beside both.
    #[error("{} were given for only one of the two data sets; give them for both or neither", what.name())]
    OneSided {
        /// What was given.
        what: SideInput,
    },
    /// An option that is not in the table.
    #[error("{}", unknown_option(name, near, &Neutral))]
    UnknownOption {
        /// As it was given.
        name: String,
        /// Options that may have been meant; all of them if none is close.
        near: Vec<&'static str>,
    },
    /// A name that is none of those known.
    #[error("there is no {what} \"{found}\"; {}", meant(near))]
    UnknownName {
        /// What it should name.
        what: &'static str,
        /// As it was given.
        found: String,
        /// Names that may have been meant; all of them if none is close.
        near: Vec<&'static str>,
    },
    /// A value that an option cannot have.
    #[error("{}", option_value(option, found, expected, &Neutral))]
    OptionValue {
        /// The option.
        option: &'static str,
        /// The value as it was given.
        found: String,
        /// What it can be, in words.
        expected: String,
    },
    /// Two options whose values exclude each other.
    #[error("{}", conflict(*option, *other, why, &Neutral))]
    OptionConflict {
        /// An option and its value.
        option: (&'static str, &'static str),
        /// The option and value it does not go with.
        other: (&'static str, &'static str),
        /// Why not, as a relative clause about the second.
        why: &'static str,
    },
    /// A method that cannot work with the score chosen.
    #[error("{}", wrong_score(*whose, scores, &Neutral))]
    WrongScore {
        /// The method.
        whose: User,
        /// The scores it works with.
        scores: &'static [&'static str],
    },
    /// A test with so few relabelings that its smallest p-value is above its level.
    #[error(
        "permutations is {found}; delta = {delta} needs at least {least}, or no p-value could ever reject"
    )]
    TooFewPermutations {
        /// How many were asked for.
        found: usize,
        /// Level of the test.
        delta: f64,
        /// How many it takes.
        least: usize,
    },
    /// A combination of settings that has no meaning or no implementation.
    #[error("{what} is not available; {instead}")]
    Unsupported {
        /// What was asked for.
        what: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// Data that should be a calibration say they are something else.
    #[error("this is not a calibration: its format is not \"{expected}\"; calibrate to make one")]
    NotACalibration {
        /// The format expected.
        expected: &'static str,
    },
    /// A calibration written by another version.
    #[error(
        "this calibration has version {found}, but only version {supported} can be read; calibrate again"
    )]
    UnsupportedVersion {
        /// Version found.
        found: u32,
        /// Version that can be read.
        supported: u32,
    },
    /// Two sketches that do not describe the same laws at the same points.
    #[error(
        "sketches differ in their {what} and cannot be merged; build both with the same settings"
    )]
    IncompatibleSketches {
        /// What differs.
        what: &'static str,
    },
    /// A row key that was given twice.
    #[error("row key {key} was given twice; keys must be unique")]
    DuplicateKey {
        /// The key.
        key: u64,
    },
    /// A target row with two labels.
    #[error("target row {key} has two labels; give each row one")]
    LabeledTwice {
        /// Key of the row.
        key: u64,
    },
    /// A label of a row that is not among the target rows.
    #[error(
        "{missing} of the labeled rows are not among the target rows, the first of them row {key}; add these rows to the \
         target rows, or leave their labels out"
    )]
    LabelWithoutRow {
        /// Key of the first such row.
        key: u64,
        /// How many there are.
        missing: usize,
    },
    /// Bytes that do not begin as the states and plans of this library do.
    #[error("{what} is not a state of evenkeel; give the bytes that it wrote, whole and unchanged")]
    NotAState {
        /// Name of the bytes.
        what: &'static str,
    },
    /// A state or plan written in another version of the format.
    #[error(
        "{what} has version {found} of its format, and version {supported} can be read; \
         make it again with the same version of evenkeel"
    )]
    OtherStateVersion {
        /// Name of the bytes.
        what: &'static str,
        /// Version found.
        found: u16,
        /// Version that can be read.
        supported: u16,
    },
    /// A plan where a state is needed, or the other way round.
    #[error("{found} was given where {expected} is needed")]
    OtherKind {
        /// What the bytes are.
        found: &'static str,
        /// What is needed.
        expected: &'static str,
    },
    /// Bytes that were cut, changed or made up.
    #[error("{what} is damaged: {why}; make it again")]
    Damaged {
        /// Name of the bytes.
        what: &'static str,
        /// What is wrong.
        why: &'static str,
    },
    /// A state that belongs to another job.
    #[error(
        "these states belong to different jobs: {what} is {mine} here and {theirs} there; \
         merge states of one job only"
    )]
    OtherJob {
        /// The first setting that differs.
        what: String,
        /// Its value in this job.
        mine: String,
        /// Its value in the other.
        theirs: String,
    },
    /// A classifier tells calibration points from target without error, so no weighting of the former can stand for the latter.
    #[error(
        "the features of the calibration data and the target data do not overlap: a classifier tells them apart without \
         error, so likelihood ratios are meaningless; use fewer or coarser features, or a method that does not need overlap"
    )]
    NoOverlap,
    /// A class that no calibration label names, so that nothing is known about its points.
    #[error(
        "class {class} never occurs among the calibration labels, so its weight Q(y) / P(y) is undefined; \
         add labeled points of it, or leave the class out of the table"
    )]
    UnseenClass {
        /// The class.
        class: usize,
    },
    /// A confusion matrix that cannot be inverted, or only by blowing up its noise.
    #[error(
        "the confusion matrix cannot be inverted: its condition number is {condition:e}, and at most {most} is accepted; the \
         predictions hardly tell class {class} from the others; use the EM estimate, merge classes, or label more \
         calibration points"
    )]
    SingularConfusion {
        /// The class whose share is least determined.
        class: usize,
        /// Condition number in the 1-norm; infinite when the matrix is singular.
        condition: f64,
        /// Largest condition accepted.
        most: f64,
    },
    /// A sketch was asked for a law it was not told to keep.
    #[error("this sketch does not keep the {law} laws; build it with them")]
    NotSketched {
        /// The law asked for.
        law: &'static str,
    },
}

/// The likely mistake behind rows that are not valid probabilities.
fn logits_hint(what: &str, spelling: &dyn Spelling) -> String {
    if !what.contains("robabilities") {
        return String::new();
    }
    // Without a shell there is nothing to type, only something to do.
    match spelling.spell(Input::Logits).as_str() {
        "logits" => "; if these are logits, apply a softmax first".to_owned(),
        typed => format!("; if these are logits, say so ({typed}) or apply a softmax first"),
    }
}

fn missing(what: Input, whose: User, spelling: &dyn Spelling) -> String {
    let needs = format!("{} needs {}", whose.subject(spelling), spelling.spell(what));
    match what {
        Input::Side(SideInput::Labels, points) => {
            format!(
                "{needs}: the label of some of them, each with the row of its {}",
                points.point()
            )
        }
        Input::Side(side, points) => format!("{needs}: one {} per {}", side.one(), points.point()),
        Input::Option(_) | Input::Logits => needs,
    }
}

fn meant(near: &[&'static str]) -> String {
    match near {
        [] => "leave it out".to_owned(),
        [_, _, _, _, ..] => format!("use one of {}", listed(near, "and")),
        few => format!("did you mean {}?", listed(few, "or")),
    }
}

fn unknown_option(name: &str, near: &[&'static str], spelling: &dyn Spelling) -> String {
    let near: Vec<String> = near.iter().map(|name| spelling.spell(Input::Option(name))).collect();
    let meant = match near.as_slice() {
        [] => "leave it out".to_owned(),
        [_, _, _, _, ..] => format!("the options are {}", listed(&near, "and")),
        few => format!("did you mean {}?", listed(few, "or")),
    };
    format!("there is no option \"{name}\"; {meant}")
}

fn option_value(
    option: &'static str,
    found: &str,
    expected: &str,
    spelling: &dyn Spelling,
) -> String {
    format!("{} is {found}; it must be {expected}", spelling.spell(Input::Option(option)))
}

fn conflict(
    option: (&'static str, &'static str),
    other: (&'static str, &'static str),
    why: &str,
    spelling: &dyn Spelling,
) -> String {
    let words = |(name, value)| format!("{} {value}", spelling.spell(Input::Option(name)));
    format!("{} does not go with {}, {why}", words(option), words(other))
}

fn wrong_score(whose: User, scores: &[&'static str], spelling: &dyn Spelling) -> String {
    let noun = if scores.len() == 1 { "score" } else { "scores" };
    format!("{} works with the {noun} {} only", whose.name(spelling), listed(scores, "and"))
}

/// What kind of mistake an error is: exit codes, exceptions and HTTP statuses follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// The data are not what they should be.
    InvalidInput,
    /// A setting is out of its range.
    InvalidParameter,
    /// The pieces do not fit each other.
    Incompatible,
}

impl Error {
    /// The error in the words of a shell; its `Display` says the same in neutral ones.
    pub fn spelled(&self, spelling: &dyn Spelling) -> String {
        match self {
            Self::Missing { what, whose } => missing(*what, *whose, spelling),
            Self::NotUsed { what, by, owners } => not_used(*what, *by, owners, spelling),
            Self::UnknownOption { name, near } => unknown_option(name, near, spelling),
            Self::OptionValue { option, found, expected } => {
                option_value(option, found, expected, spelling)
            }
            Self::OptionConflict { option, other, why } => conflict(*option, *other, why, spelling),
            Self::WrongScore { whose, scores } => wrong_score(*whose, scores, spelling),
            Self::Negative { what, .. } | Self::NotNormalised { what, .. } => {
                // Only what follows from the mistake is spelled; the finding itself has no names.
                let said = self.to_string();
                let finding = said.strip_suffix(&logits_hint(what, &Neutral)).unwrap_or(&said);
                finding.to_owned() + &logits_hint(what, spelling)
            }
            _ => self.to_string(),
        }
    }

    /// The kind of mistake, for callers that map errors to codes.
    pub fn category(&self) -> Category {
        match self {
            Self::Empty { .. }
            | Self::LengthMismatch { .. }
            | Self::Ragged { .. }
            | Self::NotFinite { .. }
            | Self::Negative { .. }
            | Self::NotNormalised { .. }
            | Self::ZeroTotal { .. }
            | Self::LabelOutOfRange { .. }
            | Self::NoAllowedLabel { .. }
            | Self::NoPlausibleLabel { .. }
            | Self::NotIncreasing { .. }
            | Self::TooMany { .. }
            | Self::NotConverged { .. }
            | Self::NoOverlap
            | Self::UnseenClass { .. }
            | Self::SingularConfusion { .. }
            | Self::DuplicateKey { .. }
            | Self::LabeledTwice { .. }
            | Self::LabelWithoutRow { .. }
            | Self::OtherRows { .. }
            | Self::Damaged { .. }
            | Self::OutsideRange { .. } => Category::InvalidInput,
            Self::OutOfRange { .. }
            | Self::TooFew { .. }
            | Self::TooFewPermutations { .. }
            | Self::UnknownOption { .. }
            | Self::UnknownName { .. }
            | Self::OptionValue { .. }
            | Self::OptionConflict { .. }
            | Self::EmptyInterval { .. } => Category::InvalidParameter,
            Self::NoPlausibility { .. }
            | Self::Missing { .. }
            | Self::NotUsed { .. }
            | Self::OneSided { .. }
            | Self::WrongScore { .. }
            | Self::Unsupported { .. }
            | Self::NotACalibration { .. }
            | Self::UnsupportedVersion { .. }
            | Self::IncompatibleSketches { .. }
            | Self::NotAState { .. }
            | Self::OtherStateVersion { .. }
            | Self::OtherKind { .. }
            | Self::OtherJob { .. }
            | Self::NotSketched { .. } => Category::Incompatible,
        }
    }
}

/// The first entry of `values` that is not finite, as an error.
pub(crate) fn require_finite(what: &'static str, values: &[f64]) -> Result<()> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(Error::NotFinite { what, at: At::Index(index), value: values[index] }),
    }
}

/// An error unless there is at least one value.
pub(crate) fn require_some<T>(what: &'static str, values: &[T]) -> Result<()> {
    if values.is_empty() { Err(Error::Empty { what }) } else { Ok(()) }
}

/// An error unless there is at least one value, all are finite, and none is below its predecessor.
pub(crate) fn require_increasing(what: &'static str, values: &[f64]) -> Result<()> {
    require_some(what, values)?;
    require_finite(what, values)?;
    match values.windows(2).position(|pair| pair[0] > pair[1]) {
        None => Ok(()),
        Some(index) => Err(Error::NotIncreasing { what, index: index + 1 }),
    }
}

/// An error unless two inputs have the same length.
pub(crate) fn require_same_length(
    what: &'static str,
    found: usize,
    other: &'static str,
    expected: usize,
) -> Result<()> {
    if found == expected {
        Ok(())
    } else {
        Err(Error::LengthMismatch { what, found, other, expected })
    }
}

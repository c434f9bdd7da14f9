//! The one error type of the core: data in fields, and in words what was found, where, and what to do.
//!
//! ```text
//! what was found   where (At)   what was expected   what to do
//! ```
//!
//! Errors about something a caller gave carry an [`Input`]; [`Error::spelled`] says it in the words of a shell.

mod spelling;

use std::fmt;

pub use spelling::{Input, PointSet, SideInput, User};
// Hidden: how our shells put their own names of inputs into the text of an error.
#[doc(hidden)]
pub use spelling::{Neutral, Spelling};
use spelling::{listed, not_used};

/// Most relabelings of a shift test that can be asked for: each keeps two distances until the p-value is known.
pub(crate) const ALLOWED_PERMUTATIONS: usize = 10_000_000;

/// Result of every fallible operation of the core.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Where in the input a value stands. Positions count from 0, as in the user's arrays and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// An entry of a vector, shown as `[17]`.
    Index(usize),
    /// Somewhere: the name says it all.
    Anywhere,
    /// Some entry of a row, where the column would not help.
    Row(usize),
    /// An entry of a matrix, shown with row and column.
    Cell {
        /// Row of the entry, from 0.
        row: usize,
        /// Column of the entry, from 0.
        column: usize,
    },
}

impl fmt::Display for At {
    /// As it stands after the name of the input, with the space that it needs there.
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
///
/// Fields hold names, positions and numbers, so that shells can say it their own way and tests can
/// ask for it. There is no variant for I/O: the core does none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing was given where at least one value is needed.
    #[error("{what} is empty; give at least one value")]
    Empty {
        /// What was empty, as users call it: "scores", "target probabilities".
        what: &'static str,
    },
    /// A pass over the target data saw other rows than one before it.
    ///
    /// Rows are compared by their number and by a hash of their keys and values, so the same number
    /// of other rows is found out too.
    #[error(
        "a later pass read {now} target rows, an earlier one {before}, or rows with other keys or values; read the same rows in every pass"
    )]
    OtherRows {
        /// Rows of the earlier pass, at least 1.
        before: u64,
        /// Rows of the later pass; may be as many, with other keys or values.
        now: u64,
    },
    /// Another number of target rows than was said beforehand.
    ///
    /// What parts keep of their rows depends on it.
    #[error(
        "there were {found} target rows, but {expected} were said to come; say how many there are, or leave the number out"
    )]
    OtherNumberOfRows {
        /// What was said.
        expected: u64,
        /// Rows that came.
        found: u64,
    },
    /// Parts that were told the number of all rows kept too few of them for a sample, by a chance of less than 1e-8.
    #[error(
        "the parts kept {kept} rows for a sample of {capacity}, which happens once in a hundred million times; use another seed, or do not say how many rows there are"
    )]
    ShortSample {
        /// Rows kept by all parts together.
        kept: usize,
        /// Rows of the sample.
        capacity: usize,
    },
    /// A part whose rows are counted already.
    #[error(
        "part {part} was given twice; give every part a number of its own, and each part's state once"
    )]
    PartTwice {
        /// Its number.
        part: u64,
    },
    /// Two inputs that describe the same points have different lengths.
    ///
    /// Also where a file or a state holds lists that should be equally long.
    #[error(
        "{what} has {found} entries but {other} has {expected}; the two must describe the same points"
    )]
    LengthMismatch {
        /// Name of the offending input, as users call it.
        what: &'static str,
        /// How many entries it has.
        found: usize,
        /// Name of the input it must match.
        other: &'static str,
        /// How many entries that input has, and this one should.
        expected: usize,
    },
    /// A flat buffer cannot be cut into rows of the stated width.
    ///
    /// Nothing is cut off: the rows after a missing value would all be shifted.
    #[error(
        "{what} holds {values} values, which is not a whole number of rows of {columns} columns; check the shape"
    )]
    Ragged {
        /// Name of the matrix, as users call it.
        what: &'static str,
        /// Values in the whole buffer.
        values: usize,
        /// Columns that a row should have.
        columns: usize,
    },
    /// A NaN or an infinity where a finite number is needed.
    ///
    /// Raised where data come in, so that no NaN can reach a comparison, which it would pass in
    /// silence.
    #[error("{what}{at} is {value:?}; remove the point or impute a finite value")]
    NotFinite {
        /// Name of the input, as users call it.
        what: &'static str,
        /// Where in the input it stands, from 0.
        at: At,
        /// The value found: a NaN or an infinity.
        value: f64,
    },
    /// A negative number where a mass, weight or probability is needed.
    #[error("{what}{at} is {value:?}; it must be zero or positive{}", logits_hint(what, &Neutral))]
    Negative {
        /// Name of the input; one of probabilities gets the hint that it may hold logits.
        what: &'static str,
        /// Where in the input it stands, from 0.
        at: At,
        /// The value found, below zero.
        value: f64,
    },
    /// A row that should be a probability vector does not sum to one.
    ///
    /// Rows within the tolerance are renormalised and are no error.
    #[error(
        "{what} row {row} sums to {sum:?}; rows must sum to 1 within {tolerance}{}",
        logits_hint(what, &Neutral)
    )]
    NotNormalised {
        /// Name of the matrix, as users call it.
        what: &'static str,
        /// Number or key of the row.
        row: usize,
        /// Sum of the row as it was given.
        sum: f64,
        /// Largest deviation from one that is accepted.
        tolerance: f64,
    },
    /// Rows that were called logits are probabilities already.
    ///
    /// Their softmax would be nearly uniform, and every set would hold every label.
    #[error("{}", probabilities_as_logits(*rows, &Neutral))]
    ProbabilitiesAsLogits {
        /// How many rows were looked at, from the first on; all of them look so.
        rows: usize,
    },
    /// All weights are zero, so they cannot be normalised.
    ///
    /// Weights of this kind say that no point counts, which no threshold can follow from.
    #[error("{what} sum to zero; at least one must be positive")]
    ZeroTotal {
        /// Name of the weights, in the plural.
        what: &'static str,
    },
    /// A label that names no class.
    ///
    /// Often labels that start at 1, or belong to another matrix.
    #[error(
        "{what}[{index}] is {label} but there are {classes} classes, so labels run from 0 to {}; \
         check that labels start at 0 and belong to this matrix",
        classes.saturating_sub(1)
    )]
    LabelOutOfRange {
        /// Name of the list of labels.
        what: &'static str,
        /// Position of the label, from 0, in the whole input.
        index: usize,
        /// The label found, at least `classes`.
        label: usize,
        /// Number of classes; labels run from 0 to one less.
        classes: usize,
    },
    /// A row whose mask forbids every label.
    #[error("the label mask allows no label in row {row}; allow at least one")]
    NoAllowedLabel {
        /// The row of the mask, from 0.
        row: usize,
    },
    /// A row whose plausibility is zero on every allowed label.
    #[error(
        "the plausibility of row {row} is zero for every label the mask allows; widen the mask or raise the temperature"
    )]
    NoPlausibleLabel {
        /// The row of the table, from 0.
        row: usize,
    },
    /// A construction that needs plausibilities met a table without them.
    ///
    /// The table may be the user's own scores, of which nobody knows how likely each label is.
    #[error(
        "the {construction} sandwich needs a plausibility for every candidate label; \
         give one (for a classifier, its probabilities) or use min-max"
    )]
    NoPlausibility {
        /// Name of the sandwich asked for, such as `f-u`.
        construction: &'static str,
    },
    /// A parameter outside its range.
    ///
    /// NaN is in no range, so it is refused here too.
    #[error("{what} is {value:?}; it must be {expected}")]
    OutOfRange {
        /// Name of the parameter, as users call it.
        what: &'static str,
        /// The value found, possibly NaN.
        value: f64,
        /// The range in words, after "must be".
        expected: &'static str,
    },
    /// Too few of something for the operation to mean anything.
    #[error("{what}: {found} given, but at least {least} needed")]
    TooFew {
        /// What there are too few of, in the plural.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many would do.
        least: usize,
    },
    /// More of something than memory or time allow.
    #[error("{what}: {found} given, but at most {most} are possible; {instead}")]
    TooMany {
        /// What there are too many of, in the plural.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many would still do.
        most: usize,
        /// What to do about it, as a command.
        instead: &'static str,
    },
    /// An iteration that ends on every well-scaled problem did not.
    ///
    /// An error and not an answer: a cutoff from duals that are not optimal has no guarantee.
    #[error(
        "{what} did not converge: after {steps} steps the optimality conditions are still violated by {remaining:e}, more \
         than the {tolerance:e} allowed; rescale features and scores to about one, or raise the penalty"
    )]
    NotConverged {
        /// What was computed, as the subject of the sentence.
        what: &'static str,
        /// Steps taken until it was given up.
        steps: usize,
        /// By how much the conditions are still violated.
        remaining: f64,
        /// What would have been accepted, in the same units.
        tolerance: f64,
    },
    /// The two ends of an interval are in the wrong order.
    #[error(
        "{what} runs from {low:?} to {high:?}; the low end must be below the high end, and the width finite"
    )]
    EmptyInterval {
        /// Name of the interval, as users call it.
        what: &'static str,
        /// The end that should be lower.
        low: f64,
        /// The end that should be higher.
        high: f64,
    },
    /// A sequence that should increase does not.
    #[error("{what}[{index}] is smaller than the value before it; sort them first")]
    NotIncreasing {
        /// Name of the sequence, in the plural.
        what: &'static str,
        /// Index of the first entry that is below the one before it; at least 1.
        index: usize,
    },
    /// A score outside the range the density, grid or sketch was told to cover.
    ///
    /// A mass outside would be lost without a word, and every CDF after it too large or too small.
    #[error(
        "{what}{at} is {value:?}, outside the score range [{low:?}, {high:?}]; widen the range"
    )]
    OutsideRange {
        /// Name of the input, as users call it.
        what: &'static str,
        /// Where in the input it stands, from 0.
        at: At,
        /// The value found, below `low` or above `high`.
        value: f64,
        /// Low end of the range that was stated.
        low: f64,
        /// High end of the range that was stated.
        high: f64,
    },
    /// A method was not given what it works on.
    #[error("{}", missing(*what, *whose, &Neutral))]
    Missing {
        /// Which input is missing; each shell spells it its own way.
        what: Input,
        /// The method, score or stored calibration that needs it.
        whose: User,
    },
    /// Something was given that has no use here; the result would not be what was meant.
    ///
    /// Refused and not ignored: who gives something believes that it counts.
    #[error("{}", not_used(*what, *by, owners, &Neutral))]
    NotUsed {
        /// Which input was given; each shell spells it its own way.
        what: Input,
        /// The method, score or job that has no use for it.
        by: User,
        /// Those that do use it; empty if it should be left out.
        owners: Vec<User>,
    },
    /// Something stands beside the calibration points or the target points, but not beside both.
    ///
    /// A ratio compares the two data sets, so they must be described alike.
    #[error("{} were given for only one of the two data sets; give them for both or neither", what.name())]
    OneSided {
        /// Which side input was given for one of them.
        what: SideInput,
    },
    /// An option that is not in the table.
    #[error("{}", unknown_option(name, near, &Neutral))]
    UnknownOption {
        /// The name as it was given, misspelled or of another program.
        name: String,
        /// Options that may have been meant; all of them if none is close.
        near: Vec<&'static str>,
    },
    /// A name that is none of those known.
    #[error("there is no {what} \"{found}\"; {}", meant(near))]
    UnknownName {
        /// What kind of thing it should name, such as "method".
        what: &'static str,
        /// The name as it was given.
        found: String,
        /// Names that may have been meant; all of them if none is close.
        near: Vec<&'static str>,
    },
    /// A value that an option cannot have.
    #[error("{}", option_value(option, found, expected, &Neutral))]
    OptionValue {
        /// The option, by its name in the table.
        option: &'static str,
        /// The value as it was given, text in quotes.
        found: String,
        /// What it can be, in words, after "must be".
        expected: String,
    },
    /// Two options whose values exclude each other.
    #[error("{}", conflict(*option, *other, why, &Neutral))]
    OptionConflict {
        /// An option, by its name in the table, and its value.
        option: (&'static str, &'static str),
        /// The option and value it does not go with.
        other: (&'static str, &'static str),
        /// Why not, as a relative clause about the second.
        why: &'static str,
    },
    /// An option that has no meaning beside another, whatever its value.
    #[error("{}", excludes(*option, other, why, &Neutral))]
    OptionsExclude {
        /// An option, by its name in the table, and its value.
        option: (&'static str, &'static str),
        /// The option it does not go with.
        other: &'static str,
        /// Why not, as a relative clause about the second.
        why: &'static str,
    },
    /// An accuracy that a guess exceeds.
    #[error(
        "the accuracy on the target data is {accuracy}, less than a guess among {classes} classes has; give the share of right \
         predictions there, from {:.4} to 1",
        1.0 / *classes as f64
    )]
    AccuracyBelowChance {
        /// The accuracy given.
        accuracy: f64,
        /// Number of classes.
        classes: usize,
    },
    /// A method that cannot work with the score chosen.
    #[error("{}", wrong_score(*whose, scores, &Neutral))]
    WrongScore {
        /// The method, with the option that limits it if there is one.
        whose: User,
        /// The scores it works with, by name; at least one.
        scores: &'static [&'static str],
    },
    /// A test with so few relabelings that its smallest p-value is above its level.
    ///
    /// The smallest p-value of `B` relabelings is `1 / (B + 1)`.
    #[error(
        "the shift test cannot reach a false-alarm rate of {delta:?}: the smallest p-value of {found} permutations is \
         1/{0}, so it could never reject; ask for a rate of 1/{0} or more{1}",
        found.saturating_add(1),
        or_for_more(*least)
    )]
    TooFewPermutations {
        /// How many relabelings were asked for.
        found: usize,
        /// Level of the test, in `(0, 1)`.
        delta: f64,
        /// How many relabelings it takes for a p-value to reach the level.
        least: usize,
    },
    /// A combination of settings that has no meaning or no implementation.
    #[error("{what} is not available; {instead}")]
    Unsupported {
        /// What was asked for, as the subject of the sentence.
        what: &'static str,
        /// What to do instead, as a command.
        instead: &'static str,
    },
    /// Groups or classes with too few points for a threshold at the level, alone or together.
    #[error("{}", groups_too_small(small, points, *together, (*least, *level), *merged))]
    GroupsTooSmall {
        /// Name and size of each.
        small: Vec<(String, f64)>,
        /// What a size counts, in the plural.
        points: &'static str,
        /// Size of all of them.
        together: f64,
        /// The size that is needed.
        least: usize,
        /// The level asked for.
        level: f64,
        /// Whether they were to be merged.
        merged: bool,
    },
    /// A row that belongs to no group.
    #[error(
        "row {row} has no group{}; give every row one, a text or a whole number",
        no_group(found)
    )]
    NoGroup {
        /// Number of the row, from 0.
        row: usize,
        /// What stands there in place of a name.
        found: String,
    },
    /// A row of a group that the calibration does not know.
    #[error(
        "row {row} is of the group \"{name}\", which has no calibration points ({known} groups have); \
         calibrate with points of it, or with a pooled threshold for other groups"
    )]
    UnknownGroup {
        /// Its name.
        name: String,
        /// Number of the row, from 0.
        row: usize,
        /// Number of groups that are known.
        known: usize,
    },
    /// A method whose weights say nothing about one class.
    #[error(
        "{method} has no thresholds for each class: {why}; take uncorrected, fixed, label-shift, label-plan, few-labels or auto, \
         or calibrate per group"
    )]
    NotPerClass {
        /// Its name.
        method: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// Data that should be a calibration say they are something else.
    #[error("this is not a calibration: its format is not \"{expected}\"; calibrate to make one")]
    NotACalibration {
        /// What `format` should have said.
        expected: &'static str,
    },
    /// A calibration written by another version.
    ///
    /// Not guessed at: a field that changed its meaning would give wrong sets without a word.
    #[error(
        "this calibration has version {found}, but only version {supported} can be read; calibrate again"
    )]
    UnsupportedVersion {
        /// Version that stands in the file.
        found: u32,
        /// The one version that this library reads.
        supported: u32,
    },
    /// Two sketches that do not describe the same laws at the same points.
    ///
    /// They may fit in shape: numbers of different recipes could be added up and would mean
    /// nothing.
    #[error(
        "sketches differ in their {what} and cannot be merged; build both with the same settings"
    )]
    IncompatibleSketches {
        /// In what they differ, such as "samples of rows".
        what: &'static str,
    },
    /// A row key that was given twice.
    ///
    /// Two rows of one key are one row read twice, or ids that are not unique; either way a sample
    /// and the draws would count it wrong.
    #[error("row key {key} was given twice; keys must be unique")]
    DuplicateKey {
        /// The key that two rows have.
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
        /// What the bytes were given as: "the state" or "the plan".
        what: &'static str,
    },
    /// A state or plan written in another version of the format.
    #[error(
        "{what} has version {found} of its format, and version {supported} can be read; \
         make it again with the same version of evenkeel"
    )]
    OtherStateVersion {
        /// What the bytes were given as: "the state" or "the plan".
        what: &'static str,
        /// Version that stands in the bytes.
        found: u16,
        /// The one version that this library reads.
        supported: u16,
    },
    /// A plan where a state is needed, or the other way round.
    #[error("{found} was given where {expected} is needed")]
    OtherKind {
        /// What the bytes are, with an article.
        found: &'static str,
        /// What is needed here, with an article.
        expected: &'static str,
    },
    /// Bytes that were cut, changed or made up.
    ///
    /// Also a file whose parts are each valid and do not belong to each other.
    #[error("{what} is damaged: {why}; make it again")]
    Damaged {
        /// What was read: "the state", "the plan", "this calibration".
        what: &'static str,
        /// What is wrong with it, as a clause.
        why: &'static str,
    },
    /// A state that belongs to another job.
    ///
    /// The first difference is named, in the order method, settings, pass, calibration data.
    #[error(
        "these states belong to different jobs: {what} is {mine} here and {theirs} there; \
         merge states of one job only"
    )]
    OtherJob {
        /// The first setting that differs.
        what: String,
        /// Its value in this job; "not set" where it has none.
        mine: String,
        /// Its value in the other job.
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
        /// The class, from 0.
        class: usize,
    },
    /// A confusion matrix that cannot be inverted, or only by blowing up its noise.
    ///
    /// Refused before any solve: shares from such a matrix look as good as any other.
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
        /// Largest condition number that is accepted.
        most: f64,
    },
    /// A sketch was asked for a law it was not told to keep.
    #[error("this sketch does not keep the {law} laws; build it with them")]
    NotSketched {
        /// The pair of laws asked for, by name.
        law: &'static str,
    },
}

/// The likely mistake behind rows that are not valid probabilities: logits. Empty for other inputs.
fn logits_hint(what: &str, spelling: &dyn Spelling) -> String {
    // Without its first letter: names begin in either case.
    if !what.contains("robabilities") {
        return String::new();
    }
    // Without a shell there is nothing to type, only something to do.
    match spelling.spell(Input::Logits).as_str() {
        "logits" => "; if these are logits, apply a softmax first".to_owned(),
        typed => format!("; if these are logits, say so ({typed}) or apply a softmax first"),
    }
}

/// "the first 10 rows are probabilities already; leave --logits out, or give --force-logits if they are logits all the same".
fn probabilities_as_logits(rows: usize, spelling: &dyn Spelling) -> String {
    let (found, verb) = match rows {
        1 => ("the first row is".to_owned(), "it lies in [0, 1] and sums"),
        rows => (format!("the first {rows} rows are"), "they lie in [0, 1] and sum"),
    };
    let instead = match spelling.spell(Input::Logits).as_str() {
        // Without a shell there is nothing to type, only something to do.
        "logits" => "take no softmax of them".to_owned(),
        typed => format!(
            "leave {typed} out, or give {} if they are logits all the same",
            spelling.spell(Input::ForcedLogits)
        ),
    };
    format!("{found} probabilities already: {verb} to 1; {instead}")
}

/// "method fixed needs calibration weights: one weight per calibration point".
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
        Input::Option(_) | Input::Logits | Input::ForcedLogits => needs,
    }
}

/// What may have been meant: up to three names as a question, more as a list.
fn meant(near: &[&'static str]) -> String {
    match near {
        [] => "leave it out".to_owned(),
        [_, _, _, _, ..] => format!("use one of {}", listed(near, "and")),
        few => format!("did you mean {}?", listed(few, "or")),
    }
}

/// The error of an option that is not in the table, with the names spelled as they are typed.
fn unknown_option(name: &str, near: &[&'static str], spelling: &dyn Spelling) -> String {
    let near: Vec<String> = near.iter().map(|name| spelling.spell(Input::Option(name))).collect();
    let meant = match near.as_slice() {
        [] => "leave it out".to_owned(),
        [_, _, _, _, ..] => format!("the options are {}", listed(&near, "and")),
        few => format!("did you mean {}?", listed(few, "or")),
    };
    format!("there is no option \"{name}\"; {meant}")
}

/// "steps is 0; it must be a whole number, at least 1".
fn option_value(
    option: &'static str,
    found: &str,
    expected: &str,
    spelling: &dyn Spelling,
) -> String {
    format!("{} is {found}; it must be {expected}", spelling.spell(Input::Option(option)))
}

/// "sampling sampled does not go with sandwich min-max, which draws no labels".
fn conflict(
    option: (&'static str, &'static str),
    other: (&'static str, &'static str),
    why: &str,
    spelling: &dyn Spelling,
) -> String {
    let words = |(name, value)| format!("{} {value}", spelling.spell(Input::Option(name)));
    format!("{} does not go with {}, {why}", words(option), words(other))
}

/// "assume calibrated does not go with accuracy, which decides the law of labels itself".
fn excludes(
    (name, value): (&'static str, &'static str),
    other: &'static str,
    why: &str,
    spelling: &dyn Spelling,
) -> String {
    let [name, other] = [name, other].map(|name| spelling.spell(Input::Option(name)));
    format!("{name} {value} does not go with {other}, {why}")
}

/// What else helps where a level takes this many permutations; nothing where so many cannot be asked for.
fn or_for_more(least: usize) -> String {
    match least {
        0..=ALLOWED_PERMUTATIONS => {
            format!(", or for at least {least} permutations where their number can be chosen")
        }
        _ => String::new(),
    }
}

/// "... works with the score lac only", after the name of the method.
fn wrong_score(whose: User, scores: &[&'static str], spelling: &dyn Spelling) -> String {
    let noun = if scores.len() == 1 { "score" } else { "scores" };
    format!("{} works with the {noun} {} only", whose.name(spelling), listed(scores, "and"))
}

/// What kind of mistake an error is: exit codes, exceptions and HTTP statuses follow it, so a new
/// error needs no change in any shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// The data are not what they should be: look at the file or array.
    InvalidInput,
    /// A setting is out of its range: look at the call.
    InvalidParameter,
    /// The pieces do not fit each other: each may be right by itself.
    Incompatible,
}

impl Error {
    /// The error in the words of a shell; its `Display` says the same in neutral ones.
    ///
    /// Errors that name no input are the same in every shell.
    pub fn spelled(&self, spelling: &dyn Spelling) -> String {
        match self {
            Self::Missing { what, whose } => missing(*what, *whose, spelling),
            Self::NotUsed { what, by, owners } => not_used(*what, *by, owners, spelling),
            Self::UnknownOption { name, near } => unknown_option(name, near, spelling),
            Self::OptionValue { option, found, expected } => {
                option_value(option, found, expected, spelling)
            }
            Self::OptionConflict { option, other, why } => conflict(*option, *other, why, spelling),
            Self::OptionsExclude { option, other, why } => excludes(*option, other, why, spelling),
            Self::WrongScore { whose, scores } => wrong_score(*whose, scores, spelling),
            Self::ProbabilitiesAsLogits { rows } => probabilities_as_logits(*rows, spelling),
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
        // No catch-all: a new variant does not compile before somebody has decided what it is.
        match self {
            Self::Empty { .. }
            | Self::LengthMismatch { .. }
            | Self::Ragged { .. }
            | Self::NotFinite { .. }
            | Self::Negative { .. }
            | Self::NotNormalised { .. }
            | Self::ProbabilitiesAsLogits { .. }
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
            | Self::OtherNumberOfRows { .. }
            | Self::ShortSample { .. }
            | Self::PartTwice { .. }
            | Self::Damaged { .. }
            | Self::GroupsTooSmall { .. }
            | Self::NoGroup { .. }
            | Self::UnknownGroup { .. }
            | Self::OutsideRange { .. } => Category::InvalidInput,
            Self::OutOfRange { .. }
            | Self::TooFew { .. }
            | Self::TooFewPermutations { .. }
            | Self::UnknownOption { .. }
            | Self::UnknownName { .. }
            | Self::OptionValue { .. }
            | Self::OptionConflict { .. }
            | Self::OptionsExclude { .. }
            | Self::AccuracyBelowChance { .. }
            | Self::EmptyInterval { .. } => Category::InvalidParameter,
            Self::NoPlausibility { .. }
            | Self::Missing { .. }
            | Self::NotUsed { .. }
            | Self::OneSided { .. }
            | Self::WrongScore { .. }
            | Self::Unsupported { .. }
            | Self::NotPerClass { .. }
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

/// Small groups named in an error; the rest are counted.
const GROUPS_NAMED: usize = 5;

/// Which groups are too small, what they would need, and what else can be done.
fn groups_too_small(
    small: &[(String, f64)],
    points: &str,
    together: f64,
    (least, level): (usize, f64),
    merged: bool,
) -> String {
    let named: Vec<String> = small
        .iter()
        .take(GROUPS_NAMED)
        .map(|(name, size)| format!("{name} has {}", round_size(*size)))
        .collect();
    let more = match small.len().saturating_sub(GROUPS_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more have too few"),
    };
    let together = match (merged, small.len()) {
        (true, 2..) => format!(", {} together", round_size(together)),
        (true, _) => ", and there is no other small one to merge it with".to_owned(),
        (false, _) => String::new(),
    };
    format!(
        "a threshold at {} % needs at least {least} {points}, but {}{more}{together}; give more of them, ask for a lower level, \
         or take every label where there are too few (all-labels)",
        (1000.0 * level).round() / 10.0,
        named.join(", "),
    )
}

/// A size as people write it: counts are whole, expected rows are not.
fn round_size(size: f64) -> f64 {
    (10.0 * size).round() / 10.0
}

/// What stands in place of a group's name.
fn no_group(found: &str) -> String {
    if found.is_empty() { " (the entry is empty)".to_owned() } else { format!(" (\"{found}\")") }
}

/// The first entry of `values` that is not finite, as an error; `what` names them.
///
/// # Errors
/// `NotFinite` with its index.
pub(crate) fn require_finite(what: &'static str, values: &[f64]) -> Result<()> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(Error::NotFinite { what, at: At::Index(index), value: values[index] }),
    }
}

/// An error unless there is at least one value: means and quantiles of none do not exist.
pub(crate) fn require_some<T>(what: &'static str, values: &[T]) -> Result<()> {
    if values.is_empty() { Err(Error::Empty { what }) } else { Ok(()) }
}

/// An error unless there is at least one value, all are finite, and none is below its predecessor.
///
/// Ties are allowed: scores of a classifier are full of them.
pub(crate) fn require_increasing(what: &'static str, values: &[f64]) -> Result<()> {
    require_some(what, values)?;
    require_finite(what, values)?;
    // After the check for NaN, which compares as neither above nor below and would pass.
    match values.windows(2).position(|pair| pair[0] > pair[1]) {
        None => Ok(()),
        Some(index) => Err(Error::NotIncreasing { what, index: index + 1 }),
    }
}

/// An error unless two inputs have the same length; both are named, as either may be the wrong one.
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

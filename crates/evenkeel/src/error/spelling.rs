//! What a caller can give, as identifiers that every shell spells its own way.
//!
//! An error of the core says *which* input it is about and never how a shell calls it: the command line shows
//! `--cal-ratios`, Python `ratios_cal`, and [`Neutral`] "calibration ratios".

/// Points that something can be given for; an error must say which of the tables it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PointSet {
    /// Labeled points of the world the model was calibrated on.
    Calibration,
    /// Unlabeled points of the world the model now works in.
    Target,
    /// Points that sets are predicted for.
    Predicted,
    /// Labeled points that methods are compared on.
    Test,
}

impl PointSet {
    /// One of these points, in words, after "per".
    pub(crate) fn point(self) -> &'static str {
        match self {
            Self::Calibration => "calibration point",
            Self::Target => "target point",
            Self::Predicted => "point",
            Self::Test => "test point",
        }
    }
}

/// What a method may need of points beside their probabilities, one row or number per point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SideInput {
    /// A row of features, the same columns for all points of a job.
    Features,
    /// A known likelihood ratio `dQ/dP`, zero or positive.
    Ratios,
    /// A weight of the user's own, zero or positive.
    Weights,
    /// The label of a target row, for some of the rows.
    Labels,
    /// The probabilities that other models give the classes of a row.
    Second,
}

impl SideInput {
    /// Every side input, in the order they are listed to users.
    pub const ALL: [Self; 5] =
        [Self::Features, Self::Ratios, Self::Weights, Self::Labels, Self::Second];

    /// Its name in the option table, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Features => "features",
            Self::Ratios => "ratios",
            Self::Weights => "weights",
            Self::Labels => "labels",
            Self::Second => "probabilities of second models",
        }
    }

    /// What stands there for one point, in words.
    pub fn one(self) -> &'static str {
        match self {
            Self::Features => "row of features",
            Self::Ratios => "likelihood ratio",
            Self::Weights => "weight",
            Self::Labels => "label",
            Self::Second => "row of probabilities of each second model",
        }
    }

    /// The points it is given for, among those a method is begun with: labels are of target rows, all else of the points at
    /// hand.
    pub fn points(self, at_hand: PointSet) -> PointSet {
        match self {
            Self::Labels => PointSet::Target,
            Self::Features | Self::Ratios | Self::Weights | Self::Second => at_hand,
        }
    }
}

/// Something a caller can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// An option, by its name in [the table](crate::method::OPTIONS).
    Option(&'static str),
    /// What stands beside the probabilities of some points.
    Side(SideInput, PointSet),
    /// The statement that matrices hold logits and not probabilities.
    Logits,
    /// The statement that they hold logits even where they look like probabilities.
    ForcedLogits,
}

/// How a shell calls what its users give. The core asks it for names while it writes a message, so
/// that nobody reads of a flag in Python or of a keyword in a terminal.
pub trait Spelling {
    /// The name of an input as it is typed, such as `--cal-ratios`.
    fn spell(&self, input: Input) -> String;
}

/// The identifiers themselves, for readers that have no flags or arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neutral;

impl Spelling for Neutral {
    /// Words with the data set before them; points to predict need none.
    fn spell(&self, input: Input) -> String {
        match input {
            Input::Option(name) => name.to_owned(),
            Input::Side(side, PointSet::Calibration) => format!("calibration {}", side.name()),
            Input::Side(side, PointSet::Target) => format!("target {}", side.name()),
            Input::Side(side, PointSet::Test) => format!("test {}", side.name()),
            Input::Side(side, PointSet::Predicted) => side.name().to_owned(),
            Input::Logits => "logits".to_owned(),
            Input::ForcedLogits => "forced logits".to_owned(),
        }
    }
}

/// Who uses an input, or does not: the subject of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum User {
    /// A method, by its name.
    Method(&'static str),
    /// A method with an option at one of its values.
    MethodWith {
        /// The method's name.
        method: &'static str,
        /// The option, by its name in the table.
        option: &'static str,
        /// The option's value that decides.
        value: &'static str,
    },
    /// A score function, by its name.
    Score(&'static str),
    /// All methods of a comparison.
    Comparison,
    /// The check for a shift.
    Check,
    /// A stored calibration, by the name of its method.
    Calibration(&'static str),
}

impl User {
    /// The subject of "... does not use" and "... needs", with the kind of thing it is.
    pub(super) fn subject(self, spelling: &dyn Spelling) -> String {
        match self {
            Self::Method(_) | Self::MethodWith { .. } => format!("method {}", self.name(spelling)),
            Self::Score(_) => format!("score {}", self.name(spelling)),
            Self::Comparison | Self::Check | Self::Calibration(_) => self.name(spelling),
        }
    }

    /// Its name among others of its kind, without saying what kind.
    pub(super) fn name(self, spelling: &dyn Spelling) -> String {
        match self {
            Self::Method(name) | Self::Score(name) => name.to_owned(),
            Self::MethodWith { method, option, value } => {
                format!("{method} with {} {value}", spelling.spell(Input::Option(option)))
            }
            Self::Comparison => "this comparison".to_owned(),
            Self::Check => "check".to_owned(),
            Self::Calibration(method) => format!("this calibration by {method}"),
        }
    }
}

/// "method ot does not use gamma; conditional does".
///
/// Who does use it is said too: the likely mistake is the method, not the option.
pub(super) fn not_used(what: Input, by: User, owners: &[User], spelling: &dyn Spelling) -> String {
    let mut text = format!("{} does not use {}", by.subject(spelling), spelling.spell(what));
    let names: Vec<String> = owners.iter().map(|owner| owner.name(spelling)).collect();
    match names.as_slice() {
        [] => text += "; leave it out",
        [one] => text += &format!("; {one} does"),
        several => text += &format!("; {} do", listed(several, "and")),
    }
    text
}

/// "a, b and c"; the conjunction is "and" or "or". Empty for no words.
pub(super) fn listed<S: AsRef<str>>(words: &[S], conjunction: &str) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} {conjunction} {last}", most.join(", ")),
    }
}

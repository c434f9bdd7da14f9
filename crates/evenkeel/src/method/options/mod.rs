//! The option table: every option of a method or a score, once.
//!
//! ```text
//! OPTIONS        name, kind with its range, help, owners        clap, Python keywords, stubs and docs are made of it
//!   -> OptionValues::set     what a user gave, each value checked against its row
//!   -> Method::from_options  settings; an option the method does not own is refused
//!   -> Method::options       every setting in effect, as text: provenance, and the header of a job on the wire
//! ```
//! A default is written in the `Default` of the settings it belongs to; [`OptionSpec::default_text`] reads it off there.

mod resolve;
mod table;
mod values;

pub use resolve::KnownRatios;
pub use table::OPTIONS;
pub(super) use values::nearest;
pub use values::{GivenValue, OptionValue, OptionValues};

use crate::method::{Method, MethodName};
use crate::score::Score;
use crate::seed::Seed;

/// One row of the table: all that a shell needs to offer the option, check it and explain it.
#[derive(Debug, Clone, Copy)]
pub struct OptionSpec {
    /// Its name, in words joined by hyphens; shells spell it their own way.
    pub name: &'static str,
    /// What its values are, with their range.
    pub kind: OptionKind,
    /// What it does, in one line without a full stop.
    pub help: &'static str,
    /// Who uses it; everyone else refuses it.
    pub owners: Owners,
    /// What holds if it is not given, where no single value says it.
    pub unset: Option<&'static str>,
}

/// The values of an option.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum OptionKind {
    /// One of some words, spelled exactly.
    Choice(&'static [Choice]),
    /// A number in a range.
    Number(NumberRange),
    /// A number in a range, or one of some words.
    NumberOrWord(NumberRange, &'static [Choice]),
    /// A whole number in a range; 3.0 is not one.
    Count(CountRange),
    /// Yes or no; no unless given.
    Flag,
}

/// A word that is the value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The word as typed, stored and compared.
    pub word: &'static str,
    /// What it stands for, in one line.
    pub help: &'static str,
}

/// Which numbers an option takes.
#[derive(Debug, Clone, Copy)]
pub struct NumberRange {
    /// In words, after "must be".
    pub words: &'static str,
    /// Whether a number is one of them; asks whoever will take it, so that the rule is written once.
    pub contains: fn(f64) -> bool,
}

/// Which whole numbers an option takes, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountRange {
    /// Smallest number allowed; 0 where none is too small.
    pub least: usize,
    /// Largest number allowed, if there is one.
    pub most: Option<usize>,
}

/// Who uses an option; whoever is not among them refuses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owners {
    /// These methods, at least one; the first gives the default.
    Methods(&'static [MethodName]),
    /// These score functions, by name; the first gives the default.
    Scores(&'static [&'static str]),
    /// Everyone: it chooses the score function.
    Everyone,
}

impl OptionKind {
    /// The values in words, after "must be": the end of an error and of a help line.
    pub fn expected(&self) -> String {
        match self {
            Self::Choice(choices) => {
                let words: Vec<&str> = choices.iter().map(|choice| choice.word).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Number(range) => range.words.to_owned(),
            Self::NumberOrWord(range, choices) => {
                let words: Vec<&str> = choices.iter().map(|choice| choice.word).collect();
                format!("{}, or {}", range.words, words.join(" or "))
            }
            Self::Count(CountRange { least, most: None }) => {
                format!("a whole number, at least {least}")
            }
            Self::Count(CountRange { least, most: Some(most) }) => {
                format!("a whole number from {least} to {most}")
            }
            Self::Flag => "true or false".to_owned(),
        }
    }
}

impl OptionSpec {
    /// The row of an option, by its name in the table; none for any other spelling of it.
    pub fn named(name: &str) -> Option<&'static Self> {
        OPTIONS.iter().find(|spec| spec.name == name)
    }

    /// Whether a method uses it; options of scores belong to no method.
    pub fn is_of_method(&self, method: MethodName) -> bool {
        matches!(self.owners, Owners::Methods(methods) if methods.contains(&method))
    }

    /// Whether it belongs to score functions, or chooses one: such options go with every method.
    pub fn is_of_scores(&self) -> bool {
        !matches!(self.owners, Owners::Methods(_))
    }

    /// The value in effect when nothing is given, as its owner's settings have it; none where that is no one value.
    pub fn default_text(&self) -> Option<String> {
        // What then holds is no single value, and showing one would mislead.
        if self.unset.is_some() {
            return None;
        }
        // Read off the settings, not kept beside them: a second copy of a default would soon
        // differ.
        let mut given = OptionValues::default();
        let in_effect = match self.owners {
            Owners::Methods(methods) => {
                let method = methods.first()?;
                Method::from_options(*method, &given, KnownRatios::Absent).ok()?.options()
            }
            Owners::Scores(scores) => {
                given.set_text("score", scores.first()?).ok()?;
                Score::from_options(&given, Seed::new(0)).ok()?.options()
            }
            Owners::Everyone => Score::default().options(),
        };
        in_effect.into_iter().find(|(name, _)| *name == self.name).map(|(_, text)| text)
    }
}

impl MethodName {
    /// The options it uses, in the order of the table; those of scores are not among them.
    pub fn options(self) -> impl Iterator<Item = &'static OptionSpec> {
        OPTIONS.iter().filter(move |spec| spec.is_of_method(self))
    }
}

//! What a user gave, each value checked against its row of the table.
//!
//! ```text
//! text (command line, header) or typed value (Python) -> OptionValue, or an error with the range
//! ```

use std::collections::BTreeMap;
use std::fmt;

use super::{OPTIONS, OptionKind, OptionSpec, Owners};
use crate::error::{Error, Input, Result, User};
use crate::method::MethodName;

/// The value of an option, in its row's range: whoever holds one need not check it again.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum OptionValue {
    /// A word of the row; the table's own string, so that comparing is enough.
    Word(&'static str),
    /// A number in the row's range, never NaN.
    Number(f64),
    /// A whole number in the row's range.
    Count(usize),
    /// True or false, for options that are flags.
    Flag(bool),
}

impl fmt::Display for OptionValue {
    /// As text that [`OptionValues::set_text`] reads back to the same bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::Number(number) => write!(f, "{number}"),
            Self::Count(count) => write!(f, "{count}"),
            Self::Flag(flag) => write!(f, "{flag}"),
        }
    }
}

/// A value as a program gives it, with a type of its own; text is for words only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GivenValue<'a> {
    /// Text, for options that are words.
    Word(&'a str),
    /// A number with a fraction.
    Number(f64),
    /// A whole number; wide enough for every signed or unsigned one of 64 bits.
    Whole(i128),
    /// True or false.
    Flag(bool),
    /// Something else, as it should be shown.
    Other(&'a str),
}

impl fmt::Display for GivenValue<'_> {
    /// As it is shown in an error: text in quotes, so that an empty word can be seen.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) => write!(f, "{text:?}"),
            Self::Number(number) => write!(f, "{number:?}"),
            Self::Whole(whole) => write!(f, "{whole}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Other(shown) => f.write_str(shown),
        }
    }
}

/// Options that were given, by name; what is absent takes its default.
///
/// Ordered by name, so that two lists of the same options are equal whatever the order they came
/// in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OptionValues(BTreeMap<&'static str, OptionValue>);

impl OptionValues {
    /// Sets an option from a typed value; setting it again replaces the value.
    ///
    /// ```text
    /// choice           a word of the row
    /// number           a number, or a whole number
    /// number or word   either of the two above
    /// count            a whole number
    /// flag             true or false
    /// ```
    /// Text is not read as a number here: a program that gives "3" for a count has made a mistake.
    pub fn set(&mut self, name: &str, value: GivenValue<'_>) -> Result<()> {
        let spec = known(name)?;
        let found = match (spec.kind, value) {
            (
                OptionKind::Choice(choices) | OptionKind::NumberOrWord(_, choices),
                GivenValue::Word(text),
            ) => {
                let found = choices.iter().find(|choice| choice.word == text);
                found.map(|choice| OptionValue::Word(choice.word))
            }
            (OptionKind::Number(range) | OptionKind::NumberOrWord(range, _), value) => {
                let number = match value {
                    GivenValue::Number(number) => Some(number),
                    // Python programs write 1 for 1.0; the other way round would let 3.7 steps pass
                    // for 3.
                    GivenValue::Whole(whole) => Some(whole as f64),
                    _ => None,
                };
                number.filter(|number| (range.contains)(*number)).map(OptionValue::Number)
            }
            (OptionKind::Count(range), GivenValue::Whole(whole)) => {
                // A negative number is refused here, not wrapped into a very large one.
                let count = usize::try_from(whole).ok().filter(|count| {
                    *count >= range.least && range.most.is_none_or(|most| *count <= most)
                });
                count.map(OptionValue::Count)
            }
            (OptionKind::Flag, GivenValue::Flag(flag)) => Some(OptionValue::Flag(flag)),
            _ => None,
        };
        let refused = || Error::OptionValue {
            option: spec.name,
            found: value.to_string(),
            expected: spec.kind.expected(),
        };
        match found.ok_or_else(refused)? {
            // What is not set is not given: saying so is no use of the option.
            OptionValue::Flag(false) => self.0.remove(spec.name),
            value => self.0.insert(spec.name, value),
        };
        Ok(())
    }

    /// Sets an option from text, as typed on a command line or read from a header.
    ///
    /// # Errors
    /// If there is no such option, or the text is none of its values.
    pub fn set_text(&mut self, name: &str, text: &str) -> Result<()> {
        let spec = known(name)?;
        // Text that is not a number goes on as a word: its refusal then shows what was typed.
        let number = || text.parse().map_or(GivenValue::Word(text), GivenValue::Number);
        let value = match spec.kind {
            OptionKind::Choice(_) => GivenValue::Word(text),
            OptionKind::Number(_) | OptionKind::NumberOrWord(..) => number(),
            OptionKind::Count(_) => {
                text.parse().map_or_else(|_| GivenValue::Word(text), GivenValue::Whole)
            }
            OptionKind::Flag => text.parse().map_or(GivenValue::Word(text), GivenValue::Flag),
        };
        self.set(name, value)
    }

    /// From pairs of names and texts, such as [`Method::options`](crate::method::Method::options) gives.
    ///
    /// # Errors
    /// As [`set_text`](Self::set_text).
    pub fn from_pairs<N: AsRef<str>, T: AsRef<str>>(
        pairs: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Self> {
        let mut values = Self::default();
        for (name, text) in pairs {
            values.set_text(name.as_ref(), text.as_ref())?;
        }
        Ok(values)
    }

    /// The value of an option, if it was given; a flag that is off was not.
    pub fn get(&self, name: &str) -> Option<OptionValue> {
        self.0.get(name).copied()
    }

    /// Those given, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, OptionValue)> + '_ {
        self.0.iter().map(|(name, value)| (*name, *value))
    }

    /// Whether nothing was given, so that every default holds.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those a method uses, and those of the score: what one method of a comparison is given.
    pub fn of_method(&self, method: MethodName) -> Self {
        let used = |name: &str| {
            OptionSpec::named(name)
                .is_some_and(|spec| spec.is_of_method(method) || spec.is_of_scores())
        };
        Self(self.iter().filter(|(name, _)| used(name)).collect())
    }

    /// An error if an option was given that none of these methods uses: a comparison gives each method its own.
    ///
    /// # Errors
    /// The first such option, with the methods that use it.
    pub fn require_an_owner_among(&self, methods: &[MethodName]) -> Result<()> {
        let by = match methods {
            [one] => User::Method(one.as_str()),
            _ => User::Comparison,
        };
        // One method is named as itself: "this comparison" would puzzle who compares nothing.
        self.refuse(by, |spec| {
            spec.is_of_scores() || methods.iter().any(|method| spec.is_of_method(*method))
        })
    }

    /// An error if an option was given that a check does not use: it has a score function and the grid of its bounds.
    ///
    /// # Errors
    /// The first such option, with the methods that use it.
    pub fn require_used_by_check(&self) -> Result<()> {
        self.refuse(User::Check, |spec| {
            spec.is_of_scores() || matches!(spec.name, "bound-grid" | "assume" | "accuracy")
        })
    }

    /// An error for the first given option that is not `used`, in the order of the table.
    ///
    /// # Errors
    /// `NotUsed`, with everyone who does use it.
    pub(super) fn refuse(&self, by: User, used: impl Fn(&OptionSpec) -> bool) -> Result<()> {
        let unused = OPTIONS.iter().find(|spec| self.0.contains_key(spec.name) && !used(spec));
        match unused {
            None => Ok(()),
            Some(spec) => Err(Error::NotUsed {
                what: Input::Option(spec.name),
                by,
                owners: match spec.owners {
                    Owners::Methods(methods) => {
                        methods.iter().map(|method| User::Method(method.as_str())).collect()
                    }
                    Owners::Scores(scores) => scores.iter().copied().map(User::Score).collect(),
                    Owners::Everyone => Vec::new(),
                },
            }),
        }
    }

    /// The word given for a choice; none where a number was given or nothing.
    pub(super) fn word(&self, name: &str) -> Option<&'static str> {
        match self.get(name) {
            Some(OptionValue::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// The number given, if it is one; none where a word was given or nothing.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(OptionValue::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// The whole number given; none for options of another kind.
    pub fn count(&self, name: &str) -> Option<usize> {
        match self.get(name) {
            Some(OptionValue::Count(count)) => Some(count),
            _ => None,
        }
    }

    /// Whether a flag was given and is set.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.get(name) == Some(OptionValue::Flag(true))
    }
}

/// The row of an option, or the error that says what may have been meant.
fn known(name: &str) -> Result<&'static OptionSpec> {
    OptionSpec::named(name).ok_or_else(|| OptionSpec::unknown(name))
}

impl OptionSpec {
    /// The error for a name that is none of the table's, with what may have been meant.
    pub fn unknown(name: &str) -> Error {
        let names = OPTIONS.iter().map(|spec| spec.name);
        // Python spells names with underscores: the distance must not count them as mistakes.
        let near = nearest(&name.replace('_', "-"), names);
        Error::UnknownOption { name: name.to_owned(), near }
    }
}

/// Edits that may lie between what was typed and what was meant: a slip or two, not another word.
const MOST_EDITS: usize = 2;

/// The names closest to what was typed, if any is close enough to have been meant; else all of them.
pub(crate) fn nearest(typed: &str, names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let measured: Vec<(usize, &'static str)> =
        names.map(|name| (edits(typed, name), name)).collect();
    let closest = measured.iter().map(|(distance, _)| *distance).min().unwrap_or(usize::MAX);
    // Two edits turn any word of two letters into any other.
    if closest <= MOST_EDITS && closest < typed.chars().count() {
        measured
            .into_iter()
            .filter(|(distance, _)| *distance == closest)
            .map(|(_, name)| name)
            .collect()
    } else {
        measured.into_iter().map(|(_, name)| name).collect()
    }
}

/// Insertions, deletions, substitutions and swaps of neighbours between two words (optimal string alignment).
///
/// ```text
/// d[i][j] = min(d[i-1][j-1] + [a_i != b_j],  d[i-1][j] + 1,  d[i][j-1] + 1,
///               d[i-2][j-2] + 1  if a_i = b_(j-1) and a_(i-1) = b_j)
/// ```
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // Three rows of the table suffice: a swap looks back two, all else one.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = substituted.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

//! `cat -> 0`: labels as words, by the names of the classes.

use crate::error::{IoError, Result, some_of};
use crate::source::{Format, MatrixSource};
use crate::text_rows::TextRows;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where the names of the classes come from, which decides what a label that is a number means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LabelNames {
    /// Nothing is named: labels are numbers.
    #[default]
    None,
    /// A list in the order of the numbers: a label may be either, and must not be both of different classes.
    Listed(Vec<String>),
    /// What the columns or the labels themselves say: a label that is a name is that class, whatever number it looks like.
    Own(Vec<String>),
}

impl LabelNames {
    /// The names, in the order of the classes.
    pub fn names(&self) -> Option<&[String]> {
        match self {
            Self::None => None,
            Self::Listed(names) | Self::Own(names) => Some(names),
        }
    }

    /// Whether a name looks like the number of another class.
    pub(crate) fn contradict_numbers(&self) -> bool {
        let Self::Own(names) = self else { return false };
        names
            .iter()
            .enumerate()
            .any(|(place, name)| whole(name).is_some_and(|number| number != place))
    }
}

/// Finds the class of a label.
#[derive(Debug, Clone)]
pub(crate) struct ClassOfLabel {
    names: LabelNames,
    places: BTreeMap<String, usize>,
    only_names: bool,
}

impl ClassOfLabel {
    pub(crate) fn new(names: LabelNames) -> Self {
        let listed = names.names().unwrap_or_default().iter().cloned();
        let places = listed.enumerate().map(|(place, name)| (name, place)).collect();
        let only_names = names.contradict_numbers();
        Self { names, places, only_names }
    }

    /// The class that `text`, in row `row`, names.
    pub(crate) fn of(&self, origin: &Arc<str>, row: usize, text: &str) -> Result<usize> {
        let text = text.trim();
        let named = self.places.get(text).copied();
        match (named, whole(text).filter(|_| !self.only_names), &self.names) {
            (Some(named), Some(number), LabelNames::Listed(_)) if named != number => {
                let (origin, found) = (Arc::clone(origin), text.to_owned());
                // Lines of a table with a header.
                Err(IoError::AmbiguousLabel { origin, line: row + 2, found })
            }
            (Some(class), ..) | (None, Some(class), _) => Ok(class),
            (None, None, _) => {
                let (origin, found) = (Arc::clone(origin), text.chars().take(40).collect());
                let classes = some_of(self.names.names().unwrap_or_default());
                Err(IoError::NotAClass { origin, row, found, classes })
            }
        }
    }
}

/// A whole number; programs write 3.0 where a column has gaps.
fn whole(text: &str) -> Option<usize> {
    text.strip_suffix(".0").unwrap_or(text).parse().ok()
}

/// Labels as words, and the names that they turned out to have.
pub(crate) struct Worded {
    pub(crate) labels: Vec<usize>,
    pub(crate) names: LabelNames,
}

/// Reads labels as words. Without names these are the words that there are, sorted; there must be one for each class.
///
/// `as_numbers` is what was wrong with them as numbers; it is returned where they are neither.
pub(crate) fn worded_labels(
    source: &MatrixSource,
    names: &LabelNames,
    (rows, classes): (usize, usize),
    as_numbers: Option<IoError>,
) -> Result<Worded> {
    if !source.is_table() {
        return Err(as_numbers.unwrap_or(IoError::NoNames { origin: source.to_string().into() }));
    }
    let mut text = TextRows::open(source, None)?;
    let origin = Arc::clone(text.origin());
    // One more tells that there are more.
    let mut words: Vec<String> = text
        .next_rows(rows.saturating_add(2))?
        .into_iter()
        .filter_map(|mut row| row.pop())
        .collect();
    words.iter_mut().for_each(|word| *word = word.trim().to_owned());
    // A column alone may have its name above it.
    if words.len() == rows + 1 && source.selector().is_none() && source.format() == Format::Csv {
        words.remove(0);
    }
    if words.len() != rows {
        let (what, found) = ("labels", words.len());
        return Err(IoError::WrongCount { origin, what, found, expected: rows });
    }
    let names = match names {
        LabelNames::None => {
            let distinct: BTreeSet<&String> = words.iter().collect();
            // Numbers with a slip among them are better called that.
            let a_number = |word: &&String| word.is_empty() || word.parse::<f64>().is_ok();
            match (distinct.iter().any(a_number), as_numbers) {
                (true, Some(error)) => return Err(error),
                _ if distinct.len() != classes => {
                    let listed: Vec<String> = distinct.iter().map(|word| (*word).clone()).collect();
                    let (found, names) = (distinct.len(), some_of(&listed));
                    return Err(IoError::OtherClasses { origin, found, names, classes });
                }
                _ => LabelNames::Own(distinct.into_iter().cloned().collect()),
            }
        }
        known => known.clone(),
    };
    let class = ClassOfLabel::new(names.clone());
    let labels = words.iter().enumerate().map(|(row, word)| class.of(&origin, row, word));
    Ok(Worded { labels: labels.collect::<Result<_>>()?, names })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(names: LabelNames, text: &str) -> Result<usize, String> {
        ClassOfLabel::new(names).of(&"y.csv".into(), 3, text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_label_is_a_name_or_a_number_and_never_both() {
        let own =
            |names: &[&str]| LabelNames::Own(names.iter().map(|name| (*name).to_owned()).collect());
        let listed = |names: &[&str]| {
            LabelNames::Listed(names.iter().map(|name| (*name).to_owned()).collect())
        };
        assert_eq!(class(own(&["cat", "dog"]), " dog "), Ok(1));
        assert_eq!(class(own(&["cat", "dog"]), "0"), Ok(0));
        assert_eq!(class(LabelNames::None, "2.0"), Ok(2));
        // Columns p_1 and p_2: the label 1 is the class of p_1, and 0 is none.
        assert_eq!(class(own(&["1", "2"]), "1"), Ok(0));
        assert!(class(own(&["1", "2"]), "0").unwrap_err().contains("the classes are 1, 2"));
        assert!(class(listed(&["1", "2"]), "1").unwrap_err().contains("the number of one class"));
        assert_eq!(class(listed(&["1", "2"]), "0"), Ok(0));
        assert!(
            class(own(&["cat", "dog"]), "cow").unwrap_err().contains("row 3 has the label 'cow'")
        );
        assert!(class(LabelNames::None, "-1").is_err());
    }
}

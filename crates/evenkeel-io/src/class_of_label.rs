//! `cat -> 0`: the class of a label, by the names of the classes.

use crate::error::{IoError, Result, some_of};
use crate::label_names::{LabelNames, boolean, whole};
use crate::place::LabelPlace;
use crate::source::{Format, MatrixSource};
use crate::text_rows::TextRows;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Finds the class of a label.
#[derive(Debug, Clone)]
pub(crate) struct ClassOfLabel {
    names: LabelNames,
    places: BTreeMap<String, usize>,
    /// Classes whose names are numbers.
    numbers: BTreeMap<usize, usize>,
    /// The classes of false and true, where the names say which they are.
    truth: Option<[usize; 2]>,
    only_names: bool,
}

/// Why a label leads to no class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoClass {
    /// No class is called so.
    Unknown,
    /// It is one class by its number and another by its name.
    Two,
}

impl ClassOfLabel {
    pub(crate) fn new(names: LabelNames) -> Self {
        let listed = names.names().unwrap_or_default().iter().cloned();
        let places = listed.enumerate().map(|(place, name)| (name, place)).collect();
        let (numbers, truth) = (names.places_of_numbers(), names.places_of_truth());
        let only_names = names.contradict_numbers();
        Self { names, places, numbers, truth, only_names }
    }

    /// The class that `text`, in row `row` of a table, names.
    pub(crate) fn of(&self, origin: &Arc<str>, row: usize, text: &str) -> Result<usize> {
        let text = text.trim();
        if text.is_empty() {
            return Err(IoError::NoLabel { origin: Arc::clone(origin), row });
        }
        self.find(text).map_err(|none| self.error(none, origin, row, text))
    }

    /// The class of a number of an array, which counts the columns from 0. Where the columns are numbered otherwise, nothing says
    /// which of the two was meant.
    pub(crate) fn of_number(&self, origin: &Arc<str>, row: usize, number: usize) -> Result<usize> {
        self.find_number(number).map_err(|none| self.error(none, origin, row, &number.to_string()))
    }

    /// The class that a text names, without white space around it.
    pub(crate) fn find(&self, text: &str) -> Result<usize, NoClass> {
        let number = whole(text);
        let named = self.places.get(text).or_else(|| self.numbers.get(&number?)).copied();
        match (named, number, &self.names) {
            (Some(named), Some(number), LabelNames::Listed(_)) if named != number => {
                Err(NoClass::Two)
            }
            (Some(class), ..) => Ok(class),
            (None, None, _) => match (boolean(text), self.truth, &self.names) {
                (Some(value), Some(places), _) => Ok(places[usize::from(value)]),
                // Classes called 0 and 1, or by nothing.
                (Some(value), None, names) => {
                    let class = self.numbers.get(&usize::from(value)).copied();
                    let unnamed = (*names == LabelNames::None).then_some(usize::from(value));
                    class.or(unnamed).ok_or(NoClass::Unknown)
                }
                (None, ..) => Err(NoClass::Unknown),
            },
            (None, Some(_), _) if self.only_names => Err(NoClass::Unknown),
            // Columns of true and false in this order: 0 is the first of them, and the other by what it means.
            (None, Some(0 | 1), LabelNames::Own(_)) if self.truth == Some([1, 0]) => {
                Err(NoClass::Two)
            }
            (None, Some(class), _) => Ok(class),
        }
    }

    /// The class of a number of an array.
    pub(crate) fn find_number(&self, number: usize) -> Result<usize, NoClass> {
        let LabelNames::Own(_) = &self.names else { return Ok(number) };
        let class = self.find(&number.to_string())?;
        if class == number { Ok(class) } else { Err(NoClass::Two) }
    }

    fn error(&self, none: NoClass, origin: &Arc<str>, row: usize, text: &str) -> IoError {
        let (origin, found) = (Arc::clone(origin), text.chars().take(40).collect());
        match none {
            NoClass::Unknown => {
                let classes = some_of(self.names.names().unwrap_or_default());
                IoError::NotAClass { origin, row, found, classes }
            }
            NoClass::Two => IoError::AmbiguousLabel { origin, place: LabelPlace::Row(row), found },
        }
    }
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
    let origin: Arc<str> = source.to_string().into();
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
        let two = class(listed(&["1", "2"]), "1").unwrap_err();
        assert!(two.contains("y.csv: row 3: '1' is the number of one class"), "{two}");
        assert_eq!(class(listed(&["1", "2"]), "0"), Ok(0));
        assert!(
            class(own(&["cat", "dog"]), "cow").unwrap_err().contains("row 3 has the label 'cow'")
        );
        assert!(class(LabelNames::None, "-1").is_err());
        assert!(class(LabelNames::None, "+1").is_err());
        assert!(class(own(&["cat", "dog"]), " ").unwrap_err().contains("row 3 has no label"));
    }

    #[test]
    fn truth_values_are_the_classes_that_are_called_so() {
        let own = |one: &str, two: &str| LabelNames::Own(vec![one.to_owned(), two.to_owned()]);
        for (names, place) in [
            (own("False", "True"), 1),
            (own("true", "false"), 0),
            (own("yes", "no"), 0),
            (own("1", "0"), 0),
        ] {
            assert_eq!(class(names.clone(), "True"), Ok(place), "{names:?}");
            assert_eq!(class(names, "false"), Ok(1 - place));
        }
        assert_eq!(class(LabelNames::None, "true"), Ok(1));
        assert!(class(own("cat", "dog"), "true").is_err());
        // A number beside them is the place of a column, unless its meaning is that of the other.
        assert_eq!(class(own("no", "yes"), "1"), Ok(1));
        assert!(class(own("yes", "no"), "1").unwrap_err().contains("the number of one class"));
    }

    #[test]
    fn numbers_of_arrays_count_columns() {
        let of = |names: &[&str], number: usize| {
            let names = LabelNames::Own(names.iter().map(|name| (*name).to_owned()).collect());
            ClassOfLabel::new(names).of_number(&"y.npy".into(), 3, number).ok()
        };
        assert_eq!(of(&["cat", "dog"], 1), Some(1));
        assert_eq!(of(&["0", "1"], 1), Some(1));
        assert_eq!((of(&["1", "2"], 1), of(&["1", "2"], 0)), (None, None));
        assert_eq!(of(&["True", "False"], 0), None);
        let listed = LabelNames::Listed(vec!["1".to_owned(), "2".to_owned()]);
        assert_eq!(ClassOfLabel::new(listed).of_number(&"y.npy".into(), 3, 1).ok(), Some(1));
    }
}

//! `p_*`, `p_0..p_9`, `cat,dog`: which columns of a table make the matrix.
//!
//! ```text
//! cat,dog        names, in this order              p_*   every name that fits, in the table's order; * stands for the class
//! p_0..p_9       from one column to another, in the table's order, both included
//! ```

use crate::column_problem::ColumnProblem;
use crate::doubtful_columns::numbered_stem;
use crate::error::{IoError, Result, some_of};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Which columns of a table make the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ColumnChoice {
    /// All that hold numbers, whatever they are.
    #[default]
    All,
    /// All that hold numbers, each a class, but for these.
    But(Vec<String>),
    /// Those that fit patterns.
    Fitting(ColumnPatterns),
    /// These, in this order; others must not be there but for the ones set apart.
    Exactly {
        /// The columns.
        columns: Vec<String>,
        /// Columns that may stand beside them.
        beside: Vec<String>,
    },
    /// These, in this order, whatever else is there.
    Named(Vec<String>),
}

/// Patterns as typed, separated by commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnPatterns {
    text: String,
    patterns: Vec<Pattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    Name(String),
    /// What stands before and after the one `*`.
    Glob(String, String),
    /// From one name to another.
    Range(String, String),
}

impl ColumnPatterns {
    /// Takes patterns apart; the reason as an error, to be said with the option's name.
    ///
    /// # Errors
    /// For an empty pattern, or one with two stars.
    pub fn parse(text: &str) -> Result<Self, String> {
        let patterns = text.split(',').map(str::trim).map(pattern).collect::<Result<_, _>>()?;
        Ok(Self { text: text.to_owned(), patterns })
    }

    /// The patterns as they were typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether one star stands for the classes: their names are then what it stands for.
    pub(crate) fn class_names(&self, columns: &[String]) -> Option<Vec<String>> {
        let [Pattern::Glob(before, after)] = &self.patterns[..] else { return None };
        let name = |column: &String| {
            let name = column.strip_prefix(before.as_str())?.strip_suffix(after.as_str())?;
            (!name.is_empty()).then(|| name.to_owned())
        };
        columns.iter().map(name).collect()
    }

    /// Places of the columns that fit, each once, in the order of the patterns.
    fn places(&self, origin: &Arc<str>, names: &[String]) -> Result<Vec<usize>> {
        let mut places = Vec::new();
        for pattern in &self.patterns {
            let found = pattern.places(names);
            if found.is_empty() {
                return Err(no_column(origin, &pattern.text(), names));
            }
            // A column that two patterns fit is one class.
            places.extend(
                found.into_iter().filter(|place| !places.contains(place)).collect::<Vec<_>>(),
            );
        }
        Ok(places)
    }
}

fn pattern(text: &str) -> Result<Pattern, String> {
    if text.is_empty() {
        return Err(
            "an empty name; give names, a pattern such as p_*, or a range such as p_0..p_9".into(),
        );
    }
    if let Some((from, to)) =
        text.split_once("..").filter(|(from, to)| !from.is_empty() && !to.is_empty())
    {
        return Ok(Pattern::Range(from.to_owned(), to.to_owned()));
    }
    match text.split_once('*') {
        None => Ok(Pattern::Name(text.to_owned())),
        Some((_, after)) if after.contains('*') => {
            Err(format!("'{text}' has two stars; one star stands for the name of a class"))
        }
        Some((before, after)) => Ok(Pattern::Glob(before.to_owned(), after.to_owned())),
    }
}

impl Pattern {
    fn text(&self) -> String {
        match self {
            Self::Name(name) => name.clone(),
            Self::Glob(before, after) => format!("{before}*{after}"),
            Self::Range(from, to) => format!("{from}..{to}"),
        }
    }

    fn places(&self, names: &[String]) -> Vec<usize> {
        let place = |wanted: &str| names.iter().position(|name| name == wanted);
        match self {
            Self::Name(wanted) => place(wanted).into_iter().collect(),
            Self::Glob(before, after) => {
                let fits = |name: &&String| {
                    name.len() >= before.len() + after.len()
                        && name.starts_with(before.as_str())
                        && name.ends_with(after.as_str())
                };
                let fitting = names.iter().enumerate().filter(|(_, name)| fits(name));
                fitting.map(|(place, _)| place).collect()
            }
            Self::Range(from, to) => match (place(from), place(to)) {
                (Some(from), Some(to)) if from <= to => (from..=to).collect(),
                // Backwards: the user's order, not the table's.
                (Some(from), Some(to)) => (to..=from).rev().collect(),
                _ => Vec::new(),
            },
        }
    }
}

impl ColumnChoice {
    /// Whether names are needed to choose.
    pub(crate) fn needs_names(&self) -> bool {
        !matches!(self, Self::All | Self::But(_))
    }

    /// Places of the chosen columns among `names`. Those that `is_number` denies are left out where nothing was asked for,
    /// and are no surplus classes.
    pub(crate) fn places(
        &self,
        origin: &Arc<str>,
        names: &[String],
        is_number: impl Fn(usize) -> bool,
    ) -> Result<Vec<usize>> {
        let places = self.fitting_places(origin, names, is_number)?;
        // Of two columns of one name, or of one without, nothing says which class it is.
        let mut seen = HashSet::with_capacity(names.len());
        let repeated: HashSet<&String> = names.iter().filter(|name| !seen.insert(*name)).collect();
        let twice = |place: &&usize| repeated.contains(&names[**place]);
        if let Some(column) = places.iter().copied().find(|place| is_unnamed(&names[*place])) {
            return Err(IoError::UnnamedColumn { origin: Arc::clone(origin), column });
        }
        match places.iter().find(twice) {
            Some(place) => {
                Err(IoError::SameNames { origin: Arc::clone(origin), name: names[*place].clone() })
            }
            None => Ok(places),
        }
    }

    fn fitting_places(
        &self,
        origin: &Arc<str>,
        names: &[String],
        is_number: impl Fn(usize) -> bool,
    ) -> Result<Vec<usize>> {
        // Of a name that stands twice, the first place.
        let place_of: HashMap<&String, usize> =
            names.iter().enumerate().rev().map(|(place, name)| (name, place)).collect();
        let of = |wanted: &String| {
            place_of.get(wanted).copied().ok_or_else(|| no_column(origin, wanted, names))
        };
        match self {
            Self::All => Ok((0..names.len()).filter(|place| is_number(*place)).collect()),
            Self::But(beside) => {
                let places = (0..names.len()).filter(|place| !beside.contains(&names[*place]));
                let (kept, others): (Vec<usize>, Vec<usize>) =
                    places.partition(|place| is_number(*place));
                // `logit_3` in words among `logit_0`, `logit_1`, ... is a class that would be missing in silence.
                let stem = |place: &usize| numbered_stem(&names[*place]);
                let mut family = HashMap::<&str, usize>::new();
                for stem in kept.iter().filter_map(stem) {
                    *family.entry(stem).or_default() += 1;
                }
                let is_of_family =
                    |place: &&usize| stem(place).is_some_and(|stem| family.get(stem) > Some(&1));
                match others.iter().find(is_of_family) {
                    None => Ok(kept),
                    Some(place) => Err(IoError::Column {
                        origin: Arc::clone(origin),
                        problem: ColumnProblem::NotNumeric {
                            column: names[*place].clone(),
                            found: "something else".into(),
                        },
                    }),
                }
            }
            Self::Fitting(patterns) => patterns.places(origin, names),
            Self::Named(columns) => columns.iter().map(of).collect(),
            Self::Exactly { columns, beside } => {
                let missing: Vec<String> =
                    columns.iter().filter(|name| !place_of.contains_key(name)).cloned().collect();
                let known: HashSet<&String> = columns.iter().chain(beside).collect();
                let is_surplus =
                    |place: &usize| is_number(*place) && !known.contains(&names[*place]);
                // An index, as above.
                let unnamed = |place: &usize| is_surplus(place) && is_unnamed(&names[*place]);
                if let Some(column) = (0..names.len()).find(unnamed) {
                    return Err(IoError::UnnamedColumn { origin: Arc::clone(origin), column });
                }
                let surplus: Vec<String> =
                    (0..names.len()).filter(is_surplus).map(|place| names[place].clone()).collect();
                if missing.is_empty() && surplus.is_empty() {
                    return columns.iter().map(of).collect();
                }
                Err(other_columns(origin, &missing, &surplus))
            }
        }
    }
}

/// Whether a column has no name, or the one that pandas makes up for such a column when it reads it.
fn is_unnamed(name: &str) -> bool {
    name.is_empty() || name.starts_with("Unnamed: ")
}

fn no_column(origin: &Arc<str>, name: &str, names: &[String]) -> IoError {
    let (origin, name) = (Arc::clone(origin), name.to_owned());
    IoError::NoColumn { origin, name, found: some_of(names) }
}

/// The error of a table whose classes are not those of the calibration data.
pub(crate) fn other_columns(origin: &Arc<str>, missing: &[String], surplus: &[String]) -> IoError {
    let listed = |names: &[String]| (!names.is_empty()).then(|| some_of(names));
    IoError::OtherColumns {
        origin: Arc::clone(origin),
        missing: listed(missing),
        surplus: listed(surplus),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(patterns: &str, names: &[&str]) -> Result<Vec<usize>, String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let patterns = ColumnPatterns::parse(patterns)?;
        let choice = ColumnChoice::Fitting(patterns);
        choice.places(&"t.csv".into(), &names, |_| true).map_err(|error| error.to_string())
    }

    #[test]
    fn names_patterns_and_ranges_choose() {
        let names = ["id", "p_a", "p_b", "x", "p_c", "p_"];
        assert_eq!(chosen("p_*", &names), Ok(vec![1, 2, 4, 5]));
        assert_eq!(chosen("p_c, p_a", &names), Ok(vec![4, 1]));
        assert_eq!(chosen("p_b..p_c", &names), Ok(vec![2, 3, 4]));
        assert_eq!(chosen("p_c..p_b", &names), Ok(vec![4, 3, 2]));
        assert_eq!(chosen("x,*", &names), Ok(vec![3, 0, 1, 2, 4, 5]));
        for (wrong, words) in [
            ("q_*", "has no column 'q_*'"),
            ("p_a..zz", "has no column 'p_a..zz'"),
            ("", "an empty name"),
            ("a,,b", "an empty name"),
            ("*_*", "two stars"),
        ] {
            assert!(chosen(wrong, &names).unwrap_err().contains(words), "{wrong}");
        }
    }

    /// So many that comparing all with all would take minutes: whoever sends a table chooses how many columns it has.
    #[test]
    fn very_many_columns_are_told_apart() {
        let names: Vec<String> = (0..300_000).map(|class| format!("p_{class}")).collect();
        let beside = vec!["id".to_owned()];
        let all = names.len();
        let places = |choice: &ColumnChoice, is_number: fn(usize) -> bool| {
            let found = choice.places(&"t.csv".into(), &names, is_number);
            found.map(|places| places.len()).map_err(|error| error.to_string())
        };
        let exactly = ColumnChoice::Exactly { columns: names.clone(), beside: beside.clone() };
        for choice in [
            ColumnChoice::All,
            ColumnChoice::But(beside.clone()),
            ColumnChoice::Named(names.clone()),
            exactly,
        ] {
            assert_eq!(places(&choice, |_| true), Ok(all), "{choice:?}");
        }
        let some = |place: usize| place != 5;
        assert_eq!(places(&ColumnChoice::All, some), Ok(all - 1));
        // One of a family in words is no class that may be missing.
        assert!(places(&ColumnChoice::But(beside), some).unwrap_err().contains("p_5"));
        let mut twice = names;
        twice.push("p_7".to_owned());
        let found = ColumnChoice::All.places(&"t.csv".into(), &twice, |_| true);
        assert!(found.unwrap_err().to_string().contains("p_7"));
    }

    #[test]
    fn a_star_stands_for_the_classes() {
        let columns = ["p_cat", "p_dog"].map(str::to_owned);
        let names = |text: &str| ColumnPatterns::parse(text).unwrap().class_names(&columns);
        assert_eq!(names("p_*"), Some(vec!["cat".to_owned(), "dog".to_owned()]));
        assert_eq!(names("p_cat,p_dog"), None);
        assert_eq!(names("p_cat*"), None);
    }
}

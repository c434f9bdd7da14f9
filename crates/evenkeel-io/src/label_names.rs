//! What the classes are called, and what labels that are numbers or truth values mean beside such names.

use std::collections::BTreeMap;

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

    /// Names of columns `p_1`, `p_2`, ... that are numbers behind what they all begin with; none where these number the columns in
    /// their order, so that a label means the same either way.
    pub(crate) fn of_numbered_columns(columns: &[String]) -> Option<Self> {
        let stem =
            |name: &str| name.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned();
        let first = stem(columns.first()?);
        let numbers: Option<Vec<String>> = columns
            .iter()
            .map(|name| {
                let digits = name.strip_prefix(first.as_str())?;
                whole(digits).map(|_| digits.to_owned()).filter(|_| stem(name) == first)
            })
            .collect();
        Some(Self::Own(numbers?)).filter(|names| first.is_empty() || names.contradict_numbers())
    }

    /// Whether a name looks like the number of another class.
    pub(crate) fn contradict_numbers(&self) -> bool {
        let Self::Own(names) = self else { return false };
        let mut places = names.iter().enumerate();
        places.any(|(place, name)| whole(name).is_some_and(|number| number != place))
    }

    /// The place of the name that is this number, however it is written: `07`, `7.0`.
    pub(crate) fn places_of_numbers(&self) -> BTreeMap<usize, usize> {
        let names = self.names().unwrap_or_default().iter().enumerate();
        names.filter_map(|(place, name)| Some((whole(name)?, place))).collect()
    }

    /// The places of the names that mean false and true, where there are two classes and these are their names.
    pub(crate) fn places_of_truth(&self) -> Option<[usize; 2]> {
        let [one, two] = self.names()? else { return None };
        match (truth(one)?, truth(two)?) {
            (false, true) => Some([0, 1]),
            (true, false) => Some([1, 0]),
            _ => None,
        }
    }

    /// The first name of this list that stands in another place among the names of the columns.
    pub fn at_odds_with<'a>(&'a self, columns: &[String]) -> Option<&'a String> {
        let Self::Listed(names) = self else { return None };
        let is_elsewhere = |(place, name): &(usize, &String)| {
            columns.get(*place) != Some(name) && columns.contains(name)
        };
        names.iter().enumerate().find(is_elsewhere).map(|(_, name)| name)
    }
}

/// A whole number; programs write 3.0 where a column has gaps.
pub(crate) fn whole(text: &str) -> Option<usize> {
    let digits = text.strip_suffix(".0").unwrap_or(text);
    // A sign is no part of a label, though the parser takes one.
    digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A truth value as programs write one in a table.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// What people call two classes that are the answers to a question.
fn truth(name: &str) -> Option<bool> {
    match name.trim().to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "positive" | "pos" => Some(true),
        "false" | "f" | "no" | "n" | "negative" | "neg" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn columns_with_numbers_are_the_classes_of_these_numbers() {
        let found = |columns: &[&str]| LabelNames::of_numbered_columns(&names(columns));
        assert_eq!(found(&["p_1", "p_2"]), Some(LabelNames::Own(names(&["1", "2"]))));
        assert_eq!(found(&["p_2", "p_0", "p_1"]), Some(LabelNames::Own(names(&["2", "0", "1"]))));
        assert_eq!(found(&["p_01", "p_02"]), Some(LabelNames::Own(names(&["01", "02"]))));
        assert_eq!(found(&["1", "2"]), Some(LabelNames::Own(names(&["1", "2"]))));
        for nothing in
            [&["p_0", "p_1"][..], &["p_1", "q_2"], &["p_1", "p_b"], &["cat", "dog"], &["p_", "p_1"]]
        {
            assert_eq!(found(nothing), None, "{nothing:?}");
        }
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn two_answers_to_a_question_are_told() {
        let places = |list: &[&str]| LabelNames::Own(names(list)).places_of_truth();
        assert_eq!(places(&["no", "Yes"]), Some([0, 1]));
        assert_eq!(places(&["TRUE", "false"]), Some([1, 0]));
        assert_eq!(places(&["yes", "true"]), None);
        assert_eq!(places(&["cat", "dog"]), None);
        assert_eq!(places(&["no", "yes", "maybe"]), None);
    }

    #[test]
    fn a_list_in_another_order_than_the_columns_is_found() {
        let listed = |list: &[&str]| LabelNames::Listed(names(list));
        let columns = names(&["cat", "dog", "eel"]);
        assert_eq!(listed(&["eel", "dog", "cat"]).at_odds_with(&columns).unwrap(), "eel");
        assert_eq!(listed(&["cat", "dog", "eel"]).at_odds_with(&columns), None);
        assert_eq!(listed(&["Katze", "Hund", "Aal"]).at_odds_with(&columns), None);
    }
}

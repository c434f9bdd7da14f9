//! What the user calls the classes: their columns in a table, and their names in sets and labels.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Columns and names of the classes, in the order of the labels; either may be absent.
///
/// Kept with a calibration so that rows that come later are matched by the names of their columns, and sets are written in
/// the user's own words.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClassNames {
    /// Names of the columns that held the probabilities; shape `(C,)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// Names of the classes; shape `(C,)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<String>>,
}

impl ClassNames {
    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.columns.is_none() && self.classes.is_none()
    }

    /// An error unless every list has a name of its own for each class.
    pub(crate) fn check(&self, classes: usize) -> Result<()> {
        for names in [&self.columns, &self.classes].into_iter().flatten() {
            let why = if names.len() != classes {
                "it does not name as many classes as it has"
            } else if names.iter().any(String::is_empty) {
                "a class has an empty name"
            } else if names.iter().collect::<BTreeSet<_>>().len() != names.len() {
                "two classes have the same name"
            } else {
                continue;
            };
            return Err(Error::Damaged { what: "this calibration", why });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_name_of_its_own() {
        let named = |names: &[&str]| ClassNames {
            columns: None,
            classes: Some(names.iter().map(|name| (*name).to_owned()).collect()),
        };
        assert!(named(&["a", "b"]).check(2).is_ok());
        assert!(ClassNames::default().check(2).is_ok());
        for wrong in [&["a"][..], &["a", "a"], &["a", ""], &["a", "b", "c"]] {
            assert!(named(wrong).check(2).is_err(), "{wrong:?}");
            let columns = ClassNames { columns: named(wrong).classes, classes: None };
            assert!(columns.check(2).is_err(), "{wrong:?}");
        }
    }
}

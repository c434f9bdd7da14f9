//! What a row's group may be called.

use crate::error::{Error, Result};

/// A group's name: a text with something in it, without spaces around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupName<'a>(&'a str);

impl<'a> GroupName<'a> {
    /// The text.
    pub fn get(self) -> &'a str {
        self.0
    }
}

/// The name in a cell; `row` is its place in the input, for errors.
///
/// # Errors
/// If the cell is empty, or holds the mark of a missing number: rows without a group belong to none.
pub fn group_name(cell: &str, row: usize) -> Result<GroupName<'_>> {
    let name = cell.trim();
    if name.is_empty() || name.eq_ignore_ascii_case("nan") {
        return Err(Error::NoGroup { row, found: name.to_owned() });
    }
    Ok(GroupName(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_text_with_something_in_it() {
        assert_eq!(group_name(" north ", 0).unwrap().get(), "north");
        // Namibia.
        assert_eq!(group_name("NA", 0).unwrap().get(), "NA");
        for cell in ["", "  ", "NaN", "nan"] {
            assert!(matches!(group_name(cell, 7), Err(Error::NoGroup { row: 7, .. })), "{cell}");
        }
    }
}

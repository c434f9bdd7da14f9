//! The groups of rows, as workers give them.

use std::collections::BTreeMap;

use evenkeel::error::Error;
use evenkeel::per_group::group_name;

use crate::error::{JobError, Result};

/// Groups of rows: names, and the place of its name there for each row.
#[derive(Debug, Clone, Copy)]
pub struct GroupCodes<'a> {
    /// Names; some may be nobody's.
    pub names: &'a [String],
    /// One for each row.
    pub codes: &'a [u32],
}

impl<'a> GroupCodes<'a> {
    /// The name of every row's group.
    pub(super) fn of_rows(&self) -> Result<Vec<&'a str>> {
        self.each(|name, _| Ok(name))
    }

    /// The part of every row's group; an error for a group that is in none.
    pub(super) fn parts(&self, part_of: &BTreeMap<String, usize>) -> Result<Vec<usize>> {
        self.each(|name, row| {
            part_of.get(name).copied().ok_or_else(|| {
                // It was not there when the groups were counted.
                Error::UnknownGroup { name: name.to_owned(), row, known: part_of.len() }
            })
        })
    }

    /// What `of` makes of the group of every row; it is asked once for each name, with the first row of it.
    fn each<V: Copy>(&self, of: impl Fn(&'a str, usize) -> evenkeel::Result<V>) -> Result<Vec<V>> {
        let mut known: Vec<Option<V>> = vec![None; self.names.len()];
        let found = self.codes.iter().enumerate().map(|(row, code)| {
            let code = *code as usize;
            let missing = || Error::NoGroup { row, found: String::new() };
            let place = known.get_mut(code).ok_or_else(missing)?;
            if let Some(value) = place {
                return Ok(*value);
            }
            let value = of(group_name(&self.names[code], row)?.get(), row)?;
            *place = Some(value);
            Ok(value)
        });
        let found: evenkeel::Result<Vec<V>> = found.collect();
        found.map_err(|error| JobError::found_in("groups", error))
    }
}

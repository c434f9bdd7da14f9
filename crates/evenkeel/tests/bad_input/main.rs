//! Every bad input is refused with an error that says what, where and what to do; none makes the library panic.

#![allow(missing_docs, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod accepted;
mod candidates;
mod edges;
mod laws;
mod sandwiches;
mod tables;

use evenkeel::Error;
use evenkeel::error::Category;
use std::panic::catch_unwind;

/// What a bad input gives: all that matters is the error.
pub type Outcome = Result<(), Error>;

/// One line of a table of bad inputs.
pub struct Bad {
    pub name: &'static str,
    pub give: fn() -> Outcome,
    /// Fragments of the message: the place, then the remedy.
    pub says: &'static [&'static str],
    pub category: Category,
}

/// A line whose mistake lies in the data.
pub fn input(name: &'static str, give: fn() -> Outcome, says: &'static [&'static str]) -> Bad {
    Bad { name, give, says, category: Category::InvalidInput }
}

/// A line whose mistake is a setting out of its range.
pub fn parameter(name: &'static str, give: fn() -> Outcome, says: &'static [&'static str]) -> Bad {
    Bad { name, give, says, category: Category::InvalidParameter }
}

/// A line whose pieces do not fit each other.
pub fn misfit(name: &'static str, give: fn() -> Outcome, says: &'static [&'static str]) -> Bad {
    Bad { name, give, says, category: Category::Incompatible }
}

/// Runs a table and reports every line that is not refused as it should be, not only the first.
pub fn check(table: &[Bad]) {
    let mut complaints = Vec::new();
    for Bad { name, give, says, category } in table {
        match catch_unwind(give) {
            Err(_) => complaints.push(format!("{name}: panicked")),
            Ok(Ok(())) => complaints.push(format!("{name}: accepted")),
            Ok(Err(error)) => {
                let message = error.to_string();
                for fragment in says.iter().filter(|fragment| !message.contains(**fragment)) {
                    complaints.push(format!("{name}: {message:?} does not say {fragment:?}"));
                }
                if error.category() != *category {
                    complaints.push(format!("{name}: category {:?}", error.category()));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

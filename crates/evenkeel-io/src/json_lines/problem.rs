//! What can be wrong in a line of a file of JSON lines.

/// What was found in a line, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonLineProblem {
    /// Bytes that are no JSON.
    #[error("this is not JSON ({reason}); write one object or list a line")]
    Syntax {
        /// What the parser said.
        reason: String,
    },
    /// A whole table as one array.
    #[error(
        "this is one array of objects; write one object a line (pandas: orient='records', lines=True)"
    )]
    OneArray,
    /// Bytes that are not text.
    #[error("this is not text; save the lines in UTF-8")]
    NotText,
    /// A line that does not end.
    #[error("the line is longer than {limit} bytes; write one row a line")]
    TooLong {
        /// Bytes that are read at most.
        limit: usize,
    },
    /// More fields than a row may have.
    #[error("the line has more than {limit} entries, the most that can be read")]
    TooMany {
        /// Entries that are read at most.
        limit: usize,
    },
    /// An object below lists, or the other way round.
    #[error("found {found} where the first line is {expected}; give every line the same form")]
    OtherForm {
        /// What this line is, in words.
        found: &'static str,
        /// What the first line is, in words.
        expected: &'static str,
    },
    /// A field that is missing.
    #[error("the field {field:?} is missing; every line needs it")]
    Missing {
        /// Name of the field.
        field: String,
    },
    /// Two values of one name.
    #[error("the field {field:?} stands there twice; give each a name of its own")]
    Twice {
        /// Name of the field.
        field: String,
    },
    /// A number in a field that the first line does not have.
    #[error(
        "the number {field:?} is not in the first line; give every line the same fields, or choose some (--prob-cols)"
    )]
    NewField {
        /// Name of the field.
        field: String,
    },
    /// A value that is not a number.
    #[error("{field:?} is {found}, not a number; {}", hint(found))]
    NotANumber {
        /// Name of the field, or its place in a list.
        field: String,
        /// The start of what stands there.
        found: String,
    },
    /// A list of another length than the first.
    #[error("{found} numbers where the first line has {expected}; give every line as many")]
    Ragged {
        /// Numbers found.
        found: usize,
        /// Numbers of the first line.
        expected: usize,
    },
}

/// The likely mistake behind a value that is not a number.
fn hint(found: &str) -> &'static str {
    match found {
        "null" => "fill the gap or remove the line",
        text if text.starts_with('"') => "write numbers without quotes, or choose other columns",
        _ => "choose columns of numbers",
    }
}

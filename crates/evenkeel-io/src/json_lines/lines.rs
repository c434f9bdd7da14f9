//! Lines of a text in bounded memory, and what stands in one of them.

use super::problem::JsonLineProblem;
use crate::csv::MAX_RECORD_BYTES;
use crate::error::{IoError, Result};
use crate::reader::MAX_COLUMNS;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

const INPUT_BYTES: usize = 1 << 18;

/// Reads lines one after the other; blank lines do not count.
pub(crate) struct Lines {
    input: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
    number: u64,
    origin: Arc<str>,
}

impl Lines {
    pub(crate) fn new(text: Box<dyn Read + Send>, origin: &Arc<str>) -> Self {
        let input = BufReader::with_capacity(INPUT_BYTES, text);
        Self { input, line: Vec::new(), number: 0, origin: Arc::clone(origin) }
    }

    /// Moves to the next line that is not blank and gives its number, from 1; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<u64>> {
        loop {
            self.line.clear();
            if !self.fill_line()? {
                return Ok(None);
            }
            self.number += 1;
            if self.number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
                self.line.drain(..3);
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some(self.number));
            }
        }
    }

    /// Reads up to the next line feed; false if there is nothing left.
    fn fill_line(&mut self) -> Result<bool> {
        let mut any = false;
        loop {
            let input = match self.input.fill_buf() {
                Ok(input) => input,
                Err(error) => {
                    return Err(IoError::Read { origin: Arc::clone(&self.origin), error });
                }
            };
            if input.is_empty() {
                return Ok(any);
            }
            any = true;
            let end = input.iter().position(|byte| *byte == b'\n');
            self.line.extend_from_slice(&input[..end.unwrap_or(input.len())]);
            let read = end.map_or(input.len(), |end| end + 1);
            self.input.consume(read);
            if end.is_some() {
                return Ok(true);
            }
            // A file without line feeds must not become a line of its size.
            if self.line.len() > MAX_RECORD_BYTES {
                self.number += 1;
                return Err(self.error(JsonLineProblem::TooLong { limit: MAX_RECORD_BYTES }));
            }
        }
    }

    /// What stands in the current line.
    pub(crate) fn row(&self) -> Result<Line<'_>> {
        let text = std::str::from_utf8(self.line.trim_ascii())
            .map_err(|_| self.error(JsonLineProblem::NotText))?;
        let line = match text.as_bytes().first() {
            Some(b'{') => serde_json::from_str(text).map(|Fields(fields)| Line::Fields(fields)),
            Some(b'[') => serde_json::from_str(text).map(|Entries(entries)| Line::List(entries)),
            _ => serde_json::from_str(text).map(Line::Value),
        };
        line.map_err(|error| {
            let said = error.to_string();
            if said.contains(TOO_MANY) {
                return self.error(JsonLineProblem::TooMany { limit: MAX_COLUMNS });
            }
            // The parser counts lines in the one that it was given.
            let reason = said.replace(" at line 1 column", " at column");
            self.error(JsonLineProblem::Syntax { reason })
        })
    }

    /// The input as the user typed it.
    pub(crate) fn origin(&self) -> &Arc<str> {
        &self.origin
    }

    /// Whether the line begins with these bytes, white space aside.
    pub(crate) fn starts_with(&self, bytes: &[u8]) -> bool {
        self.line.trim_ascii_start().starts_with(bytes)
    }

    /// An error about the current line.
    pub(crate) fn error(&self, problem: JsonLineProblem) -> IoError {
        IoError::JsonLine { origin: Arc::clone(&self.origin), line: self.number, problem }
    }
}

const TOO_MANY: &str = "too many entries";

/// What stands in a line; values are the text that they were written as.
#[derive(Debug)]
pub(crate) enum Line<'a> {
    /// `{"name": value, ...}`
    Fields(Vec<(Cow<'a, str>, &'a str)>),
    /// `[value, ...]`
    List(Vec<&'a str>),
    /// A value alone.
    Value(&'a RawValue),
}

impl Line<'_> {
    /// The form in words.
    pub(crate) fn form(&self) -> &'static str {
        match self {
            Self::Fields(_) => "an object",
            Self::List(_) => "a list",
            Self::Value(_) => "one value",
        }
    }
}

struct Fields<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfFields;
        impl<'de> Visitor<'de> for OfFields {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    if fields.len() == MAX_COLUMNS {
                        return Err(A::Error::custom(TOO_MANY));
                    }
                    fields.push((key, value.get()));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(OfFields)
    }
}

struct Entries<'a>(Vec<&'a str>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfEntries;
        impl<'de> Visitor<'de> for OfEntries {
            type Value = Entries<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = list.next_element::<&'de RawValue>()? {
                    if entries.len() == MAX_COLUMNS {
                        return Err(A::Error::custom(TOO_MANY));
                    }
                    entries.push(entry.get());
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_seq(OfEntries)
    }
}

/// A name without a copy, where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfKey;
        impl<'de> Visitor<'de> for OfKey {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(OfKey)
    }
}

/// The number that a value is, as it was written.
pub(crate) fn number(value: &str) -> Option<f64> {
    // Values are JSON already: a number begins with a digit or a minus sign, and nothing else does.
    value
        .starts_with(|first: char| first == '-' || first.is_ascii_digit())
        .then(|| value.parse().ok())?
}

/// The start of a value, for errors: one of megabytes would fill the terminal.
pub(crate) fn shortened(value: &str) -> String {
    value.chars().take(30).collect()
}

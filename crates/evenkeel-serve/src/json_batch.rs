//! A batch of JSON, held to the limits while it is read: a row of one number takes 4 bytes of text and twenty times that in memory, so
//! that counting afterwards would be too late.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::content::{RowId, require_classes, require_rows};
use crate::limits::Limits;
use crate::problem::Problem;

/// What a batch of JSON holds.
#[derive(Debug, Default)]
pub(crate) struct JsonTable {
    /// Numbers, row after row.
    pub values: Vec<f64>,
    /// Numbers of the first row; 0 without rows.
    pub columns: usize,
    /// What the rows are called.
    pub ids: Option<Vec<String>>,
}

/// Reads a batch, and stops at the first row or number that is too many.
///
/// # Errors
/// If it is no JSON, no batch, beyond the limits, or its rows have several widths.
pub(crate) fn read(content: &[u8], limits: &Limits) -> Result<JsonTable, Problem> {
    let stopped = RefCell::new(None);
    let mut json = serde_json::Deserializer::from_slice(content);
    let found = Batch { limits, stopped: &stopped }
        .deserialize(&mut json)
        .and_then(|table| json.end().map(|()| table));
    found.map_err(|error| stopped.take().unwrap_or_else(|| problem_of(&error)))
}

/// What is wrong with the text itself.
pub(crate) fn problem_of(error: &serde_json::Error) -> Problem {
    match error.classify() {
        serde_json::error::Category::Data => Problem::data(format!("the body: {error}")),
        _ => Problem::usage(format!("the body is not JSON: {error}")),
    }
}

/// The object itself.
#[derive(Clone, Copy)]
struct Batch<'a> {
    limits: &'a Limits,
    /// Why reading ended, where it was not the text's fault.
    stopped: &'a RefCell<Option<Problem>>,
}

impl Batch<'_> {
    /// Ends the reading with an answer of our own.
    fn stop<E: serde::de::Error>(&self, problem: Problem) -> E {
        self.stopped.replace(Some(problem));
        E::custom("stopped")
    }
}

impl<'de> DeserializeSeed<'de> for Batch<'_> {
    type Value = JsonTable;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<JsonTable, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Batch<'_> {
    type Value = JsonTable;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with the field `probs`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonTable, A::Error> {
        let (mut table, mut seen) = (JsonTable::default(), false);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "probs" if seen => return Err(A::Error::duplicate_field("probs")),
                "ids" if table.ids.is_some() => return Err(A::Error::duplicate_field("ids")),
                "probs" => {
                    seen = true;
                    map.next_value_seed(Rows { batch: self, table: &mut table })?;
                }
                "ids" => table.ids = map.next_value_seed(Ids { batch: self })?,
                _ => return Err(A::Error::unknown_field(&key, &["probs", "ids"])),
            }
        }
        if seen { Ok(table) } else { Err(A::Error::missing_field("probs")) }
    }
}

/// The list of rows.
struct Rows<'a, 't> {
    batch: Batch<'a>,
    table: &'t mut JsonTable,
}

impl<'de> DeserializeSeed<'de> for Rows<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of numbers for each row")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { batch, table } = self;
        let mut rows = 0;
        while let Some(found) = list.next_element_seed(Row { batch, values: &mut table.values })? {
            if rows == 0 {
                table.columns = found;
            }
            if found == 0 && rows == 0 {
                return Err(batch.stop(no_rows()));
            }
            if found != table.columns {
                return Err(batch.stop(Problem::data(format!(
                    "row {rows} of `probs` has {found} numbers, row 0 has {}; send a number for each class in every row",
                    table.columns
                ))));
            }
            rows += 1;
            require_rows(rows, table.columns, batch.limits)
                .map_err(|problem| batch.stop::<A::Error>(problem))?;
        }
        if rows == 0 { Err(batch.stop(no_rows())) } else { Ok(()) }
    }
}

fn no_rows() -> Problem {
    Problem::data("`probs` holds no rows; send a list of numbers for each row")
}

/// One row, whose numbers follow those of the rows before.
struct Row<'a, 't> {
    batch: Batch<'a>,
    values: &'t mut Vec<f64>,
}

impl<'de> DeserializeSeed<'de> for Row<'_, '_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Row<'_, '_> {
    type Value = usize;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<usize, A::Error> {
        let mut found = 0;
        while let Some(value) = list.next_element::<f64>()? {
            found += 1;
            require_classes(found, self.batch.limits)
                .map_err(|problem| self.batch.stop::<A::Error>(problem))?;
            self.values.push(value);
        }
        Ok(found)
    }
}

/// The names of the rows, or null.
struct Ids<'a> {
    batch: Batch<'a>,
}

impl<'de> DeserializeSeed<'de> for Ids<'_> {
    type Value = Option<Vec<String>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for Ids<'_> {
    type Value = Option<Vec<String>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of what the rows are called")
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut ids = Vec::new();
        while let Some(id) = list.next_element::<RowId>()? {
            ids.push(id.into());
            require_rows(ids.len(), 1, self.batch.limits)
                .map_err(|problem| self.batch.stop::<A::Error>(problem))?;
        }
        Ok(Some(ids))
    }
}

//! A batch of JSON, held to the limits while it is read.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::content::{RowId, require_classes, require_rows};
use crate::json_within::{List, Within, read_within};
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
    read_within(content, limits, |within, json| Batch(within).deserialize(json))
}

/// The object itself.
#[derive(Clone, Copy)]
struct Batch<'a>(Within<'a>);

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
                    map.next_value_seed(Rows { within: self.0, table: &mut table })?;
                }
                "ids" => table.ids = map.next_value_seed(List::<RowId, String>::within(self.0))?,
                _ => return Err(A::Error::unknown_field(&key, &["probs", "ids"])),
            }
        }
        if seen { Ok(table) } else { Err(A::Error::missing_field("probs")) }
    }
}

/// The list of rows.
struct Rows<'a, 't> {
    within: Within<'a>,
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
        let Self { within, table } = self;
        let mut rows = 0;
        while let Some(found) = list.next_element_seed(Row { within, values: &mut table.values })? {
            if rows == 0 {
                table.columns = found;
            }
            if found == 0 && rows == 0 {
                return Err(within.stop(no_rows()));
            }
            if found != table.columns {
                return Err(within.stop(Problem::data(format!(
                    "row {rows} of `probs` has {found} numbers, row 0 has {}; send a number for each class in every row",
                    table.columns
                ))));
            }
            rows += 1;
            require_rows(rows, table.columns, within.limits)
                .map_err(|problem| within.stop::<A::Error>(problem))?;
        }
        if rows == 0 { Err(within.stop(no_rows())) } else { Ok(()) }
    }
}

fn no_rows() -> Problem {
    Problem::data("`probs` holds no rows; send a list of numbers for each row")
}

/// One row, whose numbers follow those of the rows before.
struct Row<'a, 't> {
    within: Within<'a>,
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
            require_classes(found, self.within.limits)
                .map_err(|problem| self.within.stop::<A::Error>(problem))?;
            self.values.push(value);
        }
        Ok(found)
    }
}

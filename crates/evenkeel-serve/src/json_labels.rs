//! Late labels of JSON, held to the limits while they are read: an empty id takes 3 bytes of text and eight times that in memory.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};

use crate::content::RowId;
use crate::json_within::{List, Within, read_within};
use crate::limits::Limits;
use crate::problem::Problem;

/// Labels of a batch, and the rows they are of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JsonLabels {
    /// Rows, from 0; none where labels are of all rows or name them.
    pub rows: Option<Vec<u32>>,
    /// What the rows were called when the batch was sent.
    pub ids: Option<Vec<String>>,
    /// Classes, from 0.
    pub labels: Vec<u32>,
}

/// Reads labels, and stops at the first row, id or label that is one more than a batch may have rows.
///
/// # Errors
/// If it is no JSON, no such document, or beyond the limits.
pub(crate) fn read(content: &[u8], limits: &Limits) -> Result<JsonLabels, Problem> {
    read_within(content, limits, |within, json| Document(within).deserialize(json))
}

/// Reads late labels of JSON as the server does.
///
/// # Errors
/// What a caller would be told.
pub fn read_json_labels(content: &[u8], limits: &Limits) -> Result<JsonLabels, String> {
    read(content, limits).map_err(|problem| problem.detail().to_owned())
}

/// The object itself.
#[derive(Clone, Copy)]
struct Document<'a>(Within<'a>);

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = JsonLabels;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<JsonLabels, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = JsonLabels;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with the field `labels`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonLabels, A::Error> {
        let mut found = JsonLabels::default();
        let mut seen: [bool; FIELDS.len()] = Default::default();
        while let Some(key) = map.next_key::<String>()? {
            let Some(field) = FIELDS.iter().position(|name| *name == key) else {
                return Err(A::Error::unknown_field(&key, &FIELDS));
            };
            if std::mem::replace(&mut seen[field], true) {
                return Err(A::Error::duplicate_field(FIELDS[field]));
            }
            match field {
                0 => found.rows = map.next_value_seed(List::<u32, u32>::within(self.0))?,
                1 => found.ids = map.next_value_seed(List::<RowId, String>::within(self.0))?,
                _ => {
                    let labels = map.next_value_seed(List::<u32, u32>::within(self.0))?;
                    found.labels = labels.ok_or_else(|| {
                        A::Error::invalid_type(serde::de::Unexpected::Unit, &"a list of classes")
                    })?;
                }
            }
        }
        if seen[2] { Ok(found) } else { Err(A::Error::missing_field("labels")) }
    }
}

const FIELDS: [&str; 3] = ["rows", "ids", "labels"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_within_the_limits() {
        let limits = Limits { rows: 3, ..Limits::default() };
        let read = |text: &str| read(text.as_bytes(), &limits);
        let all = JsonLabels { labels: vec![1, 2], ..JsonLabels::default() };
        assert_eq!(read(r#"{"labels": [1, 2]}"#).unwrap(), all);
        assert_eq!(read(r#"{"labels": [1, 2], "rows": null, "ids": null}"#).unwrap(), all);
        let ids = Some(vec!["a".to_owned(), "7".to_owned()]);
        assert_eq!(
            read(r#"{"ids": ["a", 7], "labels": [1, 2]}"#).unwrap(),
            JsonLabels { ids, ..all.clone() }
        );
        let rows = Some(vec![0, 5]);
        assert_eq!(
            read(r#"{"rows": [0, 5], "labels": [1, 2]}"#).unwrap(),
            JsonLabels { rows, ..all }
        );
        for (text, status) in [
            (r#"{"labels": [1, 2, 3, 4]}"#, 413),
            (r#"{"rows": [1, 2, 3, 4], "labels": [1]}"#, 413),
            (r#"{"ids": ["", "", "", "", what follows is not read"#, 413),
            (r#"{"ids": ["a"]}"#, 422),
            (r#"{"labels": null}"#, 422),
            (r#"{"labels": [-1]}"#, 422),
            (r#"{"labels": [1.5]}"#, 422),
            (r#"{"labels": ["a"]}"#, 422),
            (r#"{"labels": [1], "labels": [1]}"#, 422),
            (r#"{"labels": [1], "other": 1}"#, 422),
            ("[]", 422),
            (r#"{"labels": [1]} 7"#, 400),
            ("{", 400),
            ("", 400),
        ] {
            assert_eq!(read(text).unwrap_err().status().as_u16(), status, "{text}");
        }
    }
}

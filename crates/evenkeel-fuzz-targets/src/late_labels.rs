//! Labels of rows that are called by ids: refused, or pairs that can be written as JSON lines and read again.

use evenkeel_io::{LabelNames, read_labels_of_ids};

use crate::scratch::written;

/// A table of ids and labels; the first byte says whether it is text or JSON lines.
pub fn late_labels(data: &[u8]) {
    let Some((kind, contents)) = data.split_first() else { return };
    let name = if kind & 1 == 0 { "late.csv" } else { "late.jsonl" };
    let read = |path: &str| read_labels_of_ids(path, "id", None, &LabelNames::None);
    let Ok(pairs) = read(&written(name, contents)) else { return };
    if pairs.is_empty() {
        return;
    }
    let line = |(id, label): &(String, usize)| {
        serde_json::json!({ "id": id, "label": label }).to_string() + "\n"
    };
    let lines: String = pairs.iter().map(line).collect();
    assert_eq!(read(&written("late-again.jsonl", lines.as_bytes())).ok(), Some(pairs));
}

//! A batch as JSON, and labels that come late, as a server takes them: refused, or within the limits and the same when they are written and
//! read again.

use evenkeel_serve::{JsonLabels, JsonRows, Limits, read_json_batch, read_json_labels};

/// The body of a request.
pub fn batch_json(data: &[u8]) {
    let limits = Limits { rows: 64, classes: 16, ..Limits::default() };
    rows(data, &limits);
    labels(data, &limits);
}

fn rows(data: &[u8], limits: &Limits) {
    let Ok(JsonRows { values, columns, ids }) = read_json_batch(data, limits) else { return };
    assert!(columns > 0 && columns <= limits.classes && values.len() % columns == 0);
    assert!(values.len() / columns <= limits.rows && values.iter().all(|value| value.is_finite()));
    let probs: Vec<&[f64]> = values.chunks_exact(columns).collect();
    let body = match &ids {
        Some(ids) => serde_json::json!({ "probs": probs, "ids": ids }),
        None => serde_json::json!({ "probs": probs }),
    };
    let again = read_json_batch(body.to_string().as_bytes(), limits);
    assert_eq!(again, Ok(JsonRows { values, columns, ids }), "{body}");
}

fn labels(data: &[u8], limits: &Limits) {
    let Ok(JsonLabels { rows, ids, labels }) = read_json_labels(data, limits) else { return };
    let lengths = [rows.as_ref().map(Vec::len), ids.as_ref().map(Vec::len), Some(labels.len())];
    assert!(lengths.into_iter().flatten().all(|length| length <= limits.rows));
    let body = serde_json::json!({ "rows": rows, "ids": ids, "labels": labels });
    let again = read_json_labels(body.to_string().as_bytes(), limits);
    assert_eq!(again, Ok(JsonLabels { rows, ids, labels }), "{body}");
}

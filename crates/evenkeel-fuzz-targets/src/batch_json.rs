//! A batch as JSON, as a server takes it: refused, or rows of one width that are the same when they are written and read again.

use evenkeel_serve::{JsonRows, Limits, read_json_batch};

/// The body of a request.
pub fn batch_json(data: &[u8]) {
    let limits = Limits { rows: 64, classes: 16, ..Limits::default() };
    let Ok(JsonRows { values, columns, ids }) = read_json_batch(data, &limits) else { return };
    assert!(columns > 0 && columns <= limits.classes && values.len() % columns == 0);
    assert!(values.len() / columns <= limits.rows && values.iter().all(|value| value.is_finite()));
    let probs: Vec<&[f64]> = values.chunks_exact(columns).collect();
    let body = match &ids {
        Some(ids) => serde_json::json!({ "probs": probs, "ids": ids }),
        None => serde_json::json!({ "probs": probs }),
    };
    let again = read_json_batch(body.to_string().as_bytes(), &limits);
    assert!(again.is_ok(), "{again:?} of {body}");
    let Ok(JsonRows { values: found, columns: width, ids: names }) = again else { return };
    assert_eq!((width, names), (columns, ids));
    // The parser of JSON rounds the last digit.
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-15 * a.abs() || a == b;
    assert!(found.len() == values.len() && found.iter().zip(&values).all(is_near), "{body}");
}

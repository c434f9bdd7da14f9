//! Probabilities and logits on their way to the core, and the core's errors on their way back.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod corpus;

use corpus::Scratch;
use evenkeel::score::Probabilities;
use evenkeel_io::{AnyRows, Category, MatrixReader, MatrixSource, ValueKind};

/// Checks all rows of a file in blocks of two; the message of the first error.
fn check(argument: &str, kind: ValueKind) -> Result<Vec<f64>, String> {
    let mut reader = MatrixReader::open(&MatrixSource::parse(argument).unwrap()).unwrap();
    let (mut softmax, mut all) = (Vec::new(), Vec::new());
    while let Some(block) = reader.next_block(2).map_err(|error| error.to_string())? {
        let rows = block.probabilities(kind, &mut softmax).map_err(|error| error.to_string())?;
        let checked = match rows {
            AnyRows::F32(rows) => Probabilities::from_rows(rows).map(drop),
            AnyRows::F64(rows) => Probabilities::from_rows(rows).map(|_| {
                all.extend_from_slice(rows.values());
            }),
        };
        checked.map_err(|error| {
            let error = block.error(error);
            assert!(matches!(error.category(), Category::Core(_)));
            error.to_string()
        })?;
    }
    Ok(all)
}

#[test]
fn logits_become_probabilities() {
    let scratch = Scratch::new();
    let path = scratch.file("logits.csv", "0.0,0.0\n1000.0,0.0\n-3.5,-2.5\n");
    let found = check(&path, ValueKind::Logits).unwrap();
    let e = 1.0_f64.exp();
    let expected = [0.5, 0.5, 1.0, 0.0, 1.0 / (1.0 + e), e / (1.0 + e)];
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-15, "{found} {expected}");
    }
}

#[test]
fn errors_of_the_core_carry_the_file_and_its_row() {
    let scratch = Scratch::new();
    let path = scratch.file("p.csv", "0.5,0.5\n1,0\n0.9,0.1\n0.7,0.7\n");
    let message = check(&path, ValueKind::Probabilities).unwrap_err();
    assert!(message.contains("p.csv: probabilities row 3 sums to 1.4"), "{message}");
    assert!(message.contains("if these are logits"), "{message}");
    let path = scratch.file("p.csv", "0.5,0.5\n1,0\n0.9,0.1\n-0.5,1.5\n");
    let message = check(&path, ValueKind::Probabilities).unwrap_err();
    assert!(message.contains("p.csv: probabilities[row 3, column 0] is -0.5"), "{message}");
    let path = scratch.file("p.csv", "0.5,0.5\n1,0\n0.9,0.1\n0.5,nan\n");
    let message = check(&path, ValueKind::ForcedLogits).unwrap_err();
    assert!(message.contains("p.csv: logits[row 3, column 1] is NaN"), "{message}");
    let message = check(&path, ValueKind::Logits).unwrap_err();
    assert!(message.contains("p.csv: the first 2 rows are probabilities already"), "{message}");
}

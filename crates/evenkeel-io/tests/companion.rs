//! Files read row for row beside another: any number of rows at a time gives the same rows.

#![allow(clippy::unwrap_used)]

use evenkeel_io::{MatrixSource, RowAligned, read_matrix};

fn fixture(name: &str) -> MatrixSource {
    let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    MatrixSource::parse(&path).unwrap()
}

#[test]
fn steps_of_any_size_give_the_whole() {
    for name in [
        "f4-little-c.npy",
        "f8-big-fortran.npy",
        "reference.csv",
        "list-small-pages.parquet",
        "split.parquet",
    ] {
        let whole = read_matrix(&fixture(name)).unwrap();
        let expected = whole.values().to_f64();
        for step in 1..=whole.row_count() + 1 {
            let mut rows = RowAligned::open(&fixture(name)).unwrap();
            let mut found = Vec::new();
            loop {
                let taken = rows.next_rows(step).unwrap().to_vec();
                assert_eq!(rows.last_rows(), taken);
                let full = taken.len() == step * rows.columns();
                found.extend(taken);
                if !full {
                    break;
                }
            }
            assert_eq!(found, expected, "{name} in steps of {step}");
            assert_eq!(rows.count_rows().unwrap(), whole.row_count());
        }
    }
}

#[test]
fn labels_in_steps_are_the_labels() {
    let expected = evenkeel_io::read_labels(&fixture("vector.npy"), None).unwrap();
    let mut rows = RowAligned::open_column(&fixture("vector.npy"), "labels").unwrap();
    let mut found = Vec::new();
    while found.len() < expected.len() {
        found.extend(rows.next_labels(2).unwrap());
    }
    assert_eq!(found, expected);
    assert!(rows.next_labels(1).unwrap().is_empty());
}

#[test]
fn a_matrix_is_no_column_and_halves_are_no_labels() {
    let error = RowAligned::open_column(&fixture("f4-little-c.npy"), "labels").unwrap_err();
    assert!(error.to_string().contains("one column, found 5"), "{error}");
    let path = std::env::temp_dir().join(format!("in-step-{}.csv", std::process::id()));
    std::fs::write(&path, "label\n0\n1\n2\n1.5\n").unwrap();
    let source = MatrixSource::parse(path.to_str().unwrap()).unwrap();
    let mut rows = RowAligned::open_column(&source, "labels").unwrap();
    assert_eq!(rows.next_labels(3).unwrap(), [0, 1, 2]);
    let error = rows.next_labels(3).unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(error.contains("1.5") && error.contains('3'), "{error}");
}

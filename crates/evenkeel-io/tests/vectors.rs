//! Labels, weights and class names.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod corpus;

use corpus::{Scratch, fixture};
use evenkeel_io::{
    Category, LabelNames, MatrixSource, read_class_names, read_labels, read_labels_of_rows,
    read_matrix, read_weights,
};
use std::path::Path;

fn labels(argument: &str) -> Result<Vec<usize>, String> {
    let source = MatrixSource::parse(argument).map_err(|error| error.to_string())?;
    read_labels(&source, None).map_err(|error| error.to_string())
}

#[test]
fn labels_are_integers_or_whole_floats_of_any_format() {
    let expected = labels(&fixture("vector.npy")).unwrap();
    assert_eq!(expected.len(), 23);
    for argument in ["vector-f8.npy", "deflated.npz:labels", "list-and-label.parquet:label"] {
        assert_eq!(labels(&fixture(argument)).unwrap(), expected, "{argument}");
    }
    let text: String = expected.iter().map(|label| format!("{label}\n")).collect();
    assert_eq!(labels(&Scratch::new().file("l.csv", text)).unwrap(), expected);
}

/// A null is a label that is not known yet, and only there: of probabilities it stays an error.
#[test]
fn gaps_of_parquet_columns_are_labels_to_come() {
    let column = read_labels_of_rows(&fixture("gaps-column.parquet"), &LabelNames::None).unwrap();
    assert_eq!((column.pairs, column.entries), (vec![(1, 3), (3, 0), (4, 2)], Some(6)));
    let selected =
        read_labels_of_rows(&fixture("gaps-sheet.parquet:label"), &LabelNames::None).unwrap();
    assert_eq!((selected.pairs, selected.entries), (vec![(1, 3), (3, 0), (4, 2)], Some(6)));
    let sheet = read_labels_of_rows(&fixture("gaps-sheet.parquet"), &LabelNames::None).unwrap();
    assert_eq!((sheet.pairs, sheet.entries), (vec![(4, 3), (7, 0), (5, 2)], None));
    assert!(labels(&fixture("gaps-column.parquet")).unwrap_err().contains("row 0"));
}

#[test]
fn what_is_no_label_is_named_with_its_row() {
    let scratch = Scratch::new();
    for (text, words) in [
        (
            "0\n1\n-1\n",
            "l.csv: labels[2] is -1.0; labels are whole numbers from 0: remove the row, or give its label",
        ),
        ("y\n0\n1.5\n", "labels[1] is 1.5"),
        ("0\nnan\n", "labels[1] is NaN"),
        ("0\ninf\n", "labels[1] is inf"),
        ("0\n1e300\n", "labels[1] is 1e300"),
        ("0,1\n1,0\n", "labels need one column, found 2"),
    ] {
        let message = labels(&scratch.file("l.csv", text)).unwrap_err();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn counts_that_do_not_fit() {
    let source = MatrixSource::parse(&fixture("vector.npy")).unwrap();
    assert!(read_labels(&source, Some(23)).is_ok());
    let error = read_labels(&source, Some(24)).unwrap_err();
    assert_eq!(error.category(), Category::Incompatible);
    assert!(error.to_string().contains("23 labels, but 24 are needed"), "{error}");
}

#[test]
fn weights_are_finite_and_not_negative() {
    let scratch = Scratch::new();
    let read = |text: &str| {
        read_weights(&MatrixSource::parse(&scratch.file("w.csv", text)).unwrap())
            .map_err(|error| error.to_string())
    };
    assert_eq!(read("0.5\n2\n0\n").unwrap(), [0.5, 2.0, 0.0]);
    assert!(read("0.5\n-2\n").unwrap_err().contains("w.csv: weights[1] is -2.0"));
    assert!(read("0.5\nnan\n").unwrap_err().contains("w.csv: weights[1] is NaN"));
}

#[test]
fn class_names_are_one_a_line() {
    let scratch = Scratch::new();
    let read = |text: &[u8]| {
        read_class_names(Path::new(&scratch.file("names.txt", text)), Some(2))
            .map_err(|error| error.to_string())
    };
    for text in ["cat\ndog", "cat\r\n dog \r\n\r\n", "\u{feff}cat\ndog\n"] {
        assert_eq!(read(text.as_bytes()).unwrap(), ["cat", "dog"]);
    }
    for (text, words) in [
        (&b"cat\n\ndog\n"[..], "line 2: the line is blank"),
        (b"cat\ncat\n", "line 2: \"cat\" already stands in line 1"),
        (b"cat\n\xff\n", "line 2: this is not UTF-8"),
        (b"cat\nd\0g\n", "line 2: this is not UTF-8"),
        (b"cat\n", "1 class names, but 2 are needed"),
        (b"", "holds no rows"),
    ] {
        let message = read(text).unwrap_err();
        assert!(message.contains(words), "{message}");
    }
    assert!(read_class_names(scratch.path(), None).unwrap_err().to_string().contains("directory"));
}

#[test]
fn a_matrix_is_the_block_of_all_rows() {
    let matrix =
        read_matrix(&MatrixSource::parse(&fixture("f4-big-fortran.npy")).unwrap()).unwrap();
    assert_eq!((matrix.row_count(), matrix.columns(), matrix.first_row()), (23, 5, 0));
}

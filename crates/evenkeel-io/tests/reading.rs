//! Files written by NumPy and pyarrow read as what they hold, whatever the block.

mod corpus;

use corpus::{fixture, message, read_in_blocks};

/// Every way to cut 23 rows: singly, unevenly, just short, whole, and more than there are.
const BLOCKS: [usize; 6] = [1, 4, 7, 22, 23, 1000];

fn reference(name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(fixture(name)).expect("fixture");
    let cells = text.split([',', '\n']).filter(|cell| !cell.is_empty());
    cells.map(|cell| cell.parse().expect("number")).collect()
}

fn assert_reads(argument: &str, expected: &[f64], columns: usize, single: bool) {
    for rows in BLOCKS {
        let whole = read_in_blocks(&fixture(argument), rows).expect(argument);
        assert_eq!(whole.columns, columns, "{argument}");
        assert_eq!(whole.values, expected, "{argument} in blocks of {rows}");
        assert_eq!(whole.single, single, "{argument}");
    }
}

#[test]
fn floats_of_every_width_endianness_and_order() {
    let expected = reference("reference.csv");
    for (kind, single) in [("f2", true), ("f4", true), ("f8", false)] {
        for endian in ["little", "big"] {
            for order in ["c", "fortran"] {
                assert_reads(&format!("{kind}-{endian}-{order}.npy"), &expected, 5, single);
            }
        }
    }
    assert_reads("version-2.npy", &expected, 5, true);
    assert_reads("version-3.npy", &expected, 5, true);
}

#[test]
fn integers_and_booleans() {
    let expected = reference("whole.csv");
    for kind in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"] {
        assert_reads(&format!("whole-{kind}-little.npy"), &expected, 5, false);
        assert_reads(&format!("whole-{kind}-big-fortran.npy"), &expected, 5, false);
    }
    let bools: Vec<f64> = expected.iter().map(|x| f64::from(u8::from(*x > 50.0))).collect();
    assert_reads("bool.npy", &bools, 5, false);
    let first: Vec<f64> = expected.iter().copied().step_by(5).collect();
    assert_reads("vector.npy", &first, 1, false);
    assert_reads("vector-f8.npy", &first, 1, false);
}

#[test]
fn archives_stored_and_deflated() {
    let expected = reference("reference.csv");
    let labels: Vec<f64> = reference("whole.csv").into_iter().step_by(5).collect();
    for archive in ["stored", "deflated"] {
        assert_reads(&format!("{archive}.npz:probs"), &expected, 5, true);
        assert_reads(&format!("{archive}.npz:labels"), &labels, 1, false);
    }
    for argument in ["one.npz", "one.npz:arr_0", "fortran.npz", "fortran-deflated.npz:probs"] {
        assert_reads(argument, &expected, 5, true);
    }
    let words = message(&fixture("stored.npz"));
    assert!(words.contains("one of probs, labels"), "{words}");
    let words = message(&fixture("stored.npz:prob"));
    assert!(words.contains("no array \"prob\"; it holds probs, labels"), "{words}");
}

#[test]
fn tables_of_plain_columns() {
    let expected = reference("reference.csv");
    for name in ["plain", "dictionary-snappy", "zstd-v2", "gzip", "split", "half"] {
        assert_reads(&format!("{name}.parquet"), &expected, 5, true);
    }
    // Text, dates and pandas' index are left out; one f64 column makes the matrix f64.
    assert_reads("mixed.parquet", &expected, 5, false);
    assert_reads("whole.parquet", &reference("whole.csv"), 5, false);
    let third: Vec<f64> = expected.iter().copied().skip(2).step_by(5).collect();
    assert_reads("plain.parquet:p2", &third, 1, true);
}

#[test]
fn tables_with_a_list_column() {
    let expected = reference("reference.csv");
    for argument in [
        "list.parquet",
        "list.parquet:probs",
        "fixed-list.parquet",
        "fixed-list.parquet:probs",
        "list-small-pages.parquet",
    ] {
        assert_reads(argument, &expected, 5, true);
    }
    assert_reads("list-and-label.parquet:probs", &expected, 5, false);
    let labels: Vec<f64> = reference("whole.csv").into_iter().step_by(5).collect();
    assert_reads("list-and-label.parquet:label", &labels, 1, false);
}

#[test]
fn what_is_no_matrix_of_numbers_is_refused_in_words() {
    for (name, words) in [
        ("bad-objects.npy", "pickled Python objects"),
        ("bad-objects.npz", "pickled Python objects"),
        ("bad-records.npy", "records with several fields"),
        ("bad-text.npy", "type '<U1' cannot be read"),
        ("bad-complex.npy", "type '<c16' cannot be read"),
        ("bad-cube.npy", "shape (2, 2, 2)"),
        ("bad-scalar.npy", "shape ()"),
        ("bad-empty.npy", "holds no rows"),
        ("bad-empty.parquet", "holds no rows"),
        ("bad-null.parquet", "row 11 of column \"p1\" is null"),
        ("bad-null-in-list.parquet", "row 4 of column \"probs\" is null"),
        ("bad-null-list.parquet", "row 6 of column \"probs\" is null"),
        ("bad-ragged.parquet", "row 5 of column \"probs\" lists 3 numbers where row 0 lists 5"),
        ("bad-text.parquet", "no numeric column; it has id, name"),
        ("bad-two-lists.parquet", "one of a, b"),
        ("bad-nested.parquet:deep", "lists of lists"),
        ("bad-nested.parquet:record", "records"),
        ("bad-nested.parquet", "no numeric column"),
        ("mixed.parquet:name", "holds text"),
        ("mixed.parquet:p9", "no column \"p9\"; the table has name, p0"),
    ] {
        let message = message(&fixture(name));
        assert!(message.contains(words), "{name}: {message}");
        assert!(message.contains(&fixture(name)), "{message}");
    }
}

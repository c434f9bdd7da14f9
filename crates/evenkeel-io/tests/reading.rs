//! Files written by NumPy and pyarrow read as what they hold, whatever the block.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

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
fn tables_of_arrow() {
    let expected = reference("reference.csv");
    assert_reads("plain.arrow", &expected, 5, true);
    let third: Vec<f64> = expected.iter().copied().skip(2).step_by(5).collect();
    assert_reads("plain.arrow:p2", &third, 1, true);
    for argument in ["list.arrow", "list.arrow:probs", "fixed-list.arrow", "fixed-list.arrow:probs"]
    {
        assert_reads(argument, &expected, 5, true);
    }
    // Whole numbers of every width and a half, beside text.
    let whole = reference("whole.csv");
    let mixed: Vec<f64> = (0..23)
        .flat_map(|row| whole[5 * row..5 * row + 5].iter().copied().chain([expected[5 * row]]))
        .collect();
    assert_reads("mixed.arrow", &mixed, 6, false);
    let flags: Vec<f64> = (0..23).map(|row| f64::from(u8::from(row % 3 == 0))).collect();
    for codec in ["none", "zstd"] {
        assert_reads(&format!("kinds_{codec}.arrow:flag"), &flags, 1, false);
    }
}

/// The same table in every form, written by pyarrow: the same bits.
#[test]
fn one_table_in_every_form() {
    let columns = ["p_cat", "p_dog", "p_eel"];
    let expected: Vec<Vec<f64>> = columns
        .map(|column| {
            read_in_blocks(&fixture(&format!("codec_none.parquet:{column}")), 9).unwrap().values
        })
        .to_vec();
    for name in
        ["table.arrow", "table_zstd.arrow", "table_lz4.arrow", "table.arrows", "table.feather"]
    {
        for (column, expected) in columns.iter().zip(&expected) {
            for rows in [1, 7, 60, 1000] {
                let found = read_in_blocks(&fixture(&format!("{name}:{column}")), rows).unwrap();
                assert_eq!(&found.values, expected, "{name}:{column} in blocks of {rows}");
            }
        }
    }
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
        ("bad-empty.arrow", "holds no rows"),
        ("bad-null.arrow", "row 11 of column \"p1\" is null"),
        ("bad-ragged.arrow", "row 5 of column \"probs\" lists 3 numbers where row 0 lists 5"),
        ("gaps-column.arrow", "row 0 of column \"label\" is null"),
        ("kinds_none.arrow:view", "holds text"),
        ("kinds_none.arrow:code", "holds categories"),
        ("kinds_none.arrow:none", "no column \"none\"; the table has view, large"),
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

/// Every codec that a writer of parquet may have used, both that are called lz4 among them; brotli follows.
#[test]
fn parquet_of_every_codec() {
    use parquet::basic::{Compression, GzipLevel, ZstdLevel};
    use parquet::data_type::DoubleType;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    let scratch = corpus::Scratch::new();
    let schema = "message table { required double p; required double q; }";
    let schema = std::sync::Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let numbers: Vec<f64> = (0..500).map(|row| f64::from(row % 37) / 7.0).collect();
    for codec in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        let properties = WriterProperties::builder().set_compression(codec).build();
        let schema = std::sync::Arc::clone(&schema);
        let mut writer =
            SerializedFileWriter::new(Vec::new(), schema, std::sync::Arc::new(properties)).unwrap();
        let mut group = writer.next_row_group().unwrap();
        while let Some(mut column) = group.next_column().unwrap() {
            column.typed::<DoubleType>().write_batch(&numbers, None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        let path = scratch.file("x.parquet", writer.into_inner().unwrap());
        let found = read_in_blocks(&path, 77).unwrap();
        let expected: Vec<f64> = numbers.iter().flat_map(|number| [*number, *number]).collect();
        assert_eq!((found.columns, found.values), (2, expected), "{codec}");
    }
}

/// Written by pyarrow, with and without dictionaries, in pages of both versions: those of brotli are unpacked by the project itself.
#[test]
fn parquet_of_brotli() {
    let numbers = |path: &str| read_in_blocks(&fixture(path), 7).unwrap().values;
    for column in ["p_cat", "p_dog", "p_eel"] {
        let expected = numbers(&format!("codec_none.parquet:{column}"));
        for codec in ["brotli", "brotli_v2", "zstd_v2"] {
            assert_eq!(numbers(&format!("codec_{codec}.parquet:{column}")), expected, "{codec}");
        }
    }
    assert_eq!(numbers("nulls_brotli_v2.parquet:p"), numbers("nulls_zstd_v2.parquet:p"));
    assert_reads("lists_brotli_v2.parquet", &reference("reference.csv"), 5, true);
    assert_reads("lists_zstd_v2.parquet", &reference("reference.csv"), 5, true);
}

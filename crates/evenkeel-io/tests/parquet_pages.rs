//! Pages of parquet that are sound: those without values, which pyarrow writes where a page is full before the last list, and those
//! of every encoding.
#![allow(clippy::unwrap_used)]

mod corpus;

use corpus::parquet_pages::{CODECS, Codec, Shape, Version, data_page, file};
use corpus::{Scratch, fixture, read_in_blocks};
use evenkeel_io::{MatrixSource, TextRows};
use half::f16;
use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::data_type::{
    BoolType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type,
};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

const ROWS: usize = 11;
const COLUMNS: usize = 3;

fn number(row: usize, column: usize) -> f64 {
    (row * COLUMNS + column) as f64 / 7.0
}

/// A table whose pages end at `cuts`, with one page without values before each page of `empty`, and two behind the last for its number.
fn table(kind: (Version, Codec, Shape), cuts: &[usize], empty: &[usize]) -> Vec<u8> {
    let (_, codec, shape) = kind;
    let width = if shape == Shape::Lists { COLUMNS } else { 1 };
    let columns = (0..COLUMNS / width).map(|column| {
        let mut pages = Vec::new();
        for page in 0..=cuts.len() {
            for _ in empty.iter().filter(|place| **place == page) {
                pages.push(data_page(kind, (0, width), &[]));
            }
            let Some(end) = cuts.get(page) else { break };
            let start = if page == 0 { 0 } else { cuts[page - 1] };
            let numbers = (start..*end).flat_map(|row| {
                (0..width).flat_map(move |entry| number(row, column + entry).to_le_bytes())
            });
            pages.push(data_page(
                kind,
                ((end - start) * width, width),
                &numbers.collect::<Vec<_>>(),
            ));
        }
        pages
    });
    file(codec, shape, ROWS, &columns.collect::<Vec<_>>())
}

/// Cells of the columns "p0", "p1", ... as text.
fn cells(path: &str, at_a_time: usize) -> Vec<Vec<String>> {
    let names: Vec<String> = (0..COLUMNS).map(|column| format!("p{column}")).collect();
    let mut text = TextRows::open(&MatrixSource::parse(path).unwrap(), Some(&names)).unwrap();
    let mut rows = Vec::new();
    loop {
        match text.next_rows(at_a_time).unwrap() {
            more if more.is_empty() => return rows,
            more => rows.extend(more),
        }
    }
}

#[test]
fn pages_without_values_are_passed_over() {
    let scratch = Scratch::new();
    let expected: Vec<f64> =
        (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| number(row, column))).collect();
    let words: Vec<Vec<String>> =
        expected.chunks(COLUMNS).map(|row| row.iter().map(f64::to_string).collect()).collect();
    for version in [Version::One, Version::Two] {
        for (codec, shape) in CODECS.into_iter().flat_map(|codec| {
            [Shape::Required, Shape::Optional, Shape::Lists].map(|shape| (codec, shape))
        }) {
            for cuts in [&[ROWS][..], &[1, 2, 7, 10, ROWS]] {
                let last = cuts.len();
                for empty in [
                    &[][..],
                    &[0],
                    &[last - 1],
                    &[last],
                    &[0, 0, last, last],
                    &[last / 2, last / 2],
                ] {
                    let bytes = table((version, codec, shape), cuts, empty);
                    let path = scratch.file("a.parquet", bytes);
                    let what = format!("{version:?} {codec:?} {shape:?} {cuts:?} {empty:?}");
                    for block in 1..=ROWS {
                        let found = read_in_blocks(&path, block);
                        let found = found.map_err(|error| format!("{what} by {block}: {error}"));
                        let found = found.unwrap();
                        assert_eq!((found.columns, &found.values), (COLUMNS, &expected), "{what}");
                        if shape != Shape::Lists {
                            assert_eq!(cells(&path, block), words, "{what} by {block}");
                        }
                    }
                }
            }
        }
    }
}

/// Twenty lists of 300 numbers, in pages and groups as pyarrow cut them.
#[test]
fn full_pages_of_pyarrow_are_read() {
    let expected: Vec<f64> = (0..6000).map(|place| f64::from(place % 7) / 64.0).collect();
    for version in [1, 2] {
        let path = fixture(&format!("lists_full_pages_v{version}.parquet"));
        for block in 1..=20 {
            let found = read_in_blocks(&path, block).unwrap();
            assert_eq!((found.columns, &found.values), (300, &expected), "{version} by {block}");
        }
    }
}

/// Writes a column with each of these codecs and encodings, in pages of both versions, small and large, and reads it.
fn reads_all<T: DataType>(
    (kind, encodings): (&str, &[Encoding]),
    (value, expected): (impl Fn(u32) -> T::T, impl Fn(u32) -> f64),
) {
    let scratch = Scratch::new();
    // Rows, and values in a page: the large one is far beyond what a page may hold beside its values.
    let sizes = [(100, 1), (100, 7), (20_000, 20_000)];
    let values: Vec<T::T> = (0..20_000).map(value).collect();
    let expected: Vec<f64> = (0..20_000).map(expected).collect();
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
    ];
    let dictionary = [Encoding::RLE_DICTIONARY];
    let encodings = dictionary.iter().chain(encodings);
    let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    for (encoding, codec) in encodings.flat_map(|encoding| codecs.map(|codec| (encoding, codec))) {
        let sizes = versions.iter().flat_map(|version| sizes.map(|size| (version, size)));
        for (version, (rows, page)) in sizes {
            for optional in [false, true] {
                let repetition = if optional { "optional" } else { "required" };
                let schema = format!("message table {{ {repetition} {kind}; }}");
                let schema = Arc::new(parse_message_type(&schema).unwrap());
                let by_dictionary = *encoding == Encoding::RLE_DICTIONARY;
                let mut properties = WriterProperties::builder()
                    .set_compression(codec)
                    .set_writer_version(*version)
                    .set_data_page_row_count_limit(page)
                    .set_write_batch_size(page)
                    .set_dictionary_enabled(by_dictionary);
                if !by_dictionary {
                    properties = properties.set_encoding(*encoding);
                }
                let properties = Arc::new(properties.build());
                let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
                let mut group = writer.next_row_group().unwrap();
                let mut column = group.next_column().unwrap().unwrap();
                let levels = vec![1; rows];
                let levels = optional.then_some(&levels[..]);
                column.typed::<T>().write_batch(&values[..rows], levels, None).unwrap();
                column.close().unwrap();
                group.close().unwrap();
                let path = scratch.file("a.parquet", writer.into_inner().unwrap());
                let what = format!("{kind} {encoding} {codec} {version:?} {page} {repetition}");
                let found = read_in_blocks(&path, 77);
                let found = found.map_err(|error| format!("{what}: {error}")).unwrap();
                assert_eq!(found.values, expected[..rows], "{what}");
            }
        }
    }
}

/// What honest writers make of numbers fits the room that a page's numbers take, whatever the encoding.
#[test]
fn pages_of_every_encoding_have_room() {
    use Encoding::{BYTE_STREAM_SPLIT, DELTA_BINARY_PACKED, PLAIN, RLE};
    // Far from each other, so that differences take all of their bits.
    let far = |row: u32| u64::from(row).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    reads_all::<BoolType>(
        ("boolean p", &[PLAIN, RLE]),
        (|row| row % 3 == 0, |row| f64::from(u8::from(row % 3 == 0))),
    );
    let whole = [PLAIN, DELTA_BINARY_PACKED, BYTE_STREAM_SPLIT];
    let narrow = move |row| far(row) as i32;
    reads_all::<Int32Type>(("int32 p", &whole), (narrow, move |row| f64::from(narrow(row))));
    let wide = move |row| far(row).cast_signed();
    reads_all::<Int64Type>(("int64 p", &whole), (wide, move |row| wide(row) as f64));
    let broken = [PLAIN, BYTE_STREAM_SPLIT];
    let single = move |row| far(row) as f32;
    reads_all::<FloatType>(("float p", &broken), (single, move |row| f64::from(single(row))));
    reads_all::<DoubleType>(
        ("double p", &broken),
        (move |row| far(row) as f64, move |row| far(row) as f64),
    );
    let half = |row: u32| f16::from_f32((row % 2000) as f32);
    let bytes = move |row| FixedLenByteArray::from(half(row).to_le_bytes().to_vec());
    let kind = (
        "fixed_len_byte_array(2) p (FLOAT16)",
        &[PLAIN, BYTE_STREAM_SPLIT, Encoding::DELTA_BYTE_ARRAY][..],
    );
    reads_all::<FixedLenByteArrayType>(kind, (bytes, move |row| half(row).to_f64()));
}

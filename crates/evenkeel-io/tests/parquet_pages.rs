//! Pages of parquet that are sound and unusual: those without values, which pyarrow writes where a page is full before the last list.
#![allow(clippy::unwrap_used)]

mod corpus;

use corpus::parquet_pages::{CODECS, Codec, Shape, Version, data_page, file};
use corpus::{Scratch, fixture, read_in_blocks};
use evenkeel_io::{MatrixSource, TextRows};

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

//! Matrices in files: refused, or the same numbers however they are read.

use evenkeel_io::{IoError, MatrixReader, MatrixSource, TextRows, read_labels, read_weights};

use crate::scratch::written;

/// Numbers read of one file at most: a few bytes can hold a billion zeros, and the first of them say it all.
const MOST_VALUES: usize = 4096;

/// Cells read of one column at most.
const MOST_CELLS: usize = 512;

/// Blocks of few rows, and more rows than most inputs have.
const BLOCKS: [usize; 2] = [3, 1000];

/// An npy file.
pub fn npy(data: &[u8]) {
    matrix(&written("x.npy", data));
}

/// An npz archive, its only array and one of its arrays.
pub fn npz(data: &[u8]) {
    let path = written("x.npz", data);
    matrix(&path);
    matrix(&format!("{path}:probs"));
}

/// A csv file.
pub fn csv(data: &[u8]) {
    matrix(&written("x.csv", data));
}

/// A parquet file, all its columns and one list column.
pub fn parquet(data: &[u8]) {
    let path = written("x.parquet", data);
    matrix(&path);
    matrix(&format!("{path}:probs"));
}

/// Lines of JSON: all their numbers, one list, and the cells of one field.
pub fn jsonl(data: &[u8]) {
    let path = written("x.jsonl", data);
    matrix(&path);
    matrix(&format!("{path}:probs"));
    cells(&path);
    cells(&format!("{path}:id"));
}

/// An Arrow file or stream, all its columns and one list column, and the cells of a column.
pub fn arrow(data: &[u8]) {
    let path = written("x.arrow", data);
    matrix(&path);
    matrix(&format!("{path}:probs"));
    cells(&format!("{path}:label"));
    cells(&format!("{path}:view"));
}

/// The first cells of a column as text: refused, or the same however they are read.
fn cells(argument: &str) {
    let read = |rows: usize| -> Result<Vec<Vec<String>>, IoError> {
        let mut text = TextRows::open(&MatrixSource::parse(argument)?, None)?;
        let mut found = Vec::new();
        while found.len() < MOST_CELLS {
            let more = text.next_rows(rows.min(MOST_CELLS - found.len()))?;
            if more.is_empty() {
                break;
            }
            assert!(more.len() <= rows && more.iter().all(|row| row.len() == 1));
            found.extend(more);
        }
        Ok(found)
    };
    let [few, many] = BLOCKS.map(read);
    match (few, many) {
        (Ok(few), Ok(many)) => assert_eq!(few, many, "cells depend on the size of blocks"),
        (Err(few), Err(many)) => {
            assert!(!few.to_string().is_empty() && !many.to_string().is_empty());
        }
        (few, many) => assert_eq!(few.is_ok(), many.is_ok(), "{few:?}, but {many:?}"),
    }
}

/// What was read of a file.
#[derive(Debug, PartialEq)]
struct Beginning {
    columns: usize,
    /// The first numbers as bits, so that NaN equals itself.
    bits: Vec<u64>,
    /// Number of rows, if the end was reached.
    rows: Option<usize>,
}

fn beginning(argument: &str, block: usize) -> Result<Beginning, IoError> {
    let mut reader = MatrixReader::open(&MatrixSource::parse(argument)?)?;
    let (columns, claimed) = (reader.columns(), reader.rows());
    // Wide rows in small blocks: memory is that of a block.
    let block = block.min(MOST_VALUES / columns).max(1);
    let (mut bits, mut rows) = (Vec::new(), 0);
    while bits.len() < MOST_VALUES {
        let Some(found) = reader.next_block(block)? else {
            assert!(
                claimed.is_none_or(|claimed| claimed == rows as u64),
                "{claimed:?}, but {rows}"
            );
            assert!(reader.next_block(block)?.is_none(), "the end is the end");
            return Ok(Beginning { columns, bits, rows: Some(rows) });
        };
        assert_eq!((found.first_row(), found.columns()), (rows, columns));
        assert!((1..=block).contains(&found.row_count()));
        rows += found.row_count();
        bits.extend(found.values().to_f64().into_iter().map(f64::to_bits));
    }
    bits.truncate(MOST_VALUES);
    Ok(Beginning { columns, bits, rows: None })
}

fn matrix(argument: &str) {
    let [few, many] = BLOCKS.map(|block| beginning(argument, block));
    match (few, many) {
        (Ok(few), Ok(many)) => {
            assert_eq!(few.columns, many.columns);
            assert_eq!(few.bits, many.bits, "numbers depend on the size of blocks");
            assert!(few.rows.is_none() || many.rows.is_none() || few.rows == many.rows);
            if let (1, Some(rows)) = (few.columns, few.rows) {
                vector(argument, rows, &few.bits);
            }
        }
        // Damage behind what the smaller blocks have read before they stopped.
        (Ok(few), Err(_)) => assert!(few.rows.is_none(), "read in small blocks, not in large ones"),
        (Err(few), Ok(many)) => assert!(many.rows.is_none(), "{few}, but not in large blocks"),
        (Err(few), Err(many)) => {
            assert!(!few.to_string().is_empty() && !many.to_string().is_empty());
        }
    }
}

/// One column: labels and weights are taken if every number is one.
fn vector(argument: &str, rows: usize, bits: &[u64]) {
    let source = MatrixSource::parse(argument);
    assert!(source.is_ok(), "it was parsed a moment ago");
    let Ok(source) = source else { return };
    let values = || bits.iter().map(|bits| f64::from_bits(*bits));
    let labels = read_labels(&source, Some(rows));
    let are_labels =
        values().all(|v| (0.0..=9_007_199_254_740_992.0).contains(&v) && v.fract() == 0.0);
    assert_eq!(labels.is_ok(), are_labels);
    if let Ok(labels) = labels {
        assert!(labels.iter().map(|label| *label as f64).eq(values()));
    }
    assert!(read_labels(&source, Some(rows + 1)).is_err());
    let weights = read_weights(&source);
    assert_eq!(weights.is_ok(), values().all(|v| v.is_finite() && v >= 0.0));
}

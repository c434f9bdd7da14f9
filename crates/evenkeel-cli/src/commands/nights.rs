//! `evenkeel demo --nights`: thirty nights of batches for the tutorial on monitoring, cut from the data that ship.
//!
//! ```text
//! nights  1-20   100 clean rows each
//! nights 21-25   20, 40, 60, 80, 100 rows with mild noise, the others clean
//! nights 26-30   20, 40, 60, 80, 100 rows with fog, the others clean
//! ```

use std::fs;
use std::path::Path;

use evenkeel_io::write_file;

use crate::failure::{Failure, system_words};

const NIGHTS: usize = 30;
const QUIET: usize = 20;
const ROWS: usize = 100;
/// Labels that come late for every night that is not quiet.
const LABELED: usize = 40;

/// Files that the nights are cut from.
pub(super) struct Sources {
    /// Probabilities of the calibration data, and their labels.
    pub calibration: [Vec<u8>; 2],
    /// Rows of the quiet nights, and of other nights beside the corrupted ones.
    pub clean: [Vec<u8>; 2],
    /// Rows with noise, and their labels.
    pub noise: [Vec<u8>; 2],
    /// Rows with fog, and their labels.
    pub fog: [Vec<u8>; 2],
}

/// Writes the nights, and sheets of labels for those that are not quiet, into a folder.
pub(super) fn write(folder: &Path, sources: &Sources) -> Result<(), Failure> {
    let beside = folder.join("calibration");
    fs::create_dir_all(&beside).map_err(|error| {
        Failure::Argument(format!(
            "--nights {}: the folder cannot be made: {}",
            folder.display(),
            system_words(&error)
        ))
    })?;
    for (name, bytes) in ["probs.npy", "labels.npy"].into_iter().zip(&sources.calibration) {
        write_file(&beside.join(name), bytes)?;
    }
    let damaged =
        || Failure::Argument("the data that ship are damaged; build the program anew".into());
    for night in 0..NIGHTS {
        let (rows, labels) = cut(night, sources).ok_or_else(damaged)?;
        let date = format!("2026-10-{:02}", night + 1);
        write_file(&folder.join(format!("{date}.npy")), rows)?;
        if let Some(labels) = labels {
            write_file(&folder.join(format!("labels-{date}.csv")), labels)?;
        }
    }
    Ok(())
}

/// The file of a night, and the sheet of labels that come late for it.
fn cut(night: usize, sources: &Sources) -> Option<(Vec<u8>, Option<String>)> {
    let clean = Table::of(&sources.clean[0])?;
    if night < QUIET {
        let rows = (night * ROWS..(night + 1) * ROWS).map(|row| clean.row(row));
        return Some((clean.with_rows(&rows.collect::<Option<Vec<_>>>()?)?, None));
    }
    let beside = Table::of(&sources.clean[1])?;
    let (of_kind, [rows, labels]) = match night - QUIET {
        step @ 0..5 => (step, &sources.noise),
        step => (step - 5, &sources.fog),
    };
    let (corrupted, labels) = (Table::of(rows)?, Table::of(labels)?);
    let share = 20 * (of_kind + 1);
    let (mut chosen, mut sheet, mut labeled) = (Vec::new(), "row,label\n".to_owned(), 0);
    for row in 0..ROWS {
        let from = of_kind * ROWS + row;
        // Spread over the night: 7919 has no factor in common with 100.
        if row * 7919 % 100 < share {
            chosen.push(corrupted.row(from)?);
            if labeled < LABELED {
                sheet += &format!("{row},{}\n", whole(labels.row(from)?)?);
                labeled += 1;
            }
        } else {
            chosen.push(beside.row((night - QUIET) * ROWS + row)?);
        }
    }
    Some((corrupted.with_rows(&chosen)?, Some(sheet)))
}

/// A whole number, low byte first.
fn whole(bytes: &[u8]) -> Option<u64> {
    bytes
        .iter()
        .rev()
        .try_fold(0_u64, |sum, byte| sum.checked_mul(256)?.checked_add(u64::from(*byte)))
}

/// A table in the form `.npy`: its header, and rows of equal length.
struct Table<'a> {
    head: &'a [u8],
    body: &'a [u8],
    rows: usize,
}

impl<'a> Table<'a> {
    fn of(file: &'a [u8]) -> Option<Self> {
        let length = usize::from(u16::from_le_bytes([*file.get(8)?, *file.get(9)?]));
        let (head, body) = file.split_at_checked(10 + length)?;
        let text = std::str::from_utf8(head.get(10..)?).ok()?;
        let shape = text.split_once("'shape': (")?.1;
        let rows = shape.split([',', ')']).next()?.trim().parse().ok()?;
        Some(Self { head, body, rows })
    }

    fn row(&self, row: usize) -> Option<&'a [u8]> {
        let length = self.body.len() / self.rows.max(1);
        self.body.get(row * length..(row + 1) * length)
    }

    /// A file of other rows.
    fn with_rows(&self, rows: &[&[u8]]) -> Option<Vec<u8>> {
        let text = std::str::from_utf8(self.head.get(10..)?).ok()?;
        let (before, after) = text.split_once(&format!("({}", self.rows))?;
        let line = format!("{before}({}{}", rows.len(), after.trim_end());
        // Padded to the length it had, which stands before it.
        let padded = format!("{line:<width$}\n", width = text.len() - 1);
        let mut file = self.head.get(..10)?.to_vec();
        file.extend_from_slice(padded.as_bytes());
        file.extend(rows.concat());
        (padded.len() == text.len()).then_some(file)
    }
}

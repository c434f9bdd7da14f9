//! `(rows, classes)` of `|b1`: sets as a NumPy array of booleans.

use super::atomic::AtomicFile;
use super::sets::SetSink;
use evenkeel::conformal::LabelSets;
use std::io::{self, Write};

/// Header bytes: NumPy aligns data to 64, and 128 hold any shape.
const HEADER_BYTES: usize = 128;

/// Writes a bool array of shape (rows, classes). The number of rows is filled in at the end.
pub(super) struct NpySets {
    file: AtomicFile,
    classes: usize,
    rows: usize,
    row: Vec<u8>,
}

impl NpySets {
    pub(super) fn new(mut file: AtomicFile, classes: usize) -> io::Result<Self> {
        // The number of rows is not known before the last block, so the header is written twice,
        // equally long.
        file.write_all(&header(0, classes))?;
        Ok(Self { file, classes, rows: 0, row: vec![0; classes] })
    }
}

impl SetSink for NpySets {
    fn write(&mut self, sets: &LabelSets, _: &[Vec<String>]) -> io::Result<()> {
        for labels in sets.iter() {
            // A whole row of bytes at a time: writing label by label would be a call for each of a
            // thousand classes.
            self.row.fill(0);
            labels.for_each(|label| self.row[label] = 1);
            self.file.write_all(&self.row)?;
        }
        self.rows += sets.rows();
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<AtomicFile> {
        self.file.overwrite(0, &header(self.rows, self.classes))?;
        Ok(self.file)
    }
}

/// Magic, version 1.0, length and dictionary, padded with blanks and ended by a line feed.
fn header(rows: usize, classes: usize) -> [u8; HEADER_BYTES] {
    let mut header = [b' '; HEADER_BYTES];
    header[..8].copy_from_slice(b"\x93NUMPY\x01\x00");
    header[8..10].copy_from_slice(&(HEADER_BYTES as u16 - 10).to_le_bytes());
    let text =
        format!("{{'descr': '|b1', 'fortran_order': False, 'shape': ({rows}, {classes}), }}");
    header[10..10 + text.len()].copy_from_slice(text.as_bytes());
    header[HEADER_BYTES - 1] = b'\n';
    header
}

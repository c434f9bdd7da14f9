//! `address % 64 = 0`: buffers that start on a cache line.
//!
//! ```text
//! buffer = [8 f64][8 f64]...      whole lines, each aligned to 64 bytes
//! ```

use std::ops::{Deref, DerefMut};

/// Entries of one cache line: 64 bytes of eight.
pub(crate) const LINE: usize = 8;

/// A cache line. `repr(C)` and the alignment are what the casts below rely on.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([f64; LINE]);

/// A slice of whole cache lines, aligned to them.
///
/// A vector load that straddles two lines costs two loads; with buffers and runs that start on a line none does.
#[derive(Debug, Clone)]
pub(crate) struct Aligned {
    /// Whole lines; the last may hold more entries than were asked for, as zeros.
    lines: Vec<Line>,
}

impl Aligned {
    /// Zeros, at least `entries` of them: the number is rounded up to whole lines.
    pub(crate) fn zeros(entries: usize) -> Self {
        Self { lines: vec![Line([0.0; LINE]); entries.div_ceil(LINE)] }
    }

    /// Appends one line of eight entries.
    pub(crate) fn push_line(&mut self, line: [f64; LINE]) {
        self.lines.push(Line(line));
    }
}

impl Deref for Aligned {
    type Target = [f64];

    /// All entries of all lines, padding included.
    fn deref(&self) -> &[f64] {
        #[expect(
            unsafe_code,
            reason = "a Line is 64 bytes holding eight f64: the lines are one run of f64"
        )]
        // SAFETY: the pointer and `len * LINE` entries are one allocation of `lines`, initialised: `Line` is `repr(C)` with
        // eight `f64` in 64 bytes aligned to 64, hence without padding. The borrow of `self` keeps it alive and unchanged.
        unsafe {
            std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.lines.len() * LINE)
        }
    }
}

impl DerefMut for Aligned {
    /// All entries of all lines, padding included.
    fn deref_mut(&mut self) -> &mut [f64] {
        #[expect(
            unsafe_code,
            reason = "a Line is 64 bytes holding eight f64: the lines are one run of f64"
        )]
        // SAFETY: as in `deref`; the borrow of `self` is exclusive, so nobody else sees the entries.
        unsafe {
            std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.lines.len() * LINE)
        }
    }
}

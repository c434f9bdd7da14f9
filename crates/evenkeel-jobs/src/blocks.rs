//! A pass over a source, and a block cut into shares for the threads.
//!
//! All sizes stand here. None of them changes a result: states merge exactly and sets do not depend on their neighbours.

use evenkeel::rows::{Real, Rows};
use evenkeel::score::Probabilities;
use rayon::prelude::*;

use crate::any_rows::with_rows;
use crate::error::{JobError, Result, counted_from, row_of};
use crate::observer::{Observer, Stage, go_on};
use crate::source::{Block, RowSource};

/// Bytes of rows read at a time: memory is bounded by this, not by the input.
pub const BLOCK_BYTES: usize = 16 << 20;

/// Most rows that a thread takes at a time within a block.
const SHARE_ROWS: usize = 2048;
/// Most bytes of rows that it takes: what is made of them is then read again while it is in the cache.
const SHARE_BYTES: usize = 1 << 17;

/// One pass: every block of `source` through `work`, in order; returns the number of rows.
///
/// An error of the core that comes out of `work` is about the rows being read, and names their source.
pub(crate) fn each_block(
    source: &mut dyn RowSource,
    classes: usize,
    (stage, observer): (Stage, &mut dyn Observer),
    mut work: impl FnMut(&Block<'_>) -> Result<()>,
) -> Result<usize> {
    let name = source.name().to_owned();
    // Before every pass: a method may read the target data twice, and a caller may have read them
    // before.
    source.rewind()?;
    require_classes(source, classes)?;
    observer.begin(stage, source.rows());
    let mut seen = 0;
    // One block after the other, the threads inside `work`: memory stays that of one block.
    while let Some(block) = source.next_block()? {
        work(&block).map_err(|error| first_bad_row(&block, error).while_reading(&name))?;
        seen += block.rows.rows();
        // After every block, so that a request to stop waits for a fraction of a second.
        go_on(observer, seen as u64)?;
    }
    observer.end();
    // A table can have a header and nothing below it: means over no rows would be NaN.
    if seen == 0 { Err(JobError::NoRows { input: name }) } else { Ok(seen) }
}

/// The error of the first bad row of a block.
///
/// Threads stop at the first they meet, which may be another one in every run; the same input must give the same words.
pub(crate) fn first_bad_row(block: &Block<'_>, error: JobError) -> JobError {
    match error {
        JobError::Core(found) if row_of(&found).is_some() => {
            let first = with_rows!(block.rows, |rows| {
                Probabilities::new(rows.values(), rows.columns()).err()
            });
            JobError::Core(first.map_or(found, |first| counted_from(block.first_row, first)))
        }
        other => other,
    }
}

/// The same over labeled rows.
pub(crate) fn each_labeled_block(
    source: &mut dyn RowSource,
    classes: usize,
    watched: (Stage, &mut dyn Observer),
    work: impl FnMut(&Block<'_>) -> Result<()>,
) -> Result<usize> {
    if !source.is_labeled() {
        return Err(JobError::NoLabels { input: source.name().to_owned() });
    }
    each_block(source, classes, watched, work)
}

/// An error unless a source has a column for each class.
pub(crate) fn require_classes(source: &dyn RowSource, classes: usize) -> Result<()> {
    let (input, found) = (source.name(), source.columns());
    if found == classes {
        return Ok(());
    }
    Err(JobError::Classes { input: input.to_owned(), found, classes })
}

/// Rows cut into shares for the threads, with the offset of each.
pub(crate) fn shares<'a, T: Real>(
    rows: Rows<'a, T>,
) -> impl IndexedParallelIterator<Item = (usize, evenkeel::Result<Rows<'a, T>>)> {
    let (what, columns) = (rows.what(), rows.columns());
    let height = (SHARE_BYTES / (columns * size_of::<T>())).clamp(1, SHARE_ROWS);
    let parts = rows.values().par_chunks(height * columns).enumerate();
    parts.map(move |(index, values)| (index * height, Rows::new(what, values, columns)))
}

//! What the model says of every row: its most probable class, and how probable.

use evenkeel::score::Probabilities;
use evenkeel::shift::{Prediction, predictions};

use crate::any_rows::with_rows;
use crate::blocks::each_block;
use crate::error::Result;
use crate::observer::{Observer, Stage};
use crate::source::RowSource;

/// The predictions of all rows of a source, in their order: 16 bytes a row.
///
/// # Errors
/// If rows are not probabilities of so many classes, or the observer stops it.
pub fn said_of(
    source: &mut dyn RowSource,
    classes: usize,
    observer: &mut dyn Observer,
) -> Result<Vec<Prediction>> {
    let mut said = Vec::new();
    each_block(source, classes, (Stage::Reading, observer), |block| {
        with_rows!(block.rows, |rows| said.extend(predictions(&Probabilities::from_rows(rows)?)));
        Ok(())
    })?;
    Ok(said)
}

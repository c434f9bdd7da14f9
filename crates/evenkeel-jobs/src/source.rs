//! Rows from anywhere, in blocks, as often as a job asks for them.

use evenkeel::side_inputs::SideInputs;

use crate::any_rows::AnyRows;
use crate::error::Result;

/// Consecutive rows, with what stands beside them.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// Key of the first row: its number in the whole input. The others follow it.
    pub first_row: usize,
    /// Class probabilities, not yet checked: the core does that as it reads them.
    pub rows: AnyRows<'a>,
    /// Features, ratios and weights of these rows, checked.
    pub side: SideInputs<'a>,
    /// One label for each row, each naming a class; empty where the source has none.
    pub labels: &'a [usize],
}

/// A source of rows: files, arrays in memory, batches of a service.
///
/// Any cut into blocks gives the same results to the last bit, so a source chooses the blocks that suit it: about
/// [`BLOCK_BYTES`](crate::BLOCK_BYTES) keep all threads busy and memory small.
pub trait RowSource {
    /// What the caller calls it, for errors: "target.npy", "probs_target".
    fn name(&self) -> &str;

    /// Number of columns, which is the number of classes.
    fn columns(&self) -> usize;

    /// Number of rows, where that is known without reading them.
    fn rows(&self) -> Option<u64>;

    /// Whether every row has a label.
    fn is_labeled(&self) -> bool;

    /// Goes back to the first row. Every pass begins with it.
    ///
    /// # Errors
    /// If the rows can no longer be read.
    fn rewind(&mut self) -> Result<()>;

    /// The next rows, none after the last.
    ///
    /// # Errors
    /// If they cannot be read, or what stands beside them does not fit them.
    fn next_block(&mut self) -> Result<Option<Block<'_>>>;
}

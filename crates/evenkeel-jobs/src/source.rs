//! Rows from anywhere, in blocks, as often as a job asks for them.

use std::any::Any;

use evenkeel::side_inputs::SideInputs;

use crate::any_rows::AnyRows;
use crate::any_table::AnyTable;
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

    /// The table and the key of its first row, where it lies in memory column after column: sets can be made of it as it lies.
    fn apart(&self) -> Option<(AnyTable<'_>, usize)> {
        None
    }

    /// The same rows for several threads, which take blocks in turn; none for a source that cannot give them away.
    fn in_turns(&mut self) -> Option<&mut dyn TakeBlocks> {
        None
    }
}

/// A source whose blocks are given away: one thread works on a block while another takes the next.
pub trait TakeBlocks: Send {
    /// The next rows in memory of their own, none after the last. `used` is a block that is no longer needed, whose memory serves again.
    ///
    /// Only what must be done in the order of the rows is done here: others wait for it. Blocks of at most
    /// [`SHARE_CELLS`](evenkeel::rows::SHARE_CELLS) numbers are worked on by the thread that took them alone.
    ///
    /// # Errors
    /// If they cannot be read, or what stands beside them does not fit them.
    fn take(&mut self, used: Option<Box<dyn TakenBlock>>) -> Result<Option<Box<dyn TakenBlock>>>;
}

/// Rows that do not borrow from their source.
pub trait TakenBlock: Any + Send {
    /// The rows as jobs read them. What can be done beside other threads is done here, such as the softmax of logits.
    ///
    /// # Errors
    /// If what was read is not what it is said to be.
    fn block(&mut self) -> Result<Block<'_>>;
}

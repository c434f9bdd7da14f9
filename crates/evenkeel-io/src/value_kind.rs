//! `p` or `softmax(logits)`: what the numbers of a matrix are.

use crate::block::{Block, BlockRows, Values};
use crate::error::Result;
use evenkeel::rows::Rows;
use evenkeel::score::softmax_rows_into;

/// What the numbers of a matrix are: `--logits` or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValueKind {
    /// Class probabilities; the core checks that rows sum to one.
    #[default]
    Probabilities,
    /// Logits; a softmax makes them probabilities.
    Logits,
}

impl ValueKind {
    /// The rows of a block as rows of probabilities, not yet checked: the core does that as it reads them.
    ///
    /// Probabilities are handed through. The softmax of logits is written to `softmax`, which is reused from block to
    /// block.
    ///
    /// # Errors
    /// [`IoError::Core`](crate::IoError::Core) for a block without rows, and for a logit that is NaN or infinite.
    pub fn probabilities<'a>(
        self,
        block: &'a Block,
        softmax: &'a mut Vec<f64>,
    ) -> Result<BlockRows<'a>> {
        const WHAT: &str = "probabilities";
        if self == Self::Probabilities {
            return block.rows(WHAT);
        }
        let columns = block.columns();
        let done = match block.values() {
            Values::F32(values) => Rows::new("logits", values, columns)
                .and_then(|logits| softmax_rows_into(logits, 1.0, softmax)),
            Values::F64(values) => Rows::new("logits", values, columns)
                .and_then(|logits| softmax_rows_into(logits, 1.0, softmax)),
        };
        done.and_then(|()| Rows::new(WHAT, softmax, columns))
            .map(BlockRows::F64)
            .map_err(|error| block.error(error))
    }
}

//! What the numbers of a matrix are.

use std::borrow::Cow;

use evenkeel::Result;
use evenkeel::rows::Rows;
use evenkeel::score::softmax_rows_into;

use crate::any_rows::{AnyRows, with_rows};
use crate::error::counted_from;

/// What the numbers of a matrix are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValueKind {
    /// Class probabilities; the core checks that rows sum to one.
    #[default]
    Probabilities,
    /// Logits; a softmax makes them probabilities.
    Logits,
}

impl ValueKind {
    /// The rows as rows of probabilities, not yet checked: the core does that as it reads them.
    ///
    /// Probabilities are handed through; the softmax of logits is written to `softmax`, which is reused from block to
    /// block. `first_row` is where the rows begin in the whole input.
    ///
    /// # Errors
    /// If a logit is not finite.
    pub fn probabilities<'a>(
        self,
        first_row: usize,
        rows: AnyRows<'a>,
        softmax: &'a mut Vec<f64>,
    ) -> Result<AnyRows<'a>> {
        if self == Self::Probabilities {
            return Ok(rows);
        }
        let columns = rows.columns();
        let done = with_rows!(rows, |rows| {
            // Named anew: an error about a logit must not call it a probability.
            let logits = Rows::new("logits", rows.values(), columns)?;
            // Temperature 1, the model's own: methods that temper begin from these probabilities.
            softmax_rows_into(logits, 1.0, softmax)
        });
        done.map_err(|error| counted_from(first_row, error))?;
        AnyRows::f64(softmax, columns)
    }

    /// All rows as probabilities of double precision; borrowed where that is what they are.
    ///
    /// # Errors
    /// If a logit is not finite.
    pub fn widened(self, rows: AnyRows<'_>) -> Result<Cow<'_, [f64]>> {
        if self == Self::Probabilities {
            return Ok(rows.widened());
        }
        let mut softmax = Vec::new();
        self.probabilities(0, rows, &mut softmax)?;
        Ok(Cow::Owned(softmax))
    }
}

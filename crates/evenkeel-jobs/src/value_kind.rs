//! What the numbers of a matrix are.

use std::borrow::Cow;

use evenkeel::rows::{Real, Rows};
use evenkeel::score::{NORMALISATION_TOLERANCE, softmax_rows_into};
use evenkeel::{Error, Result};

use crate::any_rows::{AnyRows, with_rows};
use crate::error::counted_from;

/// What the numbers of a matrix are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValueKind {
    /// Class probabilities; the core checks that rows sum to one.
    #[default]
    Probabilities,
    /// Logits; a softmax makes them probabilities. Rows that are probabilities already are refused.
    Logits,
    /// Logits, also where they look like probabilities.
    ForcedLogits,
}

/// Rows at the head of an input that must all look like probabilities for logits to be refused. One row of two logits
/// may do so by chance; ten do not.
const LOOKED_AT: usize = 10;

impl ValueKind {
    /// The rows as rows of probabilities, not yet checked: the core does that as it reads them.
    ///
    /// Probabilities are handed through; the softmax of logits is written to `softmax`, which is reused from block to
    /// block. `first_row` is where the rows begin in the whole input.
    ///
    /// # Errors
    /// If a logit is not finite, or the head of the input shows that these are probabilities.
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
        // At the head only: every block has it or follows it, and what was let through must not be refused later.
        if self == Self::Logits && first_row == 0 {
            with_rows!(rows, |rows| refuse_probabilities(rows))?;
        }
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
    /// As [`probabilities`](Self::probabilities).
    pub fn widened(self, rows: AnyRows<'_>) -> Result<Cow<'_, [f64]>> {
        if self == Self::Probabilities {
            return Ok(rows.widened());
        }
        let mut softmax = Vec::new();
        self.probabilities(0, rows, &mut softmax)?;
        Ok(Cow::Owned(softmax))
    }
}

/// An error if the first rows all lie in `[0, 1]` and sum to one: the softmax of probabilities is nearly uniform, and every
/// set would hold every label without a word.
fn refuse_probabilities<T: Real>(rows: Rows<'_, T>) -> Result<()> {
    let looked_at = rows.rows().min(LOOKED_AT);
    let is_simplex = |row: &[T]| {
        let sum: f64 = row.iter().map(|value| (*value).into()).sum();
        row.iter().all(|value| (0.0..=1.0).contains(&(*value).into()))
            && (sum - 1.0).abs() <= NORMALISATION_TOLERANCE
    };
    // One class has the probability 1 in every row, and any logit.
    if rows.columns() > 1
        && rows.values().chunks_exact(rows.columns()).take(LOOKED_AT).all(is_simplex)
    {
        return Err(Error::ProbabilitiesAsLogits { rows: looked_at });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(kind: ValueKind, first_row: usize, values: &[f64]) -> Result<()> {
        let mut softmax = Vec::new();
        kind.probabilities(first_row, AnyRows::f64(values, 2)?, &mut softmax).map(drop)
    }

    #[test]
    fn probabilities_are_no_logits_unless_forced() {
        let probabilities: Vec<f64> =
            (0..12).flat_map(|row| [0.05 * f64::from(row), 1.0 - 0.05 * f64::from(row)]).collect();
        let refused = |rows| Err(Error::ProbabilitiesAsLogits { rows });
        assert_eq!(outcome(ValueKind::Logits, 0, &probabilities), refused(10));
        assert_eq!(outcome(ValueKind::Logits, 0, &probabilities[..2]), refused(1));
        assert_eq!(outcome(ValueKind::ForcedLogits, 0, &probabilities), Ok(()));
        assert_eq!(outcome(ValueKind::Probabilities, 0, &probabilities), Ok(()));
        // Not at the head, or not all of them.
        assert_eq!(outcome(ValueKind::Logits, 10, &probabilities), Ok(()));
        for (cell, value) in [(19, 0.7), (0, -0.01), (1, 1.01), (3, 3.0)] {
            let mut logits = probabilities.clone();
            logits[cell] = value;
            assert_eq!(outcome(ValueKind::Logits, 0, &logits), Ok(()), "{cell}");
        }
        let single: Vec<f32> = probabilities.iter().map(|value| *value as f32).collect();
        let mut softmax = Vec::new();
        let refused = AnyRows::f32(&single, 2)
            .map(|rows| ValueKind::Logits.probabilities(0, rows, &mut softmax).is_err());
        assert_eq!(refused, Ok(true));
    }
}

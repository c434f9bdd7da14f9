//! Regularised adaptive prediction sets (Angelopoulos, Bates, Jordan & Malik 2021).

use super::RowScratch;
use super::aps::{Aps, Randomisation};
use crate::error::{Error, Result};
use crate::measure::Interval;

/// `s(x, y) = aps(x, y) + lambda max(0, rank(y) - k_reg)`, ranks from 1.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `lambda` | 0.01 | penalty a rank (the authors' value for ImageNet) | `>= 0` |
/// | `k_reg` | 5 | ranks without penalty (likewise) | any |
/// | `randomisation` | deterministic | share of the label's own probability | |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Raps {
    aps: Aps,
    lambda: f64,
    k_reg: usize,
}

impl Default for Raps {
    fn default() -> Self {
        Self { aps: Aps::default(), lambda: 0.01, k_reg: 5 }
    }
}

impl Raps {
    /// Checks that `lambda` is finite and not negative.
    pub fn new(lambda: f64, k_reg: usize, randomisation: Randomisation) -> Result<Self> {
        if lambda.is_finite() && lambda >= 0.0 {
            Ok(Self { aps: Aps { randomisation }, lambda, k_reg })
        } else {
            Err(Error::OutOfRange {
                what: "the RAPS penalty lambda",
                value: lambda,
                expected: "zero or positive, and finite",
            })
        }
    }

    pub(crate) fn range(&self, classes: usize) -> Interval {
        Interval::between(0.0, 1.0 + self.lambda * classes.saturating_sub(self.k_reg) as f64)
    }

    /// Writes the score of every label of one row.
    pub fn score_row(
        &self,
        row: usize,
        probabilities: &[f64],
        scratch: &mut RowScratch,
        scores: &mut [f64],
    ) {
        self.aps.score_row(row, probabilities, scratch, scores);
        for (position, label) in scratch.order.iter().enumerate() {
            scores[*label] += self.lambda * (position + 1).saturating_sub(self.k_reg) as f64;
        }
    }
}

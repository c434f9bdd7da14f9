//! `s(x, y) = aps(x, y) + lambda max(0, rank(y) - k_reg)`: regularised adaptive prediction sets \[ABJM21\].

use serde::{Deserialize, Serialize};

use super::RowScratch;
use super::aps::{Aps, Randomisation};
use crate::error::{Error, Result};
use crate::interval::Interval;

/// Largest `lambda`. Beyond it the range of the scores of very many classes could overflow to infinity.
const LARGEST_PENALTY: f64 = 1e6;

/// `s(x, y) = aps(x, y) + lambda max(0, rank(y) - k_reg)`, ranks from 1.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `lambda` | 0.01 | penalty per rank (the authors' value for ImageNet) | `[0, 1e6]` |
/// | `k_reg` | 5 | number of ranks without penalty (likewise) | any |
/// | `randomisation` | deterministic | share of the label's own probability | |
///
/// ```text
/// p = (0.5, 0.3, 0.2), u = 1, lambda = 0.1, k_reg = 1:   s = (0.5, 0.9, 1.2)
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Raps {
    /// The score without penalty.
    aps: Aps,
    /// Penalty per rank, in `[0, 1e6]`.
    lambda: f64,
    /// Ranks without penalty.
    k_reg: usize,
}

/// As it is stored, numbers as wide as on any machine; checked when read back.
#[derive(Serialize, Deserialize)]
struct Stored {
    aps: Aps,
    lambda: f64,
    k_reg: u64,
}

impl From<Raps> for Stored {
    fn from(Raps { aps, lambda, k_reg }: Raps) -> Self {
        Self { aps, lambda, k_reg: k_reg as u64 }
    }
}

impl TryFrom<Stored> for Raps {
    type Error = Error;

    fn try_from(Stored { aps, lambda, k_reg }: Stored) -> Result<Self> {
        // No table has as many labels as a machine word counts, so that any larger number means the same.
        Self::new(lambda, usize::try_from(k_reg).unwrap_or(usize::MAX), aps.randomisation)
    }
}

impl Default for Raps {
    fn default() -> Self {
        Self { aps: Aps::default(), lambda: 0.01, k_reg: 5 }
    }
}

impl Raps {
    /// Checks that `lambda` is in `[0, 1e6]`.
    ///
    /// # Errors
    /// `OutOfRange` unless `0 <= lambda <= 1e6`.
    pub fn new(lambda: f64, k_reg: usize, randomisation: Randomisation) -> Result<Self> {
        if (0.0..=LARGEST_PENALTY).contains(&lambda) {
            Ok(Self { aps: Aps { randomisation }, lambda, k_reg })
        } else {
            Err(Error::OutOfRange {
                what: "the RAPS penalty lambda",
                value: lambda,
                expected: "between 0 and 1e6",
            })
        }
    }

    /// Penalty per rank beyond the first `k_reg`, in units of probability.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// Number of ranks without penalty; the best label has rank 1.
    pub fn k_reg(&self) -> usize {
        self.k_reg
    }

    /// Whether the label's own probability counts in full or by a drawn share.
    pub fn randomisation(&self) -> Randomisation {
        self.aps.randomisation
    }

    /// The same function with separate random draws for `purpose`.
    pub(crate) fn with_draws_for(self, purpose: &str) -> Self {
        Self { aps: Aps { randomisation: self.aps.randomisation.for_purpose(purpose) }, ..self }
    }

    /// `[0, 1 + lambda max(0, C - k_reg)]`: every score of so many classes lies here.
    pub(crate) fn range(&self, classes: usize) -> Interval {
        // Saturating: `k_reg` may exceed the classes, and a wrapped difference would make the range astronomical.
        Interval::between(0.0, 1.0 + self.lambda * classes.saturating_sub(self.k_reg) as f64)
    }

    /// Writes the score of every label of one row; `probabilities` and `scores` have shape `(C,)`. `row` addresses the
    /// row's random draw.
    pub(crate) fn score_row(
        &self,
        row: u64,
        probabilities: &[f64],
        scratch: &mut RowScratch,
        scores: &mut [f64],
    ) {
        self.aps.score_row(row, probabilities, scratch, scores);
        // The order that `aps` just ranked: sorting again would double the cost of a row.
        for (position, label) in scratch.order.iter().enumerate() {
            let penalty = self.lambda * (position + 1).saturating_sub(self.k_reg) as f64;
            if let Some(score) = scores.get_mut(*label) {
                *score += penalty;
            }
        }
    }
}

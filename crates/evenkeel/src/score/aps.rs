//! `s(x, y) = sum of the p_k ranked before y + u p_y`: adaptive prediction sets \[RSC20\].

use serde::{Deserialize, Serialize};

use super::RowScratch;
use crate::interval::Interval;
use crate::seed::Seed;

/// How much of the label's own probability its score includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Randomisation {
    /// All of it: never empty sets, slight overcoverage.
    #[default]
    Deterministic,
    /// A uniform share, one draw per row: exact coverage. Draws are addressed by row, so they do not depend on
    /// chunking. Give calibration and test data separate seeds.
    Uniform(Seed),
}

impl Randomisation {
    /// The same rule, with separate draws for `purpose`. The word is part of the results.
    pub(crate) fn for_purpose(self, purpose: &str) -> Self {
        match self {
            Self::Deterministic => Self::Deterministic,
            Self::Uniform(seed) => Self::Uniform(seed.child(purpose, 0)),
        }
    }

    /// The share `u` of row `row`, in `[0, 1]`.
    pub(crate) fn share(self, row: u64) -> f64 {
        match self {
            Self::Deterministic => 1.0,
            Self::Uniform(seed) => {
                let mut stream = seed.stream("score-randomisation");
                // By position, not in sequence: a block of rows must draw what the whole table would.
                stream.seek(row);
                stream.uniform()
            }
        }
    }
}

/// `s(x, y) = sum of the p_k ranked before y + u p_y`, in `[0, 1]`.
///
/// ```text
/// p = (0.5, 0.3, 0.2), u = 1:   s = (0.5, 0.8, 1.0)
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Aps {
    /// Whether the share `u` of the label's own probability is 1 or drawn per row.
    pub randomisation: Randomisation,
}

impl Aps {
    /// Every score lies here.
    pub(crate) const RANGE: Interval = Interval::UNIT;

    /// Writes the score of every label of one row; `probabilities` and `scores` have shape `(C,)`. `row` addresses the
    /// row's random draw.
    pub(crate) fn score_row(
        self,
        row: u64,
        probabilities: &[f64],
        scratch: &mut RowScratch,
        scores: &mut [f64],
    ) {
        let share = self.randomisation.share(row);
        let mut before = 0.0;
        for label in scratch.rank(probabilities) {
            let probability = probabilities[*label];
            // The probabilities of a row may add up to 1 + 1e-16; the score stays in its range.
            if let Some(score) = scores.get_mut(*label) {
                *score = (before + share * probability).min(1.0);
            }
            before += probability;
        }
    }
}

//! What the readings say together, by the size of the loss and not by a p-value.
//!
//! ```text
//! loss      every reading has F + e < level and F < level - 2 points
//! unknown   else, one has F + e >= level and another F + e < level and F < level - 5 points
//! ok        else, every reading has F + e >= level
//! watch     else
//! ```
//! Where label shift may explain the outputs and does not for certain, a loss is `unknown` if `label-shift` and `class-shares` put it
//! more than five points apart, beyond their sampling errors: every repair would be a guess.

use serde::{Deserialize, Serialize};

/// A reading within this of the level has lost little.
const LITTLE: f64 = 0.02;
/// A reading further than this from the level contradicts one that reaches it.
const MUCH: f64 = 0.05;
/// Comparisons of coverages forgive this much rounding.
const ROUNDING: f64 = 1e-12;

/// What to make of the readings at a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// Every reading reaches the level, within its sampling error.
    Ok,
    /// Some reading is a little below it.
    Watch,
    /// Every reading is more than two points below it, beyond its sampling error.
    Loss,
    /// One reading reaches it and another is more than five points below, or they put the loss far apart: only labels can tell.
    Unknown,
}

impl Verdict {
    /// The word in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Watch => "watch",
            Self::Loss => "loss",
            Self::Unknown => "unknown",
        }
    }

    /// From each reading's coverage and sampling error.
    pub(crate) fn of(readings: &[(f64, f64)], level: f64) -> Self {
        let reaches = |(coverage, error): &(f64, f64)| coverage + error >= level - ROUNDING;
        let misses_by = |reading: &(f64, f64), points: f64| {
            !reaches(reading) && reading.0 < level - points - ROUNDING
        };
        if readings.iter().all(|reading| misses_by(reading, LITTLE)) {
            Self::Loss
        } else if readings.iter().any(reaches)
            && readings.iter().any(|reading| misses_by(reading, MUCH))
        {
            Self::Unknown
        } else if readings.iter().all(reaches) {
            Self::Ok
        } else {
            Self::Watch
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Coverages with one error for all, at the level 90 %.
    fn verdict(coverages: [f64; 3], error: f64) -> Verdict {
        Verdict::of(&coverages.map(|coverage| (coverage, error)), 0.9)
    }

    #[test]
    fn every_row_of_the_table() {
        // All reach it, exactly, by their error, or with room.
        assert_eq!(verdict([0.9, 0.9, 0.9], 0.0), Verdict::Ok);
        assert_eq!(verdict([0.89, 0.885, 0.95], 0.015), Verdict::Ok);
        assert_eq!(verdict([1.0, 1.0, 1.0], 0.0), Verdict::Ok);
        // All are more than two points below.
        assert_eq!(verdict([0.5, 0.6, 0.879], 0.01), Verdict::Loss);
        // One is exactly two points below, or reaches the level by its error: no loss.
        assert_eq!(verdict([0.5, 0.6, 0.88], 0.01), Verdict::Watch);
        assert_eq!(verdict([0.5, 0.6, 0.87], 0.03), Verdict::Unknown);
        // All are a little below.
        assert_eq!(verdict([0.885, 0.885, 0.885], 0.01), Verdict::Watch);
        // One reaches it, another is two to five points below: watch; exactly five: watch still.
        assert_eq!(verdict([0.91, 0.86, 0.9], 0.01), Verdict::Watch);
        assert_eq!(verdict([0.91, 0.85, 0.9], 0.01), Verdict::Watch);
        assert_eq!(verdict([0.91, 0.849, 0.9], 0.01), Verdict::Unknown);
        // More than five points below, and within a large error: it reaches the level.
        assert_eq!(verdict([0.91, 0.84, 0.9], 0.07), Verdict::Ok);
        // Nobody reaches it, one is far below, one is near: watch.
        assert_eq!(verdict([0.885, 0.6, 0.5], 0.01), Verdict::Watch);
    }

    proptest! {
        /// The specification's paragraph, word by word.
        #[test]
        fn it_is_the_paragraph(
            readings in prop::collection::vec((0.0..=1.0f64, 0.0..0.1f64), 3),
            level in 0.05..0.99f64,
        ) {
            let far = |points: f64| move |r: &&(f64, f64)| r.0 + r.1 < level && r.0 < level - points;
            let expected = if readings.iter().filter(far(0.02)).count() == 3 {
                Verdict::Loss
            } else if readings.iter().any(|r| r.0 + r.1 >= level)
                && readings.iter().any(|r| far(0.05)(&r))
            {
                Verdict::Unknown
            } else if readings.iter().all(|r| r.0 + r.1 >= level) {
                Verdict::Ok
            } else {
                Verdict::Watch
            };
            prop_assert_eq!(Verdict::of(&readings, level), expected);
        }

        /// A reading that rises never turns a verdict into a loss.
        #[test]
        fn more_coverage_is_no_loss(
            readings in prop::collection::vec((0.0..=1.0f64, 0.0..0.1f64), 3),
            which in 0usize..3,
            rise in 0.0..0.3f64,
        ) {
            let before = Verdict::of(&readings, 0.9);
            let mut risen = readings.clone();
            risen[which].0 += rise;
            let after = Verdict::of(&risen, 0.9);
            prop_assert!(after != Verdict::Loss || before == Verdict::Loss);
            prop_assert!(before != Verdict::Ok || after == Verdict::Ok);
        }
    }
}

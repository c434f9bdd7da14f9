//! What the exact bounds need added to hold for the populations behind the rows, whatever their laws are, atoms included.
//!
//! ```text
//! n calibration scores, m target rows, drawn independently; failure probability d
//! total gap            1 / (2 n)         +  sqrt((4 / n + 1 / m) ln(1/d) / 2)
//! gap to the level     1 / (2 sqrt(n))   +  sqrt((1 / n + 1 / m) ln(1/d) / 2)
//! ```
//! The first term of each is how far the bound lies, on average over samples, below the gap of the populations at most. The
//! second is how far it falls below its own average with probability `d` at most, by McDiarmid's inequality \[M89\]: one
//! calibration score moves the first bound by `2 / n` and the second by `1 / n`, one target row moves either by `1 / m`.
//! `docs/guarantees.md` has the proof.
//!
//! DKW terms bound the distance of the laws at every score and leave the masses of the sum as they are: they answer for the
//! thresholds that these calibration scores give, not for the average over the population's own.

use crate::error::{Error, Result};
use crate::level::FailureProbability;
use crate::sandwich::{Construction, Sandwich};

/// What to add to both exact bounds at equal weights, so that they hold for the populations with probability `1 - d`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PopulationMargins {
    /// For [`exact_gap_between`](super::exact_gap_between), in units of coverage.
    pub total_gap: f64,
    /// For [`level_gap_between`](super::level_gap_between), in units of coverage.
    pub level_gap: f64,
    /// Failure probability `d` of each of the two.
    pub failure: FailureProbability,
}

impl PopulationMargins {
    /// For `n` calibration scores of equal weight and the unlabeled rows behind a sandwich.
    ///
    /// # Errors
    /// `TooFew` without a calibration score or a target row.
    pub fn new(n: usize, sandwich: &Sandwich, d: FailureProbability) -> Result<Self> {
        let m = sandwich.sample_size();
        for (what, found) in [("calibration scores", n), ("target rows", m)] {
            if found == 0 {
                return Err(Error::TooFew { what, found, least: 1 });
            }
        }
        let (n, m) = (n as f64, m as f64);
        // A row whose own two laws are ordered can lower the upper end or raise the lower one, not both. The extremes of a
        // row are; of other pairs that is not known.
        let at_once: f64 = match sandwich.construction() {
            Construction::MinMax => 1.0,
            _ => 2.0,
        };
        let deviation = |squares: f64| (-d.get().ln() * squares / 2.0).sqrt();
        Ok(Self {
            total_gap: 0.5 / n + deviation(4.0 / n + 1.0 / m),
            level_gap: 0.5 / n.sqrt() + deviation(1.0 / n + at_once * at_once / m),
            failure: d,
        })
    }

    /// `1 - d`: the probability with which each of the two holds.
    pub fn confidence(&self) -> f64 {
        1.0 - self.failure.get()
    }
}

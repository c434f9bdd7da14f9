//! How a plan is made.

use crate::error::{Error, Result};
use crate::level::FailureProbability;

/// Options of the label plan. The constants of the method itself are fixed; these say how exactly it is computed.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `tolerance` | 1e-4 | change of the log-scalings at which a fixed point ends | `> 0` |
/// | `most_iterations` | 10 000 | limit of each fixed point | `>= 1` |
/// | `delta` | 0.05 | failure probability of the certificate | `(0, 1)` |
/// | `kept_cells` | 2 097 152 | rows times classes that take part in the fixed points; a sample of the rows beyond | `>= 1` |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelPlanSettings {
    /// Change of the log-scalings at which a fixed point ends; positive and finite.
    pub tolerance: f64,
    /// Limit of each fixed point, at least 1; reaching it is reported, not an error.
    pub most_iterations: usize,
    /// Failure probability of the certificate's finite-sample term.
    pub delta: FailureProbability,
    /// Rows times classes that take part in the fixed points, at least 1; 16 MB by default.
    pub kept_cells: usize,
}

impl Default for LabelPlanSettings {
    /// At a failure probability of five percent.
    fn default() -> Self {
        Self::new(FailureProbability::FIVE_PERCENT)
    }
}

impl LabelPlanSettings {
    /// The defaults at this failure probability. The tolerance is the method's own; the rest bounds
    /// time and memory.
    pub fn new(delta: FailureProbability) -> Self {
        Self { tolerance: 1e-4, most_iterations: 10_000, delta, kept_cells: 1 << 21 }
    }

    /// An error unless every number is in its range.
    pub(super) fn check(&self) -> Result<()> {
        if !(self.tolerance.is_finite() && self.tolerance > 0.0) {
            return Err(Error::OutOfRange {
                what: "the tolerance of the label plan",
                value: self.tolerance,
                expected: "positive and finite",
            });
        }
        for (what, found) in [
            ("iterations of the label plan", self.most_iterations),
            ("kept cells of the label plan", self.kept_cells),
        ] {
            if found == 0 {
                return Err(Error::TooFew { what, found, least: 1 });
            }
        }
        Ok(())
    }
}

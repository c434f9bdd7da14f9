//! When a run stops (steps, improvement, `n_w` floor), and why it did.
//!
//! ```text
//! steps = max_steps   |   best_before - best <= relative |best| over a window   |   n_w < floor
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Stop when the best objective improves by less than `relative` of itself over `window` steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Improvement {
    /// Steps over which the improvement is measured, at least 1.
    pub window: usize,
    /// Smallest relative improvement worth going on for; zero or positive, finite.
    pub relative: f64,
}

/// Steps over which an improvement is measured unless told otherwise: half the paper's.
const IMPROVEMENT_WINDOW: usize = 500;

impl Improvement {
    /// A smallest relative improvement over 500 steps.
    pub(crate) fn of(relative: f64) -> Self {
        Self { window: IMPROVEMENT_WINDOW, relative }
    }
}

/// When a run stops.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `max_steps` | 1000 | the paper's step count for mild shift (3000 and 5000 for severe) | `>= 1` |
/// | `improvement` | none | stop when the objective no longer falls | window `>= 1`, relative `>= 0` |
/// | `effective_sample_size_floor` | none | stop before the weights lean on fewer points than this | `>= 1` |
///
/// Minimisers of the plain bounds are degenerate, and the step count is what hides it: without a floor or the
/// finite-sample objective, more steps are not better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoppingRule {
    /// The end in any case, at least 1.
    max_steps: usize,
    /// None: all steps are taken.
    improvement: Option<Improvement>,
    /// None: weights may lean on a single point.
    effective_sample_size_floor: Option<f64>,
}

/// Steps the paper takes under mild shift.
const PAPER_STEPS: usize = 1000;

impl Default for StoppingRule {
    /// The paper's 1000 steps, and no other reason to stop.
    fn default() -> Self {
        Self { max_steps: PAPER_STEPS, improvement: None, effective_sample_size_floor: None }
    }
}

impl StoppingRule {
    /// Stop after `max_steps` steps, at least one.
    ///
    /// # Errors
    /// `TooFew` for 0 steps.
    pub fn after(max_steps: usize) -> Result<Self> {
        if max_steps == 0 {
            return Err(Error::TooFew { what: "optimisation steps", found: 0, least: 1 });
        }
        Ok(Self { max_steps, ..Self::default() })
    }

    /// Stop also when the objective no longer improves.
    ///
    /// # Errors
    /// `TooFew` for a window of 0 steps, `OutOfRange` for a relative improvement that is negative or not finite.
    pub fn with_improvement(mut self, improvement: Improvement) -> Result<Self> {
        if improvement.window == 0 {
            return Err(Error::TooFew {
                what: "steps of the improvement window",
                found: 0,
                least: 1,
            });
        }
        if !(improvement.relative >= 0.0 && improvement.relative.is_finite()) {
            return Err(Error::OutOfRange {
                what: "the relative improvement to stop at",
                value: improvement.relative,
                expected: "zero or positive, and finite",
            });
        }
        self.improvement = Some(improvement);
        Ok(self)
    }

    /// Stop also before the effective sample size falls below `floor`.
    ///
    /// # Errors
    /// `OutOfRange` unless the floor is at least 1 and finite.
    pub fn with_effective_sample_size_floor(mut self, floor: f64) -> Result<Self> {
        if !(floor >= 1.0 && floor.is_finite()) {
            return Err(Error::OutOfRange {
                what: "the floor on the effective sample size",
                value: floor,
                expected: "at least 1, and finite",
            });
        }
        self.effective_sample_size_floor = Some(floor);
        Ok(self)
    }

    /// Largest number of steps, at least 1.
    pub(crate) fn max_steps(&self) -> usize {
        self.max_steps
    }

    /// The improvement rule, if there is one.
    pub(crate) fn improvement(&self) -> Option<Improvement> {
        self.improvement
    }

    /// The floor on the effective sample size, if there is one.
    pub(crate) fn effective_sample_size_floor(&self) -> Option<f64> {
        self.effective_sample_size_floor
    }
}

/// Why a run stopped; stored with the calibration, in these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StopReason {
    /// All steps were taken: the usual end, and the paper's.
    MaxSteps,
    /// The objective no longer improved over the window.
    Converged,
    /// The next step would have left fewer effective points than the floor.
    EffectiveSampleSizeFloor,
    /// The objective or its gradient was no longer a number; the last good weights were kept.
    Diverged,
    /// The caller asked to stop; the weights of that moment are kept.
    Interrupted,
    /// There was nothing to learn: the method has no optimiser.
    NotIterative,
}

impl StopReason {
    /// The name used in results and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxSteps => "max-steps",
            Self::Converged => "converged",
            Self::EffectiveSampleSizeFloor => "effective-sample-size-floor",
            Self::Diverged => "diverged",
            Self::Interrupted => "interrupted",
            Self::NotIterative => "not-iterative",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MaxSteps => "all steps were taken",
            Self::Converged => "the objective no longer improved",
            Self::EffectiveSampleSizeFloor => {
                "the weights reached the floor on the effective sample size"
            }
            Self::Diverged => {
                "the objective was no longer a number; the last good weights were kept"
            }
            Self::Interrupted => "interrupted on request",
            Self::NotIterative => "the method needs no optimisation",
        })
    }
}

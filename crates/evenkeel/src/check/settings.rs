//! How a check is made.

use crate::error::{Error, Result, require_finite};
use crate::level::{FailureProbability, Miscoverage};
use crate::measure::{BANDWIDTH_FACTOR_CLASSIFICATION, Grid};
use crate::method::auto::AutoSettings;
use crate::method::label_plan::{Assumption, LabelPlanSettings, PlanAssumptions};
use crate::seed::Seed;
use crate::shift::{least_permutations, permutations_for, require_drawable};
use crate::threshold::Threshold;

/// Which threshold a check asks about.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum ThresholdInQuestion {
    /// That of split conformal prediction on the calibration data.
    #[default]
    Split,
    /// That of a calibration in use.
    Given(Threshold),
}

/// When the shift test stops drawing relabelings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stopping {
    /// After all of them.
    #[default]
    AfterAll,
    /// As soon as the decision is clear; the p-value stays valid. For services that check every batch.
    WhenClear,
}

/// How a check is made.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `alpha` | 0.1 | miscoverage rate of the threshold in question | `(0, 1)` |
/// | `delta` | 0.05 | failure probability of each confidence statement, and level of the shift test | `(0, 1)` |
/// | `permutations` | [`permutations_for`] delta: 999 from 0.0021 on | relabelings of the shift test | `>= 1` |
/// | `stopping` | after all | when the shift test stops drawing | |
/// | `bound_grid` | 1000 | grid of the bounds | `>= 2` |
/// | `bandwidth_factor` | 0.1 | factor of Scott's rule | `>= 0` |
/// | `threshold` | split | the threshold in question | finite or all labels |
/// | `assumptions` | class-shares, no accuracy | what is assumed of the target data, or known | see [`PlanAssumptions`] |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckSettings {
    /// Miscoverage rate of the threshold that is checked, in `(0, 1)`.
    pub alpha: Miscoverage,
    /// Failure probability and test level.
    pub delta: FailureProbability,
    /// Random relabelings that the shift test draws.
    pub permutations: usize,
    /// When it stops drawing.
    pub stopping: Stopping,
    /// Grid points of the bounds.
    pub bound_grid: usize,
    /// Factor of the bandwidth rule.
    pub bandwidth_factor: f64,
    /// Root of all randomness.
    pub seed: Seed,
    /// The threshold in question.
    pub threshold: ThresholdInQuestion,
    /// What is assumed of the target data, and what is known of them.
    pub assumptions: PlanAssumptions,
}

impl CheckSettings {
    /// The defaults at these two rates.
    pub fn new(alpha: Miscoverage, delta: FailureProbability, seed: Seed) -> Self {
        Self {
            alpha,
            delta,
            permutations: permutations_for(delta),
            stopping: Stopping::AfterAll,
            bound_grid: Grid::BOUND_POINTS,
            bandwidth_factor: BANDWIDTH_FACTOR_CLASSIFICATION,
            seed,
            threshold: ThresholdInQuestion::Split,
            assumptions: PlanAssumptions::default(),
        }
    }

    /// The plan's settings.
    pub(super) fn plan(&self) -> LabelPlanSettings {
        LabelPlanSettings { assumptions: self.assumptions, ..LabelPlanSettings::new(self.delta) }
    }

    /// The settings of `auto` that a check promises the result of.
    pub fn auto(&self) -> AutoSettings {
        AutoSettings { plan: self.plan(), ..AutoSettings::new(self.delta) }
    }

    pub(super) fn check(&self) -> Result<()> {
        // The smallest p-value is 1 / (1 + B): with fewer permutations the test could never reject, whatever the data.
        let least = least_permutations(self.delta);
        if self.permutations < least {
            let (found, delta) = (self.permutations, self.delta.get());
            return Err(Error::TooFewPermutations { found, delta, least });
        }
        require_drawable(self.permutations)?;
        match self.threshold {
            ThresholdInQuestion::Given(Threshold::Finite(score)) => {
                require_finite("the threshold in question", &[score])
            }
            _ => Ok(()),
        }
    }

    /// Everything the states of a check depend on, by name.
    pub(super) fn listed(&self) -> Vec<(String, String)> {
        let named = [
            ("alpha", self.alpha.get().to_string()),
            ("delta", self.delta.get().to_string()),
            ("permutations", self.permutations.to_string()),
            ("bound_grid", self.bound_grid.to_string()),
            ("bandwidth_factor", self.bandwidth_factor.to_string()),
            ("seed", self.seed.get().to_string()),
            ("threshold", format!("{:?}", self.threshold)),
            ("assume", self.assumptions.assume.map_or("unchosen", Assumption::as_str).to_owned()),
            (
                "accuracy",
                self.assumptions
                    .accuracy
                    .map_or_else(|| "estimated".to_owned(), |share| share.get().to_string()),
            ),
        ];
        let mut named = named.map(|(name, value)| (name.to_owned(), value)).to_vec();
        // Only where it differs: states of checks that draw all have the bytes they always had.
        if self.stopping == Stopping::WhenClear {
            named.push(("stopping".to_owned(), "when-clear".to_owned()));
        }
        named
    }
}

//! What every answer needs of the calibration data alone: found by the first answer, kept for the next ones.
//!
//! A check that is begun once and cloned for every batch shares it; the numbers are those that each would find.

use std::sync::OnceLock;

use super::settings::CheckSettings;
use crate::bound::Integrator;
use crate::error::Result;
use crate::interval::Interval;
use crate::label_law::{LabeledLogits, Losses, temperature_error};
use crate::level::FailureProbability;
use crate::measure::{
    BANDWIDTH_FLOOR, Bandwidth, Grid, SmoothedLaw, Support, WeightedEmpirical, largest,
};

/// The density of the calibration scores on the grid of the bounds.
#[derive(Debug)]
pub(super) struct DensityOnGrid {
    pub p: SmoothedLaw,
    pub grid: Grid,
    pub integrator: Integrator,
    pub largest: f64,
}

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct OfCalibration {
    density: OnceLock<DensityOnGrid>,
    temperature_error: OnceLock<f64>,
}

impl OfCalibration {
    /// The density of the scores.
    pub(super) fn density(
        &self,
        scores: &[f64],
        range: Interval,
        settings: &CheckSettings,
    ) -> Result<&DensityOnGrid> {
        if let Some(found) = self.density.get() {
            return Ok(found);
        }
        let floor = BANDWIDTH_FLOOR * range.width();
        let bandwidth = Bandwidth::scott(scores, settings.bandwidth_factor, floor)?;
        let law = WeightedEmpirical::uniform(scores)?;
        let p = SmoothedLaw::new(law, bandwidth, Support::Bounded(range))?;
        let grid = Grid::new(range, settings.bound_grid)?;
        let density = p.density().density_on_grid(&grid);
        let integrator = Integrator::of_density(&p, &grid, &density)?;
        let made = DensityOnGrid { p, grid, integrator, largest: largest(&density).1 };
        Ok(self.density.get_or_init(|| made))
    }

    /// By how much the fitted temperature may be wrong, in `ln`; always asked for the same failure probability.
    pub(super) fn temperature_error(
        &self,
        labeled: &LabeledLogits,
        fitted: f64,
        failure: FailureProbability,
    ) -> f64 {
        *self.temperature_error.get_or_init(|| {
            let [below, above] = temperature_error(&Losses::new(labeled), fitted, failure);
            below.max(above)
        })
    }
}

//! Many fits at once: seeds, alphas, corruptions, nightly batches.

use rayon::prelude::*;

use crate::calibration::Calibration;
use crate::calibrator::{ShiftCalibrator, Today};
use crate::error::Result;
use crate::measure::Interval;
use crate::seed::Seed;

/// One fit of a family: a calibrator and its inputs.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a> {
    /// Method, score, alpha and seed.
    pub calibrator: ShiftCalibrator,
    /// Yesterday's scores; shape `(n,)`.
    pub scores: &'a [f64],
    /// Today's unlabeled side.
    pub today: Today<'a>,
    /// Number of classes.
    pub classes: usize,
    /// Range of the scores.
    pub range: Interval,
}

impl<'a> Cell<'a> {
    /// The same fit from other seeds.
    pub fn with_seeds(self, seeds: &[Seed]) -> Vec<Cell<'a>> {
        let seeded = |seed: &Seed| Cell {
            calibrator: ShiftCalibrator { seed: *seed, ..self.calibrator },
            ..self
        };
        seeds.iter().map(seeded).collect()
    }

    /// Runs it.
    pub fn calibrate(&self) -> Result<Calibration> {
        self.calibrator.calibrate_scores(self.scores, self.today, self.classes, self.range)
    }
}

/// Runs every cell, on the threads of the current rayon pool, and returns the results in the order of the cells.
///
/// A fit runs on one thread and takes its randomness from its own seed, so the results are the same bits for any number
/// of threads.
pub fn calibrate_cells(cells: &[Cell<'_>]) -> Vec<Result<Calibration>> {
    cells.par_iter().map(Cell::calibrate).collect()
}

//! `uncorrected`: split conformal prediction. Every calibration point counts the same.
//!
//! ```text
//! threshold = the ceil((n + 1)(1 - alpha))-th smallest calibration score
//! ```
//! The target rows are read for one warning only: whether they may score beyond every calibration score.

use super::fit::{Next, Open, Scored, Stage};
use super::target_laws::{SeenScores, TargetScores, extremes, laws_pass};
use super::{About, Concluded, Needs, Rule, Sorted};
use crate::error::Result;
use crate::measure::Grid;
use crate::rows::Real;
use crate::sketch::{Abscissae, SketchedLaws, TargetTable, TargetTableRecipe};

/// The room's entry in the list of methods.
pub(crate) const ABOUT: About = About {
    name: "uncorrected",
    summary: "Split conformal prediction",
    assumption: "no shift",
    needs: Needs::NOTHING,
};

/// Split conformal prediction in the making.
#[derive(Debug)]
pub(crate) struct UncorrectedFit {
    /// Calibration scores, increasing, with their places in the input.
    sorted: Sorted,
}

/// Sorts the calibration scores; the target rows are still to come.
pub(crate) fn begin<T: Real>(calibration: &Scored<'_, T>) -> Result<Open<UncorrectedFit>> {
    let sorted = Sorted::new(calibration.scores);
    Ok(Open::new(UncorrectedFit { sorted }, extremes_pass(calibration)?))
}

impl Stage for UncorrectedFit {
    type Pass = TargetTableRecipe;

    /// Equal weights; the target side goes along for the warning.
    fn end_pass(self, pass: TargetTableRecipe, state: TargetTable, _: u64) -> Result<Next> {
        let target = SeenScores::new(&pass, state)?;
        Next::done(from_scores(self.sorted, target.as_target())?)
    }
}

/// What is read of the target rows by methods whose weights do not depend on them.
///
/// The extremes over the labels of a row need no probabilities, and hold whatever the labels are.
pub(crate) fn extremes_pass<T: Real>(calibration: &Scored<'_, T>) -> Result<TargetTableRecipe> {
    let score = &calibration.context.score;
    let classes = calibration.classes();
    // The largest score beside a grid: the warning asks how much target mass lies beyond it.
    let grid = Grid::new(score.range(classes), Grid::BOUND_POINTS)?;
    let largest: Vec<f64> =
        calibration.scores.iter().copied().reduce(f64::max).into_iter().collect();
    let exact_at = Abscissae::of_grid_and_points(&grid, &largest)?;
    Ok(laws_pass(classes, score, Some((exact_at, SketchedLaws::Extremes))))
}

/// From sorted calibration scores and the target side.
///
/// # Errors
/// If there are no scores, or the extremes cannot be taken.
pub(crate) fn from_scores(sorted: Sorted, target: TargetScores<'_>) -> Result<Concluded> {
    let sandwich = extremes(target)?;
    Ok(Concluded::split(sorted, Rule::Quantile)?.with_sandwich(sandwich))
}

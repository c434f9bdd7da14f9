//! `ot` as a method: two laws of the target scores from one pass, then the descent.

use super::problem::Problem;
use super::{ObjectiveChoice, SandwichChoice, TransportSettings};
use crate::error::Result;
use crate::interval::Interval;
use crate::method::fit::{Context, Next, Observer, Open, Scored, Stage};
use crate::method::target_laws::{SeenScores, TargetScores, laws_pass};
use crate::method::{About, Concluded, Needs, Sorted};
use crate::rows::Real;
use crate::sketch::{SketchedLaws, TargetTable, TargetTableRecipe};

/// The room's entry in the list of methods.
pub(crate) const ABOUT: About = About {
    name: "ot",
    summary: "Weights that minimise a bound on the lost coverage (Correia & Louizos 2025)",
    assumption: "laws enclose the target scores",
    needs: Needs::NOTHING,
};

/// Optimal transport before the target rows are known.
#[derive(Debug)]
pub(crate) struct TransportFit {
    /// Settings, seed and range of the descent to come.
    problem: Problem,
    /// Calibration scores, increasing, with their places in the input.
    sorted: Sorted,
}

/// Sorts the calibration scores; the laws of the target rows are still to come.
///
/// # Errors
/// If a grid of the settings cannot be laid over the score's range.
pub(crate) fn begin<T: Real>(
    calibration: &Scored<'_, T>,
    settings: TransportSettings,
) -> Result<Open<TransportFit>> {
    let score = &calibration.context.score;
    let range = score.range(calibration.classes());
    let sorted = Sorted::new(calibration.scores);
    let problem = Problem::new(calibration.context, settings, range, &sorted.scores)?;
    let sketch = match sketchable_laws(&settings) {
        None => None,
        Some(laws) => Some((problem.exact_at(&sorted.scores)?, laws)),
    };
    let pass = laws_pass(calibration.classes(), score, sketch);
    Ok(Open::new(TransportFit { problem, sorted }, pass))
}

/// The laws to sketch instead of keeping every candidate score, where no more is needed than their CDFs at the
/// calibration scores and on the grids.
fn sketchable_laws(settings: &TransportSettings) -> Option<SketchedLaws> {
    match (settings.objective, settings.sandwich) {
        // W1 needs every atom between the grid points, and drawn labels need every candidate.
        (ObjectiveChoice::Wasserstein, _) | (_, SandwichChoice::ModelUniformSampled) => None,
        (_, SandwichChoice::MinMax) => Some(SketchedLaws::Extremes),
        (_, SandwichChoice::ModelUniform) => Some(SketchedLaws::ModelUniform),
    }
}

impl Stage for TransportFit {
    type Pass = TargetTableRecipe;

    /// The laws are there; the descent waits for somebody who may watch it.
    fn end_pass(self, pass: TargetTableRecipe, state: TargetTable, _: u64) -> Result<Next> {
        let target = SeenScores::new(&pass, state)?;
        Ok(Next::Learn(Box::new(Learning { problem: self.problem, sorted: self.sorted, target })))
    }
}

/// Everything is known but the weights; running it may take long.
#[derive(Debug)]
pub(crate) struct Learning {
    /// Settings, seed and range.
    problem: Problem,
    /// Calibration scores, increasing.
    sorted: Sorted,
    /// Candidates or laws of the target side, owned so that the fit can be handed on.
    target: SeenScores,
}

impl Learning {
    /// Runs the descent; `observer` sees it and may end it.
    ///
    /// # Errors
    /// If settings exclude each other, or the laws cannot be made. A diverged descent is none.
    pub(crate) fn conclude(self, observer: &mut Observer<'_>) -> Result<Concluded> {
        self.problem.learn(self.sorted, self.target.as_target(), observer)
    }
}

/// From sorted calibration scores and the target side; the grids cover `range`.
///
/// # Errors
/// As [`Learning::conclude`].
pub(crate) fn from_scores(
    context: Context,
    settings: TransportSettings,
    range: Interval,
    sorted: Sorted,
    target: TargetScores<'_>,
    observer: &mut Observer<'_>,
) -> Result<Concluded> {
    Problem::new(context, settings, range, &sorted.scores)?.learn(sorted, target, observer)
}

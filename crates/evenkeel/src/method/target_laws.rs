//! The target side of the methods that look at two laws around the target scores: every candidate score, or a sketch.

use crate::error::Result;
use crate::interval::Interval;
use crate::measure::Grid;
use crate::rows::{Real, RowKeys, Rows};
use crate::sandwich::{Sandwich, min_max};
use crate::score::{CandidateScores, Score};
use crate::side_inputs::SideInputs;
use crate::sketch::{Abscissae, FilledTable, SketchedLaws, TargetTable, TargetTableRecipe};

use super::fit::Pass;
use super::ot::TransportSettings;

/// The unlabeled side of a fit from scores.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum TargetScores<'a> {
    /// The score of every label every point could have.
    Candidates(&'a CandidateScores),
    /// Two laws made elsewhere: a sketch of a file larger than memory, or the user's own.
    Sandwich(&'a Sandwich),
}

impl Pass for TargetTableRecipe {
    type State = TargetTable;

    fn empty(&self) -> TargetTable {
        TargetTableRecipe::empty(self)
    }

    fn add<T: Real>(
        &self,
        mut state: TargetTable,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        _: &SideInputs<'_>,
    ) -> Result<TargetTable> {
        TargetTableRecipe::add(self, &mut state, keys, block)?;
        Ok(state)
    }

    fn merge(&self, mut state: TargetTable, other: TargetTable) -> Result<TargetTable> {
        TargetTableRecipe::merge(self, &mut state, other)?;
        Ok(state)
    }

    fn check(&self, state: &TargetTable) -> Result<()> {
        TargetTableRecipe::check(self, state)
    }

    fn classes(&self) -> usize {
        self.classes
    }
}

/// What reads target rows for laws: `laws` says which a sketch keeps, none that every candidate is needed.
pub(crate) fn laws_pass(
    scores: &[f64],
    classes: usize,
    score: &Score,
    laws: Option<SketchedLaws>,
    settings: &TransportSettings,
) -> Result<TargetTableRecipe> {
    let sketch = match laws {
        None => None,
        Some(laws) => Some((abscissae(scores, score.range(classes), settings)?, laws)),
    };
    Ok(TargetTableRecipe { classes, score: score.with_draws_for("today"), sketch })
}

/// Where the CDFs must be exact: on both grids, and at the largest calibration score.
fn abscissae(scores: &[f64], range: Interval, settings: &TransportSettings) -> Result<Abscissae> {
    let mut further = Grid::new(range, settings.learning_grid)?.points().to_vec();
    further.extend(scores.iter().copied().reduce(f64::max));
    Abscissae::of_grid_and_points(&Grid::new(range, settings.bound_grid)?, &further)
}

/// What the rows left behind, as [`TargetScores`] borrows it.
#[derive(Debug)]
pub(crate) enum SeenScores {
    Candidates(CandidateScores),
    Sandwich(Sandwich),
}

impl SeenScores {
    /// Of a table whose rows are all there.
    pub(crate) fn new(recipe: &TargetTableRecipe, table: TargetTable) -> Result<Self> {
        Ok(match table.finish()? {
            FilledTable::Kept(kept) => Self::Candidates(kept.candidate_scores(&recipe.score)?),
            FilledTable::Sketched(sketch) => Self::Sandwich(match sketch.laws() {
                SketchedLaws::Extremes => sketch.min_max()?,
                _ => sketch.model_uniform()?,
            }),
        })
    }

    pub(crate) fn as_target(&self) -> TargetScores<'_> {
        match self {
            Self::Candidates(candidates) => TargetScores::Candidates(candidates),
            Self::Sandwich(sandwich) => TargetScores::Sandwich(sandwich),
        }
    }
}

/// The extremes over the labels, which hold whatever the labels are.
pub(crate) fn extremes(target: TargetScores<'_>) -> Result<Sandwich> {
    match target {
        TargetScores::Candidates(candidates) => min_max(candidates),
        TargetScores::Sandwich(sandwich) => Ok(sandwich.clone()),
    }
}

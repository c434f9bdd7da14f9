//! The target side of the methods that look at two laws around the target scores: every candidate score, or a sketch.
//!
//! ```text
//! few rows    every s(x_j, y)                        -> any laws, any grid
//! many rows   F_lower, F_upper at chosen abscissae   -> exact there, rounded outward between
//! ```

use crate::error::Result;
use crate::rows::{Real, RowKeys, Rows};
use crate::sandwich::{Sandwich, min_max};
use crate::score::{CandidateScores, Score};
use crate::side_inputs::SideInputs;
use crate::sketch::{Abscissae, FilledTable, SketchedLaws, TargetTable, TargetTableRecipe};

use super::fit::Pass;

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

    /// A table without rows.
    fn empty(&self) -> TargetTable {
        TargetTableRecipe::empty(self)
    }

    /// Adds a block of probabilities; side inputs are of no use here.
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

    /// Joins two tables; kept rows become a sketch where both together are too many.
    fn merge(&self, mut state: TargetTable, other: TargetTable) -> Result<TargetTable> {
        TargetTableRecipe::merge(self, &mut state, other)?;
        Ok(state)
    }

    /// An error unless the table can be one of this recipe.
    fn check(&self, state: &TargetTable) -> Result<()> {
        TargetTableRecipe::check(self, state)
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn empty_of(&self, rows: u64) -> TargetTable {
        TargetTableRecipe::empty_of(self, rows)
    }
}

/// What reads target rows for laws: `sketch` says which are kept of many rows and where, none that every candidate is
/// needed.
pub(crate) fn laws_pass(
    classes: usize,
    score: &Score,
    sketch: Option<(Abscissae, SketchedLaws)>,
) -> TargetTableRecipe {
    // Draws of their own for target rows. The word is part of the draws, and so of stored bits.
    TargetTableRecipe { classes, score: score.with_draws_for("today"), sketch }
}

/// What the rows left behind, as [`TargetScores`] borrows it.
#[derive(Debug)]
pub(crate) enum SeenScores {
    /// Every candidate, where the rows were few enough.
    Candidates(CandidateScores),
    /// Two laws of a sketch, where they were not.
    Sandwich(Sandwich),
}

impl SeenScores {
    /// Of a table whose rows are all there.
    ///
    /// # Errors
    /// If a key was given twice, or the sketch lacks the laws asked for.
    pub(crate) fn new(recipe: &TargetTableRecipe, table: TargetTable) -> Result<Self> {
        Ok(match table.finish()? {
            FilledTable::Kept(kept) => Self::Candidates(kept.candidate_scores(&recipe.score)?),
            FilledTable::Sketched(sketch) => Self::Sandwich(match sketch.laws() {
                SketchedLaws::Extremes => sketch.min_max()?,
                _ => sketch.model_uniform()?,
            }),
        })
    }

    /// Borrowed, as fits from scores take it.
    pub(crate) fn as_target(&self) -> TargetScores<'_> {
        match self {
            Self::Candidates(candidates) => TargetScores::Candidates(candidates),
            Self::Sandwich(sandwich) => TargetScores::Sandwich(sandwich),
        }
    }
}

/// The extremes over the labels, which hold whatever the labels are; laws given whole are taken as
/// they are.
pub(crate) fn extremes(target: TargetScores<'_>) -> Result<Sandwich> {
    match target {
        TargetScores::Candidates(candidates) => min_max(candidates),
        TargetScores::Sandwich(sandwich) => Ok(sandwich.clone()),
    }
}

//! What one pass over target rows keeps for a check: two pairs of laws, and a sample of
//! predictions.
//!
//! ```text
//! rows C <= 2 million   every probability is kept       laws exact everywhere
//! beyond                mass between the abscissae      laws exact at grid and calibration scores
//! ```

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::interval::Interval;
use crate::label_law::LabelLawMap;
use crate::measure::Grid;
use crate::rows::{Real, RowKeys, Rows};
use crate::sandwich::{Sandwich, min_max, model_uniform};
use crate::score::{Probabilities, Score};
use crate::seed::Seed;
use crate::shift::{KEPT_PREDICTIONS, KeptPredictions, Prediction, predictions};
use crate::sketch::target_table::{FilledTable, TargetTable, TargetTableRecipe};
use crate::sketch::{Abscissae, SandwichSketch, SketchedLaws, contradiction};

/// What a check takes of the target data: both pairs of laws, and a sample of the predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetLaws {
    /// Laws of the smallest and the largest score of each row.
    pub min_max: Sandwich,
    /// Laws of the score of a label drawn from the model, and of one drawn uniformly.
    pub f_u: Sandwich,
    /// Confidences and predicted classes of all rows, or of a uniform sample of ten thousand, in the order of the rows.
    pub predictions: Vec<Prediction>,
    /// Number of target rows `m` that the laws are of.
    pub rows: u64,
}

impl TargetLaws {
    /// The exact laws of a table in memory.
    ///
    /// # Errors
    /// If a score is not finite, which checked probabilities do not give.
    pub fn of_probabilities<T: Real>(
        probabilities: &Probabilities<'_, T>,
        score: &Score,
        seed: Seed,
    ) -> Result<Self> {
        let candidates = score.candidate_scores(probabilities)?;
        let mut kept = KeptPredictions::new(seed);
        // By row number, as a file is read: a table in memory and its file keep the same sample.
        for (row, prediction) in predictions(probabilities).into_iter().enumerate() {
            kept.add_prediction(row as u64, prediction);
        }
        Ok(Self {
            min_max: min_max(&candidates)?,
            f_u: model_uniform(&candidates)?,
            predictions: kept.into_values()?,
            rows: probabilities.rows() as u64,
        })
    }
}

/// Both sandwiches of target rows and a sample of their predictions, from one pass; mergeable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct TargetSketch {
    sandwiches: SandwichSketch,
    predictions: KeptPredictions,
}

/// As it is stored; checked when read back, because a state may come from another machine.
#[derive(Deserialize)]
struct Stored {
    sandwiches: SandwichSketch,
    predictions: KeptPredictions,
}

impl TryFrom<Stored> for TargetSketch {
    type Error = Error;

    fn try_from(Stored { sandwiches, predictions }: Stored) -> Result<Self> {
        require_predictions(&predictions, sandwiches.rows())?;
        Ok(Self { sandwiches, predictions })
    }
}

/// An error unless this is the sample of the predictions of so many rows: all up to ten thousand.
fn require_predictions(predictions: &KeptPredictions, rows: u64) -> Result<()> {
    if predictions.len() as u64 == rows.min(KEPT_PREDICTIONS as u64) {
        Ok(())
    } else {
        Err(contradiction("its predictions are not as many as its rows"))
    }
}

impl TargetSketch {
    /// An empty sketch that will know both CDFs exactly on a grid of `points` over `range` and at every calibration score.
    ///
    /// # Errors
    /// If a score is not finite or outside `range`, or the grid has fewer than two points.
    pub fn new(scores: &[f64], range: Interval, points: usize, seed: Seed) -> Result<Self> {
        let abscissae = Abscissae::of_grid_and_points(&Grid::new(range, points)?, scores)?;
        Ok(Self {
            sandwiches: SandwichSketch::new(abscissae, SketchedLaws::Both),
            predictions: KeptPredictions::new(seed),
        })
    }

    /// Adds a block of probability rows. Taken by value: after an error only half of the sketch may
    /// have seen the block.
    ///
    /// # Errors
    /// If a row does not hold probabilities, or the block or its keys have another shape.
    pub fn add_probabilities<T: Real>(
        mut self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        score: &Score,
    ) -> Result<Self> {
        self.sandwiches = self.sandwiches.add_probabilities(keys, block, score)?;
        self.predictions = self.predictions.add(keys, block)?;
        Ok(self)
    }

    /// The sketch of both inputs; the order does not matter.
    ///
    /// # Errors
    /// If the other was begun with other scores, range, points or seed.
    pub fn merge(mut self, other: Self) -> Result<Self> {
        self.sandwiches = self.sandwiches.merge(&other.sandwiches)?;
        self.predictions.merge(other.predictions)?;
        Ok(self)
    }

    /// `m`, the number of rows seen, 0 before the first block.
    pub fn rows(&self) -> u64 {
        self.sandwiches.rows()
    }

    /// What a check takes: the laws, exact at the grid and the calibration scores and rounded outward between, and the
    /// kept predictions.
    ///
    /// # Errors
    /// If no row was added, or two rows have one key.
    pub fn laws(&self) -> Result<TargetLaws> {
        Ok(TargetLaws {
            min_max: self.sandwiches.min_max()?,
            f_u: self.sandwiches.model_uniform()?,
            predictions: self.predictions.values()?,
            rows: self.rows(),
        })
    }
}

/// How target rows are gathered for a check: the same in every process that works on it.
///
/// Every probability is kept up to two million of them, where the laws are exact;
/// more are sketched. Which of the two it is depends on how many there are and on nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetLawsRecipe {
    table: TargetTableRecipe,
    seed: Seed,
    /// What scores labels in place of the score function, where a calibration keeps such a law.
    law: Option<LabelLawMap>,
}

/// What a pass over target rows leaves for a check: at most 16 MB of probabilities, or a sketch,
/// and a sample of predictions.
///
/// Only its recipe can check it, so that one read from bytes is checked when it is finished.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GatheredTarget {
    table: TargetTable,
    predictions: KeptPredictions,
}

impl TargetLawsRecipe {
    /// Laws that a sketch knows exactly on a grid of `points` and at every calibration score.
    ///
    /// # Errors
    /// If a calibration score is not one of this score function, or the grid has fewer than two points.
    pub fn new(
        scores: &[f64],
        score: Score,
        classes: usize,
        points: usize,
        seed: Seed,
    ) -> Result<Self> {
        let grid = Grid::new(score.range(classes), points)?;
        let abscissae = Abscissae::of_grid_and_points(&grid, scores)?;
        let sketch = Some((abscissae, SketchedLaws::Both));
        Ok(Self { table: TargetTableRecipe { classes, score, sketch }, seed, law: None })
    }

    /// The same for labels scored by a law. All laws are sketched then: exact on the grid and at the scores of the recipe, and rounded
    /// outward between.
    pub(super) fn scored_by(self, law: Option<LabelLawMap>) -> Self {
        Self { law, ..self }
    }

    /// What is gathered before any row was seen.
    pub fn empty(&self) -> GatheredTarget {
        GatheredTarget { table: self.table.empty(), predictions: KeptPredictions::new(self.seed) }
    }

    /// The same for one of several parts that will see so many rows together.
    pub(super) fn empty_of(&self, rows: u64) -> GatheredTarget {
        let predictions = KeptPredictions::new(self.seed).one_of_many(rows);
        GatheredTarget { table: self.table.empty_of(rows), predictions }
    }

    /// Adds a block of probability rows, read by the threads of the current rayon pool.
    ///
    /// # Errors
    /// If a row does not hold probabilities, or the block or its keys have another shape; nothing of it was added then.
    pub fn add<T: Real>(
        &self,
        gathered: &mut GatheredTarget,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
    ) -> Result<()> {
        match &self.law {
            None => self.table.add(&mut gathered.table, keys, block)?,
            Some(law) => {
                let scorer = || {
                    let mut room = Vec::new();
                    move |row: &[f64], scores: &mut [f64]| {
                        law.scores(row.len(), row, &mut room, scores);
                    }
                };
                self.table.add_scored_by(&mut gathered.table, keys, block, &scorer)?;
            }
        }
        gathered.predictions.add_block(keys, block)
    }

    /// Adds what was gathered of other rows.
    ///
    /// # Errors
    /// If it was gathered by another recipe.
    pub fn merge(&self, gathered: &mut GatheredTarget, other: GatheredTarget) -> Result<()> {
        self.table.merge(&mut gathered.table, other.table)?;
        gathered.predictions.merge(other.predictions)
    }

    /// An error unless this was gathered by such a recipe.
    pub(super) fn check(&self, gathered: &GatheredTarget) -> Result<()> {
        self.table.check(&gathered.table)?;
        if let Some(law) = &self.law {
            law.require_classes(self.table.classes)?;
        }
        KeptPredictions::new(self.seed).require_same(&gathered.predictions)
    }

    /// What a check takes.
    ///
    /// # Errors
    /// If there is no row, or two of one key.
    pub fn finish(&self, gathered: GatheredTarget) -> Result<TargetLaws> {
        let GatheredTarget { table, predictions } = gathered;
        // Here and not when it was read from bytes: the number of classes stands in the recipe.
        self.table.check(&table)?;
        let rows = table.rows();
        if rows == 0 {
            return Err(Error::Empty { what: "target probabilities" });
        }
        require_predictions(&predictions, rows)?;
        let predictions = predictions.into_values()?;
        let filled = match self.law {
            Some(_) => table.finish_scored()?,
            None => table.finish()?,
        };
        let (min_max, f_u) = match filled {
            // Kept rows answer exactly as a table in memory does.
            FilledTable::Kept(kept) => {
                let candidates = kept.candidate_scores(&self.table.score)?;
                (min_max(&candidates)?, model_uniform(&candidates)?)
            }
            FilledTable::Sketched(sketch) => (sketch.min_max()?, sketch.model_uniform()?),
        };
        Ok(TargetLaws { min_max, f_u, predictions, rows })
    }
}

impl GatheredTarget {
    /// Number of rows seen.
    pub fn rows(&self) -> u64 {
        self.table.rows()
    }
}

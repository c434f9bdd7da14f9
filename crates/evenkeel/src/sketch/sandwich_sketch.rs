//! The unlabeled side as a mergeable one-pass sketch.
//!
//! ```text
//! min-max   lower += delta(min_y S[j][y])              upper += delta(max_y S[j][y])
//! f-u       lower += sum_y f[j][y] delta(S[j][y])      upper += 1/|Y_j| sum_y delta(S[j][y])
//! ```
//!
//! A table of candidate scores enters the bounds through two CDFs. One pass over its rows, in blocks of any size,
//! leaves all that is needed: the CDFs at fixed abscissae, means, extremes and the row count. Sketches of parts merge
//! into the sketch of the whole, bit for bit, so a file larger than memory, many threads or a cluster cost one scan.
//!
//! Kept: for each law a mass and a first moment between neighbouring abscissae, 32 bytes per bin in memory and at most 38 on
//! the wire; a few hundred kilobytes for thousands of abscissae, however many the rows. Merging is exact because masses and
//! moments are whole numbers.

use serde::{Deserialize, Serialize};

use super::abscissae::Abscissae;
use super::lac_block::{Added, LawsOfLac};
use super::row_count::{MOST_ROWS, TOO_MANY_ROWS, contradiction, rows_of_both};
use super::sketched_law::{Rounding, SketchedLaw, WHOLE, fixed};
use crate::error::{At, Error, Result, require_same_length};
use crate::measure::Dominance;
use crate::rows::{Real, RowKeys, Rows, row_number};
use crate::sandwich::extremes::row_range;
use crate::sandwich::{Construction, Sandwich};
use crate::score::{LabelMask, RowScratch, Score, is_allowed, row_scale, widen_scaled};

/// Which laws a sketch keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SketchedLaws {
    /// The extremes of every row: the `min-max` sandwich.
    Extremes,
    /// Model and uniform labels in exact expectation: the `f-u` sandwich.
    ModelUniform,
    /// Both pairs, from the same pass.
    Both,
}

/// A pair of laws over the same abscissae, sketched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Pair {
    /// The law of the smaller scores, with the larger CDF.
    lower: SketchedLaw,
    /// The law of the larger scores.
    upper: SketchedLaw,
}

impl Pair {
    /// Two empty laws; there is one bin more than abscissae.
    fn new(bins: usize) -> Self {
        Self { lower: SketchedLaw::new(bins), upper: SketchedLaw::new(bins) }
    }

    /// Adds both laws of another pair; an error leaves this one half merged.
    fn merge(&mut self, other: &Self) -> Result<()> {
        let merged = self.lower.merge(&other.lower).and(self.upper.merge(&other.upper));
        merged.ok_or(TOO_MANY_ROWS)
    }
}

/// Scores further than this many ranges from the low end are refused: their moments would not fit.
const FARTHEST: f64 = (1u64 << 20) as f64;

/// What one pass over rows of candidate scores leaves behind.
///
/// Adding a block consumes the sketch and gives it back, so that none can be used after a block failed half-way.
///
/// ```text
/// blocks   s0 -> add -> add -> .. -> s
/// merge    s(rows A).merge(s(rows B)) = s(rows A and B)        bit for bit
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct SandwichSketch {
    /// Where the CDFs are exact, and which range positions are measured in.
    abscissae: Abscissae,
    /// `m`, the rows added so far.
    rows: u64,
    /// Columns of the rows seen; none before the first, so that any table may begin.
    labels: Option<usize>,
    /// The `min-max` pair, if it is kept.
    extremes: Option<Pair>,
    /// The `f-u` pair, if it is kept.
    model_uniform: Option<Pair>,
}

/// As it is stored; checked when read back, because a state may come from another machine.
#[derive(Deserialize)]
struct Stored {
    abscissae: Abscissae,
    rows: u64,
    labels: Option<usize>,
    extremes: Option<Pair>,
    model_uniform: Option<Pair>,
}

impl TryFrom<Stored> for SandwichSketch {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let Stored { abscissae, rows, labels, extremes, model_uniform } = stored;
        if rows > MOST_ROWS || (rows > 0 && labels.is_none_or(|labels| labels == 0)) {
            return Err(contradiction("its rows cannot be counted"));
        }
        if extremes.is_none() && model_uniform.is_none() {
            return Err(contradiction("it keeps no law"));
        }
        for pair in [&extremes, &model_uniform].into_iter().flatten() {
            pair.lower.check(&abscissae, rows)?;
            pair.upper.check(&abscissae, rows)?;
        }
        Ok(Self { abscissae, rows, labels, extremes, model_uniform })
    }
}

/// What a sketch knows about one law.
/// All of it is exact up to the rounding of one division, however many the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct LawSummary {
    /// CDF at every abscissa, increasing in `[0, 1]`; shape `(K,)`.
    pub cdf: Vec<f64>,
    /// Mean score `E[S]` of all rows, not rounded outward.
    pub mean: f64,
    /// Smallest score with mass, in the units of the score.
    pub smallest: f64,
    /// Largest score with mass, in the units of the score.
    pub largest: f64,
}

impl SandwichSketch {
    /// A sketch of no rows, which will know these laws exactly at the abscissae.
    pub fn new(abscissae: Abscissae, laws: SketchedLaws) -> Self {
        let pair = || Some(Pair::new(abscissae.points().len() + 1));
        let (extremes, model_uniform) = match laws {
            SketchedLaws::Extremes => (pair(), None),
            SketchedLaws::ModelUniform => (None, pair()),
            SketchedLaws::Both => (pair(), pair()),
        };
        Self { abscissae, rows: 0, labels: None, extremes, model_uniform }
    }

    /// The sketch of a block alone, with the points and laws of this one, read by the threads of
    /// the current rayon pool.
    ///
    /// # Errors
    /// As [`add_probabilities`](Self::add_probabilities); this sketch does not change.
    pub(crate) fn of_block<T: Real>(
        &self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        score: &Score,
    ) -> Result<Self> {
        keys.check(block.rows())?;
        block.add_in_shares(
            keys,
            self.emptied(),
            |_| self.emptied(),
            |sketch, share| sketch.add_probabilities(share.keys, share.rows, score),
            |merged, share| merged.merge(&share),
        )
    }

    /// [`of_block`](Self::of_block) of rows that something else scores than a score function: every thread asks once for what
    /// writes the scores of a row of probabilities.
    ///
    /// # Errors
    /// As [`add_probabilities`](Self::add_probabilities); this sketch does not change.
    pub(crate) fn of_block_by<T: Real, S: FnMut(&[f64], &mut [f64])>(
        &self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        scorer: &(impl Fn() -> S + Sync),
    ) -> Result<Self> {
        keys.check(block.rows())?;
        block.add_in_shares(
            keys,
            self.emptied(),
            |_| self.emptied(),
            |mut sketch, share| {
                let mut score_row = scorer();
                sketch.require_labels(share.rows.columns())?;
                sketch.add_scored(share.keys, share.rows, |_, row, scores| score_row(row, scores))
            },
            |merged, share| merged.merge(&share),
        )
    }

    /// A sketch of the same points and laws that has seen nothing.
    /// Threads begin with one each, and merge what they filled.
    pub(crate) fn emptied(&self) -> Self {
        Self::new(self.abscissae.clone(), self.laws())
    }

    /// Columns of the rows seen; none before the first.
    pub(crate) fn labels(&self) -> Option<usize> {
        self.labels
    }

    /// Which laws it keeps; they are chosen once, when the sketch is made.
    pub(crate) fn laws(&self) -> SketchedLaws {
        match (&self.extremes, &self.model_uniform) {
            (Some(_), Some(_)) => SketchedLaws::Both,
            (None, Some(_)) => SketchedLaws::ModelUniform,
            _ => SketchedLaws::Extremes,
        }
    }

    /// `m`, the number of rows seen.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The points at which the CDFs are known exactly.
    pub fn abscissae(&self) -> &Abscissae {
        &self.abscissae
    }

    /// Adds a block of probability rows, scored on the fly and not copied.
    ///
    /// A row's key addresses its random draw and names it in errors.
    ///
    /// # Errors
    /// If a row does not hold probabilities, or the block or its keys have another shape.
    pub fn add_probabilities<T: Real>(
        mut self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        score: &Score,
    ) -> Result<Self> {
        keys.check(block.rows())?;
        self.require_labels(block.columns())?;
        if *score == Score::Lac {
            let laws = LawsOfLac {
                abscissae: &self.abscissae,
                extremes: self.extremes.as_mut().map(pair_of),
                model_uniform: self.model_uniform.as_mut().map(pair_of),
            };
            if laws.add(keys, block)? == Added::Yes {
                self.rows += block.rows() as u64;
                return Ok(self);
            }
        }
        self.add_one_by_one(keys, block, score)
    }

    /// The general path, for any score: every score of a row is written, and added by itself.
    ///
    /// # Errors
    /// As [`add_probabilities`](Self::add_probabilities).
    pub(super) fn add_one_by_one<T: Real>(
        self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        score: &Score,
    ) -> Result<Self> {
        let mut scratch = RowScratch::default();
        self.add_scored(keys, block, |row, probabilities, scores| {
            score.score_row(row, probabilities, &mut scratch, scores);
        })
    }

    /// Adds rows by whatever writes the scores of one, given its key and its probabilities.
    fn add_scored<T: Real>(
        mut self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        mut score_row: impl FnMut(u64, &[f64], &mut [f64]),
    ) -> Result<Self> {
        let mut plausibility = vec![0.0; block.columns()];
        let mut scores = vec![0.0; block.columns()];
        for (offset, values) in block.iter().enumerate() {
            let row = keys.key(offset);
            widen_scaled(values, row_scale(block.what(), row, values)?, &mut plausibility);
            score_row(row, &plausibility, &mut scores);
            self.add_row(row, &scores, Some(&plausibility), None)?;
        }
        Ok(self)
    }

    /// Adds a block of the user's own candidate scores, with their plausibility (needed for `f-u`) and mask.
    ///
    /// # Errors
    /// If a score is not finite or outside the range, the tables differ in shape, or plausibilities are missing or not
    /// probabilities.
    pub fn add_scores<T: Real>(
        mut self,
        first_row: usize,
        scores: Rows<'_, T>,
        plausibility: Option<Rows<'_, T>>,
        mask: Option<&LabelMask>,
    ) -> Result<Self> {
        let columns = scores.columns();
        self.require_labels(columns)?;
        if let Some(plausibility) = &plausibility {
            require_same_length(
                "plausibility rows",
                plausibility.rows(),
                "score rows",
                scores.rows(),
            )?;
            require_same_length("plausibility columns", plausibility.columns(), "labels", columns)?;
        } else if self.model_uniform.is_some() {
            // Refused before any row is added: the pair would silently stay empty.
            return Err(Error::NoPlausibility { construction: "f-u" });
        }
        if let Some(mask) = mask {
            require_same_length("label mask rows", mask.rows(), "score rows", scores.rows())?;
            require_same_length("label mask columns", mask.labels(), "labels", columns)?;
        }
        let mut widened = vec![0.0; columns];
        let mut plausible = vec![0.0; columns];
        for (offset, values) in scores.iter().enumerate() {
            let number = first_row.saturating_add(offset);
            let row = number as u64;
            widen_scaled(values, 1.0, &mut widened);
            // Without the sign of zeros, which would make extremes depend on the order of rows.
            widened.iter_mut().for_each(|value| *value += 0.0);
            if let Some(column) = widened.iter().position(|value| !value.is_finite()) {
                let (at, value) = (At::Cell { row: number, column }, widened[column]);
                return Err(Error::NotFinite { what: scores.what(), at, value });
            }
            if let Some(rows) = &plausibility {
                let given = rows.row(offset);
                widen_scaled(given, row_scale(rows.what(), row, given)?, &mut plausible);
            }
            let plausible = plausibility.is_some().then_some(plausible.as_slice());
            self.add_row(row, &widened, plausible, mask.map(|mask| mask.row(offset)))?;
        }
        Ok(self)
    }

    /// The sketch of this input followed by the other's, or in the other order: the result is the same.
    ///
    /// # Errors
    /// If the other has other abscissae, laws or labels.
    pub fn merge(mut self, other: &Self) -> Result<Self> {
        self.add_sketch(other)?;
        Ok(self)
    }

    /// [`merge`](Self::merge) in place.
    ///
    /// # Errors
    /// As `merge`. All but too many rows is found out before anything changes.
    pub(crate) fn add_sketch(&mut self, other: &Self) -> Result<()> {
        if self.abscissae != other.abscissae {
            return Err(Error::IncompatibleSketches { what: "abscissae" });
        }
        if let (Some(mine), Some(theirs)) = (self.labels, other.labels)
            && mine != theirs
        {
            return Err(Error::IncompatibleSketches { what: "number of labels" });
        }
        // Before any sum changes: if the rows fit, so do the masses.
        let rows = rows_of_both(self.rows, other.rows)?;
        self.labels = self.labels.or(other.labels);
        merge_pairs(&mut self.extremes, other.extremes.as_ref())?;
        merge_pairs(&mut self.model_uniform, other.model_uniform.as_ref())?;
        self.rows = rows;
        Ok(())
    }

    /// The `min-max` sandwich, rounded outward: exact at the abscissae, and between them the lower law's mass is moved down
    /// to the abscissa before it and the upper law's up to the one after. What the exact pair encloses, this one does
    /// too, at every score; a W1 distance moves by at most the widest bin. Exact means are in the summaries.
    ///
    /// # Errors
    /// If no row was added, or this pair was not sketched.
    pub fn min_max(&self) -> Result<Sandwich> {
        self.sandwich(self.extremes.as_ref(), Construction::MinMax)
    }

    /// The `f-u` sandwich in exact expectation, rounded outward as [`min_max`](Self::min_max) is.
    ///
    /// # Errors
    /// If no row was added, or this pair was not sketched.
    pub fn model_uniform(&self) -> Result<Sandwich> {
        self.sandwich(self.model_uniform.as_ref(), Construction::ModelUniformExact)
    }

    /// Summaries of the `(lower, upper)` laws of the `min-max` pair.
    ///
    /// # Errors
    /// If no row was added, or this pair was not sketched.
    pub fn min_max_summary(&self) -> Result<(LawSummary, LawSummary)> {
        self.summaries(self.extremes.as_ref(), Construction::MinMax)
    }

    /// Summaries of the `(lower, upper)` laws of the `f-u` pair.
    ///
    /// # Errors
    /// If no row was added, or this pair was not sketched.
    pub fn model_uniform_summary(&self) -> Result<(LawSummary, LawSummary)> {
        self.summaries(self.model_uniform.as_ref(), Construction::ModelUniformExact)
    }

    /// A pair that can be read.
    ///
    /// # Errors
    /// If there are no rows, whose CDF would be `0 / 0`, or the pair was not sketched.
    fn kept<'a>(&self, pair: Option<&'a Pair>, construction: Construction) -> Result<&'a Pair> {
        if self.rows == 0 {
            return Err(Error::Empty { what: "the sketch" });
        }
        pair.ok_or(Error::NotSketched { law: construction.name() })
    }

    /// Both laws of a pair at the abscissae, with exact means.
    fn summaries(
        &self,
        pair: Option<&Pair>,
        construction: Construction,
    ) -> Result<(LawSummary, LawSummary)> {
        let pair = self.kept(pair, construction)?;
        let summary = |law: &SketchedLaw| {
            let (smallest, largest) = law.extremes();
            LawSummary { cdf: law.cdf(), mean: law.mean(&self.abscissae), smallest, largest }
        };
        Ok((summary(&pair.lower), summary(&pair.upper)))
    }

    /// A pair as two laws, rounded outward.
    fn sandwich(&self, pair: Option<&Pair>, construction: Construction) -> Result<Sandwich> {
        let pair = self.kept(pair, construction)?;
        let (lower, upper) = (pair.lower.cdf(), pair.upper.cdf());
        // From the counts at the abscissae, where both CDFs are exact: rounding must not decide the
        // order.
        let dominance = Dominance::at_points(self.abscissae.points(), &lower, &upper);
        let m = self.rows as f64;
        Ok(Sandwich::with_dominance(
            pair.lower.rounded(&self.abscissae, Rounding::Down, m),
            pair.upper.rounded(&self.abscissae, Rounding::Up, m),
            construction,
            self.rows as usize,
            dominance,
        ))
    }

    /// An error unless rows have as many labels as those before them; the first block decides.
    fn require_labels(&mut self, labels: usize) -> Result<()> {
        if *self.labels.get_or_insert(labels) == labels {
            return Ok(());
        }
        Err(Error::IncompatibleSketches { what: "number of labels" })
    }

    /// Adds one row to the laws kept: scores `(C,)`, and the plausibilities `(C,)` that `f-u`
    /// needs.
    ///
    /// # Errors
    /// If a score is far outside the range, or the allowed labels have no plausibility between
    /// them.
    fn add_row(
        &mut self,
        row: u64,
        scores: &[f64],
        plausibility: Option<&[f64]>,
        mask: Option<&[bool]>,
    ) -> Result<()> {
        let abscissae = &self.abscissae;
        if let Some(pair) = &mut self.extremes {
            let (low, high) = row_range(scores, mask);
            for (law, score) in [(&mut pair.lower, low), (&mut pair.upper, high)] {
                law.add(abscissae.locate(score), position(abscissae, row, score)?, 1.0, WHOLE);
                law.saw(score);
            }
        }
        if let (Some(pair), Some(plausibility)) = (&mut self.model_uniform, plausibility) {
            let allowed = (0..scores.len()).filter(|label| is_allowed(mask, *label));
            let (count, total) = allowed.fold((0u64, 0.0), |(count, total), label| {
                (count + 1, total + plausibility[label])
            });
            if total <= 0.0 {
                return Err(Error::NoPlausibleLabel { row: row_number(row) });
            }
            // Divided, not multiplied by an inverse, which overflows where the allowed labels are all but impossible.
            let total = if mask.is_some() { total } else { 1.0 };
            // Whole units divide with a remainder, so that a row may hold a few units less than
            // one; readers divide by the total that is there.
            let (uniform, uniform_mass) = (1.0 / count as f64, WHOLE / count);
            for (label, score) in scores.iter().enumerate() {
                if is_allowed(mask, label) {
                    let bin = abscissae.locate(*score);
                    let position = position(abscissae, row, *score)?;
                    let plausible = plausibility[label] / total;
                    pair.upper.add(bin, position, uniform, uniform_mass);
                    pair.upper.saw(*score);
                    // A label without mass is no atom of the lower law and must not widen its extremes.
                    if plausible > 0.0 {
                        pair.lower.add(bin, position, plausible, fixed(plausible));
                        pair.lower.saw(*score);
                    }
                }
            }
        }
        self.rows += 1;
        Ok(())
    }
}

/// Both laws of a pair.
fn pair_of(pair: &mut Pair) -> [&mut SketchedLaw; 2] {
    [&mut pair.lower, &mut pair.upper]
}

/// Where a score lies, from the low end in units of the range: 0 and 1 at its ends.
///
/// # Errors
/// If it lies a million ranges away, or is not finite.
#[inline]
pub(super) fn position(abscissae: &Abscissae, row: u64, score: f64) -> Result<f64> {
    let range = abscissae.range();
    let position = (score - range.low()) / range.width();
    // Also false for a NaN, which would otherwise be added to a moment as 0.
    if position.abs() < FARTHEST {
        Ok(position)
    } else {
        Err(Error::OutsideRange {
            what: "a candidate score",
            at: At::Row(row_number(row)),
            value: score,
            low: range.low(),
            high: range.high(),
        })
    }
}

/// Merges pairs that both sketches keep; an error if only one of them does.
fn merge_pairs(mine: &mut Option<Pair>, other: Option<&Pair>) -> Result<()> {
    match (mine, other) {
        (Some(mine), Some(other)) => mine.merge(other)?,
        (None, None) => {}
        _ => return Err(Error::IncompatibleSketches { what: "laws" }),
    }
    Ok(())
}

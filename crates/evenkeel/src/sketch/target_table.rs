//! Target probabilities: every one of them while they are few, two CDFs of their scores when they
//! are many.
//!
//! ```text
//! rows C <= 2^21   (key, p_1 .. p_C) of every row
//! rows C >  2^21   a SandwichSketch of s(p, y)
//! ```
//!
//! Kept: up to [`MOST_CANDIDATES`] probabilities as they were given, 8 bytes each, and 8 bytes of key per row; beyond that a
//! [`SandwichSketch`], whose size does not depend on the rows. Where a method needs every candidate there is no sketch, and
//! the table grows with the rows.
//!
//! Merging is exact: which of the two forms a table ends as depends on the number of its probabilities and on nothing else;
//! kept rows are put in the order of their keys in the end, and the sketch adds whole numbers.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::abscissae::Abscissae;
use super::row_count::contradiction;
use super::sandwich_sketch::{SandwichSketch, SketchedLaws};
use crate::error::{Error, Result, require_same_length};
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{CandidateScores, Score, row_scale, scaled};

/// Candidate scores kept one by one; more of them are sketched where that gives the same answer. As atoms with masses
/// they take 48 bytes each.
pub(crate) const MOST_CANDIDATES: usize = 1 << 21;

/// How a [`TargetTable`] is filled: the same in every process that works on a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TargetTableRecipe {
    /// `C`, the columns of the table.
    pub classes: usize,
    /// What scores the rows of a sketch; rows' keys address its draws.
    pub score: Score,
    /// Where a sketch knows its laws and which they are; none where every candidate is needed.
    pub sketch: Option<(Abscissae, SketchedLaws)>,
}

/// Target probabilities, kept or sketched.
#[derive(Debug, Clone)]
pub(crate) struct TargetTable(Form);

/// The two forms of a table.
#[derive(Debug, Clone)]
enum Form {
    Kept(KeptRows),
    Sketched(Box<SandwichSketch>),
}

/// What a filled table ends as.
/// Which of the two depends on the number of probabilities alone.
#[derive(Debug, Clone)]
pub(crate) enum FilledTable {
    /// Every row, in the order of the keys.
    Kept(KeptRows),
    /// The laws of more rows than are kept.
    Sketched(Box<SandwichSketch>),
}

/// Probability rows with their keys; shapes `(m, C)` and `(m,)`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct KeptRows {
    /// Increasing once the table is filled.
    pub keys: Vec<u64>,
    /// Checked and normalised as they were added, so that no row is looked at twice.
    values: Vec<f64>,
}

impl TargetTableRecipe {
    /// A table that has seen nothing.
    pub(crate) fn empty(&self) -> TargetTable {
        TargetTable(Form::Kept(KeptRows::default()))
    }

    /// A table that has seen nothing, one of several that will see `rows` rows together: sketched from the start where all of them
    /// will be.
    pub(crate) fn empty_of(&self, rows: u64) -> TargetTable {
        let cells = usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(self.classes);
        if !self.is_sketched(cells) {
            return self.empty();
        }
        match self.empty_sketch() {
            Ok(sketch) => TargetTable(Form::Sketched(Box::new(sketch))),
            Err(_) => self.empty(),
        }
    }

    /// Adds a block of probability rows; if it fails, the table is as it was.
    ///
    /// # Errors
    /// If the block has other columns, there is not one key for each row, or a row does not hold probabilities.
    pub(crate) fn add<T: Real>(
        &self,
        table: &mut TargetTable,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
    ) -> Result<()> {
        let (found, classes) = (block.columns(), self.classes);
        require_same_length("target classes", found, "calibration classes", classes)?;
        keys.check(block.rows())?;
        self.check(table)?;
        if let Form::Kept(kept) = &table.0
            && !self.is_sketched(kept.values.len().saturating_add(block.values().len()))
        {
            // Matched again: the borrow that counted the cells has to end before rows are added.
            return match &mut table.0 {
                Form::Kept(kept) => kept.add(keys, block),
                Form::Sketched(_) => Ok(()),
            };
        }
        // Sketched on its own first: a block with a bad row must leave the table as it was.
        let added = self.empty_sketch()?.of_block(keys, block, &self.score)?;
        self.sketch(table)?.add_sketch(&added)
    }

    /// Adds a block whose rows something else scores than the recipe's score function. Such rows are sketched, however few: a kept
    /// row would be scored by the function in the end.
    ///
    /// # Errors
    /// As [`add`](Self::add), and if the recipe has no sketch.
    pub(crate) fn add_scored_by<T: Real, S: FnMut(&[f64], &mut [f64])>(
        &self,
        table: &mut TargetTable,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        scorer: &(impl Fn() -> S + Sync),
    ) -> Result<()> {
        let (found, classes) = (block.columns(), self.classes);
        require_same_length("target classes", found, "calibration classes", classes)?;
        self.check(table)?;
        let added = self.empty_sketch()?.of_block_by(keys, block, scorer)?;
        self.sketch(table)?.add_sketch(&added)
    }

    /// Adds the rows of another table of the same recipe.
    ///
    /// # Errors
    /// If the other table cannot be one of this recipe.
    pub(crate) fn merge(&self, table: &mut TargetTable, other: TargetTable) -> Result<()> {
        self.check(table)?;
        self.check(&other)?;
        match (&mut table.0, other.0) {
            (Form::Kept(mine), Form::Kept(theirs))
                if !self.is_sketched(mine.values.len().saturating_add(theirs.values.len())) =>
            {
                mine.keys.extend(theirs.keys);
                mine.values.extend(theirs.values);
                Ok(())
            }
            (_, theirs) => {
                let mut other = TargetTable(theirs);
                let added = self.sketch(&mut other)?;
                self.sketch(table)?.add_sketch(added)
            }
        }
    }

    /// An error unless a table may be one of this recipe, wherever it comes from.
    ///
    /// # Errors
    /// If it has other columns or laws, or more rows than are kept.
    pub(crate) fn check(&self, table: &TargetTable) -> Result<()> {
        match &table.0 {
            Form::Kept(kept) => {
                // The keys may come from bytes: an unchecked product could wrap around to the right
                // number.
                let cells = kept.keys.len().checked_mul(self.classes);
                if cells != Some(kept.values.len()) {
                    return Err(Error::IncompatibleSketches { what: "number of labels" });
                }
                if self.is_sketched(kept.values.len()) {
                    return Err(contradiction("it keeps more rows than are kept"));
                }
                Ok(())
            }
            Form::Sketched(sketch) => match &self.sketch {
                Some((abscissae, laws))
                    if sketch.abscissae() == abscissae && sketch.laws() == *laws =>
                {
                    match sketch.labels() {
                        Some(labels) if labels != self.classes => {
                            Err(Error::IncompatibleSketches { what: "number of labels" })
                        }
                        _ => Ok(()),
                    }
                }
                _ => Err(Error::IncompatibleSketches { what: "laws" }),
            },
        }
    }

    /// Whether a table of so many probabilities is sketched. Of the number alone, so that any cut
    /// of the rows ends in the same form.
    fn is_sketched(&self, cells: usize) -> bool {
        self.sketch.is_some() && cells > MOST_CANDIDATES
    }

    /// A sketch of nothing by this recipe; an error where every candidate is needed.
    fn empty_sketch(&self) -> Result<SandwichSketch> {
        match &self.sketch {
            Some((abscissae, laws)) => Ok(SandwichSketch::new(abscissae.clone(), *laws)),
            None => Err(Error::IncompatibleSketches { what: "laws" }),
        }
    }

    /// The table's sketch; a table that keeps its rows becomes one.
    ///
    /// # Errors
    /// If the recipe has no sketch, because every candidate is needed.
    fn sketch<'a>(&self, table: &'a mut TargetTable) -> Result<&'a mut SandwichSketch> {
        if let Form::Kept(kept) = &table.0 {
            let mut sketch = self.empty_sketch()?;
            if !kept.keys.is_empty() {
                let rows = Rows::new("probabilities", &kept.values, self.classes)?;
                // By the rows' own keys, which address their random draws: the sketch of rows that
                // were kept for a while is that of rows that never were.
                sketch = sketch.of_block(RowKeys::Each(&kept.keys), rows, &self.score)?;
            }
            table.0 = Form::Sketched(Box::new(sketch));
        }
        match &mut table.0 {
            Form::Sketched(sketch) => Ok(sketch),
            Form::Kept(_) => Err(Error::IncompatibleSketches { what: "laws" }),
        }
    }
}

impl TargetTable {
    /// `m`, the number of rows seen.
    pub(crate) fn rows(&self) -> u64 {
        match &self.0 {
            Form::Kept(kept) => kept.keys.len() as u64,
            Form::Sketched(sketch) => sketch.rows(),
        }
    }

    /// What rows that something else scored end as, however few they are: see [`TargetTableRecipe::add_scored_by`].
    ///
    /// # Errors
    /// If rows were kept, which the recipe's score function would score in the end.
    pub(crate) fn finish_scored(self) -> Result<FilledTable> {
        match self.0 {
            Form::Kept(_) => Err(contradiction("it keeps rows that are to be sketched")),
            Form::Sketched(sketch) => Ok(FilledTable::Sketched(sketch)),
        }
    }

    /// What it ends as, kept rows in the order of their keys.
    ///
    /// # Errors
    /// If a key was given twice. Once rows are sketched their keys are gone, and that cannot be found out.
    pub(crate) fn finish(self) -> Result<FilledTable> {
        match self.0 {
            Form::Kept(mut kept) => {
                kept.sort();
                kept.require_unique()?;
                Ok(FilledTable::Kept(kept))
            }
            Form::Sketched(sketch) => {
                // A part may be sketched early, where all parts together are many; few rows are never, and would have other bits.
                let cells = sketch.rows().saturating_mul(sketch.labels().unwrap_or(0) as u64);
                match cells > MOST_CANDIDATES as u64 {
                    true => Ok(FilledTable::Sketched(sketch)),
                    false => Err(contradiction("it has too few rows to be a sketch")),
                }
            }
        }
    }
}

impl KeptRows {
    /// Adds rows, all or none.
    ///
    /// # Errors
    /// If a row does not hold probabilities; the rows before it are taken back.
    fn add<T: Real>(&mut self, keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<()> {
        let before = self.values.len();
        self.values.reserve(block.values().len());
        for (offset, row) in block.iter().enumerate() {
            match row_scale(block.what(), keys.key(offset), row) {
                // Written once: a table filled with zeros first costs a fifth of the whole pass.
                Ok(scale) => self.values.extend(scaled(row, scale)),
                Err(error) => {
                    self.values.truncate(before);
                    return Err(error);
                }
            }
        }
        self.keys.extend((0..block.rows()).map(|offset| keys.key(offset)));
        Ok(())
    }
    /// Scores of every label of every row; draws follow the rows' keys.
    pub(crate) fn candidate_scores(self, score: &Score) -> Result<CandidateScores> {
        let classes = self.values.len() / self.keys.len().max(1);
        score.candidate_scores_at(RowKeys::Each(&self.keys), self.values, classes)
    }

    /// Whether the rows stand in the order of their keys, as those of one file do.
    fn is_sorted(&self) -> bool {
        self.keys.is_sorted()
    }

    /// Puts rows in the order of their keys, in place: a second copy would double the memory of a table.
    ///
    /// ```text
    /// from = [2, 0, 1]     cycle 0 -> 2 -> 1 -> 0     two swaps of whole rows
    /// ```
    /// Each row is swapped at most once into its place. Rows of equal keys keep their order.
    fn sort(&mut self) {
        if self.is_sorted() {
            return;
        }
        let classes = self.values.len() / self.keys.len();
        // Row `from[k]` belongs at place `k`.
        let mut from: Vec<usize> = (0..self.keys.len()).collect();
        from.sort_by_key(|row| self.keys[*row]);
        for start in 0..from.len() {
            // Follow the cycle that begins here; places that are settled point at themselves.
            let mut place = start;
            while from[place] != place {
                let next = std::mem::replace(&mut from[place], place);
                if next == start {
                    break;
                }
                self.keys.swap(place, next);
                let (low, high) = (place.min(next), place.max(next));
                let (front, back) = self.values.split_at_mut(high * classes);
                front[low * classes..][..classes].swap_with_slice(&mut back[..classes]);
                place = next;
            }
        }
    }

    /// An error that names a key given twice; the rows must be sorted.
    fn require_unique(&self) -> Result<()> {
        match self.keys.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(Error::DuplicateKey { key: pair[0] }),
        }
    }
}

/// As a table is stored: kept rows in the order of their keys.
/// Borrowed when written and owned when read, so that writing a sorted table copies nothing.
#[derive(Serialize, Deserialize)]
enum Stored<'a> {
    Kept { keys: Cow<'a, [u64]>, values: Cow<'a, [f64]> },
    Sketched(Box<Cow<'a, SandwichSketch>>),
}

/// Bytes depend on the rows alone, not on the order in which blocks came.
impl Serialize for TargetTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = match &self.0 {
            // Rows of one file are in order already, and are written without a copy of the table.
            Form::Kept(kept) if kept.is_sorted() => Stored::Kept {
                keys: Cow::Borrowed(&kept.keys),
                values: Cow::Borrowed(&kept.values),
            },
            Form::Kept(kept) => {
                let mut sorted = kept.clone();
                sorted.sort();
                Stored::Kept { keys: Cow::Owned(sorted.keys), values: Cow::Owned(sorted.values) }
            }
            Form::Sketched(sketch) => Stored::Sketched(Box::new(Cow::Borrowed(sketch))),
        };
        stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TargetTable {
    /// A table that contradicts itself is refused here; whether it fits a recipe is for
    /// [`TargetTableRecipe::check`], which every merge asks.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Stored::deserialize(deserializer)? {
            Stored::Kept { keys, values } => {
                let whole_rows = match keys.len() {
                    0 => values.is_empty(),
                    rows => !values.is_empty() && values.len().is_multiple_of(rows),
                };
                if !whole_rows {
                    return Err(D::Error::custom(contradiction("its rows are not whole")));
                }
                let classes = values.len() / keys.len().max(1);
                for (key, row) in keys.iter().zip(values.chunks_exact(classes.max(1))) {
                    row_scale("probabilities", *key, row).map_err(D::Error::custom)?;
                }
                Form::Kept(KeptRows { keys: keys.into_owned(), values: values.into_owned() })
            }
            Stored::Sketched(sketch) => Form::Sketched(Box::new(sketch.into_owned())),
        }))
    }
}

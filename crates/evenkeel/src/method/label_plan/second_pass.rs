//! The second pass over the same rows: the laws of all readings at the calibration scores, and the aimed law's tail.
//!
//! Needs the fitted scalings. What it leaves is bounded in size and does not depend on how rows were cut or merged.

use serde::{Deserialize, Serialize};

use rayon::prelude::*;

use super::prepared::PreparedPlan;
use crate::error::{Error, Result, require_same_length};
use crate::label_law::{FirstPass, KeptRow, PlanMixture, RowLaws, RowReader, TargetRows};
use crate::rows::{Real, RowKeys};
use crate::sketch::row_sample::Row;
use crate::sketch::{LawSums, RowSums, contradiction};

/// Probabilities of kept rows that a thread takes at a time; no result depends on it.
const SHARE_CELLS: usize = 1 << 18;

/// What the second pass leaves. Rows are added by the [`PreparedPlan`] it was begun with, which any process may hold.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SecondPass {
    /// Digest of the plan, so that sums of different plans are never added up.
    plan: [u8; 32],
    /// Masses between calibration scores, as whole numbers, and the tail.
    pub(super) sums: LawSums,
}

impl SecondPass {
    /// No rows yet, of this plan.
    pub(super) fn new(prepared: &PreparedPlan) -> Self {
        let PreparedPlan { abscissae, largest, laws, .. } = prepared;
        let sums = LawSums::new(abscissae, *largest, laws.len(), &prepared.placed_aims());
        Self { plan: prepared.digest(), sums }
    }

    /// A pass of the same plan that has seen no rows.
    pub(super) fn emptied(&self) -> Self {
        Self { plan: self.plan, sums: self.sums.emptied() }
    }

    /// Adds a block of rows with these keys.
    ///
    /// # Errors
    /// If the pass was begun with another plan, or the block does not fit it.
    pub fn add<T: Real>(
        self,
        prepared: &PreparedPlan,
        keys: RowKeys<'_>,
        block: &TargetRows<'_, T>,
    ) -> Result<Self> {
        keys.check(block.rows())?;
        let classes = prepared.groups.group_of.len();
        require_same_length("target classes", block.classes(), "calibration classes", classes)?;
        let score = prepared.score.as_ref();
        self.add_rows(prepared, block.rows(), |reader, offset| {
            let row = keys.key(offset);
            reader.read(block, offset, row, score)?;
            Ok(row)
        })
    }

    /// Adds rows that a first pass kept, with their keys.
    fn add_kept(self, prepared: &PreparedPlan, rows: &[&Row<KeptRow>]) -> Result<Self> {
        self.add_rows(prepared, rows.len(), |reader, offset| {
            let Row { key, value, .. } = rows[offset];
            let (KeptRow::Probabilities(row), Some(score)) = (value, prepared.score.as_ref())
            else {
                return Err(contradiction("its rows are not probabilities"));
            };
            reader.read_kept(row, *key, score);
            Ok(*key)
        })
    }

    /// Adds rows that `read` reads by their number, giving their keys.
    fn add_rows(
        mut self,
        prepared: &PreparedPlan,
        count: usize,
        mut read: impl FnMut(&mut RowReader, usize) -> Result<u64>,
    ) -> Result<Self> {
        self.require_points(prepared)?;
        let classes = prepared.groups.group_of.len();
        // Memory for one row, used for all: a block of any size allocates these once.
        let mut reader = RowReader::new(classes);
        let mixtures: Vec<PlanMixture> =
            prepared.laws.iter().map(|named| named.law.clone()).collect();
        let mut laws = RowLaws::new(&mixtures, classes);
        let (label_law, mut room) = (prepared.label_law(), Vec::new());
        let cells = count.saturating_mul(classes);
        let mut rows = RowSums::new(&mut self.sums, &prepared.abscissae, cells);
        for offset in 0..count {
            let row = read(&mut reader, offset)?;
            if let Some(law) = &label_law {
                reader.score_by(law, &mut room);
            }
            let plausible = laws.of_row(&reader.logits);
            let plausible = &plausible[..mixtures.len()];
            rows.add(row, &reader.scores, plausible)?;
        }
        rows.end();
        Ok(self)
    }

    /// The pass over the rows that a first pass kept, by the threads of the current rayon pool: where it kept all of them, to the
    /// bits of reading them again.
    ///
    /// # Errors
    /// If they were not kept as probabilities, or two have one key.
    pub(super) fn of_kept(prepared: &PreparedPlan, first: &FirstPass) -> Result<Self> {
        let (empty, kept) = (Self::new(prepared), first.kept.sampled()?);
        if rayon::current_num_threads() == 1 {
            return empty.add_kept(prepared, &kept);
        }
        let share = (SHARE_CELLS / first.classes().max(1)).max(1);
        kept.par_chunks(share)
            .map(|rows| empty.emptied().add_kept(prepared, rows))
            .try_reduce(|| empty.emptied(), Self::merge)
    }

    /// The pass over both inputs; the order does not matter.
    ///
    /// # Errors
    /// If they are passes of different plans.
    pub fn merge(mut self, other: Self) -> Result<Self> {
        if self.plan != other.plan {
            return Err(OTHER_PLAN);
        }
        self.sums.merge(other.sums)?;
        Ok(self)
    }

    /// Number of rows seen.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> u64 {
        self.sums.rows
    }

    fn require_points(&self, prepared: &PreparedPlan) -> Result<()> {
        let PreparedPlan { abscissae, largest, laws, .. } = prepared;
        self.sums.require_points(abscissae, *largest, laws.len(), &prepared.placed_aims())
    }

    /// An error unless the pass was begun with this plan.
    pub(super) fn require_plan(&self, prepared: &PreparedPlan) -> Result<()> {
        if self.plan != prepared.digest() {
            return Err(OTHER_PLAN);
        }
        self.require_points(prepared)
    }
}

/// Two plans differ in what they make of a row, so their sums have no common meaning.
const OTHER_PLAN: Error = Error::IncompatibleSketches { what: "plan" };

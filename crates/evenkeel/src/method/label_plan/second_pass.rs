//! The second pass over the same rows: the three laws at the calibration scores, and the planned law's tail.
//!
//! Needs the fitted scalings. What it leaves is bounded in size and does not depend on how rows were cut or merged.

use serde::{Deserialize, Serialize};

use super::prepared::PreparedPlan;
use crate::error::{Error, Result, require_same_length};
use crate::label_law::{RowReader, TargetRows, scale_row};
use crate::numeric::simd::in_widest_registers;
use crate::numeric::{dot_in_lanes, tempered_softmax_into};
use crate::rows::{Real, RowKeys};
use crate::sketch::LawSums;

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
        Self { plan: prepared.digest(), sums: LawSums::new(&prepared.abscissae) }
    }

    /// Adds a block of rows with these keys.
    ///
    /// # Errors
    /// If the pass was begun with another plan, or the block does not fit it.
    pub fn add<T: Real>(
        mut self,
        prepared: &PreparedPlan,
        keys: RowKeys<'_>,
        block: &TargetRows<'_, T>,
    ) -> Result<Self> {
        keys.check(block.rows())?;
        // Not the digest, which would be hashed anew for every share of a block. Sums of another
        // plan are found out when they are merged.
        self.sums.require_points(&prepared.abscissae)?;
        let classes = prepared.groups.group_of.len();
        require_same_length("target classes", block.classes(), "calibration classes", classes)?;
        // Memory for one row, used for all: a block of any size allocates these once.
        let mut reader = RowReader::new(classes);
        let mut laws = RowLaws::new(classes);
        for offset in 0..block.rows() {
            let row = keys.key(offset);
            reader.read(block, offset, row, prepared.score.as_ref())?;
            laws.fill(prepared, &reader.logits);
            let plausible = [&laws.planned[..], &laws.upper[..], &laws.lower[..]];
            self.sums.add_row(row, &reader.scores, &prepared.abscissae, plausible)?;
        }
        Ok(self)
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

    /// An error unless the pass was begun with this plan; compares digests, then places.
    pub(super) fn require_plan(&self, prepared: &PreparedPlan) -> Result<()> {
        if self.plan != prepared.digest() {
            return Err(OTHER_PLAN);
        }
        self.sums.require_points(&prepared.abscissae)
    }
}

/// Two plans differ in what they make of a row, so their sums have no common meaning.
const OTHER_PLAN: Error = Error::IncompatibleSketches { what: "plan" };

/// Plausibilities of one row's labels under the three laws; shapes `(C,)`, each summing to one.
struct RowLaws {
    /// `(1 - mix) f + mix g` at `T inflation`.
    planned: Vec<f64>,
    /// `g` of the balanced plan.
    upper: Vec<f64>,
    /// `f` at `T`: the model's own belief.
    lower: Vec<f64>,
}

impl RowLaws {
    /// Room for a row of `classes` labels.
    fn new(classes: usize) -> Self {
        let row = vec![0.0; classes];
        Self { planned: row.clone(), upper: row.clone(), lower: row }
    }

    /// Overwrites all three from a row of logits.
    ///
    /// ```text
    /// planned   (1 - mix) f + mix g at T inflation,   g ~ f b
    /// upper     g ~ f b of the balanced plan at T (1 + 2 (inflation - 1))
    /// lower     f at T
    /// ```
    fn fill(&mut self, prepared: &PreparedPlan, logits: &[f64]) {
        let inverses = [
            1.0 / prepared.planned_temperature(),
            1.0 / prepared.upper_temperature(),
            1.0 / prepared.temperature,
        ];
        let scalings = [&prepared.planned_scalings[..], &prepared.upper_scalings[..]];
        let out = [&mut self.planned[..], &mut self.upper[..], &mut self.lower[..]];
        row_laws(logits, inverses, prepared.statistics.mix, scalings, out);
    }
}

in_widest_registers! {
    /// `(1 - mix) f + mix g` at the first temperature, the scaled row at the second, `f` at the third.
    fn row_laws[](
        logits: &[f64],
        inverses: [f64; 3],
        mix: f64,
        scalings: [&[f64]; 2],
        out: [&mut [f64]; 3],
    ) -> () {
        let [planned, upper, lower] = out;
        tempered_softmax_into(logits, inverses[0], planned);
        // `g = f b / (f . b)`, so that one factor a label does both: no second row, no second pass.
        if mix > 0.0 {
            let share = mix / dot_in_lanes(planned, scalings[0]);
            for (f, scaling) in planned.iter_mut().zip(scalings[0]) {
                *f *= (1.0 - mix) + share * scaling;
            }
        }
        tempered_softmax_into(logits, inverses[1], upper);
        scale_row(upper, scalings[1]);
        tempered_softmax_into(logits, inverses[2], lower);
    }
}

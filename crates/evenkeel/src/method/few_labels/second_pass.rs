//! The second pass, for more rows than are kept: the law of the mean table over all of them, at chosen scores.
//!
//! Masses are whole multiples of `2^-52`, so that sums do not depend on blocks, merges or threads.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::law::{ScoreLaw, Scoring, TableReader};
use super::posterior::TableWeights;
use super::tables::LabelTables;
use crate::error::{Error, Result, require_same_length};
use crate::method::fit::Pass;
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{row_scale, widen_scaled};
use crate::side_inputs::SideInputs;
use crate::sketch::{Abscissae, MOST_ROWS, RowMarks, contradiction, marks_of_rows, rows_of_both};

/// Units of a mass of one.
const UNITS: f64 = (1_u64 << 52) as f64;
/// Rows of a block that a thread takes at a time.
const SHARE_ROWS: usize = 1 << 12;

/// What a worker needs to add up the law.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LawPass {
    pub(super) tables: LabelTables,
    pub(super) weights: TableWeights,
    pub(super) scoring: Scoring,
    /// Where the law will be known.
    pub(super) places: Abscissae,
}

/// Masses between the places.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(crate) struct LawState {
    /// Digest of the pass, so that sums of different posteriors are never added up.
    pass: [u8; 32],
    /// The last bin lies beyond the last place.
    bins: Vec<u128>,
    rows: u64,
}

/// As it is stored; checked when read back.
#[derive(Deserialize)]
struct Stored {
    pass: [u8; 32],
    bins: Vec<u128>,
    rows: u64,
}

impl TryFrom<Stored> for LawState {
    type Error = Error;

    fn try_from(Stored { pass, bins, rows }: Stored) -> Result<Self> {
        let whole = u128::from(rows) << 52;
        let total = bins.iter().try_fold(0_u128, |sum, mass| sum.checked_add(*mass));
        // Rows may miss one by rounding.
        let fits = rows <= MOST_ROWS
            && total.is_some_and(|total| (whole / 2..=whole.saturating_mul(2)).contains(&total));
        if fits {
            Ok(Self { pass, bins, rows })
        } else {
            Err(contradiction("the masses of its law are not those of its rows"))
        }
    }
}

impl LawState {
    /// The law over all rows.
    pub(super) fn law(&self, places: &Abscissae) -> ScoreLaw {
        let total = self.bins.iter().sum::<u128>() as f64;
        let mut reached = 0_u128;
        let cdf = self.bins[..places.points().len()].iter().map(|mass| {
            reached += mass;
            reached as f64 / total
        });
        ScoreLaw { cdf: cdf.collect(), scores: places.points().to_vec() }
    }
}

impl LawPass {
    /// SHA-256 of its wire form.
    fn digest(&self) -> [u8; 32] {
        // Numbers and lists of them can always be written; without bytes it would only fail to tell passes apart.
        let bytes = postcard::to_allocvec(self).unwrap_or_default();
        Sha256::digest(&bytes).into()
    }

    fn add_share<T: Real>(
        &self,
        mut state: LawState,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
    ) -> Result<LawState> {
        let mut reader = TableReader::new(&self.tables, &self.weights, &self.scoring);
        let mut row = vec![0.0; self.tables.classes()];
        for (offset, values) in block.iter().enumerate() {
            let key = keys.key(offset);
            widen_scaled(values, row_scale(block.what(), key, values)?, &mut row);
            reader.read_mean(key, &row);
            for (score, mass) in reader.scores.iter().zip(&reader.mean) {
                // Rounded: a mass is at most one, give or take its last bit.
                state.bins[self.places.locate(*score)] += (mass * UNITS).round() as u128;
            }
        }
        state.rows += block.rows() as u64;
        Ok(state)
    }
}

impl Pass for LawPass {
    type State = LawState;

    fn empty(&self) -> LawState {
        LawState { pass: self.digest(), bins: vec![0; self.places.points().len() + 1], rows: 0 }
    }

    fn add<T: Real>(
        &self,
        state: LawState,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        _: &SideInputs<'_>,
    ) -> Result<LawState> {
        let empty = LawState { bins: vec![0; state.bins.len()], rows: 0, pass: state.pass };
        let shares = block.shares(keys, SHARE_ROWS);
        let added = shares
            .map(|(keys, share)| self.add_share(empty.clone(), keys, share))
            .try_reduce(|| empty.clone(), |state, other| self.merge(state, other))?;
        self.merge(state, added)
    }

    fn merge(&self, mut state: LawState, other: LawState) -> Result<LawState> {
        if state.pass != other.pass {
            return Err(Error::IncompatibleSketches { what: "posterior" });
        }
        require_same_length("masses", other.bins.len(), "masses", state.bins.len())?;
        state.rows = rows_of_both(state.rows, other.rows)?;
        state.bins.iter_mut().zip(&other.bins).for_each(|(mine, theirs)| *mine += theirs);
        Ok(state)
    }

    fn check(&self, state: &LawState) -> Result<()> {
        if state.pass != self.digest() || state.bins.len() != self.places.points().len() + 1 {
            return Err(Error::IncompatibleSketches { what: "posterior" });
        }
        Ok(())
    }

    fn classes(&self) -> usize {
        self.tables.classes()
    }

    fn marks<T: Real>(&self, keys: RowKeys<'_>, block: Rows<'_, T>) -> RowMarks {
        marks_of_rows(keys, block)
    }
}

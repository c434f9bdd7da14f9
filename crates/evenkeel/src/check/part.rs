//! A worker's share of a pass of a check: rows in, bytes out, as [`Part`](crate::calibrator::Part) has it for fits.

use super::passes::{CheckPass, CheckState};
use crate::error::Result;
use crate::rows::{Real, RowKeys, Rows};
use crate::side_inputs::SideInputs;
use crate::sketch::PartIds;
use crate::sketch::state::{JobHeader, Kind, open, seal};

/// Some of the target rows of a pass, in a process that knows nothing of the check but its plan.
///
/// A part that failed, or was tried twice, can be made again: the same rows with the same keys give the same bytes.
#[derive(Debug)]
pub struct CheckPart {
    header: JobHeader,
    pass: CheckPass,
    state: CheckState,
    /// Its number, and those of the parts it absorbed.
    ids: PartIds,
}

impl CheckPart {
    /// From the bytes of [`Check::plan`](super::Check::plan).
    ///
    /// # Errors
    /// If the bytes are damaged, or are not the plan of a check.
    pub fn begin(plan: &[u8]) -> Result<Self> {
        let (header, pass) = open::<CheckPass>(Kind::Plan, plan)?;
        let state = match header.rows {
            None => pass.empty(),
            Some(rows) => pass.empty_of(rows),
        };
        Ok(Self { header, pass, state, ids: PartIds::default() })
    }

    /// Gives it a number: a state that comes twice is then refused. Its own among all parts of the pass; a part that is made again
    /// has the same.
    #[must_use]
    pub fn numbered(mut self, part: u64) -> Self {
        self.ids = PartIds::one(part);
        self
    }

    /// Number of rows so far.
    pub fn rows(&self) -> u64 {
        self.state.rows().0
    }

    /// Number of classes of the rows it reads.
    pub fn classes(&self) -> usize {
        self.pass.classes()
    }

    /// Adds target rows of probabilities, with their keys.
    ///
    /// # Errors
    /// As [`Check::add`](super::Check::add).
    pub fn add<T: Real>(self, keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<Self> {
        self.add_beside(keys, block, SideInputs::default())
    }

    /// The same with what other models say of the rows.
    ///
    /// # Errors
    /// As [`Check::add_beside`](super::Check::add_beside).
    pub fn add_beside<T: Real>(
        self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        beside: SideInputs<'_>,
    ) -> Result<Self> {
        Ok(Self { state: self.pass.add(self.state, keys, block.any(), &beside)?, ..self })
    }

    /// Takes what another worker made of its rows.
    ///
    /// # Errors
    /// As [`Check::absorb`](super::Check::absorb).
    pub fn absorb(self, state: &[u8]) -> Result<Self> {
        let (header, (ids, other)) = open::<(PartIds, CheckState)>(Kind::State, state)?;
        self.header.require_same(&header)?;
        let ids = self.ids.joined(ids)?;
        Ok(Self { state: self.pass.merge(self.state, other)?, ids, ..self })
    }

    /// What the rows left behind, as bytes for [`Check::absorb`](super::Check::absorb) or another part.
    ///
    /// # Errors
    /// If it cannot be written, which does not happen for a part that was begun.
    pub fn state(&self) -> Result<Vec<u8>> {
        seal(Kind::State, &self.header, &(&self.ids, &self.state))
    }
}

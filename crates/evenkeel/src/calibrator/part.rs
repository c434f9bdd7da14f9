//! A worker's share of a pass: rows in, bytes out.
//!
//! ```text
//! driver   fit.plan() -> bytes            -> to every worker
//! worker   Part::begin(plan).add(rows) -> state() -> bytes -> back
//! driver   fit.absorb(state) for each, in any order; or merged in a tree by Part::absorb on the way
//! ```

use crate::error::Result;
use crate::method::{AnyPass, AnyState};
use crate::rows::{Real, RowKeys, Rows};
use crate::side_inputs::SideInputs;
use crate::sketch::PartIds;
use crate::sketch::state::{JobHeader, Kind, open, seal};

/// Some of the target rows of a pass, in a process that knows nothing of the job but its plan.
///
/// A part that failed, or was tried twice, can be made again: the same rows with the same keys give the same bytes.
#[derive(Debug)]
pub struct Part {
    /// The job's name, handed on with the state.
    header: JobHeader,
    /// How rows are read.
    pass: AnyPass,
    /// What they left so far.
    state: AnyState,
    /// Its number, and those of the parts it absorbed.
    ids: PartIds,
}

impl Part {
    /// From the bytes of [`Fit::plan`](super::Fit::plan).
    ///
    /// # Errors
    /// If the bytes are damaged, or are not a plan.
    pub fn begin(plan: &[u8]) -> Result<Self> {
        let (header, pass) = open::<AnyPass>(Kind::Plan, plan)?;
        // Not part of the plan: an empty state may be large, and its recipe says it all.
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

    /// Number of classes of the rows it reads.
    pub fn classes(&self) -> usize {
        self.pass.classes()
    }

    /// Number of rows so far, absorbed ones included.
    pub fn rows(&self) -> u64 {
        self.state.rows().0
    }

    /// Adds target rows of probabilities, with their keys and what is given beside them.
    ///
    /// # Errors
    /// As [`Fit::add`](super::Fit::add).
    pub fn add<T: Real>(
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
    /// As [`Fit::absorb`](super::Fit::absorb).
    pub fn absorb(self, state: &[u8]) -> Result<Self> {
        let (header, (ids, other)) = open::<(PartIds, AnyState)>(Kind::State, state)?;
        self.header.require_same(&header)?;
        let ids = self.ids.joined(ids)?;
        Ok(Self { state: self.pass.merge(self.state, other)?, ids, ..self })
    }

    /// What the rows left behind, as bytes for [`Fit::absorb`](super::Fit::absorb) or another [`Part::absorb`].
    ///
    /// # Errors
    /// If it cannot be written, which does not happen for a part that was begun.
    pub fn state(&self) -> Result<Vec<u8>> {
        seal(Kind::State, &self.header, &(&self.ids, &self.state))
    }
}

//! A worker's share of a pass for the laws of all classes: rows in, bytes out, as [`Part`](crate::calibrator::Part) has it for fits.

use super::class_pass::{ClassPass, ClassState};
use crate::error::Result;
use crate::method::fit::{Pass, Seen};
use crate::rows::{Real, RowKeys, Rows};
use crate::side_inputs::SideInputs;
use crate::sketch::PartIds;
use crate::sketch::state::{JobHeader, Kind, open, seal};

/// Some of the target rows of a pass of [`ClassRows`](super::ClassRows), in a process that knows nothing of it but its plan.
#[derive(Debug)]
pub struct ClassShare {
    header: JobHeader,
    pass: ClassPass,
    seen: Seen<ClassState>,
    /// Its number, and those of the shares it absorbed.
    ids: PartIds,
}

impl ClassShare {
    /// What [`WireJob::kind_of`](crate::wire::WireJob::kind_of) calls its plans.
    pub const KIND: &'static str = "a threshold for each class";

    /// From the bytes of [`ClassRows::plan`](super::ClassRows::plan).
    ///
    /// # Errors
    /// If the bytes are damaged, or are not such a plan.
    pub fn begin(plan: &[u8]) -> Result<Self> {
        let (header, pass) = open::<ClassPass>(Kind::Plan, plan)?;
        let seen = Seen::new(match header.rows {
            None => pass.empty(),
            Some(rows) => pass.empty_of(rows),
        });
        Ok(Self { header, pass, seen, ids: PartIds::default() })
    }

    /// Gives it a number: a state that comes twice is then refused. Its own among all shares of the pass; a share that is made again
    /// has the same.
    #[must_use]
    pub fn numbered(mut self, part: u64) -> Self {
        self.ids = PartIds::one(part);
        self
    }

    /// Number of rows so far.
    pub fn rows(&self) -> u64 {
        self.seen.rows
    }

    /// Number of classes of the rows it reads.
    pub fn classes(&self) -> usize {
        self.pass.classes()
    }

    /// Adds target rows of probabilities, with the keys they had when the method was fitted.
    ///
    /// # Errors
    /// As [`ClassRows::add`](super::ClassRows::add).
    pub fn add<T: Real>(self, keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<Self> {
        let seen = self.seen.add(&self.pass, keys, block, &SideInputs::default())?;
        Ok(Self { seen, ..self })
    }

    /// Takes what another worker made of its rows.
    ///
    /// # Errors
    /// As [`ClassRows::absorb`](super::ClassRows::absorb).
    pub fn absorb(self, state: &[u8]) -> Result<Self> {
        let (header, (ids, other)) = open::<(PartIds, Seen<ClassState>)>(Kind::State, state)?;
        self.header.require_same(&header)?;
        let ids = self.ids.joined(ids)?;
        Ok(Self { seen: self.seen.merge(&self.pass, other)?, ids, ..self })
    }

    /// What the rows left behind, as bytes for [`ClassRows::absorb`](super::ClassRows::absorb) or another share.
    ///
    /// # Errors
    /// If it cannot be written, which does not happen for a share that was begun.
    pub fn state(&self) -> Result<Vec<u8>> {
        seal(Kind::State, &self.header, &(&self.ids, &self.seen))
    }
}

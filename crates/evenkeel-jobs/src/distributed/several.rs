//! Several readers of the same rows in one pass: fits of groups, a check beside a fit, a few rows themselves.
//!
//! ```text
//! plan    classes | part of every group | what each reader asks, and whose rows it reads
//! state   part numbers | which rows it saw | what each reader found
//! ```
//! Readers come and go from pass to pass, and some read rows of their groups alone. Which rows a pass saw is kept beside what they
//! found, of all rows, so that every pass can be compared with those before it.

use std::collections::BTreeMap;

use evenkeel::error::Error;
use evenkeel::rows::RowKeys;
use evenkeel::wire::{PartIds, WireJob};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::groups::GroupCodes;
use super::part::{PartRows, in_block};
use super::readers::{Asks, Found, Reader};
use super::saw::Saw;
use crate::any_rows::with_rows;
use crate::error::{JobError, PerRow, Result};
use crate::grouped::GatheredRows;

/// The kind of job on the wire, in words: errors about states of another job show it.
pub(super) const SEVERAL: &str = "a check, or a fit for each group";

/// What a worker needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Plan {
    pub classes: usize,
    /// The part of every group, by its name; none where rows need no group.
    pub part_of: Option<BTreeMap<String, usize>>,
    /// What each reader asks, and the part whose rows it reads; none for all rows.
    pub readers: Vec<(Option<usize>, Asks)>,
}

/// A pass on the driver: its plan, which parts came back, and which rows they saw.
#[derive(Debug)]
pub(super) struct Gathering {
    job: WireJob,
    plan: Vec<u8>,
    asks: Plan,
    parts: PartIds,
    saw: Saw,
    before: Passed,
}

/// What the passes before came to.
#[derive(Debug, Clone, Default)]
pub(super) struct Passed {
    passes: usize,
    /// All of them; none before the first.
    saw: Option<Saw>,
}

impl Gathering {
    /// The pass of a job with these settings that follows on others.
    pub(super) fn begin(settings: &[(String, String)], before: Passed, asks: Plan) -> Result<Self> {
        let mut settings = settings.to_vec();
        settings.push(("the pass".to_owned(), (before.passes + 1).to_string()));
        // The plan names all data that states depend on.
        let unnamed = WireJob::new(SEVERAL, settings.clone(), [0; 32]).plan(&asks)?;
        let job = WireJob::new(SEVERAL, settings, Sha256::digest(&unnamed).into());
        let plan = job.plan(&asks)?;
        Ok(Self { job, plan, asks, parts: PartIds::default(), saw: Saw::default(), before })
    }

    /// What workers need.
    pub(super) fn plan(&self) -> &[u8] {
        &self.plan
    }

    /// Number of rows that were seen so far.
    pub(super) fn rows(&self) -> u64 {
        self.saw.rows()
    }

    /// An error unless these bytes are a state of this pass, of parts that did not come yet.
    pub(super) fn require_new(&self, state: &[u8]) -> Result<()> {
        let parts = self.job.parts_of(state)?;
        Ok(self.parts.clone().joined(parts).map(drop)?)
    }

    /// What each reader found on some of the rows.
    pub(super) fn open(&mut self, state: &[u8]) -> Result<Vec<Found>> {
        let (parts, saw, found) = opened(&self.job, &self.asks, state)?;
        let (parts, saw) = (self.parts.clone().joined(parts)?, self.saw.and(saw)?);
        (self.parts, self.saw) = (parts, saw);
        Ok(found)
    }

    /// Ends the pass.
    ///
    /// # Errors
    /// If its rows are not those of the passes before.
    pub(super) fn end(self) -> Result<Passed> {
        let saw = match self.before.saw {
            None => self.saw,
            Some(before) => before.with_same(self.saw)?,
        };
        Ok(Passed { passes: self.before.passes + 1, saw: Some(saw) })
    }
}

/// A state, with an error unless it answers what was asked.
fn opened(job: &WireJob, asks: &Plan, state: &[u8]) -> Result<(PartIds, Saw, Vec<Found>)> {
    let (parts, (saw, found)) = job.open::<(Saw, Vec<Found>)>(state)?;
    if found.len() != asks.readers.len() {
        let (what, why) = ("the state", "it is not of as many readers as the plan");
        return Err(Error::Damaged { what, why }.into());
    }
    for (found, (_, asks_of_one)) in found.iter().zip(&asks.readers) {
        found.require(asks_of_one, asks.classes)?;
    }
    Ok((parts, saw, found))
}

/// Some of the rows, on a worker.
#[derive(Debug)]
pub(super) struct SeveralPart {
    job: WireJob,
    plan: Plan,
    readers: Vec<Reader>,
    ids: PartIds,
    saw: Saw,
}

impl SeveralPart {
    /// From a plan; without a number it only merges.
    pub(super) fn begin(bytes: &[u8], number: Option<u64>) -> Result<Self> {
        let (job, plan) = WireJob::read::<Plan>(bytes)?;
        let begin = |(_, asks): &(Option<usize>, Asks)| Reader::begin(asks.clone(), plan.classes);
        let readers = plan.readers.iter().map(begin).collect::<Result<_>>()?;
        let ids = number.map_or_else(PartIds::default, PartIds::one);
        Ok(Self { job, plan, readers, ids, saw: Saw::default() })
    }

    pub(super) fn classes(&self) -> usize {
        self.plan.classes
    }

    /// Whether every row needs its group.
    pub(super) fn needs_groups(&self) -> bool {
        self.plan.part_of.is_some() || self.reads_groups_only()
    }

    /// Whether the probabilities do not matter.
    pub(super) fn reads_groups_only(&self) -> bool {
        self.plan.readers.iter().all(|(_, asks)| asks.reads_groups_only())
    }

    /// Adds rows.
    pub(super) fn add(mut self, rows: &PartRows<'_>) -> Result<Self> {
        if self.reads_groups_only() {
            // Readers that count look at no probabilities: rows added without their groups would be lost without a word.
            let missing = || JobError::NoGroups { input: rows.name.to_owned() };
            let groups = rows.groups.ok_or_else(missing)?;
            require_one_each(groups.codes.len(), (rows.name, rows.rows.rows()))?;
            return self.add_groups(rows.keys, groups);
        }
        // Which rows there were is asked first: it checks that each has a key.
        let saw = with_rows!(rows.rows, |block| Saw::of_rows(rows.keys, block, &rows.side))?;
        let saw = self.saw.and(saw)?;
        let groups = match (&self.plan.part_of, rows.groups) {
            (None, _) => None,
            (Some(part_of), Some(groups)) => {
                let parts = groups.parts(part_of)?;
                require_one_each(parts.len(), (rows.name, rows.rows.rows()))?;
                Some(parts)
            }
            (Some(_), None) => return Err(JobError::NoGroups { input: rows.name.to_owned() }),
        };
        let mut rows_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (row, part) in groups.into_iter().flatten().enumerate() {
            rows_of.entry(part).or_default().push(row);
        }
        let mut added = Vec::with_capacity(self.readers.len());
        for (reader, (part, _)) in self.readers.into_iter().zip(&self.plan.readers) {
            let read = match part.map(|part| rows_of.get(&part)) {
                None => reader.add(rows.keys, (&rows.rows, rows.side)),
                Some(None) => Ok(reader),
                Some(Some(these)) => {
                    let own = GatheredRows::of(rows.keys, (&rows.rows, &rows.side), these);
                    reader.add(RowKeys::Each(&own.keys), (&own.rows()?, own.side()?))
                }
            };
            added.push(read.map_err(|error| in_block(rows, error))?);
        }
        (self.readers, self.saw) = (added, saw);
        Ok(self)
    }

    /// Counts rows by their groups.
    pub(super) fn add_groups(mut self, keys: RowKeys<'_>, groups: GroupCodes<'_>) -> Result<Self> {
        let names = groups.of_rows()?;
        self.saw = self.saw.and(Saw::of_keys(keys, names.len())?)?;
        let counted = self.readers.into_iter().map(|reader| reader.count(keys, &names));
        self.readers = counted.collect::<evenkeel::Result<_>>()?;
        Ok(self)
    }

    pub(super) fn absorb(mut self, state: &[u8]) -> Result<Self> {
        let (ids, saw, found) = opened(&self.job, &self.plan, state)?;
        (self.ids, self.saw) = (self.ids.joined(ids)?, self.saw.and(saw)?);
        let both = self.readers.into_iter().zip(found);
        self.readers =
            both.map(|(reader, found)| reader.absorb(found)).collect::<evenkeel::Result<_>>()?;
        Ok(self)
    }

    pub(super) fn state(&self) -> evenkeel::Result<Vec<u8>> {
        let found: Vec<Found> =
            self.readers.iter().map(Reader::found).collect::<evenkeel::Result<_>>()?;
        self.job.state(&self.ids, &(self.saw, found))
    }
}

fn require_one_each(found: usize, (matrix, rows): (&str, usize)) -> Result<()> {
    match found == rows {
        true => Ok(()),
        false => Err(JobError::Count {
            input: "groups".to_owned(),
            what: PerRow::Group,
            found,
            matrix: matrix.to_owned(),
            rows,
            more: false,
        }),
    }
}

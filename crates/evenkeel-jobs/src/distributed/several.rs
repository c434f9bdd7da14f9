//! Several readers of the same rows in one pass: fits of groups, a check beside a fit, a few rows themselves.
//!
//! ```text
//! plan    classes | part of every group | what each reader asks, and whose rows it reads
//! state   part numbers | what each reader found
//! ```

use std::collections::BTreeMap;

use evenkeel::error::Error;
use evenkeel::rows::RowKeys;
use evenkeel::wire::{PartIds, WireJob};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::groups::GroupCodes;
use super::part::{PartRows, in_block};
use super::readers::{Asks, Found, Reader};
use crate::error::{JobError, PerRow, Result};
use crate::grouped::GatheredRows;

/// The kind of job on the wire.
pub(super) const SEVERAL: &str = "several readers";

/// What a worker needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Plan {
    pub classes: usize,
    /// The part of every group, by its name; none where rows need no group.
    pub part_of: Option<BTreeMap<String, usize>>,
    /// What each reader asks, and the part whose rows it reads; none for all rows.
    pub readers: Vec<(Option<usize>, Asks)>,
}

/// A pass on the driver: its plan, and which parts came back.
#[derive(Debug)]
pub(super) struct Gathering {
    job: WireJob,
    plan: Vec<u8>,
    asks: Plan,
    parts: PartIds,
}

impl Gathering {
    /// A pass of a job with these settings; `pass` counts from 1.
    pub(super) fn begin(settings: &[(String, String)], pass: usize, asks: Plan) -> Result<Self> {
        let mut settings = settings.to_vec();
        settings.push(("the pass".to_owned(), pass.to_string()));
        // The plan names all data that states depend on.
        let unnamed = WireJob::new(SEVERAL, settings.clone(), [0; 32]).plan(&asks)?;
        let job = WireJob::new(SEVERAL, settings, Sha256::digest(&unnamed).into());
        let plan = job.plan(&asks)?;
        Ok(Self { job, plan, asks, parts: PartIds::default() })
    }

    /// What workers need.
    pub(super) fn plan(&self) -> &[u8] {
        &self.plan
    }

    /// An error unless these bytes are a state of this pass, of parts that did not come yet.
    pub(super) fn require_new(&self, state: &[u8]) -> Result<()> {
        let parts = self.job.parts_of(state)?;
        Ok(self.parts.clone().joined(parts).map(drop)?)
    }

    /// What each reader found on some of the rows.
    pub(super) fn open(&mut self, state: &[u8]) -> Result<Vec<Found>> {
        let (parts, found) = opened(&self.job, &self.asks, state)?;
        self.parts = std::mem::take(&mut self.parts).joined(parts)?;
        Ok(found)
    }
}

/// A state, with an error unless it answers what was asked.
fn opened(job: &WireJob, asks: &Plan, state: &[u8]) -> Result<(PartIds, Vec<Found>)> {
    let (parts, found) = job.open::<Vec<Found>>(state)?;
    if found.len() != asks.readers.len() {
        let (what, why) = ("the state", "it is not of as many readers as the plan");
        return Err(Error::Damaged { what, why }.into());
    }
    for (found, (_, asks_of_one)) in found.iter().zip(&asks.readers) {
        found.require(asks_of_one, asks.classes)?;
    }
    Ok((parts, found))
}

/// Some of the rows, on a worker.
#[derive(Debug)]
pub(super) struct SeveralPart {
    job: WireJob,
    plan: Plan,
    readers: Vec<Reader>,
    ids: PartIds,
}

impl SeveralPart {
    /// From a plan; without a number it only merges.
    pub(super) fn begin(bytes: &[u8], number: Option<u64>) -> Result<Self> {
        let (job, plan) = WireJob::read::<Plan>(bytes)?;
        let begin = |(_, asks): &(Option<usize>, Asks)| Reader::begin(asks.clone(), plan.classes);
        let readers = plan.readers.iter().map(begin).collect::<Result<_>>()?;
        let ids = number.map_or_else(PartIds::default, PartIds::one);
        Ok(Self { job, plan, readers, ids })
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
        rows.keys.check(rows.rows.rows())?;
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
        self.readers = added;
        Ok(self)
    }

    /// Counts rows by their groups.
    pub(super) fn add_groups(mut self, keys: RowKeys<'_>, groups: GroupCodes<'_>) -> Result<Self> {
        let names = groups.of_rows()?;
        keys.check(names.len())?;
        let counted = self.readers.into_iter().map(|reader| reader.count(keys, &names));
        self.readers = counted.collect::<evenkeel::Result<_>>()?;
        Ok(self)
    }

    pub(super) fn absorb(mut self, state: &[u8]) -> Result<Self> {
        let (ids, found) = opened(&self.job, &self.plan, state)?;
        self.ids = self.ids.joined(ids)?;
        let both = self.readers.into_iter().zip(found);
        self.readers =
            both.map(|(reader, found)| reader.absorb(found)).collect::<evenkeel::Result<_>>()?;
        Ok(self)
    }

    pub(super) fn state(&self) -> evenkeel::Result<Vec<u8>> {
        let found: Vec<Found> =
            self.readers.iter().map(Reader::found).collect::<evenkeel::Result<_>>()?;
        self.job.state(&self.ids, &found)
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

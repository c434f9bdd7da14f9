//! The door: everything the command line and the server do to a store.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evenkeel::stream::{PredictionCounts, WindowTest, window_test};
use evenkeel_jobs::{RowSource, TargetLabels};

use crate::alarm::AlarmRecord;
use crate::batch::{BatchQuery, BatchRecord, NewBatch, Received};
use crate::error::{MonitorError, Result};
use crate::instant::Instant;
use crate::kept_rows::KeptRows;
use crate::labels::{LabelsReceived, LateLabels};
use crate::model::{Model, ModelName, NewModel, Version};
use crate::proposal::{Decision, NewProposal, Proposal, ProposalState};
use crate::receive::{advance, look, proposal, require_key};
use crate::reference::Reference;
use crate::status::ModelStatus;
use crate::store::{Appended, AuditEntry, AuditQuery, NewAudit, SqliteStore, Store};

/// Batches that a proposal on request looks back over.
const LOOK_BACK: usize = 20;
/// Numbers of all batches of a proposal on request: 256 MB of doubles. A batch alone may have as many.
const MOST_NUMBERS: u64 = 1 << 25;
/// Prepared calibrations that are kept at hand.
const MOST_REFERENCES: usize = 64;

/// Models, batches, labels, proposals and decisions over one store. Calls may come from any thread.
pub struct Monitor {
    store: Mutex<Box<dyn Store>>,
    references: Mutex<BTreeMap<(ModelName, u64), Arc<Reference>>>,
}

impl Monitor {
    /// Opens the store of a file.
    ///
    /// # Errors
    /// If there is none, or it cannot be used.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self::over(Box::new(SqliteStore::open(path)?)))
    }

    /// Opens the store of a file, or makes one.
    ///
    /// # Errors
    /// If it cannot be used or made.
    pub fn open_or_create(path: &Path) -> Result<Self> {
        Ok(Self::over(Box::new(SqliteStore::open_or_create(path)?)))
    }

    /// Over any store.
    pub fn over(store: Box<dyn Store>) -> Self {
        Self { store: Mutex::new(store), references: Mutex::new(BTreeMap::new()) }
    }

    /// The store itself, for what this door has no call for: tokens, messages, the audit log. Others wait meanwhile.
    pub fn store(&self) -> MutexGuard<'_, Box<dyn Store>> {
        // A thread that panicked while it held the lock left a transaction that was rolled back.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a model. Rows are compared with the calibration data from now on, or with `baseline` where the calibration was
    /// made for other rows.
    ///
    /// # Errors
    /// If the calibration cannot be watched, or there is a model of that name with another one.
    pub fn add_model(
        &self,
        new: &NewModel<'_>,
        baseline: Option<&mut dyn RowSource>,
    ) -> Result<Model> {
        let reference = Reference::new(new.name.as_str(), new.calibration, new.delta)?;
        let watch = reference.first_watch(baseline)?;
        self.store().add_model(new, &reference.facts(), &watch)
    }

    /// All models, by name.
    ///
    /// # Errors
    /// If the store cannot be read; so of every call.
    pub fn models(&self) -> Result<Vec<Model>> {
        self.store().models()
    }

    /// One model.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn model(&self, name: &ModelName) -> Result<Model> {
        self.store().model(name)
    }

    /// The calibration in use, or a version of it.
    ///
    /// # Errors
    /// If there is no such version.
    pub fn calibration(&self, model: &ModelName, version: Option<u64>) -> Result<Version> {
        self.store().version(model, version)
    }

    /// The calibration in use, prepared.
    ///
    /// # Errors
    /// If there is no such model.
    pub fn reference(&self, model: &Model) -> Result<Arc<Reference>> {
        let key = (model.name.clone(), model.version);
        let known = || self.references.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&key) {
            return Ok(Arc::clone(found));
        }
        let version = self.store().version(&model.name, Some(model.version))?;
        let made =
            Arc::new(Reference::new(model.name.as_str(), &version.calibration, model.delta)?);
        let mut all = known();
        if all.len() >= MOST_REFERENCES {
            all.pop_first();
        }
        all.insert(key, Arc::clone(&made));
        Ok(made)
    }

    /// Checks a batch, advances the alarms and stores all of it in one transaction. A batch whose key is known is not counted
    /// again.
    ///
    /// # Errors
    /// If rows are not those of the model, or the key was used for other contents; nothing is stored then.
    pub fn receive(&self, name: &ModelName, mut new: NewBatch<'_>) -> Result<Received> {
        require_key(new.key)?;
        if let Some(found) = self.received_before(name, new.key, &new.content)? {
            return Ok(found);
        }
        loop {
            let model = self.store().model(name)?;
            let reference = self.reference(&model)?;
            // Without the store: checks of several batches run beside each other.
            let seen = look(&model, &reference, &mut new)?;
            let rows = &mut *new.rows;
            let mut propose = |checked: &evenkeel_jobs::Checked, baseline: &[u8]| {
                let made = reference.recalibrate(rows, None)?;
                proposal(checked, &made, baseline, 0)
            };
            let appended = self.store().append(&seen.batch, &mut |watch, number| {
                advance(&seen, watch, number, &mut propose)
            })?;
            let document = seen.batch.document.clone();
            match appended {
                // Someone approved another calibration meanwhile.
                Appended::OtherVersion => {}
                Appended::New(record, proposal) => {
                    return Ok(Received { record: *record, duplicate: false, document, proposal });
                }
                // The same batch came twice at once, and the other was faster: its answer is the answer.
                Appended::Duplicate(record) => {
                    let (record, document) = self.store().batch(name, record.batch)?;
                    return Ok(Received { record, duplicate: true, document, proposal: None });
                }
            }
        }
    }

    /// The answer to a batch that was received before; none if its key is new. No row is read.
    ///
    /// # Errors
    /// If the key was used for other contents.
    pub fn received_before(
        &self,
        name: &ModelName,
        key: &str,
        content: &[u8; 32],
    ) -> Result<Option<Received>> {
        let mut store = self.store();
        let Some(record) = store.batch_with_key(name, key)? else { return Ok(None) };
        let digits: String = content.iter().map(|byte| format!("{byte:02x}")).collect();
        if digits != record.content {
            return Err(MonitorError::KeyReused { key: key.to_owned(), batch: record.batch });
        }
        let (record, document) = store.batch(name, record.batch)?;
        Ok(Some(Received { record, duplicate: true, document, proposal: None }))
    }

    /// Counts labels that came late. Where they set off the alarm, rows were kept and no proposal is open, one is made with them.
    ///
    /// # Errors
    /// If rows or labels are not of the batch, a row has another label already, or its sets were not kept.
    pub fn add_labels(&self, name: &ModelName, labels: &LateLabels<'_>) -> Result<LabelsReceived> {
        let received = self.store().add_labels(name, labels)?;
        if received.alarm.is_some() {
            // The labels are counted, whatever becomes of the proposal: an error here would have them sent again.
            match self.propose_where_none_is_open(name, labels.at) {
                Ok(()) | Err(MonitorError::NotJudged { .. }) => {}
                Err(error) => self.store().note(&NewAudit {
                    at: labels.at,
                    who: "monitor",
                    what: "no proposal could be made",
                    model: Some(name),
                    details: &error.to_string(),
                })?,
            }
        }
        Ok(received)
    }

    /// The rows of a batch that have these ids, in their order.
    ///
    /// # Errors
    /// If an id is none of the batch.
    pub fn rows_of_ids(&self, name: &ModelName, batch: u64, ids: &[String]) -> Result<Vec<u64>> {
        self.store().rows_of_ids(name, batch, ids)
    }

    /// Makes a proposal unless one is open: few labels must not take the place of what someone is about to decide on, which may rest on
    /// more. Whoever wants another asks for it.
    fn propose_where_none_is_open(&self, name: &ModelName, at: Instant) -> Result<()> {
        let is_open = |proposal: &Proposal| proposal.state == ProposalState::Open;
        match self.proposals(name)?.iter().any(is_open) {
            true => Ok(()),
            false => self.propose(name, at).map(|_| ()),
        }
    }

    /// Makes a proposal of the last batches whose rows were kept, with the labels that have arrived for them. It takes the place of one
    /// that is open.
    ///
    /// # Errors
    /// If no rows were kept.
    pub fn propose(&self, name: &ModelName, at: Instant) -> Result<u64> {
        loop {
            let model = self.model(name)?;
            let new = self.of_last_batches(&model)?;
            // None where somebody decided meanwhile: what is in use is another calibration.
            if let Some(number) = self.store().propose(name, model.watch, &new, at)? {
                return Ok(number);
            }
        }
    }

    /// What `auto` makes of the last batches of a model.
    fn of_last_batches(&self, model: &Model) -> Result<NewProposal> {
        let name = &model.name;
        let reference = self.reference(model)?;
        let after = model.batches.saturating_sub(LOOK_BACK as u64);
        let query = BatchQuery { after, ..BatchQuery::default() };
        let batches = self.store().batches(name, &query)?;
        // From the alarm on: the rows before it are those that nothing is wrong with.
        let standing = |batch: &BatchRecord| batch.alarms.iter().any(|alarm| alarm.standing);
        let from = batches.iter().position(standing).unwrap_or(0);
        let mut gathered: Option<KeptRows> = None;
        let mut counts = PredictionCounts::default();
        let (mut used, mut labels) = (Vec::new(), Vec::new());
        let since: Vec<&BatchRecord> =
            batches.iter().skip(from).filter(|batch| batch.watch == model.watch).collect();
        let numbers: Vec<u64> =
            since.iter().map(|batch| batch.rows.saturating_mul(model.classes)).collect();
        for batch in since.into_iter().skip(newest_within(&numbers)) {
            let kept = self.store().kept(name, batch.batch)?;
            let Some(bytes) = kept.rows else { continue };
            let rows = KeptRows::from_bytes(&bytes)?;
            let first = gathered.as_ref().map_or(0, KeptRows::rows);
            let place = |(row, label): &(u64, u64)| (first + *row as usize, *label as usize);
            labels.extend(kept.labels.iter().map(place));
            counts.merge(&PredictionCounts::from_bytes(&kept.sketch)?);
            used.push(batch.batch);
            gathered = Some(match gathered {
                None => rows,
                Some(before) => before.append(rows),
            });
        }
        let Some(rows) = gathered else {
            return Err(MonitorError::NotJudged {
                batch: model.batches,
                why: "the rows of the last batches were not kept; add the model with --keep rows, or wait for an alarm, which makes a \
                      proposal of its own batch",
            });
        };
        let count = labels.len() as u64;
        let labels = TargetLabels::new("labels", labels, reference.classes())?;
        let of_rows = match count {
            0 => None,
            _ => Some(labels.of_rows(reference.classes())?),
        };
        let made = reference.recalibrate(&mut rows.source(name.as_str())?, of_rows.as_ref())?;
        let checked = reference.check(&mut rows.source(name.as_str())?)?;
        let mut new = proposal(&checked, &made, &counts.to_bytes()?, count)?;
        new.batches = used;
        Ok(new)
    }

    /// Proposals, the last first.
    ///
    /// # Errors
    /// If there is no such model.
    pub fn proposals(&self, name: &ModelName) -> Result<Vec<Proposal>> {
        self.store().proposals(name)
    }

    /// Approves or rejects a proposal. The alarms begin anew; only an approval changes the calibration.
    ///
    /// # Errors
    /// If it is not open, or name or reason is missing.
    pub fn decide(&self, name: &ModelName, decision: &Decision<'_>) -> Result<Model> {
        self.store().decide(name, decision)
    }

    /// Batches in the order of their arrival.
    ///
    /// # Errors
    /// If there is no such model.
    pub fn history(&self, name: &ModelName, query: &BatchQuery) -> Result<Vec<BatchRecord>> {
        self.store().batches(name, query)
    }

    /// One batch, with the document of its check.
    ///
    /// # Errors
    /// If there is no such batch.
    pub fn batch(&self, name: &ModelName, number: u64) -> Result<(BatchRecord, String)> {
        self.store().batch(name, number)
    }

    /// Alarms, the last first.
    ///
    /// # Errors
    /// If there is no such model.
    pub fn alarms(&self, name: &ModelName) -> Result<Vec<AlarmRecord>> {
        self.store().alarms(name)
    }

    /// Lines of the audit log, the last first.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn audit(&self, query: &AuditQuery<'_>) -> Result<Vec<AuditEntry>> {
        self.store().audit(query)
    }

    /// The rows of some batches, merged, beside the reference of the watch that is on; none if there are no such batches.
    ///
    /// # Errors
    /// If there is no such model.
    pub fn window(&self, name: &ModelName, query: &BatchQuery) -> Result<Option<WindowTest>> {
        let mut store = self.store();
        let watch = store.watch(name)?;
        let mut counts = PredictionCounts::default();
        for batch in store.batches(name, query)? {
            if batch.watch == watch.number {
                let kept = store.kept(name, batch.batch)?;
                counts.merge(&PredictionCounts::from_bytes(&kept.sketch)?);
            }
        }
        match counts.rows() {
            0 => Ok(None),
            _ => Ok(Some(window_test(watch.stream.reference(), &counts)?)),
        }
    }

    /// Where a model stands.
    ///
    /// # Errors
    /// If there is no such model.
    pub fn status(&self, name: &ModelName) -> Result<ModelStatus> {
        let model = self.model(name)?;
        let watch = self.store().watch(name)?;
        let last = match model.batches {
            0 => None,
            number => Some(self.batch(name, number)?.0),
        };
        let (alarms, proposals) = (self.alarms(name)?, self.proposals(name)?);
        let week = watch.stream.this_week()?;
        Ok(ModelStatus { week, ..ModelStatus::of(model, &watch, last, (&alarms, &proposals)) })
    }

    /// Writes a copy of the store to a new file.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn backup(&self, to: &Path) -> Result<()> {
        self.store().backup(to)
    }
}

/// Where the newest batches begin whose numbers are [`MOST_NUMBERS`] together at most; the newest is taken in any case.
fn newest_within(numbers: &[u64]) -> usize {
    let (mut room, mut from) = (MOST_NUMBERS, numbers.len());
    while let Some(before) = from.checked_sub(1) {
        if numbers[before] > room && from < numbers.len() {
            break;
        }
        room = room.saturating_sub(numbers[before]);
        from = before;
    }
    from
}

impl std::fmt::Debug for Monitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Monitor").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_takes_the_newest_rows_that_fit() {
        let half = MOST_NUMBERS / 2;
        assert_eq!(newest_within(&[]), 0);
        assert_eq!(newest_within(&[10, 10]), 0);
        assert_eq!(newest_within(&[10, half, half]), 1);
        assert_eq!(newest_within(&[10, half, half, 10]), 2);
        assert_eq!(newest_within(&[10, 2 * MOST_NUMBERS]), 1);
        assert_eq!(newest_within(&[u64::MAX, u64::MAX]), 1);
    }
}

//! Late labels: judged by the sets of their batch, counted once.

use evenkeel::certify::Covered;
use rusqlite::{Transaction, params};

use super::sqlite::{SqliteStore, Stopped};
use super::sqlite_batches::{insert_alarm, numbered};
use super::sqlite_models::log;
use super::sqlite_rows::{ALARM, ModelRow, alarm_of, find_model, find_watch, whole};
use super::{History, Kept, ModelFacts, NewAudit, Watch, Watched};
use crate::alarm::AlarmRecord;
use crate::batch::{BatchQuery, BatchRecord, CheckedBatch};
use crate::error::{MonitorError, Result};
use crate::instant::Instant;
use crate::labels::{LabelStep, LabelsReceived, LateLabels, measured, require_within};
use crate::model::{Model, ModelName, NewModel, Version};
use crate::packed_sets::holds;
use crate::proposal::{Decision, NewProposal, Proposal};
use crate::store::{Appended, AuditEntry, AuditQuery};
use evenkeel::stream::StreamAlarm;

impl SqliteStore {
    fn count_labels(&mut self, model: &ModelName, late: &LateLabels<'_>) -> Result<LabelsReceived> {
        self.transaction(|transaction| {
            let found = find_model(transaction, model)?;
            let (id, record, _) = numbered(transaction, &found, late.batch)?;
            require_within(late.labels, late.batch, record.rows, found.model.classes)?;
            let sets: Option<Vec<u8>> =
                transaction.query_row("SELECT sets FROM batches WHERE id = ?1", [id], |row| row.get(0))?;
            let Some(sets) = sets else {
                return Err(MonitorError::NotJudged {
                    batch: late.batch,
                    why: "its prediction sets were not kept, so that labels cannot be judged; add the model with --keep sets",
                }
                .into());
            };
            let mut watch = find_watch(transaction, found.id, record.watch)?;
            let (new, fired) = judge(transaction, &found, late, (id, &sets), &mut watch)?;
            let (labeled, covered): (i64, i64) = transaction.query_row(
                "SELECT COUNT(*), COALESCE(SUM(covered), 0) FROM labels WHERE batch = ?1",
                [id],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            if labeled == 0 {
                let why = "no labels were given; give at least one";
                return Err(MonitorError::NotJudged { batch: late.batch, why }.into());
            }
            transaction.execute(
                "UPDATE batches SET labeled = ?2, covered = ?3 WHERE id = ?1",
                params![id, labeled, covered],
            )?;
            transaction.execute(
                "UPDATE watches SET labels = ?1 WHERE model = ?2 AND number = ?3",
                params![watch.labels.to_bytes()?, found.id, whole(watch.number)?],
            )?;
            // Labels of a calibration that is no longer in use say nothing of the one that is.
            let alarm = match fired {
                LabelStep::Fired if watch.version == found.model.version => {
                    Some(raise(transaction, &found, &watch, late)?)
                }
                LabelStep::Fired | LabelStep::Quiet => None,
            };
            if new > 0 {
                let details = format!("{new} labels of batch {}", late.batch);
                let entry =
                    NewAudit { at: late.at, who: late.who, what: "labels received", model: Some(model), details: &details };
                log(transaction, &entry)?;
            }
            Ok(LabelsReceived {
                batch: late.batch,
                new,
                measured: measured(covered.unsigned_abs(), labeled.unsigned_abs(), found.model.delta)?,
                since_approval: watch.labels.state(),
                alarm,
            })
        })
    }
}

/// Counts what is new, in the order given.
fn judge(
    transaction: &Transaction<'_>,
    found: &ModelRow,
    late: &LateLabels<'_>,
    (batch, sets): (i64, &[u8]),
    watch: &mut Watch,
) -> Result<(u64, LabelStep), Stopped> {
    let mut known =
        transaction.prepare("SELECT label FROM labels WHERE batch = ?1 AND row = ?2")?;
    let mut insert = transaction.prepare(
        "INSERT INTO labels (batch, row, label, covered, received) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let (mut new, mut fired) = (0, LabelStep::Quiet);
    for (row, label) in late.labels {
        let mut before = known.query(params![batch, whole(*row)?])?;
        if let Some(found) = before.next()? {
            let before = super::sqlite_rows::count(found, 0)?;
            if before != *label {
                let batch = late.batch;
                return Err(MonitorError::LabeledOtherwise {
                    batch,
                    row: *row,
                    label: *label,
                    before,
                }
                .into());
            }
            continue;
        }
        let covered = holds(sets, found.model.classes, *row, *label)
            .ok_or_else(|| Stopped::Damaged("the sets of a batch are cut short".to_owned()))?;
        insert.execute(params![
            batch,
            whole(*row)?,
            whole(*label)?,
            i64::from(covered),
            late.at.seconds()
        ])?;
        new += 1;
        if watch.labels.update(Covered::from(covered)) == LabelStep::Fired {
            fired = LabelStep::Fired;
        }
    }
    Ok((new, fired))
}

/// Stores the alarm that labels set off. It stands also where they are of a watch that is over: whoever rejected a proposal kept the
/// calibration of which they tell.
fn raise(
    transaction: &Transaction<'_>,
    found: &ModelRow,
    watch: &Watch,
    late: &LateLabels<'_>,
) -> Result<AlarmRecord, Stopped> {
    let alarm = watch.labels.alarm(found.model.alpha);
    let id = insert_alarm(transaction, found, Some(late.batch), &alarm, late.at)?;
    let mut statement = transaction.prepare(&format!("{ALARM} WHERE id = ?1"))?;
    let mut rows = statement.query([whole(id)?])?;
    let row = rows.next()?.ok_or_else(|| Stopped::Damaged("an alarm is missing".to_owned()))?;
    alarm_of(row, &found.model)
}

impl History for SqliteStore {
    fn add_model(
        &mut self,
        new: &NewModel<'_>,
        facts: &ModelFacts,
        watch: &StreamAlarm,
    ) -> Result<Model> {
        self.insert_model(new, facts, watch)
    }

    fn models(&mut self) -> Result<Vec<Model>> {
        self.all_models()
    }

    fn model(&mut self, name: &ModelName) -> Result<Model> {
        self.reading(|connection| Ok(find_model(connection, name)?.model))
    }

    fn version(&mut self, model: &ModelName, version: Option<u64>) -> Result<Version> {
        self.find_version(model, version)
    }

    fn watch(&mut self, model: &ModelName) -> Result<Watch> {
        self.reading(|connection| {
            let found = find_model(connection, model)?;
            find_watch(connection, found.id, found.model.watch)
        })
    }

    fn batch_with_key(&mut self, model: &ModelName, key: &str) -> Result<Option<BatchRecord>> {
        self.find_with_key(model, key)
    }

    fn append(
        &mut self,
        batch: &CheckedBatch<'_>,
        advance: &mut dyn FnMut(&Watch, u64) -> Result<Watched>,
    ) -> Result<Appended> {
        self.append_batch(batch, advance)
    }

    fn batches(&mut self, model: &ModelName, query: &BatchQuery) -> Result<Vec<BatchRecord>> {
        self.find_batches(model, query)
    }

    fn batch(&mut self, model: &ModelName, number: u64) -> Result<(BatchRecord, String)> {
        self.find_batch(model, number)
    }

    fn kept(&mut self, model: &ModelName, number: u64) -> Result<Kept> {
        self.find_kept(model, number)
    }

    fn rows_of_ids(&mut self, model: &ModelName, number: u64, ids: &[String]) -> Result<Vec<u64>> {
        self.find_rows(model, number, ids)
    }

    fn add_labels(&mut self, model: &ModelName, labels: &LateLabels<'_>) -> Result<LabelsReceived> {
        self.count_labels(model, labels)
    }

    fn alarms(&mut self, model: &ModelName) -> Result<Vec<AlarmRecord>> {
        self.find_alarms(model)
    }

    fn propose(
        &mut self,
        model: &ModelName,
        watch: u64,
        new: &NewProposal,
        at: Instant,
    ) -> Result<Option<u64>> {
        self.add_proposal(model, watch, new, at)
    }

    fn proposals(&mut self, model: &ModelName) -> Result<Vec<Proposal>> {
        self.find_proposals(model)
    }

    fn decide(&mut self, model: &ModelName, decision: &Decision<'_>) -> Result<Model> {
        self.settle(model, decision)
    }

    fn note(&mut self, entry: &NewAudit<'_>) -> Result<()> {
        self.transaction(|transaction| log(transaction, entry))
    }

    fn audit(&mut self, query: &AuditQuery<'_>) -> Result<Vec<AuditEntry>> {
        self.audit_lines(query)
    }

    fn backup(&mut self, to: &std::path::Path) -> Result<()> {
        self.copy_to(to)
    }

    fn verify(&mut self) -> Result<()> {
        self.checked_whole()
    }
}

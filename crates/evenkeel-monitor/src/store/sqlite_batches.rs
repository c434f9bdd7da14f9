//! Batches: one transaction for a batch and all that follows from it.

use rusqlite::{Connection, Row, Transaction, params};

use super::sqlite::{SqliteStore, Stopped};
use super::sqlite_outbox::{Message, send};
use super::sqlite_proposals::{has_open, insert_proposal};
use super::sqlite_rows::{
    ALARM, BATCH, ModelRow, alarm_of, all, batch_of, count, damaged, find_model, find_watch, whole,
    with_alarms,
};
use super::{Appended, Kept, Watch, Watched};
use crate::alarm::{AlarmRecord, NewAlarm};
use crate::batch::{BatchQuery, BatchRecord, CheckedBatch};
use crate::error::{MonitorError, Result};
use crate::instant::Instant;
use crate::model::ModelName;

impl SqliteStore {
    pub(super) fn append_batch(
        &mut self,
        batch: &CheckedBatch<'_>,
        advance: &mut dyn FnMut(&Watch, u64) -> Result<Watched>,
    ) -> Result<Appended> {
        self.transaction(|transaction| {
            let found = find_model(transaction, batch.model)?;
            if let Some(known) = with_key(transaction, &found, batch.key)? {
                return duplicate(known, batch);
            }
            if found.model.version != batch.version {
                return Ok(Appended::OtherVersion);
            }
            let watch = find_watch(transaction, found.id, found.model.watch)?;
            let number = found.model.batches + 1;
            let watched = advance(&watch, number)?;
            insert(transaction, &found, batch, number, &watched)?;
            transaction
                .prepare_cached("UPDATE watches SET stream = ?1 WHERE model = ?2 AND number = ?3")?
                .execute(params![
                    watched.stream.to_bytes().map_err(MonitorError::from)?,
                    found.id,
                    whole(watch.number)?
                ])?;
            transaction
                .prepare_cached("UPDATE models SET batches = ?1, rows = rows + ?2 WHERE id = ?3")?
                .execute(params![whole(number)?, whole(batch.rows)?, found.id])?;
            if let Some(alarm) = &watched.alarm {
                insert_alarm(transaction, &found, Some(number), alarm, batch.received)?;
            }
            let proposal = match &watched.proposal {
                // One that waits for a decision stays: it may rest on more than this batch.
                Some(new) if !has_open(transaction, &found)? => {
                    Some(insert_proposal(transaction, &found, new, batch.received)?)
                }
                _ => None,
            };
            let record = with_key(transaction, &found, batch.key)?;
            let record = record
                .ok_or_else(|| Stopped::Damaged("a batch that was stored is missing".to_owned()))?;
            Ok(Appended::New(Box::new(record), proposal))
        })
    }

    pub(super) fn find_with_key(
        &mut self,
        model: &ModelName,
        key: &str,
    ) -> Result<Option<BatchRecord>> {
        self.reading(|connection| with_key(connection, &find_model(connection, model)?, key))
    }

    pub(super) fn find_batches(
        &mut self,
        model: &ModelName,
        query: &BatchQuery,
    ) -> Result<Vec<BatchRecord>> {
        self.reading(|connection| {
            let found = find_model(connection, model)?;
            let sql = format!(
                "{BATCH} WHERE model = ?1 AND number > ?2 AND time >= ?3 AND time < ?4 ORDER BY number LIMIT ?5"
            );
            let values = params![
                found.id,
                whole(query.after)?,
                query.from.map_or(i64::MIN, Instant::seconds),
                query.to.map_or(i64::MAX, Instant::seconds),
                query.limit.map_or(Ok(-1), whole)?,
            ];
            let record_of = |row: &Row<'_>| Ok(batch_of(row, &found.model)?.1);
            with_alarms(connection, &found, all(connection, &sql, values, record_of)?)
        })
    }

    pub(super) fn find_batch(
        &mut self,
        model: &ModelName,
        number: u64,
    ) -> Result<(BatchRecord, String)> {
        self.reading(|connection| {
            let found = find_model(connection, model)?;
            let (_, record, document) = numbered(connection, &found, number)?;
            let mut records = with_alarms(connection, &found, vec![record])?;
            let record =
                records.pop().ok_or_else(|| Stopped::Damaged("a batch is missing".to_owned()))?;
            Ok((record, document))
        })
    }

    pub(super) fn find_kept(&mut self, model: &ModelName, number: u64) -> Result<Kept> {
        self.reading(|connection| {
            let found = find_model(connection, model)?;
            let (id, ..) = numbered(connection, &found, number)?;
            let (sketch, sets, rows) = connection.query_row(
                "SELECT sketch, sets, kept FROM batches WHERE id = ?1",
                [id],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )?;
            let sql = "SELECT row, label FROM labels WHERE batch = ?1 ORDER BY row";
            let labels = all(connection, sql, [id], |row| Ok((count(row, 0)?, count(row, 1)?)))?;
            Ok(Kept { sketch, sets, rows, labels })
        })
    }

    pub(super) fn find_rows(
        &mut self,
        model: &ModelName,
        batch: u64,
        ids: &[String],
    ) -> Result<Vec<u64>> {
        self.reading(|connection| {
            let found = find_model(connection, model)?;
            let (key, ..) = numbered(connection, &found, batch)?;
            let row_of = "SELECT row FROM row_ids WHERE batch = ?1 AND id = ?2";
            let row_of = |id: &String| {
                let row = super::sqlite_rows::number(connection, row_of, params![key, id])?;
                if let Some(row) = row {
                    return u64::try_from(row).map_err(|_| damaged("the row of an id"));
                }
                let any = "SELECT 1 FROM row_ids WHERE batch = ?1 LIMIT 1";
                let has_ids = super::sqlite_rows::number(connection, any, [key])?.is_some();
                let id = id.chars().take(80).collect();
                Err(MonitorError::NoSuchRow { batch, id, has_ids }.into())
            };
            ids.iter().map(row_of).collect()
        })
    }

    pub(super) fn find_alarms(&mut self, model: &ModelName) -> Result<Vec<AlarmRecord>> {
        self.reading(|connection| {
            let found = find_model(connection, model)?;
            let sql = format!("{ALARM} WHERE model = ?1 ORDER BY id DESC");
            all(connection, &sql, [found.id], |row| alarm_of(row, &found.model))
        })
    }
}

/// A batch that is there already, if its contents are the same.
fn duplicate(known: BatchRecord, batch: &CheckedBatch<'_>) -> Result<Appended, Stopped> {
    if known.content == super::sqlite_rows::hexadecimal(&batch.content) {
        Ok(Appended::Duplicate(Box::new(known)))
    } else {
        Err(MonitorError::KeyReused { key: batch.key.to_owned(), batch: known.batch }.into())
    }
}

fn with_key(
    connection: &Connection,
    found: &ModelRow,
    key: &str,
) -> Result<Option<BatchRecord>, Stopped> {
    let sql = format!("{BATCH} WHERE model = ?1 AND key = ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![found.id, key])?;
    match rows.next()? {
        None => Ok(None),
        Some(row) => {
            let (_, record) = batch_of(row, &found.model)?;
            Ok(with_alarms(connection, found, vec![record])?.pop())
        }
    }
}

/// A batch by its number: its key in the tables, the record and the document.
pub(super) fn numbered(
    connection: &Connection,
    found: &ModelRow,
    number: u64,
) -> Result<(i64, BatchRecord, String), Stopped> {
    let sql = format!("{BATCH} WHERE model = ?1 AND number = ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![found.id, whole(number).unwrap_or(-1)])?;
    match rows.next()? {
        Some(row) => {
            let (id, record) = batch_of(row, &found.model)?;
            Ok((id, record, row.get(14)?))
        }
        None => Err(MonitorError::NoSuch {
            model: found.model.name.to_string(),
            what: "batch",
            number,
            hint: "batches are numbered from 1 in the order of their arrival",
        }
        .into()),
    }
}

fn insert(
    transaction: &Transaction<'_>,
    found: &ModelRow,
    batch: &CheckedBatch<'_>,
    number: u64,
    watched: &Watched,
) -> Result<(), Stopped> {
    let unwritable =
        |error: serde_json::Error| Stopped::Damaged(format!("a result has no JSON form: {error}"));
    transaction
        .prepare_cached(
            "INSERT INTO batches (model, number, watch, version, key, content, name, time, received, rows, summary, stream, document, \
             sketch, sets, kept) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        )?
        .execute(params![
            found.id,
            whole(number)?,
            whole(found.model.watch)?,
            whole(batch.version)?,
            batch.key,
            &batch.content[..],
            batch.name,
            batch.time.seconds(),
            batch.received.seconds(),
            whole(batch.rows)?,
            serde_json::to_string(&batch.summary).map_err(unwritable)?,
            serde_json::to_string(&watched.summary).map_err(unwritable)?,
            batch.document,
            batch.sketch,
            batch.sets,
            batch.kept,
        ])?;
    let key = transaction.last_insert_rowid();
    let mut insert =
        transaction.prepare_cached("INSERT INTO row_ids (batch, id, row) VALUES (?1, ?2, ?3)")?;
    for (row, id) in (0_i64..).zip(batch.ids.unwrap_or_default()) {
        insert.execute(params![key, id, row])?;
    }
    Ok(())
}

/// Stores an alarm, with the message that tells of it.
pub(super) fn insert_alarm(
    transaction: &Transaction<'_>,
    found: &ModelRow,
    batch: Option<u64>,
    alarm: &NewAlarm,
    at: Instant,
) -> Result<u64, Stopped> {
    transaction.execute(
        "INSERT INTO alarms (model, watch, batch, at, rule, value, level, severity, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            found.id,
            whole(found.model.watch)?,
            batch.map(whole).transpose()?,
            at.seconds(),
            alarm.rule.as_str(),
            alarm.value,
            alarm.limit,
            alarm.severity.as_str(),
            alarm.reason,
        ],
    )?;
    let id = transaction.last_insert_rowid().unsigned_abs();
    let payload = serde_json::json!({
        "event": "alarm",
        "model": found.model.name,
        "alarm": id,
        "batch": batch,
        "at": at,
        "rule": alarm.rule,
        "value": alarm.value,
        "limit": alarm.limit,
        "severity": alarm.severity,
        "reason": alarm.reason,
    });
    send(transaction, &Message { model: &found.model.name, kind: "alarm", payload, at })?;
    Ok(id)
}

//! Rows of tables as values, checked: a store may have been changed by hand.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Watch;
use super::sqlite::Stopped;
use crate::alarm::{AlarmRecord, AlarmRule, Severity};
use crate::batch::BatchRecord;
use crate::error::MonitorError;
use crate::instant::Instant;
use crate::labels::{LabelWatch, measured};
use crate::model::{Keep, Model, ModelName, Version};
use evenkeel::stream::StreamAlarm;

/// A model with its key in the tables.
#[derive(Debug, Clone)]
pub(super) struct ModelRow {
    pub id: i64,
    pub model: Model,
}

pub(super) const MODEL: &str = "SELECT id, name, created, alpha, delta, classes, keep, version, watch, batches, rows FROM models";

pub(super) fn model_of(row: &Row<'_>) -> Result<ModelRow, Stopped> {
    let (name, keep): (String, String) = (row.get(1)?, row.get(6)?);
    Ok(ModelRow {
        id: row.get(0)?,
        model: Model {
            name: ModelName::new(&name).map_err(|_| damaged("the name of a model"))?,
            created: instant(row, 2)?,
            alpha: row.get(3)?,
            delta: row.get(4)?,
            classes: count(row, 5)?,
            keep: Keep::from_word(&keep).ok_or_else(|| damaged("what is kept of batches"))?,
            version: count(row, 7)?,
            watch: count(row, 8)?,
            batches: count(row, 9)?,
            rows: count(row, 10)?,
        },
    })
}

/// The model of a name.
pub(super) fn find_model(connection: &Connection, name: &ModelName) -> Result<ModelRow, Stopped> {
    let sql = format!("{MODEL} WHERE name = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([name.as_str()])?;
    match rows.next()? {
        Some(row) => model_of(row),
        None => {
            let mut names = connection.prepare("SELECT name FROM models ORDER BY name LIMIT 20")?;
            let known = names.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            Err(MonitorError::NoSuchModel { name: name.to_string(), known }.into())
        }
    }
}

/// The alarms of a watch.
pub(super) fn find_watch(
    connection: &Connection,
    model: i64,
    number: u64,
) -> Result<Watch, Stopped> {
    let sql =
        "SELECT version, started, stream, labels FROM watches WHERE model = ?1 AND number = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![model, whole(number)?])?;
    let row = rows.next()?.ok_or_else(|| damaged("a watch that is missing"))?;
    let (stream, labels): (Vec<u8>, Vec<u8>) = (row.get(2)?, row.get(3)?);
    Ok(Watch {
        number,
        version: count(row, 0)?,
        started: instant(row, 1)?,
        stream: StreamAlarm::from_bytes(&stream)
            .map_err(|error| Stopped::Damaged(error.to_string()))?,
        labels: LabelWatch::from_bytes(&labels)
            .map_err(|error| Stopped::Damaged(error.to_string()))?,
    })
}

pub(super) const BATCH: &str = "SELECT number, key, content, name, time, received, rows, version, watch, summary, stream, \
                                labeled, covered, id, document FROM batches";

/// A batch with its key in the tables; alarms are added by [`with_alarms`].
pub(super) fn batch_of(row: &Row<'_>, model: &Model) -> Result<(i64, BatchRecord), Stopped> {
    let content: Vec<u8> = row.get(2)?;
    let (summary, stream): (String, String) = (row.get(9)?, row.get(10)?);
    let unreadable =
        |error: serde_json::Error| Stopped::Damaged(format!("the result of a batch: {error}"));
    let (labeled, covered) = (count(row, 11)?, count(row, 12)?);
    let record = BatchRecord {
        model: model.name.to_string(),
        batch: count(row, 0)?,
        key: row.get(1)?,
        content: hexadecimal(&content),
        name: row.get(3)?,
        time: instant(row, 4)?,
        received: instant(row, 5)?,
        rows: count(row, 6)?,
        version: count(row, 7)?,
        watch: count(row, 8)?,
        summary: serde_json::from_str(&summary).map_err(unreadable)?,
        stream: serde_json::from_str(&stream).map_err(unreadable)?,
        measured: match labeled {
            0 => None,
            k => Some(measured(covered, k, model.delta)?),
        },
        alarms: Vec::new(),
    };
    Ok((row.get(13)?, record))
}

/// Adds the alarms that went off with batches.
pub(super) fn with_alarms(
    connection: &Connection,
    found: &ModelRow,
    mut batches: Vec<BatchRecord>,
) -> Result<Vec<BatchRecord>, Stopped> {
    let (Some(first), Some(last)) =
        (batches.first().map(|b| b.batch), batches.last().map(|b| b.batch))
    else {
        return Ok(batches);
    };
    let sql = format!("{ALARM} WHERE model = ?1 AND batch BETWEEN ?2 AND ?3 ORDER BY id");
    let between = params![found.id, whole(first)?, whole(last)?];
    for alarm in all(connection, &sql, between, |row| alarm_of(row, &found.model))? {
        let at = batches.binary_search_by_key(&alarm.batch.unwrap_or(0), |batch| batch.batch);
        if let Some(batch) = at.ok().and_then(|at| batches.get_mut(at)) {
            batch.alarms.push(alarm);
        }
    }
    Ok(batches)
}

pub(super) const ALARM: &str =
    "SELECT id, watch, batch, at, rule, value, level, severity, reason FROM alarms";

pub(super) fn alarm_of(row: &Row<'_>, model: &Model) -> Result<AlarmRecord, Stopped> {
    let (rule, severity): (String, String) = (row.get(4)?, row.get(7)?);
    let batch: Option<i64> = row.get(2)?;
    let watch = count(row, 1)?;
    Ok(AlarmRecord {
        id: count(row, 0)?,
        model: model.name.to_string(),
        watch,
        batch: batch
            .map(|number| u64::try_from(number).map_err(|_| damaged("a number")))
            .transpose()?,
        at: instant(row, 3)?,
        rule: AlarmRule::from_word(&rule).ok_or_else(|| damaged("the rule of an alarm"))?,
        value: row.get(5)?,
        limit: row.get(6)?,
        severity: Severity::from_word(&severity)
            .ok_or_else(|| damaged("the severity of an alarm"))?,
        reason: row.get(8)?,
        standing: watch == model.watch,
    })
}

pub(super) fn version_of(row: &Row<'_>) -> Result<Version, Stopped> {
    let proposal: Option<i64> = row.get(6)?;
    Ok(Version {
        version: count(row, 0)?,
        created: instant(row, 1)?,
        etag: row.get(2)?,
        calibration: row.get(3)?,
        who: row.get(4)?,
        why: row.get(5)?,
        proposal: proposal.and_then(|number| u64::try_from(number).ok()),
    })
}

/// A count: whole numbers of the database have a sign.
pub(super) fn count(row: &Row<'_>, column: usize) -> Result<u64, Stopped> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| damaged("a count"))
}

pub(super) fn instant(row: &Row<'_>, column: usize) -> Result<Instant, Stopped> {
    Ok(Instant::from_seconds(row.get(column)?))
}

/// A count as the database takes it.
pub(super) fn whole(count: u64) -> Result<i64, Stopped> {
    i64::try_from(count).map_err(|_| damaged("a number too large"))
}

pub(super) fn damaged(what: &str) -> Stopped {
    Stopped::Damaged(format!("{what} cannot be read"))
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Every row of a query as a value.
pub(super) fn all<T>(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    mut value_of: impl FnMut(&Row<'_>) -> Result<T, Stopped>,
) -> Result<Vec<T>, Stopped> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(value_of(row)?);
    }
    Ok(found)
}

/// One number of a query; none if there is no row.
pub(super) fn number(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<Option<i64>, Stopped> {
    Ok(connection.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?)
}

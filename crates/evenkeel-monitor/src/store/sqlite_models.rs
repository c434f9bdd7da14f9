//! Models, versions, the audit log, copies.

use std::path::Path;

use evenkeel::stream::StreamAlarm;
use evenkeel_io::write::AtomicFile;
use rusqlite::{Connection, Row, Transaction, params};
use sha2::{Digest, Sha256};

use super::sqlite::{SqliteStore, Stopped};
use super::sqlite_rows::{
    MODEL, all, count, find_model, hexadecimal, instant, model_of, version_of, whole,
};
use super::{AuditEntry, AuditQuery, ModelFacts, NewAudit};
use crate::error::{MonitorError, Result};
use crate::instant::Instant;
use crate::labels::LabelWatch;
use crate::model::{Model, ModelName, NewModel, Version};

impl SqliteStore {
    pub(super) fn insert_model(
        &mut self,
        new: &NewModel<'_>,
        facts: &ModelFacts,
        watch: &StreamAlarm,
    ) -> Result<Model> {
        let stream = watch.to_bytes()?;
        let labels = LabelWatch::new(facts.alpha, new.delta)?.to_bytes()?;
        self.transaction(|transaction| {
            let name = new.name.as_str();
            let etag = etag_of(new.calibration);
            if let Ok(found) = find_model(transaction, &new.name) {
                let first: String = transaction.query_row(
                    "SELECT etag FROM versions WHERE model = ?1 AND version = 1",
                    [found.id],
                    |row| row.get(0),
                )?;
                return match first == etag {
                    true => Ok(found.model),
                    false => Err(MonitorError::ModelExists { name: name.to_owned() }.into()),
                };
            }
            let at = new.at.seconds();
            transaction.execute(
                "INSERT INTO models (name, created, alpha, delta, classes, keep, version, watch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, 1)",
                params![name, at, facts.alpha, new.delta, whole(facts.classes)?, new.keep.as_str()],
            )?;
            let id = transaction.last_insert_rowid();
            transaction.execute(
                "INSERT INTO versions (model, version, created, etag, calibration, who, why) VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6)",
                params![id, at, etag, new.calibration, new.who, "the calibration the model was added with"],
            )?;
            start_watch(transaction, id, (1, 1), new.at, (&stream, &labels))?;
            let added = NewAudit {
                at: new.at,
                who: new.who,
                what: "model added",
                model: Some(&new.name),
                details: &format!("calibration {}", etag.get(..12).unwrap_or_default()),
            };
            log(transaction, &added)?;
            Ok(find_model(transaction, &new.name)?.model)
        })
    }

    pub(super) fn all_models(&mut self) -> Result<Vec<Model>> {
        self.reading(|connection| {
            let sql = format!("{MODEL} ORDER BY name");
            all(connection, &sql, [], |row| Ok(model_of(row)?.model))
        })
    }

    pub(super) fn find_version(
        &mut self,
        name: &ModelName,
        version: Option<u64>,
    ) -> Result<Version> {
        self.reading(|connection| {
            let found = find_model(connection, name)?;
            let number = version.unwrap_or(found.model.version);
            let sql = "SELECT version, created, etag, calibration, who, why, proposal FROM versions WHERE model = ?1 AND version = ?2";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query(params![found.id, whole(number)?])?;
            match rows.next()? {
                Some(row) => version_of(row),
                None => Err(MonitorError::NoSuch {
                    model: name.to_string(),
                    what: "version",
                    number,
                    hint: "versions are numbered from 1",
                }
                .into()),
            }
        })
    }

    pub(super) fn audit_lines(&mut self, query: &AuditQuery<'_>) -> Result<Vec<AuditEntry>> {
        self.reading(|connection| {
            let sql = "SELECT id, at, who, what, model, details FROM audit WHERE id < ?3 AND (?1 IS NULL OR model = ?1 OR (model IS NULL AND what LIKE 'webhooks %')) ORDER BY id DESC LIMIT ?2";
            let entry_of = |row: &Row<'_>| {
                Ok(AuditEntry {
                    id: count(row, 0)?,
                    at: instant(row, 1)?,
                    who: row.get(2)?,
                    what: row.get(3)?,
                    model: row.get(4)?,
                    details: row.get(5)?,
                })
            };
            let before = query.before.and_then(|id| i64::try_from(id).ok()).unwrap_or(i64::MAX);
            let values = params![query.model.map(ModelName::as_str), whole(query.limit)?, before];
            all(connection, sql, values, entry_of)
        })
    }

    /// Under a name beside the last one until it is whole: a copy that fails leaves nothing where the next one is to lie.
    pub(super) fn copy_to(&mut self, to: &Path) -> Result<()> {
        if to.exists() {
            return Err(MonitorError::CopyExists { path: to.to_path_buf() });
        }
        let failed = |why: &str| MonitorError::Sql { path: to.to_path_buf(), why: why.to_owned() };
        let file = AtomicFile::create(to)?;
        let name = file.beside().and_then(Path::to_str);
        let name = name.ok_or_else(|| failed("the name of its folder is no text"))?;
        // A whole database in one file, without a journal: restoring is copying it back.
        self.connection.execute("VACUUM INTO ?1", [name]).map_err(|error| {
            match self.said(&error) {
                MonitorError::Sql { why, .. } => failed(&why),
                other => other,
            }
        })?;
        Ok(file.commit()?)
    }

    pub(super) fn checked_whole(&mut self) -> Result<()> {
        self.reading(|connection| {
            let found: String =
                connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
            if found == "ok" { Ok(()) } else { Err(Stopped::Damaged(found)) }
        })
    }
}

/// Begins a watch: number and version, and the alarms.
pub(super) fn start_watch(
    transaction: &Transaction<'_>,
    model: i64,
    (number, version): (u64, u64),
    at: Instant,
    (stream, labels): (&[u8], &[u8]),
) -> Result<(), Stopped> {
    transaction.execute(
        "INSERT INTO watches (model, number, version, started, stream, labels) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![model, whole(number)?, whole(version)?, at.seconds(), stream, labels],
    )?;
    Ok(())
}

/// Adds a line to the audit log.
pub(super) fn log(connection: &Connection, entry: &NewAudit<'_>) -> Result<(), Stopped> {
    connection
        .prepare_cached(
            "INSERT INTO audit (at, who, what, model, details) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            entry.at.seconds(),
            entry.who,
            entry.what,
            entry.model.map(ModelName::as_str),
            entry.details
        ])?;
    Ok(())
}

/// SHA-256 of a calibration file, in hexadecimal.
pub(super) fn etag_of(calibration: &str) -> String {
    hexadecimal(&Sha256::digest(calibration.as_bytes()))
}

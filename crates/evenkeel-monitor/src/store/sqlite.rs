//! A store in one file of SQLite: journal ahead (WAL), every commit synced (FULL), one writer at a time.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::network_disk::network_disk;
use super::schema::{APPLICATION_ID, SINCE_1, TABLES, VERSION};
use crate::error::{MonitorError, Result};

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(10);

/// A store in one file.
#[derive(Debug)]
pub struct SqliteStore {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

impl SqliteStore {
    /// Opens the store of a file.
    ///
    /// # Errors
    /// If there is none, or it is something else, of another version, damaged, or in use.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Err(MonitorError::NoStore { path: path.to_path_buf() });
        }
        let store = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let found = store.version()?;
        let store = store.configured()?;
        if found == VERSION { Ok(store) } else { store.upgraded() }
    }

    /// Opens the store of a file, or makes a new one where there is none.
    ///
    /// # Errors
    /// As [`open`](Self::open), and if the file cannot be made.
    pub fn open_or_create(path: &Path) -> Result<Self> {
        let missing = std::fs::metadata(path).map_or(true, |found| found.len() == 0);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let store = Self::connect(path, flags)?;
        if !missing && !store.is_blank()? {
            drop(store);
            return Self::open(path);
        }
        let mut store = store.configured()?;
        store.transaction(|transaction| {
            // Someone else may have made it while this one waited.
            let id: i64 = transaction.query_row("PRAGMA application_id", [], |row| row.get(0))?;
            if id != APPLICATION_ID {
                transaction.execute_batch(TABLES)?;
                transaction.execute_batch(SINCE_1)?;
                transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
                transaction.pragma_update(None, "user_version", VERSION)?;
            }
            Ok(())
        })?;
        store.version()?;
        Ok(store)
    }

    /// Brings a store of an earlier version to this one.
    fn upgraded(mut self) -> Result<Self> {
        self.transaction(|transaction| {
            // Someone else may have done it while this one waited.
            let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            if found < VERSION {
                transaction.execute_batch(SINCE_1)?;
                transaction.pragma_update(None, "user_version", VERSION)?;
            }
            Ok(())
        })?;
        Ok(self)
    }

    /// Whether the database holds nothing at all: what is left of a process that was killed while it made the file.
    fn is_blank(&self) -> Result<bool> {
        let held = "SELECT (SELECT count(*) FROM sqlite_schema) + (SELECT application_id FROM pragma_application_id)
             + (SELECT user_version FROM pragma_user_version)";
        let held: i64 = self
            .connection
            .query_row(held, [], |row| row.get(0))
            .map_err(|error| self.said(&error))?;
        Ok(held == 0)
    }

    /// How long to wait for another writer before the store is called locked; ten seconds unless said.
    ///
    /// # Errors
    /// If the database refuses.
    pub fn set_patience(&mut self, patience: Duration) -> Result<()> {
        self.connection.busy_timeout(patience).map_err(|error| self.said(&error))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Self> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(path, flags).map_err(|error| said(path, &error))?;
        let store = Self { connection, path: path.to_path_buf() };
        store.connection.busy_timeout(PATIENCE).map_err(|error| store.said(&error))?;
        Ok(store)
    }

    fn configured(self) -> Result<Self> {
        if let Some(kind) = network_disk(&self.path) {
            let why = format!(
                "it lies on a network disk ({kind}), where locks do not hold and the store would be damaged; use a local disk"
            );
            return Err(MonitorError::Sql { path: self.path, why });
        }
        let set = || -> rusqlite::Result<String> {
            let journal: String =
                self.connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
            self.connection.pragma_update(None, "synchronous", "FULL")?;
            self.connection.pragma_update(None, "foreign_keys", true)?;
            // What stands in the file must not be able to run functions.
            self.connection.pragma_update(None, "trusted_schema", false)?;
            Ok(journal)
        };
        let journal = set().map_err(|error| self.said(&error))?;
        if journal != "wal" {
            return Err(MonitorError::Sql {
                path: self.path,
                why: format!(
                    "the disk allows the journal {journal:?} only; use a local disk, not one of the network"
                ),
            });
        }
        Ok(self)
    }

    /// The version of the store; an error unless it is one that this program knows.
    fn version(&self) -> Result<i64> {
        let pragma = |name: &str| -> rusqlite::Result<i64> {
            self.connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
        };
        let id = pragma("application_id").map_err(|error| self.said(&error))?;
        let version = pragma("user_version").map_err(|error| self.said(&error))?;
        let path = self.path.clone();
        match (id, version) {
            (APPLICATION_ID, 1..=VERSION) => Ok(version),
            (APPLICATION_ID, found) => {
                Err(MonitorError::OtherVersion { path, found, known: VERSION })
            }
            _ => Err(MonitorError::NotAStore {
                path,
                why: "it is a database of another program".to_owned(),
            }),
        }
    }

    /// All or nothing, one writer at a time.
    pub(super) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Stopped>,
    ) -> Result<T> {
        let path = self.path.clone();
        let run = || -> Result<T, Stopped> {
            // The lock is taken at once: a reader that becomes a writer could find that another was faster.
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run().map_err(|stopped| stopped.at(&path))
    }

    /// Something that only reads.
    pub(super) fn reading<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, Stopped>,
    ) -> Result<T> {
        work(&self.connection).map_err(|stopped| stopped.at(&self.path))
    }

    pub(super) fn said(&self, error: &rusqlite::Error) -> MonitorError {
        said(&self.path, error)
    }
}

/// Why a piece of work on the store stopped; the path of the store is added outside.
#[derive(Debug)]
pub(super) enum Stopped {
    Sql(rusqlite::Error),
    /// What the store holds cannot be.
    Damaged(String),
    Other(MonitorError),
}

impl Stopped {
    fn at(self, path: &Path) -> MonitorError {
        match self {
            Self::Sql(error) => said(path, &error),
            Self::Damaged(why) => MonitorError::DamagedStore { path: path.to_path_buf(), why },
            Self::Other(error) => error,
        }
    }
}

impl From<rusqlite::Error> for Stopped {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<MonitorError> for Stopped {
    fn from(error: MonitorError) -> Self {
        Self::Other(error)
    }
}

/// What the database says, as an error of ours.
fn said(path: &Path, error: &rusqlite::Error) -> MonitorError {
    let path = path.to_path_buf();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => MonitorError::Locked { path },
        Some(ErrorCode::NotADatabase) => {
            MonitorError::NotAStore { path, why: "it is no database".to_owned() }
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            MonitorError::DamagedStore { path, why: error.to_string() }
        }
        None => MonitorError::DamagedStore { path, why: error.to_string() },
        Some(_) => MonitorError::Sql { path, why: error.to_string() },
    }
}

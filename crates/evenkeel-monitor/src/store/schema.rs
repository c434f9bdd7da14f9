//! The tables of a store.

/// "EKMO": what a store says it is.
pub(super) const APPLICATION_ID: i64 = 0x454B_4D4F;
/// Version of the tables. A store of an earlier version is brought to it, one of a later version is refused.
pub(super) const VERSION: i64 = 2;

/// What a store of version 1 lacks.
pub(super) const SINCE_1: &str = "
CREATE TABLE row_ids (
    batch INTEGER NOT NULL REFERENCES batches(id), id TEXT NOT NULL, row INTEGER NOT NULL,
    PRIMARY KEY (batch, id)) STRICT, WITHOUT ROWID;
";

/// The tables of version 1. Batches, proposals and versions are numbered from 1 for each model: people read these numbers out to each other.
pub(super) const TABLES: &str = "
CREATE TABLE models (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created INTEGER NOT NULL, alpha REAL NOT NULL, delta REAL NOT NULL,
    classes INTEGER NOT NULL, keep TEXT NOT NULL, version INTEGER NOT NULL, watch INTEGER NOT NULL,
    batches INTEGER NOT NULL DEFAULT 0, rows INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE versions (
    model INTEGER NOT NULL REFERENCES models(id), version INTEGER NOT NULL, created INTEGER NOT NULL, etag TEXT NOT NULL,
    calibration TEXT NOT NULL, who TEXT NOT NULL, why TEXT NOT NULL, proposal INTEGER,
    PRIMARY KEY (model, version)) STRICT;
CREATE TABLE watches (
    model INTEGER NOT NULL REFERENCES models(id), number INTEGER NOT NULL, version INTEGER NOT NULL, started INTEGER NOT NULL,
    stream BLOB NOT NULL, labels BLOB NOT NULL,
    PRIMARY KEY (model, number)) STRICT;
CREATE TABLE batches (
    id INTEGER PRIMARY KEY, model INTEGER NOT NULL REFERENCES models(id), number INTEGER NOT NULL, watch INTEGER NOT NULL,
    version INTEGER NOT NULL, key TEXT NOT NULL, content BLOB NOT NULL, name TEXT NOT NULL, time INTEGER NOT NULL,
    received INTEGER NOT NULL, rows INTEGER NOT NULL, summary TEXT NOT NULL, stream TEXT NOT NULL, document TEXT NOT NULL,
    sketch BLOB NOT NULL, sets BLOB, kept BLOB, labeled INTEGER NOT NULL DEFAULT 0, covered INTEGER NOT NULL DEFAULT 0,
    UNIQUE (model, key), UNIQUE (model, number)) STRICT;
CREATE INDEX batches_by_time ON batches (model, time);
CREATE TABLE labels (
    batch INTEGER NOT NULL REFERENCES batches(id), row INTEGER NOT NULL, label INTEGER NOT NULL, covered INTEGER NOT NULL,
    received INTEGER NOT NULL,
    PRIMARY KEY (batch, row)) STRICT, WITHOUT ROWID;
CREATE TABLE alarms (
    id INTEGER PRIMARY KEY, model INTEGER NOT NULL REFERENCES models(id), watch INTEGER NOT NULL, batch INTEGER,
    at INTEGER NOT NULL, rule TEXT NOT NULL, value REAL NOT NULL, level REAL NOT NULL, severity TEXT NOT NULL,
    reason TEXT NOT NULL) STRICT;
CREATE INDEX alarms_by_model ON alarms (model, id);
CREATE TABLE proposals (
    id INTEGER PRIMARY KEY, model INTEGER NOT NULL REFERENCES models(id), number INTEGER NOT NULL, watch INTEGER NOT NULL,
    created INTEGER NOT NULL, state TEXT NOT NULL, document TEXT NOT NULL, calibration TEXT NOT NULL, baseline BLOB NOT NULL,
    who TEXT, why TEXT, decided INTEGER,
    UNIQUE (model, number)) STRICT;
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY, model TEXT NOT NULL, created INTEGER NOT NULL, kind TEXT NOT NULL, payload TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, due INTEGER, delivered INTEGER, error TEXT) STRICT;
CREATE INDEX outbox_due ON outbox (due) WHERE delivered IS NULL;
CREATE TABLE tokens (
    id TEXT PRIMARY KEY, hash BLOB NOT NULL, scopes TEXT NOT NULL, model TEXT, created INTEGER NOT NULL, note TEXT NOT NULL,
    revoked INTEGER) STRICT;
CREATE TABLE audit (
    id INTEGER PRIMARY KEY, at INTEGER NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, model TEXT, details TEXT NOT NULL) STRICT;
";

//! Messages to deliver, and tokens.

use rusqlite::{Connection, Row, params};

use super::NewAudit;
use super::sqlite::{SqliteStore, Stopped};
use super::sqlite_models::log;
use super::sqlite_rows::{all, count, damaged, instant, whole};
use super::{Outbox, OutboxMessage, Telling, Token, Tokens};
use crate::error::{MonitorError, Result};
use crate::instant::Instant;
use crate::model::ModelName;

/// A message to be written.
pub(super) struct Message<'a> {
    pub model: &'a ModelName,
    pub kind: &'a str,
    pub payload: serde_json::Value,
    pub at: Instant,
}

/// Writes a message, due at once.
pub(super) fn send(connection: &Connection, message: &Message<'_>) -> Result<(), Stopped> {
    connection
        .prepare_cached(
            "INSERT INTO outbox (model, created, kind, payload, due) VALUES (?1, ?2, ?3, ?4, ?2)",
        )?
        .execute(params![
            message.model.as_str(),
            message.at.seconds(),
            message.kind,
            message.payload.to_string()
        ])?;
    Ok(())
}

const MESSAGE: &str =
    "SELECT id, model, created, kind, payload, attempts, COALESCE(due, created), error FROM outbox";

fn message_of(row: &Row<'_>) -> Result<OutboxMessage, Stopped> {
    Ok(OutboxMessage {
        id: count(row, 0)?,
        model: row.get(1)?,
        created: instant(row, 2)?,
        kind: row.get(3)?,
        payload: row.get(4)?,
        attempts: count(row, 5)?,
        due: instant(row, 6)?,
        error: row.get(7)?,
    })
}

impl SqliteStore {
    fn messages(
        &mut self,
        clause: &str,
        values: impl rusqlite::Params,
    ) -> Result<Vec<OutboxMessage>> {
        let sql = format!("{MESSAGE} {clause}");
        self.reading(|connection| all(connection, &sql, values, message_of))
    }
}

impl Outbox for SqliteStore {
    fn set_telling(&mut self, telling: Telling, at: Instant) -> Result<()> {
        self.transaction(|transaction| {
            let sql = "SELECT at, what FROM audit WHERE what IN (?1, ?2) ORDER BY id DESC LIMIT 1";
            let words = [Telling::On, Telling::Off].map(Telling::audited);
            let last = all(transaction, sql, words, |row| {
                let what: String = row.get(1)?;
                Ok((instant(row, 0)?, what))
            })?;
            let last = last.first().map(|(at, what)| (*at, what.as_str()));
            let details = match (telling, last) {
                (Telling::Off, None) => return Ok(()),
                (_, Some((_, what))) if what == telling.audited() => return Ok(()),
                (Telling::Off, Some(_)) => "what happens from now on is not told".to_owned(),
                (Telling::On, None) if told_before(transaction)? => {
                    "they were on before this log said so; nothing is passed over".to_owned()
                }
                (Telling::On, last) => {
                    let since = last.map_or(i64::MIN, |(at, _)| at.seconds());
                    let sql = "UPDATE outbox SET due = NULL, delivered = ?1, error = 'nobody was to be told' \
                               WHERE delivered IS NULL AND due IS NOT NULL AND created > ?2";
                    let passed = transaction.execute(sql, params![at.seconds(), since])?;
                    let messages = if passed == 1 { "message" } else { "messages" };
                    format!("{passed} {messages} from before not sent")
                }
            };
            let (who, what) = ("server", telling.audited());
            log(transaction, &NewAudit { at, who, what, model: None, details: &details })
        })
    }

    fn due(&mut self, now: Instant, limit: u64) -> Result<Vec<OutboxMessage>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let clause = "WHERE delivered IS NULL AND due <= ?1 ORDER BY due, id LIMIT ?2";
        self.messages(clause, params![now.seconds(), limit])
    }

    fn delivered(&mut self, id: u64, at: Instant) -> Result<()> {
        self.transaction(|transaction| {
            let sql = "UPDATE outbox SET delivered = ?2, attempts = attempts + 1, error = NULL WHERE id = ?1";
            transaction.execute(sql, params![whole(id)?, at.seconds()])?;
            Ok(())
        })
    }

    fn failed(&mut self, id: u64, error: &str, next: Option<Instant>) -> Result<()> {
        self.transaction(|transaction| {
            let sql = "UPDATE outbox SET attempts = attempts + 1, error = ?2, due = ?3 WHERE id = ?1 AND delivered IS NULL";
            transaction.execute(sql, params![whole(id)?, error, next.map(Instant::seconds)])?;
            Ok(())
        })
    }

    fn dead(&mut self) -> Result<Vec<OutboxMessage>> {
        self.messages("WHERE delivered IS NULL AND due IS NULL ORDER BY id", [])
    }
}

const TOKEN: &str = "SELECT id, hash, scopes, model, created, note, revoked FROM tokens";

fn token_of(row: &Row<'_>) -> Result<Token, Stopped> {
    let hash: Vec<u8> = row.get(1)?;
    let revoked: Option<i64> = row.get(6)?;
    // Names of models have no commas.
    let models: Option<String> = row.get(3)?;
    Ok(Token {
        id: row.get(0)?,
        hash: hash.try_into().map_err(|_| damaged("the hash of a token"))?,
        scopes: row.get(2)?,
        models: models.map(|names| names.split(',').map(str::to_owned).collect()),
        created: instant(row, 4)?,
        note: row.get(5)?,
        revoked: revoked.map(Instant::from_seconds),
    })
}

fn find_token(connection: &Connection, id: &str) -> Result<Option<Token>, Stopped> {
    let mut statement = connection.prepare_cached(&format!("{TOKEN} WHERE id = ?1"))?;
    let mut rows = statement.query([id])?;
    rows.next()?.map(token_of).transpose()
}

/// Whoever can write the store makes and revokes tokens. In the log of a model where the token is for that one alone.
fn log_token(
    transaction: &Connection,
    token: &Token,
    (what, details): (&str, &str),
    at: Instant,
) -> Result<(), Stopped> {
    let model = match token.models.as_deref() {
        Some([name]) => Some(ModelName::new(name)?),
        _ => None,
    };
    log(transaction, &NewAudit { at, who: "operator", what, model: model.as_ref(), details })
}

impl Tokens for SqliteStore {
    fn add_token(&mut self, token: &Token) -> Result<()> {
        self.transaction(|transaction| {
            if super::sqlite_rows::number(transaction, "SELECT 1 FROM tokens WHERE id = ?1", [&token.id])?.is_some() {
                return Err(MonitorError::KeyReused { key: token.id.clone(), batch: 0 }.into());
            }
            transaction.execute(
                "INSERT INTO tokens (id, hash, scopes, model, created, note, revoked) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    token.id,
                    &token.hash[..],
                    token.scopes,
                    token.models.as_ref().map(|names| names.join(",")),
                    token.created.seconds(),
                    token.note,
                    token.revoked.map(Instant::seconds)
                ],
            )?;
            let of = token.models.as_ref().map_or_else(|| "all models".to_owned(), |names| names.join(", "));
            let named = if token.note.is_empty() { String::new() } else { format!(" ({})", token.note) };
            let details = format!("{}{named} for {} of {of}", token.id, token.scopes);
            log_token(transaction, token, ("token made", &details), token.created)
        })
    }

    fn tokens(&mut self) -> Result<Vec<Token>> {
        let sql = format!("{TOKEN} ORDER BY id");
        self.reading(|connection| all(connection, &sql, [], token_of))
    }

    fn token(&mut self, id: &str) -> Result<Option<Token>> {
        self.reading(|connection| find_token(connection, id))
    }

    fn revoke(&mut self, id: &str, at: Instant) -> Result<bool> {
        self.transaction(|transaction| {
            let found = find_token(transaction, id)?.filter(|token| token.revoked.is_none());
            let Some(token) = found else { return Ok(false) };
            transaction.execute(
                "UPDATE tokens SET revoked = ?2 WHERE id = ?1",
                params![id, at.seconds()],
            )?;
            log_token(transaction, &token, ("token revoked", id), at)?;
            Ok(true)
        })
    }
}

/// Whether some message was sent or tried: then webhooks were on, also where an older version did not log it.
fn told_before(transaction: &rusqlite::Transaction<'_>) -> Result<bool, Stopped> {
    let sql = "SELECT EXISTS (SELECT 1 FROM outbox WHERE attempts > 0)";
    Ok(transaction.query_row(sql, [], |row| row.get(0))?)
}

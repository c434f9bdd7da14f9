//! Tokens, made and taken back by whoever can write the store.

use std::path::Path;

use evenkeel_monitor::{Instant, ModelName, SqliteStore, Token, Tokens as _};

use crate::error::ServeError;
use crate::tokens::{NewToken, Scope};

/// A token to be made.
#[derive(Debug, Clone)]
pub struct TokenOrder {
    /// Who or what will use it.
    pub note: String,
    /// What it is for.
    pub scopes: Vec<Scope>,
    /// The models it is for; an empty list is all.
    pub models: Vec<String>,
}

/// Makes a token. The store keeps its hash; its text is in the answer and nowhere else.
///
/// # Errors
/// If the store cannot be written, or the name of the model cannot be one.
pub fn add_token(store: &Path, order: &TokenOrder) -> Result<NewToken, ServeError> {
    for name in &order.models {
        ModelName::new(name)?;
    }
    let mut scopes = order.scopes.clone();
    scopes.sort_unstable();
    scopes.dedup();
    let scopes: Vec<&str> = scopes.into_iter().map(Scope::as_str).collect();
    let new = NewToken::draw()?;
    let mut store = SqliteStore::open_or_create(store)?;
    store.add_token(&Token {
        id: new.id.clone(),
        hash: new.hash,
        scopes: scopes.join(","),
        models: (!order.models.is_empty()).then(|| order.models.clone()),
        created: Instant::now(),
        note: order.note.clone(),
        revoked: None,
    })?;
    Ok(new)
}

/// All tokens, without their secrets.
///
/// # Errors
/// If the store cannot be read.
pub fn tokens(store: &Path) -> Result<Vec<Token>, ServeError> {
    Ok(SqliteStore::open(store)?.tokens()?)
}

/// Makes a token worth nothing from now on; whether there was one.
///
/// # Errors
/// If the store cannot be written.
pub fn revoke_token(store: &Path, id: &str) -> Result<bool, ServeError> {
    Ok(SqliteStore::open(store)?.revoke(id, Instant::now())?)
}

//! Where a page of a list begins.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::Deserialize;

/// `?before=`: what is older than this number. One that is no number is no reason to show nothing.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Before {
    pub before: Option<u64>,
}

impl<S: Send + Sync> FromRequestParts<S> for Before {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let query = Query::<Self>::from_request_parts(parts, state).await;
        Ok(query.map(|Query(found)| found).unwrap_or_default())
    }
}

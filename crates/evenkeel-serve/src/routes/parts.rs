//! Parts of addresses, checked; what is wrong with one is a problem like any other.

use std::collections::BTreeMap;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use evenkeel_monitor::ModelName;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// The model that an address names; whether there is one is not known yet.
#[derive(Debug)]
pub(crate) struct InModel(pub ModelName);

/// The model, and the number of its batch or proposal.
#[derive(Debug)]
pub(crate) struct Numbered {
    pub model: ModelName,
    pub number: u64,
}

/// What stands after the question mark.
#[derive(Debug)]
pub(crate) struct Asked<T>(pub T);

/// Lines of a page of a list, unless it is asked for another number.
const PAGE: u64 = 100;

/// Most lines of a page.
const LARGEST_PAGE: u64 = 1000;

/// How many are asked for.
pub(crate) fn limit_of(asked: Option<u64>) -> Result<u64, Problem> {
    let limit = asked.unwrap_or(PAGE);
    match (1..=LARGEST_PAGE).contains(&limit) {
        true => Ok(limit),
        false => Err(Problem::usage(format!("limit is {limit}; ask for 1 to {LARGEST_PAGE}"))),
    }
}

/// Where a page begins.
pub(crate) fn cursor_of(asked: Option<&str>) -> Result<Option<u64>, Problem> {
    let Some(text) = asked else { return Ok(None) };
    // Digits only, and not so many that they are no number of ours.
    let is_plain = text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
    let cursor: Option<u64> = text.parse().ok().filter(|_| is_plain);
    cursor.map(Some).ok_or_else(|| {
        Problem::usage(format!("{text:?} is no cursor; give next_cursor of the page before"))
    })
}

async fn named(parts: &mut Parts) -> Result<BTreeMap<String, String>, Problem> {
    let path = Path::<BTreeMap<String, String>>::from_request_parts(parts, &()).await;
    path.map(|Path(named)| named).map_err(|error| Problem::usage(error.body_text()))
}

fn model(named: &BTreeMap<String, String>) -> Result<ModelName, Problem> {
    let name = named.get("model").map_or("", String::as_str);
    ModelName::new(name).map_err(|error| Problem::usage(error.to_string()))
}

impl<S: Send + Sync> FromRequestParts<S> for InModel {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(model(&named(parts).await?)?))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Numbered {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let named = named(parts).await?;
        let text = named.get("number").map_or("", String::as_str);
        // Digits only: `+1` and `01` would be further names of the same thing.
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        let number = text.parse().ok().filter(|_| is_plain);
        let number = number.filter(|number| i64::try_from(*number).is_ok());
        let number =
            number.ok_or_else(|| Problem::usage(format!("{text:?} is no number from 1 on")))?;
        Ok(Self { model: model(&named)?, number })
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query.map(|Query(asked)| Self(asked)).map_err(|error| Problem::usage(error.body_text()))
    }
}

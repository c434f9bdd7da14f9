//! JSON held to the limits while it is read: a row of one number takes 4 bytes of text and twenty times that in memory, so that counting
//! afterwards would be too late.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::de::SliceRead;

use crate::content::require_rows;
use crate::limits::Limits;
use crate::problem::Problem;

/// The limits, and why reading ended.
#[derive(Clone, Copy)]
pub(crate) struct Within<'a> {
    pub limits: &'a Limits,
    /// Why reading ended, where it was not the text's fault.
    stopped: &'a RefCell<Option<Problem>>,
}

impl Within<'_> {
    /// Ends the reading with an answer of our own.
    pub(crate) fn stop<E: serde::de::Error>(&self, problem: Problem) -> E {
        self.stopped.replace(Some(problem));
        E::custom("stopped")
    }
}

/// Reads one document to its end.
///
/// # Errors
/// If it is no JSON, no such document, or `document` stopped.
pub(crate) fn read_within<'de, T>(
    content: &'de [u8],
    limits: &Limits,
    document: impl FnOnce(
        Within<'_>,
        &mut serde_json::Deserializer<SliceRead<'de>>,
    ) -> serde_json::Result<T>,
) -> Result<T, Problem> {
    let stopped = RefCell::new(None);
    let mut json = serde_json::Deserializer::from_slice(content);
    let found = document(Within { limits, stopped: &stopped }, &mut json)
        .and_then(|found| json.end().map(|()| found));
    found.map_err(|error| stopped.take().unwrap_or_else(|| problem_of(&error)))
}

/// What is wrong with the text itself.
pub(crate) fn problem_of(error: &serde_json::Error) -> Problem {
    match error.classify() {
        serde_json::error::Category::Data => Problem::data(format!("the body: {error}")),
        _ => Problem::usage(format!("the body is not JSON: {error}")),
    }
}

/// A list of at most as many things as a batch may have rows, or null.
pub(crate) struct List<'a, T, U> {
    within: Within<'a>,
    of: PhantomData<(T, U)>,
}

impl<'a, T, U> List<'a, T, U> {
    pub(crate) fn within(within: Within<'a>) -> Self {
        Self { within, of: PhantomData }
    }
}

impl<'de, T: Deserialize<'de> + Into<U>, U> DeserializeSeed<'de> for List<'_, T, U> {
    type Value = Option<Vec<U>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, T: Deserialize<'de> + Into<U>, U> Visitor<'de> for List<'_, T, U> {
    type Value = Option<Vec<U>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element::<T>()? {
            require_rows(all.len() + 1, 1, self.within.limits)
                .map_err(|problem| self.within.stop::<A::Error>(problem))?;
            all.push(one.into());
        }
        Ok(Some(all))
    }
}

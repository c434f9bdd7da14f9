//! A form that somebody filled in, read within its own limits: small, and in the time that any body has.
//!
//! Not `axum::Form` alone: it waits for ever for a form that does not end, and the login can be reached by everybody.

use std::sync::Arc;

use axum::Form;
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::limits::Limits;
use crate::problem::Problem;

/// Bytes of a form: the longest reason, each letter in the longest way to write it.
const MOST_BYTES: usize = 64 << 10;

/// A form that somebody filled in.
pub(super) struct Filled<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Filled<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let (head, body) = request.into_parts();
        let limits = Limits { body_bytes: app.limits.body_bytes.min(MOST_BYTES), ..app.limits };
        let received = app.bodies.receive(&head.headers, body, &limits).await?;
        let request = Request::from_parts(head, Body::from(received.bytes));
        let read = Form::from_request(request, app).await;
        read.map(|Form(form)| Self(form)).map_err(|error| Problem::usage(error.body_text()))
    }
}

//! What is wrong with a request, as `application/problem+json` (RFC 9457).

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use evenkeel::error::Category as CoreCategory;
use evenkeel_io::{Category, IoError};
use evenkeel_jobs::{JobError, plainly};
use evenkeel_monitor::{Kind as MonitorKind, MonitorError};
use serde::Serialize;
use utoipa::ToSchema;

/// Seconds after which a caller may ask again when the server is full.
pub(crate) const RETRY_SECONDS: u32 = 1;

/// What is wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    status: StatusCode,
    kind: Kind,
    detail: String,
}

/// What kind of trouble it is, so that a program can tell what to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// The request itself: a header, a parameter, a setting out of its range.
    Usage,
    /// What the body holds.
    Data,
    /// Things that do not fit each other: a batch of other classes, a key that was used for another body.
    Incompatible,
    /// Nobody of this name is known here, or not for this.
    Access,
    /// No such model, batch, proposal or page.
    NotFound,
    /// More than the server takes: bytes, rows, time, requests.
    Limit,
    /// The server's own trouble.
    System,
}

/// The document of a problem.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProblemDocument {
    /// Always `about:blank`: the status says what kind of problem it is.
    #[schema(example = "about:blank")]
    r#type: &'static str,
    /// The status in words.
    title: String,
    /// The status code of the answer.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    kind: Kind,
    /// What was found, where, and what to do.
    detail: String,
}

/// Longest error that is answered.
const MOST_CHARACTERS: usize = 4000;

impl Problem {
    pub(crate) fn new(status: StatusCode, kind: Kind, detail: impl Into<String>) -> Self {
        let mut detail = detail.into();
        // Errors repeat what was sent, which may be megabytes of a name.
        if let Some((end, _)) = detail.char_indices().nth(MOST_CHARACTERS) {
            detail.truncate(end);
            detail.push_str(" ...");
        }
        Self { status, kind, detail }
    }

    /// A header, parameter or form that cannot be understood.
    pub(crate) fn usage(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Kind::Usage, detail)
    }

    /// A body that was read and is not what it should be.
    pub(crate) fn data(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, Kind::Data, detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, Kind::NotFound, detail)
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, Kind::Incompatible, detail)
    }

    /// Nobody said who asks, or not in a way that is known here.
    pub(crate) fn unknown_caller() -> Self {
        let detail = "send `Authorization: Bearer ek_...` with a token of this server";
        Self::new(StatusCode::UNAUTHORIZED, Kind::Access, detail)
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, Kind::Access, detail)
    }

    pub(crate) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, Kind::Limit, detail)
    }

    /// More work than the server takes; the same request may be sent again.
    pub(crate) fn busy(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, Kind::Limit, detail)
    }

    /// The server's own trouble. The details go to its log: they may name files and are of no use to a caller.
    pub(crate) fn system(error: &dyn std::fmt::Display) -> Self {
        crate::log::line(format_args!("error: {error}"));
        let detail = "the server could not do this; its log says why. Send the request again with the same key";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, Kind::System, detail)
    }

    /// The status of the answer.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// What was found, where, and what to do.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// The same, with what the caller calls something in place of the name under which it was kept.
    pub(crate) fn renamed(mut self, kept_as: &str, shown: &str) -> Self {
        self.detail = self.detail.replace(kept_as, shown);
        self
    }

    fn document(&self) -> ProblemDocument {
        ProblemDocument {
            r#type: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Problem").to_owned(),
            status: self.status.as_u16(),
            kind: self.kind,
            detail: self.detail.clone(),
        }
    }

    /// Of something that a job found.
    fn of_job(error: &JobError) -> Self {
        let found = match error {
            JobError::Source(source) => source.downcast_ref::<IoError>(),
            _ => None,
        };
        match (found, error.category()) {
            (Some(io), _) => Self::of_io(io, "", ""),
            (None, Some(category)) => of_core(category, error.spelled(&plainly)),
            (None, None) => Self::system(error),
        }
    }

    /// Of something that a reader found. `shown` is what the caller sees in place of the name under which the body was kept.
    pub(crate) fn of_io(error: &IoError, kept_as: &str, shown: &str) -> Self {
        let detail = error.to_string();
        let problem = match error.category() {
            Category::Argument => Self::usage(detail),
            Category::Content | Category::Incompatible => Self::data(detail),
            Category::Core(category) => of_core(category, detail),
            Category::System => Self::system(error),
        };
        match kept_as {
            "" => problem,
            kept_as => problem.renamed(kept_as, shown),
        }
    }
}

/// Exhaustive: a category that the core adds has a status before this compiles again.
fn of_core(category: CoreCategory, detail: String) -> Problem {
    match category {
        CoreCategory::InvalidInput => Problem::data(detail),
        CoreCategory::InvalidParameter => Problem::usage(detail),
        CoreCategory::Incompatible => {
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, Kind::Incompatible, detail)
        }
    }
}

impl From<evenkeel::Error> for Problem {
    fn from(error: evenkeel::Error) -> Self {
        of_core(error.category(), error.to_string())
    }
}

impl From<JobError> for Problem {
    fn from(error: JobError) -> Self {
        Self::of_job(&error)
    }
}

impl From<MonitorError> for Problem {
    fn from(error: MonitorError) -> Self {
        let error = match error {
            MonitorError::Job(job) => return job.into(),
            MonitorError::Core(core) => return core.into(),
            MonitorError::Io(io) => return Self::of_io(&io, "", ""),
            other => other,
        };
        let detail = error.to_string();
        match error.kind() {
            MonitorKind::NotFound => Self::not_found(detail),
            MonitorKind::Conflict => Self::conflict(detail),
            MonitorKind::Invalid => match error {
                MonitorError::BadName { .. }
                | MonitorError::BadKey { .. }
                | MonitorError::BadTime { .. } => Self::usage(detail),
                _ => Self::data(detail),
            },
            // Another program writes: the same request can be sent again.
            MonitorKind::Busy => {
                Self::busy("another program is writing to the store; send this again later")
            }
            MonitorKind::Storage => Self::system(&error),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.document())).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            headers.insert(RETRY_AFTER, HeaderValue::from(RETRY_SECONDS));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer realm=\"evenkeel\"");
            headers.insert(axum::http::header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

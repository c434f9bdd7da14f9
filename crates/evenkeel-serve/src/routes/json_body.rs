//! A document that changes something of a model: who may send it, how it is read, where the work is done.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRef, FromRequest, Request};
use axum::http::{HeaderMap, StatusCode};
use evenkeel_monitor::ModelName;

use super::parts::Numbered;
use crate::app::App;
use crate::body::ReceivedBody;
use crate::caller::Caller;
use crate::content::{inflated, require_json};
use crate::limits::Limits;
use crate::problem::Problem;
use crate::tokens::Scope;

/// What came for a batch or a proposal of a model; its body has not been read yet.
pub(crate) struct Sent {
    caller: Caller,
    at: Numbered,
    headers: HeaderMap,
    body: Body,
}

impl<S: Send + Sync> FromRequest<S> for Sent
where
    Arc<App>: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        use axum::extract::FromRequestParts as _;
        let (mut parts, body) = request.into_parts();
        let caller = Caller::from_request_parts(&mut parts, state).await?;
        let at = Numbered::from_request_parts(&mut parts, state).await?;
        Ok(Self { caller, at, headers: parts.headers, body })
    }
}

/// A document that is read from a body.
pub(crate) trait SentDocument: Sized {
    /// Bytes of one, as it is sent and once it is inflated; the server's limits where it is none of its own.
    const MOST_BYTES: Option<usize>;

    /// Reads it, within the limits.
    fn read(bytes: &[u8], limits: &Limits) -> Result<Self, Problem>;
}

/// What the work is given: the server, the model and number of the address, who asks, and the document.
pub(crate) struct Document<T> {
    pub app: Arc<App>,
    pub model: ModelName,
    pub number: u64,
    pub who: String,
    pub content: T,
}

/// Where work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// With the batches, which are refused where too many wait.
    Queue,
    /// Beside them: people decide seldom, and most of all when there is much to do.
    Beside,
}

impl Sent {
    /// Reads the document and does the work, on a thread for such work: a body may take long to inflate, and the store to write.
    ///
    /// # Errors
    /// If the caller may not, the body is no such document, the server is full, or the work fails.
    pub(crate) async fn handled<T: SentDocument, A: Send + 'static>(
        self,
        app: Arc<App>,
        (scope, lane): (Scope, Lane),
        work: impl FnOnce(Document<T>) -> Result<A, Problem> + Send + 'static,
    ) -> Result<A, Problem> {
        let Self { caller, at: Numbered { model, number }, headers, body } = self;
        caller.require(scope, Some(model.as_str()))?;
        require_json(&headers)?;
        app.require_model(&model).await?;
        if lane == Lane::Queue {
            app.queue.require_room()?;
        }
        let mut limits = app.limits;
        if let Some(most) = T::MOST_BYTES {
            limits.body_bytes = limits.body_bytes.min(most);
            limits.inflated_bytes = limits.inflated_bytes.min(most);
        }
        let received = app.bodies.receive(&headers, body, &limits).await;
        let received: ReceivedBody = received.map_err(of_document::<T>)?;
        let (at_work, who) = (Arc::clone(&app), caller.name());
        let work = move || {
            let bytes = inflated(&headers, &received.bytes, &limits).map_err(of_document::<T>)?;
            let content = T::read(&bytes, &limits)?;
            work(Document { app: at_work, model, number, who, content })
        };
        match lane {
            Lane::Queue => app.queue.run(app.queue.place()?, work).await,
            Lane::Beside => app.beside(work).await,
        }
    }
}

/// Says which limit it was: the flags of the server do not move that of a document.
fn of_document<T: SentDocument>(problem: Problem) -> Problem {
    match T::MOST_BYTES {
        Some(most) if problem.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            Problem::too_large(format!("this document may have {most} bytes; shorten it"))
        }
        _ => problem,
    }
}

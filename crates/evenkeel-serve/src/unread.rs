//! Bodies of requests that were refused before they were read.
//!
//! A connection that is closed on a caller who still sends is reset, and the answer is lost with it: a caller that should wait
//! for a moment would see an error it cannot read. So a little of what is left is read and thrown away first.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};

/// Bytes that are read to be thrown away: more than a batch usually has.
const MOST_BYTES: usize = 2 << 20;

/// How long that may take.
const MOST_TIME: Duration = Duration::from_secs(1);

/// A body of which what is left can be read after the request was handled.
struct Shared(Arc<Mutex<Body>>);

impl HttpBody for Shared {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let mut body = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Pin::new(&mut *body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).size_hint()
    }
}

/// Reads the rest of a body, up to its limits, before a refusal is sent.
pub(crate) async fn throw_away(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let shared = Arc::new(Mutex::new(body));
    let request = Request::from_parts(head, Body::new(Shared(Arc::clone(&shared))));
    let response = next.run(request).await;
    if response.status().is_client_error() {
        let mut rest = Body::new(Shared(shared));
        let read = async {
            let mut bytes = 0;
            while let Some(Ok(frame)) = rest.frame().await {
                bytes += frame.data_ref().map_or(0, Bytes::len);
                if bytes > MOST_BYTES {
                    break;
                }
            }
        };
        // The answer goes out in any case.
        let _ = tokio::time::timeout(MOST_TIME, read).await;
    }
    response
}

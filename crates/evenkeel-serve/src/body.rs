//! Bodies, read within limits: bytes of one, bytes of all at once, and time.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode};
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::Limits;
use crate::problem::{Kind, Problem};

/// Bytes that a permit stands for: semaphores count to 2^32 at most on small machines, bodies are counted in pages.
const PAGE: usize = 4096;

/// Memory for bodies, shared by all requests.
#[derive(Debug, Clone)]
pub(crate) struct BodyMemory {
    pages: Arc<Semaphore>,
}

/// A body, and its share of the memory for bodies, which is given back when it is dropped.
#[derive(Debug)]
pub(crate) struct ReceivedBody {
    /// What came, as it was sent.
    pub bytes: Vec<u8>,
    _share: Vec<OwnedSemaphorePermit>,
}

impl BodyMemory {
    /// Memory of so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { pages: Arc::new(Semaphore::new((bytes / PAGE).min(Semaphore::MAX_PERMITS))) }
    }

    /// Reads a body to its end.
    ///
    /// # Errors
    /// 413 for a body larger than the limit, before any of it is read where its head says so; 408 for one that takes too
    /// long; 429 where other bodies have taken all memory; 400 where the connection broke.
    pub(crate) async fn receive(
        &self,
        headers: &HeaderMap,
        body: Body,
        limits: &Limits,
    ) -> Result<ReceivedBody, Problem> {
        let most = limits.body_bytes;
        let claimed = headers.get(axum::http::header::CONTENT_LENGTH);
        let claimed = claimed.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if claimed.is_some_and(|claimed| claimed > most as u64) {
            return Err(too_large(most));
        }
        let reading = self.collect(body, most);
        tokio::time::timeout(limits.body_time, reading).await.unwrap_or_else(|_| {
            let seconds = limits.body_time.as_secs_f64();
            let detail = format!(
                "the body did not arrive within {seconds} s; send it faster or in smaller batches"
            );
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, Kind::Limit, detail))
        })
    }

    async fn collect(&self, mut body: Body, most: usize) -> Result<ReceivedBody, Problem> {
        let mut received = ReceivedBody { bytes: Vec::new(), _share: Vec::new() };
        let mut pages = 0;
        while let Some(frame) = body.frame().await {
            let frame =
                frame.map_err(|_| Problem::usage("the connection broke before the body ended"))?;
            let Ok(chunk): Result<Bytes, _> = frame.into_data() else { continue };
            let length = received.bytes.len() + chunk.len();
            if length > most {
                return Err(too_large(most));
            }
            let needed = length.div_ceil(PAGE);
            if needed > pages {
                let more = u32::try_from(needed - pages).unwrap_or(u32::MAX);
                let share = Arc::clone(&self.pages).try_acquire_many_owned(more);
                let share = share.map_err(|_| {
                    Problem::busy("other requests have taken all memory for bodies; send this one again later")
                })?;
                received._share.push(share);
                pages = needed;
            }
            received.bytes.extend_from_slice(&chunk);
        }
        Ok(received)
    }
}

fn too_large(most: usize) -> Problem {
    Problem::too_large(format!(
        "the body is larger than {most} bytes; send smaller batches, or raise --max-body"
    ))
}

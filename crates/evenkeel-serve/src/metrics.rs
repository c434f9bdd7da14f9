//! What the server counts about itself; what it knows of models stands in the store.

use std::sync::atomic::AtomicU64;

use crate::seconds_histogram::SecondsHistogram;

/// Counters since the start.
#[derive(Debug, Default)]
pub(crate) struct ServerMetrics {
    /// How long it took to read, check and store a batch, without the wait for its turn.
    pub check_seconds: SecondsHistogram,
    /// Deliveries of webhooks that did not succeed.
    pub webhook_failures: AtomicU64,
    /// Files of the watched folder that could not be taken.
    pub watch_failures: AtomicU64,
}

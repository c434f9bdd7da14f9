//! How much a request may bring, and how long it may take.

use std::time::Duration;

/// What the server accepts. Every limit has a flag; the defaults are meant for batches of a nightly job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body as it is sent: 32 MB.
    pub body_bytes: usize,
    /// Bytes of what a body holds once it is inflated and its numbers are read: 128 MB.
    pub inflated_bytes: usize,
    /// Bytes of all bodies that are in memory at once: 512 MB.
    pub bodies_bytes: usize,
    /// Rows of a batch: 1 million.
    pub rows: usize,
    /// Classes of a batch: 10 000.
    pub classes: usize,
    /// How long a body may take to arrive, head to end, and how long an answer may lie unread: 30 s. A head alone gets a third of it.
    pub body_time: Duration,
    /// Batches that wait or are being checked: 256.
    pub queue: usize,
    /// Open connections: 1024.
    pub connections: usize,
    /// Bytes that must be free on the disk of the store for the server to be called ready: 1 GB.
    pub free_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 32 << 20,
            inflated_bytes: 128 << 20,
            bodies_bytes: 512 << 20,
            rows: 1_000_000,
            classes: 10_000,
            body_time: Duration::from_secs(30),
            queue: 256,
            connections: 1024,
            free_bytes: 1 << 30,
        }
    }
}

impl Limits {
    /// How long the head of a request may take. Shorter than a body: a head is one packet.
    pub(crate) fn head_time(&self) -> Duration {
        self.body_time / 3
    }

    /// How long a caller may leave an answer unread. As long as a body may take: the other direction of the same line.
    pub(crate) fn answer_time(&self) -> Duration {
        self.body_time
    }
}

//! Why a server cannot start or go on.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a server cannot start or go on. What is wrong with a request is a `Problem`, an answer.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A public address, and nobody would be asked who they are.
    #[error(
        "{address} can be reached from other machines, and the store has no tokens; make one with `evenkeel serve token new --store FILE --scopes admin`, or listen on 127.0.0.1"
    )]
    PublicWithoutTokens {
        /// The address asked for.
        address: SocketAddr,
    },
    /// The address cannot be had.
    #[error("cannot listen on {address}: {error}; choose another address with --listen")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        error: std::io::Error,
    },
    /// Another server has the store.
    #[error("{} is served already; stop that server first, or serve another store", store.display())]
    Locked {
        /// The store.
        store: PathBuf,
    },
    /// A file or folder that the server needs.
    #[error("{}: {error}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// Threads could not be started.
    #[error("could not start the threads of the server: {reason}")]
    Threads {
        /// What the system said.
        reason: String,
    },
    /// The system has no random bytes.
    #[error("the system gave no random bytes: {reason}")]
    Random {
        /// What the system said.
        reason: String,
    },
    /// An address for webhooks that cannot be one.
    #[error("{url:?} is no address for webhooks: {why}; give an http:// or https:// address")]
    WebhookAddress {
        /// What was given.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Webhooks without a secret to sign them with.
    #[error(
        "webhooks are signed, and there is no secret; give one with --webhook-secret-file, at least {least} bytes"
    )]
    WebhookSecret {
        /// Fewest bytes of a secret.
        least: usize,
    },
    /// A scope that is none.
    #[error("{name:?} is no scope; use ingest, read, approve or admin")]
    NoSuchScope {
        /// What was given.
        name: String,
    },
    /// Something about the store.
    #[error(transparent)]
    Store(#[from] evenkeel_monitor::MonitorError),
}

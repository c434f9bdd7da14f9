//! # Monitoring over HTTP
//!
//! ```text
//! start        settings -> a server on an address                       Running   until it is stopped
//! listen       connections, heads and readers within their time         headers   what every answer says
//! caller       tokens and scopes                                        session   cookies and forms of browsers
//! body         bytes within limits      content   bytes -> rows         queue     checks on threads of their own
//! form         bytes -> parts           sent_reference   a calibration, or rows and labels -> the reference of a model
//! routes       the interface, described in /openapi.json                pages     the same for people
//! webhooks     from the store's outbox, signed, with patience           watch     batches from a folder
//! ```
//! What is computed and stored is `evenkeel-monitor`'s: a batch has the same answer here and on the command line.
//!
//! A batch goes through `receive -> hash -> check -> one transaction -> answer`; what was answered survives a kill.

mod address;
mod app;
mod audit_lines;
mod batch_columns;
mod body;
mod caller;
mod content;
mod disk;
mod error;
mod facts;
mod form;
mod headers;
mod json_batch;
mod json_labels;
mod json_within;
mod limits;
mod listen;
mod lock;
mod log;
mod metrics;
mod pages;
mod patient_stream;
mod problem;
mod queue;
mod routes;
mod running;
mod seconds_histogram;
mod sent_reference;
mod session;
mod settings;
mod signature;
mod spool;
mod token_store;
mod tokens;
mod unread;
mod watch;
mod webhooks;

pub use content::{JsonRows, read_json_batch};
pub use error::ServeError;
pub use evenkeel_monitor::Token;
pub use json_labels::{JsonLabels, read_json_labels};
pub use limits::Limits;
pub use running::{Running, start};
pub use settings::{DEFAULT_ADDRESS, LEAST_SECRET_BYTES, Settings, Webhooks};
pub use signature::{HEADER as SIGNATURE_HEADER, signature};
pub use token_store::{TokenOrder, add_token, revoke_token, tokens};
pub use tokens::{NewToken, Scope};

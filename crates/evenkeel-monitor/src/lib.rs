//! # Batches over time: history, alarms, proposals
//!
//! ```text
//! Monitor     the door: models, batches, late labels, proposals and decisions over one store
//! Reference   a calibration prepared once: every batch is checked against it
//! Store       what is kept, behind a trait; SqliteStore keeps it in one file
//! receive     batch -> check -> alarms -> one transaction
//! propose     alarm -> a recalibration for a person to approve or reject; nothing changes by itself
//! labels      late labels -> coverage of the batch, and since the calibration was approved
//! prometheus  the state as a text file for a collector          export   the history as a table
//! ```
//! The command line and the server are doors to [`Monitor`]: a batch has the same answer through both.

mod alarm;
mod batch;
mod digest;
mod error;
pub mod export;
mod instant;
mod kept_rows;
mod labels;
mod look_again;
mod mean_coverage;
mod model;
mod monitor;
mod packed_sets;
pub mod prometheus;
mod proposal;
mod receive;
mod reference;
mod status;
pub mod store;
mod summary;
mod trend;

pub use alarm::{AlarmRecord, AlarmRule, Light, NewAlarm, Severity};
pub use batch::{BatchQuery, BatchRecord, CheckedBatch, NewBatch, Received, ReceivedFields};
pub use digest::{bytes_digest, file_digest};
pub use error::{Kind, MonitorError, Result};
pub use instant::Instant;
pub use labels::{LabelStep, LabelWatch, LabelsReceived, LateLabels, SinceApproval};
pub use mean_coverage::MeanCoverage;
pub use model::{Keep, Model, ModelName, NewModel, Version};
pub use monitor::Monitor;
pub use proposal::{Choice, Decision, NewProposal, Proposal, ProposalState};
pub use reference::Reference;
pub use status::ModelStatus;
pub use store::{
    Appended, AuditEntry, AuditQuery, History, Kept, ModelFacts, NewAudit, Outbox, OutboxMessage,
    SqliteStore, Store, Telling, Token, Tokens, Watch, Watched,
};
pub use summary::{BatchSummary, Measured, StreamSummary};
pub use trend::{advice, trend, trend_of};

//! Jobs whose rows lie elsewhere: a plan goes out, states come back, from any number of processes on any engine.
//!
//! ```text
//! driver   DistributedFit | DistributedCheck | DistributedEvaluation   -> plan
//! worker   RowsPart::begin(plan, number).add(keys, rows, ..)           -> state
//! between  merge_states(plan, states)                                  -> one state; pack_states(states) without the plan
//! driver   merge(state) for each, end_pass                             -> again with the next plan, or what the job gives
//! ```
//! The results have the bytes of the same job in one process over the same rows with the same keys. A state that comes
//! twice, is damaged or belongs to another job is refused, and the job goes on as it was.

mod bundle;
mod check;
mod evaluation;
mod fit;
mod groups;
mod part;
mod per_class;
mod per_group;
mod readers;
mod saw;
mod several;

pub use bundle::pack_states;
pub use check::{CheckPassEnded, DistributedCheck};
pub use evaluation::DistributedEvaluation;
pub use fit::{DistributedFit, FinishedFit, FitPassEnded, ReadyFit};
pub use groups::GroupCodes;
pub use part::{PartRows, RowsPart, merge_states};

pub(crate) use bundle::states_of;

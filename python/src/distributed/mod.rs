//! Jobs whose rows lie with other processes: drivers, parts, and states as bytes.

mod check;
mod evaluation;
mod fit;
mod held;
mod part;

pub(crate) use check::RunningCheck;
pub(crate) use evaluation::RunningEvaluation;
pub(crate) use fit::RunningFit;
pub(crate) use part::{RunningPart, keys_of_texts, merge_states};

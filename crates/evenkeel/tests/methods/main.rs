//! Every method behind the one surface: blocks, files, threads, refusals, and the guarantee where there is one.

#![allow(missing_docs, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod blocks_and_files;
mod coverage;
mod hostile_states;
mod plan_score;
mod refusals;
mod world;

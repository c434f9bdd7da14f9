//! The jobs: any cut into blocks, errors with the input's name, stopping, and the names of all JSON fields.
#![allow(clippy::unwrap_used, clippy::panic)]

mod apart;
mod blocks;
mod distributed;
mod distributed_groups;
mod documents;
mod failures;
mod few_labels;
mod grouped;
mod measured;
mod plan_score;
mod recommendation;
mod world;

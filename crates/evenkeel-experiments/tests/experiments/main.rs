//! Tiny versions of every experiment, and what must hold of all of them: the same bytes after an interruption and on any
//! number of threads, and no other configuration in a folder.
#![allow(clippy::unwrap_used, clippy::panic)]

mod few_labels;
mod images;
mod jobs;
mod regression;
mod resuming;
mod world;

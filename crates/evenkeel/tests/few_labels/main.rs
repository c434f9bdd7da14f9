//! A few labels of the target data: what is refused, what is said, what is guaranteed, and rows that are too many to keep.

#![allow(missing_docs, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod guarantees;
mod labels;
mod many_rows;
mod world;

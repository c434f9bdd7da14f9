//! Coverage for each class and each group: ranks, guarantees by simulation, files, and any order of the rows.

#![allow(missing_docs, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod classes;
mod groups;
mod guaranteed;
mod world;

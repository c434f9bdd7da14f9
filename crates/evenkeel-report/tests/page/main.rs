//! What every page must be: well-formed, self-contained, escaped, small, and the same each time.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answer;
mod colours;
mod edges;
mod escaping;
mod fixture;
mod structure;
mod tables;
mod thinning;

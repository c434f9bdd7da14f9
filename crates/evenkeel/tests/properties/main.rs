//! Properties that hold for every input, on random ones.

#![allow(missing_docs, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod bounds;
mod generators;
mod guaranteed;
mod invariance;
mod measures;
mod minimiser;
mod regression;
mod sandwiches;
mod scores;
mod sketches;

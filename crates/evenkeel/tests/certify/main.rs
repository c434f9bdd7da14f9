//! What labels certify: the shipped table repeated, and every statement held against simulated labels.

#![allow(missing_docs, unreachable_pub)]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod local_levels;
mod stream;
mod validity;
mod window_memory;

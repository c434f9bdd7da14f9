//! The option table: what it resolves to, what it refuses, and the references made of it.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod reference;
mod refusals;
mod round_trip;

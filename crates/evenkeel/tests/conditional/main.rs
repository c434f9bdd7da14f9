//! Conditional conformal prediction: golden numbers, a slow twin, properties, the guarantee itself, hostile input.

#![allow(missing_docs, unreachable_pub)]
// The library may not touch files; its tests read the golden case.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod allocation;
mod bad_input;
mod coverage;
mod cross_validation;
mod edges;
mod golden;
mod nested;
mod problems;
mod properties;
mod reproducibility;
mod twin;

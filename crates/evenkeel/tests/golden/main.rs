//! The crate against numbers from an independent implementation; `cases/README.md` defines every array and tolerance.

#![allow(missing_docs, unreachable_pub)]
// The library may not touch files; its tests read the cases.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod bounds;
mod case;
mod certificates;
mod entropy_scaling;
mod exact_bounds;
mod exact_transport;
mod few_labels;
mod label_plan;
mod learning;
mod matched_plan;
mod measures;
mod quantiles;
mod sandwiches;
mod sketches;
mod thresholds;
mod unbounded;

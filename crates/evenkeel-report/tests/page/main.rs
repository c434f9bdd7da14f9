//! What every page must be: well-formed, self-contained, escaped, small, and the same each time.

mod edges;
mod escaping;
mod fixture;
mod structure;
mod thinning;

//! How a model went: a figure of its last batches.

use evenkeel_monitor::BatchRecord;

use crate::facts::Facts;

/// The figure as HTML.
pub(super) fn drawn(_facts: &Facts, batches: &[BatchRecord]) -> String {
    format!("<p>{} batches.</p>", batches.len())
}

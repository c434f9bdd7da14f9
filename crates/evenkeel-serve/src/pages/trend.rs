//! How a model went: the figures of the trend page, of its last batches.

use evenkeel_monitor::{BatchRecord, Instant, trend_of};
use evenkeel_report::trend::trend_parts;

use crate::facts::Facts;

/// The figures as HTML.
pub(super) fn drawn(facts: &Facts, batches: &[BatchRecord]) -> String {
    if batches.is_empty() {
        return "<p>No batch so far.</p>".into();
    }
    trend_parts(&trend_of(&facts.status, batches, &facts.proposals, Instant::now(), &|_| {
        Vec::new()
    }))
    .figures
}

//! Who did what, as far as the caller may know.
//!
//! ```text
//! lines of a model                          whoever may see the model
//! webhooks switched on and off              everybody: they concern all models
//! tokens of all or of several models        the operator
//! ```

use evenkeel_monitor::{AuditEntry, AuditQuery, History as _, MonitorError, SqliteStore};

use crate::caller::Caller;

/// Lines that are read at a time.
const STEP: u64 = 500;

/// Lines that the caller may see, the last first, and where the next page begins; none after the last.
///
/// # Errors
/// If the store cannot be read.
pub(crate) fn audit_lines(
    store: &mut SqliteStore,
    caller: &Caller,
    mut before: Option<u64>,
    limit: u64,
) -> Result<(Vec<AuditEntry>, Option<u64>), MonitorError> {
    let mut seen = Vec::new();
    loop {
        let lines = store.audit(&AuditQuery { model: None, before, limit: STEP })?;
        let is_last = (lines.len() as u64) < STEP;
        for line in lines {
            before = Some(line.id);
            if may_see(caller, &line) {
                seen.push(line);
                if seen.len() as u64 == limit {
                    return Ok((seen, before));
                }
            }
        }
        if is_last {
            return Ok((seen, None));
        }
    }
}

fn may_see(caller: &Caller, line: &AuditEntry) -> bool {
    match &line.model {
        Some(model) => caller.may_see(model),
        None => line.what.starts_with("webhooks ") || caller.is_operator(),
    }
}

//! When a check exits with 1, and how that is said.

use std::io::Write;

use evenkeel_jobs::{AlarmConditions, FailedCondition, sentences};

use crate::args::CheckArgs;
use crate::exit::Outcome;
use crate::failure::Failure;

/// Says on stderr which conditions hold: whoever is woken by an exit code should know why.
pub(super) fn outcome(failed: &[FailedCondition]) -> Outcome {
    for condition in failed {
        // Not `eprintln!`, which panics when stderr is gone; the code still tells.
        let _ = writeln!(std::io::stderr(), "failed: {}", sentences::check::failed(condition));
    }
    if failed.is_empty() { Outcome::Done } else { Outcome::ConditionHolds }
}

/// What was asked to fail on.
pub(super) fn conditions(args: &CheckArgs) -> Result<AlarmConditions, Failure> {
    let floors = [
        ("--fail-below", args.fail_below),
        ("--fail-below-worst-case", args.fail_below_worst_case),
        ("--fail-below-guaranteed", args.fail_below_guaranteed),
    ];
    for (option, floor) in floors {
        floor.map_or(Ok(()), |floor| require_share(option, floor))?;
    }
    Ok(AlarmConditions {
        below: args.fail_below,
        below_worst_case: args.fail_below_worst_case,
        below_guaranteed: args.fail_below_guaranteed,
        on_shift: args.fail_on_shift,
    })
}

/// An error unless a floor on coverage is a share.
pub(crate) fn require_share(option: &str, value: f64) -> Result<(), Failure> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(Failure::Argument(format!(
        "{option} is {value}; it is a share between 0 and 1 (0.85 for 85 %)"
    )))
}

//! A line for each group on the pages of a check and of an evaluation.

use evenkeel_jobs::grouped::{CheckedGroup, EvaluatedGroup};

use super::page_verdict;
use crate::content::{ConditionRow, Conditions, Estimate, MeanSize, Report};

/// Adds what a check found of each group.
pub fn add_checked_groups(page: &mut Report, groups: &[CheckedGroup]) {
    let row = |group: &CheckedGroup| ConditionRow {
        estimated: group
            .estimate
            .as_ref()
            .map(|found| Estimate::assumed(found.value, [found.low, found.high])),
        verdict: group.verdict.map(page_verdict),
        ..ConditionRow::new(group.groups.join(", "))
    };
    add(page, groups.iter().map(row).collect());
}

/// Adds how the sets of each group did.
pub fn add_evaluated_groups(page: &mut Report, groups: &[EvaluatedGroup]) {
    let row = |group: &EvaluatedGroup| ConditionRow {
        measured: Some(group.evaluation.coverage),
        size: MeanSize { before: Some(group.evaluation.mean_size), after: None },
        ..ConditionRow::new(&group.group)
    };
    add(page, groups.iter().map(row).collect());
}

fn add(page: &mut Report, rows: Vec<ConditionRow>) {
    if !rows.is_empty() {
        page.conditions =
            Conditions { title: Some("Each group".into()), rows, ..page.conditions.clone() };
    }
}

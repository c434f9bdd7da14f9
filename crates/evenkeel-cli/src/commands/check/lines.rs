//! Tables below the answer: of levels, classes and groups.

use evenkeel_jobs::documents::CheckedLevel;
use evenkeel_jobs::grouped::CheckedGroup;
use evenkeel_jobs::{Checked, sentences};

use crate::table::{Align, Table, colour_on_stdout, percent, threshold};

/// The answer at every rate; nothing for one.
pub(super) fn answers(first: &Checked, further: &[Checked]) -> Vec<CheckedLevel> {
    if further.is_empty() {
        return Vec::new();
    }
    let all = std::iter::once(first).chain(further);
    all.map(|checked| CheckedLevel::new(&checked.document(None, &[]))).collect()
}

/// The answer at every rate asked for, side by side.
pub(super) fn level_lines(levels: &[CheckedLevel]) -> String {
    if levels.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("level", Align::Left),
        ("estimated coverage", Align::Right),
        ("range", Align::Right),
        ("threshold", Align::Right),
        ("mean size", Align::Right),
        ("verdict", Align::Left),
    ]);
    for level in levels {
        let estimate = &level.coverage_estimate;
        table.push(vec![
            percent(1.0 - level.alpha),
            percent(estimate.value),
            format!("{} - {}", percent(estimate.low), percent(estimate.high)),
            threshold(level.threshold),
            format!("{:.2}", level.mean_size),
            level.verdict.as_str().to_owned(),
        ]);
    }
    format!("\n{}", table.render(colour_on_stdout()))
}

/// Coverage of each class: of its calibration points, and what is expected of its target rows.
pub(super) fn class_lines(
    checked: &Checked,
    estimates: Option<&[(f64, f64)]>,
    names: Option<&[String]>,
) -> String {
    let Some(estimates) = estimates else { return String::new() };
    let mut table = Table::new(&[
        ("class", Align::Left),
        ("calibration points", Align::Right),
        ("covered", Align::Right),
        ("expected target rows", Align::Right),
        ("estimated coverage", Align::Right),
    ]);
    for class in &checked.per_class {
        let (rows, coverage) = estimates.get(class.label).copied().unwrap_or((0.0, 0.0));
        table.push(vec![
            sentences::class_name(class.label, names),
            class.n.to_string(),
            percent(class.coverage),
            format!("{rows:.1}"),
            percent(coverage),
        ]);
    }
    format!("\n{}", table.render(colour_on_stdout()))
}

/// What the threshold is worth for each group.
pub(super) fn group_lines(groups: &[CheckedGroup]) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("group", Align::Left),
        ("calibration points", Align::Right),
        ("covered", Align::Right),
        ("target rows", Align::Right),
        ("estimated coverage", Align::Right),
        ("verdict", Align::Left),
    ]);
    let share = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), percent);
    for group in groups {
        table.push(vec![
            group.groups.join(", "),
            group.n.to_string(),
            share(group.coverage),
            group.m.to_string(),
            share(group.estimate.as_ref().map(|found| found.value)),
            group
                .verdict
                .map_or_else(|| "too few points".to_owned(), |found| found.as_str().to_owned()),
        ]);
    }
    format!("\n{}", table.render(colour_on_stdout()))
}

//! Single rows: what the model says, and the set before and after.

use crate::content::{ExampleRow, Report};
use crate::text::{escape, grouped, percent_about};

/// Of a longer set the rest is counted.
const MOST_LABELS: usize = 12;

pub(super) fn examples(report: &Report) -> String {
    let rows: String = report.examples.iter().map(example).collect();
    if rows.is_empty() { rows } else { format!("<div class=\"examples\">\n{rows}</div>\n") }
}

fn example(row: &ExampleRow) -> String {
    let top = row.top.as_ref().map_or(String::new(), |(name, probability)| {
        format!(
            "<p class=\"top\">The model says <strong>{}</strong>, {}.</p>\n",
            escape(name),
            percent_about(*probability)
        )
    });
    let before: Vec<Chip<'_>> =
        row.before.iter().map(|name| Chip { name, kind: Kind::Kept }).collect();
    let sets = match &row.after {
        None => set("Set", &before, row),
        Some(after) => {
            format!("{}{}", set("Before", &before, row), set("After", &changes(row, after), row))
        }
    };
    format!(
        "<article class=\"example\">\n<h3>Row {}</h3>\n{top}<dl class=\"sets\">\n{sets}{}</dl>\n</article>\n",
        grouped(row.row),
        truth(row)
    )
}

/// How a label came into a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Kept,
    Added,
    Removed,
}

struct Chip<'a> {
    name: &'a str,
    kind: Kind,
}

/// The set after the repair, then what it lost.
fn changes<'a>(row: &'a ExampleRow, after: &'a [String]) -> Vec<Chip<'a>> {
    let now = after.iter().map(|name| {
        let kind = if row.before.contains(name) { Kind::Kept } else { Kind::Added };
        Chip { name, kind }
    });
    let lost = row.before.iter().filter(|name| !after.contains(name));
    now.chain(lost.map(|name| Chip { name, kind: Kind::Removed })).collect()
}

fn set(heading: &str, chips: &[Chip<'_>], row: &ExampleRow) -> String {
    let mut shown: String =
        chips.iter().take(MOST_LABELS).map(|chip| chip_html(chip, row)).collect();
    if chips.iter().all(|chip| chip.kind == Kind::Removed) {
        shown.insert_str(0, "<li class=\"none\">no label</li>");
    }
    if let Some(more) = chips.len().checked_sub(MOST_LABELS).filter(|more| *more > 0) {
        shown.push_str(&format!("<li class=\"none\">and {} more</li>", grouped(more)));
    }
    format!("<div><dt>{heading}</dt><dd><ul class=\"chips\">{shown}</ul></dd></div>\n")
}

fn chip_html(chip: &Chip<'_>, row: &ExampleRow) -> String {
    let true_class = row.truth.as_deref() == Some(chip.name) && chip.kind != Kind::Removed;
    let mark = if true_class { " <span title=\"the true label\">\u{2713}</span>" } else { "" };
    let (class, before) = match chip.kind {
        Kind::Kept => ("chip", ""),
        Kind::Added => ("chip added", "<span title=\"added by the repair\">+</span> "),
        Kind::Removed => ("chip removed", "<span title=\"removed by the repair\">\u{2212}</span> "),
    };
    format!("<li class=\"{class}\">{before}{}{mark}</li>", escape(chip.name))
}

/// The true label, and whether the sets hold it.
fn truth(row: &ExampleRow) -> String {
    let Some(truth) = &row.truth else { return String::new() };
    let after = row.after.as_ref().map(|after| after.contains(truth));
    let words = match (row.before.contains(truth), after) {
        (true, None | Some(true)) => "in the set",
        (false, None) => "missed",
        (false, Some(false)) => "missed before and after",
        (false, Some(true)) => "missed before, in the set after",
        (true, Some(false)) => "in the set before, missed after",
    };
    format!("<div><dt>Truth</dt><dd><strong>{}</strong>: {words}</dd></div>\n", escape(truth))
}

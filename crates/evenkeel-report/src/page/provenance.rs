//! Command, inputs and options: what is needed to repeat the run.

use super::{answer, subsection};
use crate::content::{Input, Provenance, Report};
use crate::text::escape;

pub(super) fn provenance(report: &Report) -> String {
    let Provenance { command, inputs, options, version, seed } = &report.provenance;
    let mut body = String::new();
    body.extend(command.as_deref().map(answer::command));
    let mut facts: Vec<(String, String)> = Vec::new();
    facts.extend(version.iter().map(|version| ("version".to_owned(), escape(version))));
    facts.push(("alpha".to_owned(), report.alpha.get().to_string()));
    facts.extend(seed.map(|seed| ("seed".to_owned(), seed.to_string())));
    facts.extend(options.iter().map(|(name, value)| (escape(name), escape(value))));
    let facts: String = facts
        .iter()
        .map(|(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"))
        .collect();
    body.push_str(&format!("<dl class=\"facts\">\n{facts}</dl>\n"));
    if !inputs.is_empty() {
        let items: String = inputs.iter().map(input).collect();
        body.push_str(&format!("<h4>Inputs</h4>\n<ul class=\"inputs\">\n{items}</ul>\n"));
    }
    subsection("repeat", "Repeat it", &body)
}

fn input(input: &Input) -> String {
    let shape: Vec<String> = input.shape.iter().map(usize::to_string).collect();
    let shape = if shape.is_empty() {
        String::new()
    } else {
        format!(" <span class=\"shape\">{}</span>", shape.join(" \u{d7} "))
    };
    let checksum = input
        .checksum
        .as_ref()
        .map_or(String::new(), |sum| format!("<br><code class=\"sum\">{}</code>", escape(sum)));
    format!(
        "<li>{}{shape}<br><code>{}</code>{checksum}</li>\n",
        escape(&input.role),
        escape(&input.path)
    )
}

//! Title, answer and warnings: what is read first.

use crate::content::{Report, Verdict};
use crate::text::{escape, percent};

pub(super) fn header(report: &Report) -> String {
    // A sign and a word beside the colour, for those who see or print none.
    let (class, sign, word) = match report.answer.verdict {
        Verdict::Fine => ("fine", "\u{2713}", "All clear"),
        Verdict::Caution => ("caution", "!", "Caution"),
        Verdict::Alarm => ("alarm", "\u{2715}", "Alarm"),
    };
    let title = escape(&report.title);
    let subtitle =
        report.subtitle.as_ref().map_or(String::new(), |text| format!("{} \u{b7} ", words(text)));
    let level = percent(report.level(), 0);
    let headline = words(&report.answer.headline);
    let sentences: String = report
        .answer
        .sentences
        .iter()
        .map(|sentence| format!("<p>{}</p>\n", words(sentence)))
        .collect();
    format!(
        "<header>\n<p class=\"brand\">Evenkeel</p>\n<h1>{title}</h1>\n\
         <p class=\"subtitle\">{subtitle}level {level}</p>\n\
         <div class=\"answer {class}\">\n<p class=\"verdict\"><span class=\"light\" role=\"img\" \
         aria-label=\"{word}\">{sign}</span>\
         <strong>{headline}</strong></p>\n{sentences}</div>\n{}</header>\n",
        warnings(report)
    )
}

fn warnings(report: &Report) -> String {
    if report.warnings.is_empty() {
        return String::new();
    }
    let items: String = report
        .warnings
        .iter()
        .map(|warning| format!("<li>{}</li>\n", words(&sentence(warning))))
        .collect();
    format!(
        "<section class=\"warnings\" aria-labelledby=\"warnings-heading\">\n\
         <h2 id=\"warnings-heading\">Before you trust this</h2>\n\
         <ul>\n{items}</ul>\n</section>\n"
    )
}

/// Warnings of the core start small and end without a full stop, fit for any place; here they are sentences.
fn sentence(warning: &str) -> String {
    let mut characters = warning.chars();
    let first: String =
        characters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    let stop = if warning.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{stop}", characters.as_str())
}

/// Escaped, with percent signs that stay with their numbers.
fn words(text: &str) -> String {
    // A narrow space that does not break: a line must not start with a percent sign.
    escape(&text.replace(" %", "\u{202f}%"))
}

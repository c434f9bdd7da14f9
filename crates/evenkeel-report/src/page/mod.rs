//! `Report -> HTML`: the page around the figures.

mod class_table;
mod evidence_tables;
mod footer;
mod header;
mod method_table;
mod table;

pub(crate) use table::SHORT;

use crate::content::Report;
use crate::draw::style_sheet;
use crate::figures::{Figure, Place, placed};
use crate::text::escape;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// What the page may load: nothing. What it may run: what is written in it.
// Against ourselves too: a page that people mail around must not call home, whatever a later change
// puts into it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
    base-uri 'none'; form-action 'none'";

/// The page as one HTML document, in the order of reading: answer, figures, tables, provenance.
pub(crate) fn page(report: &Report) -> String {
    let figures = placed(report);
    let pick = |place: Place| -> Vec<&Figure> {
        figures.iter().filter(|(at, _)| *at == place).map(|(_, figure)| figure).collect()
    };
    let sections = [
        section(
            "expectation",
            "What coverage to expect",
            &[cards(&pick(Place::Expectation), &evidence_tables::both(report))],
        ),
        section(
            "methods",
            "Methods side by side",
            &[method_table::method_table(report), cards(&pick(Place::Comparison), "")],
        ),
        section("evidence", "Behind the numbers", &[cards(&pick(Place::Evidence), "")]),
        section("classes", &class_title(report), &[class_table::class_table(report)]),
        footer::footer(report),
    ];
    document(&report.title, &header::header(report), &sections.concat())
}

/// Says whose classes they are where several methods are shown.
fn class_title(report: &Report) -> String {
    match &report.classes_under {
        None => "Class by class".to_owned(),
        Some(method) => format!("Class by class: {method}"),
    }
}

/// A document around a header and the sections of its main part; `header` and `body` are HTML, `title` is text.
pub(crate) fn document(title: &str, header: &str, body: &str) -> String {
    let (title, colours) = (escape(title), style_sheet());
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"evenkeel-report {}\">\n\
         <title>{title}</title>\n<style>\n{colours}{STYLE}</style>\n</head>\n<body>\n{header}<main>\n{body}</main>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
    )
}

/// A section with a heading; nothing if all its parts are empty.
pub(crate) fn section(id: &str, heading: &str, parts: &[String]) -> String {
    let body = parts.concat();
    // A heading over nothing reads like something that failed to load.
    if body.is_empty() {
        return body;
    }
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n\
         <h2 id=\"{id}-heading\">{heading}</h2>\n{body}</section>\n"
    )
}

/// Figures and other cards, in two columns where there is room.
fn cards(figures: &[&Figure], others: &str) -> String {
    let mut cards: String = figures.iter().map(|figure| card(figure)).collect();
    cards.push_str(others);
    if cards.is_empty() { cards } else { format!("<div class=\"cards\">\n{cards}</div>\n") }
}

/// A figure with its heading, its caption and a button that the script brings to life.
fn card(figure: &Figure) -> String {
    let Figure { name, title, caption, svg } = figure;
    let caption = escape(caption);
    format!(
        "<figure class=\"card\" id=\"figure-{name}\">\n<div class=\"card-head\"><h3>{title}</h3>\
         <button type=\"button\" class=\"download\" data-name=\"{name}\" aria-label=\"Download {title} as SVG\" hidden>\
         SVG <span aria-hidden=\"true\">\u{2193}</span></button></div>\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>\n"
    )
}

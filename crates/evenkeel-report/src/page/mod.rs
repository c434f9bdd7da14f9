//! `Report -> HTML`: the page around the figures.

mod answer;
mod class_table;
mod condition_table;
mod evidence_tables;
mod examples;
mod grounds;
mod head;
mod how_we_know;
mod method_table;
mod provenance;
mod table;

pub(crate) use answer::{command, light, tone};
pub(crate) use table::SHORT;

use crate::content::Report;
use crate::draw::style_sheet;
use crate::figures::{Figure, placed};
use crate::text::{escape, prose};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// What the page may load: nothing. What it may run: what is written in it.
// Against ourselves too: a page that people mail around must not call home, whatever a later change
// puts into it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
    base-uri 'none'; form-action 'none'";

/// The page as one HTML document, in the order of reading: answer, grounds, examples, tables, how we know.
pub(crate) fn page(report: &Report) -> String {
    let figures = placed(report);
    let header = format!(
        "<header>\n{}{}{}</header>\n",
        head::head(report),
        answer::answer(report),
        grounds::grounds(report)
    );
    let conditions = &report.conditions;
    let condition_title = conditions.title.as_deref().unwrap_or("Condition by condition");
    let sections = [
        section("examples", &example_title(report), &[examples::examples(report)]),
        section(
            "conditions",
            &escape(condition_title),
            &[condition_table::condition_table(conditions)],
        ),
        match report.answer.verdict {
            Some(_) => String::new(),
            None => {
                let methods = how_we_know::methods(report, &figures);
                section("methods", how_we_know::METHODS, &[methods])
            }
        },
        section("classes", &class_title(report), &[class_table::class_table(report)]),
        how_we_know::how_we_know(report, &figures),
    ];
    let title = match &report.run {
        Some(run) => format!("{run}: {}", report.title),
        None => report.title.clone(),
    };
    document(&title, &header, &sections.concat())
}

fn example_title(report: &Report) -> String {
    match report.examples.len() {
        1 => "One row, for example".to_owned(),
        2 => "Two rows, for example".to_owned(),
        3 => "Three rows, for example".to_owned(),
        _ => "Rows, for example".to_owned(),
    }
}

/// Says whose classes they are where several methods are shown.
fn class_title(report: &Report) -> String {
    match &report.classes_under {
        None => "Class by class".to_owned(),
        Some(method) => format!("Class by class: {}", escape(method)),
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

/// A part of a section; nothing if it is empty.
fn subsection(id: &str, heading: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n\
         <h3 id=\"{id}-heading\">{heading}</h3>\n{body}</section>\n"
    )
}

/// A part that is folded away; `summary` and `body` are HTML.
fn fold(class: &str, summary: &str, body: &str) -> String {
    format!("<details class=\"{class}\">\n<summary>{summary}</summary>\n{body}</details>\n")
}

/// Figures in two columns where there is room.
fn cards(figures: &[&Figure]) -> String {
    let cards: String = figures.iter().map(|figure| figure_card(figure, "h4")).collect();
    if cards.is_empty() { cards } else { format!("<div class=\"cards\">\n{cards}</div>\n") }
}

fn figure_card(figure: &Figure, heading: &str) -> String {
    drawing_card(heading, figure.name, figure.title, &figure.caption, &figure.svg)
}

/// A drawing with its heading, its caption and a button that the script brings to life.
pub(crate) fn drawing_card(
    heading: &str,
    name: &str,
    title: &str,
    caption: &str,
    svg: &str,
) -> String {
    let (name, title, caption) = (escape(name), escape(title), prose(caption));
    format!(
        "<figure class=\"card\" id=\"figure-{name}\">\n<div class=\"card-head\"><{heading}>{title}</{heading}>\
         <button type=\"button\" class=\"download\" data-name=\"{name}\" aria-label=\"Download {title} as SVG\" hidden>\
         SVG <span aria-hidden=\"true\">\u{2193}</span></button></div>\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>\n"
    )
}

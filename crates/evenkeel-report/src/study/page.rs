//! `Study -> HTML`: the page of a study.

use super::{Drawing, Study, StudyTable};
use crate::page::{SHORT, document, drawing_card, section};
use crate::text::{escape, prose};

/// The whole page: figures, tables, and what is needed to repeat the run. The same study gives the same bytes.
pub fn render_study(study: &Study) -> String {
    let (title, subtitle) = (escape(&study.title), prose(&study.subtitle));
    let lead: String =
        study.lead.iter().map(|paragraph| format!("<p>{}</p>\n", prose(paragraph))).collect();
    let header = format!(
        "<header>\n<p class=\"brand\">Evenkeel</p>\n<h1>{title}</h1>\n<p class=\"subtitle\">{subtitle}</p>\n\
         {lead}</header>\n"
    );
    let figures: String = study.figures.iter().map(card).collect();
    // An empty grid would leave a gap under the heading.
    let figures = if figures.is_empty() {
        figures
    } else {
        format!("<div class=\"cards\">\n{figures}</div>\n")
    };
    let tables: String = study.tables.iter().map(table).collect();
    let facts: String = study
        .facts
        .iter()
        .map(|(name, value)| {
            format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value))
        })
        .collect();
    let body = [
        section("figures", "Figures", &[figures]),
        section("tables", "Tables", &[tables]),
        section("repeat", "Repeat it", &[format!("<dl class=\"facts\">\n{facts}</dl>\n")]),
    ];
    document(&study.title, &header, &body.concat())
}

fn card(drawing: &Drawing) -> String {
    let Drawing { name, title, caption, svg } = drawing;
    drawing_card("h3", name, title, caption, svg)
}

/// Whether a column after the first holds anything.
fn filled(table: &StudyTable, index: usize) -> bool {
    let text = |row: &Vec<String>| row.get(index).map_or("", |cell| cell.trim()).to_owned();
    table.rows.iter().any(|row| !matches!(text(row).as_str(), "" | "-" | "\u{2013}"))
}

fn table(table: &StudyTable) -> String {
    let cells = |row: &[String], tag: &str| -> String {
        let number = |cell: &String| format!("<{tag} class=\"n\">{}</{tag}>", escape(cell));
        let shown = |(index, cell)| filled(table, index).then_some(cell);
        row.iter().enumerate().skip(1).filter_map(shown).map(number).collect()
    };
    let first = |row: &[String]| escape(row.first().map_or("", String::as_str));
    let head = format!(
        "<th scope=\"col\">{}</th>{}",
        first(&table.columns),
        cells(&table.columns, "th").replace("<th ", "<th scope=\"col\" ")
    );
    let body: String = table
        .rows
        .iter()
        .map(|row| {
            format!(
                "<tr><th scope=\"row\" class=\"{}\">{}</th>{}</tr>\n",
                // A long heading on one line would run into the numbers.
                if row.first().is_none_or(|name| name.chars().count() <= SHORT) {
                    "short"
                } else {
                    "long"
                },
                first(row),
                cells(row, "td")
            )
        })
        .collect();
    let (title, note) = (escape(&table.title), table.note.as_deref());
    let note =
        note.map_or(String::new(), |note| format!("<p class=\"note\">{}</p>\n", prose(note)));
    format!(
        "<h3>{title}</h3>\n{note}<div class=\"scroll\" role=\"region\" aria-label=\"{title}\" tabindex=\"0\">\n\
         <table>\n<caption>{title}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>\n"
    )
}

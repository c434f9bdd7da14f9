//! Columns and cells: tables that the script makes sortable.

use std::borrow::Cow;

use super::answer::tone;
use crate::content::Verdict;
use crate::text::escape;

/// Shown where there is no value.
const NOTHING: &str = "\u{2013}";

/// How a table is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Rows are reordered by selecting a heading.
    Sortable,
    /// The same; on a phone each row becomes a list.
    SortableStacked,
    /// The order carries meaning and stays.
    Fixed,
    /// The order stays; on a phone each row becomes a list, so that nothing has to be scrolled sideways.
    Stacked,
}

/// A row's heading of up to this many characters stays on one line.
pub(crate) const SHORT: usize = 18;

/// How a column is set and sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Words, flush left, sorted by letters.
    Words,
    /// Numbers, flush right, sorted by value.
    Number,
}

/// Heading of a column, and how the cells below it are set.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// Text of the heading.
    pub(super) title: Cow<'static, str>,
    /// How its cells are set and sorted.
    pub(super) kind: Kind,
}

impl Column {
    /// A column of words.
    pub(super) fn words(title: impl Into<Cow<'static, str>>) -> Self {
        Self { title: title.into(), kind: Kind::Words }
    }

    /// A column of numbers.
    pub(super) fn number(title: impl Into<Cow<'static, str>>) -> Self {
        Self { title: title.into(), kind: Kind::Number }
    }
}

/// A cell: what is shown, and the number it is sorted by.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cell {
    text: String,
    value: Option<f64>,
    look: Look,
}

/// How a cell is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Usual,
    /// A number that says nothing.
    Void,
    /// There is nothing to show.
    Missing,
    /// A coloured word.
    Verdict(Verdict),
}

impl Cell {
    /// A cell of words; missing if there are none.
    pub(super) fn words(text: impl Into<String>) -> Self {
        let text = text.into();
        if text.is_empty() {
            Self::missing()
        } else {
            Self { text, value: None, look: Look::Usual }
        }
    }

    /// A dash that sorts last. A column of nothing else is left out.
    pub(super) fn missing() -> Self {
        Self { text: NOTHING.to_owned(), value: None, look: Look::Missing }
    }

    /// A number as shown; missing if there is none.
    pub(super) fn number(value: Option<f64>, show: impl Fn(f64) -> String) -> Self {
        // A NaN compares with nothing, and one of them would break the sorting of its column.
        let Some(value) = value.filter(|value| !value.is_nan()) else { return Self::missing() };
        Self { text: show(value), value: Some(value), look: Look::Usual }
    }

    /// A verdict as a coloured word.
    pub(super) fn verdict(verdict: Verdict) -> Self {
        Self { text: verdict.word().to_owned(), value: None, look: Look::Verdict(verdict) }
    }

    /// A number that says nothing, set back.
    pub(super) fn void(mut self) -> Self {
        self.look = Look::Void;
        self
    }

    fn html(&self, column: &Column) -> String {
        let text = escape(&self.text);
        let text = match self.look {
            Look::Verdict(verdict) => {
                format!("<strong class=\"word {}\">{text}</strong>", tone(verdict))
            }
            Look::Usual | Look::Void | Look::Missing => text,
        };
        let class = match (column.kind, self.look) {
            (Kind::Words, Look::Verdict(_)) => " class=\"verdict-word\"",
            (Kind::Words, _) => "",
            (Kind::Number, Look::Void) => " class=\"n void\"",
            (Kind::Number, _) => " class=\"n\"",
        };
        let value =
            self.value.map_or(String::new(), |value| format!(" data-v=\"{}\"", json_number(value)));
        format!("<td{class} data-label=\"{}\"{value}>{text}</td>", escape(&column.title))
    }
}

/// As the script's `Number` reads it.
fn json_number(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() };
    }
    // Every digit, without a locale: rounding would sort close numbers wrongly.
    format!("{value:e}")
}

/// A table; the first cell of a row is its heading. Columns without a value are left out; nothing is left of a table
/// without rows.
pub(super) fn table(label: &str, layout: Layout, columns: &[Column], rows: &[Vec<Cell>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let filled = |index: usize| {
        index == 0
            || rows.iter().filter_map(|row| row.get(index)).any(|cell| cell.look != Look::Missing)
    };
    let shown: Vec<(usize, &Column)> =
        columns.iter().enumerate().filter(|(index, _)| filled(*index)).collect();
    let head: String = shown
        .iter()
        .map(|(_, column)| {
            let class = if column.kind == Kind::Number { " class=\"n\"" } else { "" };
            format!("<th scope=\"col\"{class}>{}</th>", escape(&column.title))
        })
        .collect();
    let body: String = rows
        .iter()
        .map(|row| {
            let name = row.first().map_or("", |cell| &cell.text);
            let class = if name.chars().count() <= SHORT { " class=\"short\"" } else { "" };
            let name = escape(name);
            let cells: String = shown
                .iter()
                .skip(1)
                .filter_map(|(index, column)| Some(row.get(*index)?.html(column)))
                .collect();
            format!("<tr><th scope=\"row\"{class}>{name}</th>{cells}</tr>\n")
        })
        .collect();
    let label = escape(label);
    let class = match layout {
        Layout::Sortable => " class=\"sortable\"",
        Layout::SortableStacked => " class=\"sortable stacked\"",
        Layout::Fixed => "",
        Layout::Stacked => " class=\"stacked\"",
    };
    // The region takes the focus, so that a table wider than a phone can be scrolled by keyboard.
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{label}\" tabindex=\"0\">\n<table{class}>\n\
         <caption>{label}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>\n"
    )
}

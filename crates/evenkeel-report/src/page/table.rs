//! Columns and cells: tables that the script makes sortable.

use crate::text::escape;

/// Whether a reader can reorder the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sorting {
    /// By selecting a heading.
    ByHeading,
    /// The order carries meaning and stays.
    Fixed,
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
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    /// Text of the heading.
    pub(super) title: &'static str,
    /// How its cells are set and sorted.
    pub(super) kind: Kind,
}

impl Column {
    /// A column of words.
    pub(super) const fn words(title: &'static str) -> Self {
        Self { title, kind: Kind::Words }
    }

    /// A column of numbers.
    pub(super) const fn number(title: &'static str) -> Self {
        Self { title, kind: Kind::Number }
    }
}

/// A cell: what is shown, and the number it is sorted by.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cell {
    text: String,
    value: Option<f64>,
    emphasis: Emphasis,
}

/// How much a number says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Emphasis {
    Usual,
    Void,
}

impl Cell {
    /// A cell of words.
    pub(super) fn words(text: impl Into<String>) -> Self {
        Self { text: text.into(), value: None, emphasis: Emphasis::Usual }
    }

    /// Words in a column of numbers; they sort last.
    pub(super) fn unsorted(text: &str) -> Self {
        Self { text: text.to_owned(), value: None, emphasis: Emphasis::Usual }
    }

    /// A number as shown; a dash that sorts last if there is none.
    pub(super) fn number(value: Option<f64>, show: impl Fn(f64) -> String) -> Self {
        // A NaN compares with nothing, and one of them would break the sorting of its column.
        let value = value.filter(|value| !value.is_nan());
        Self { text: value.map_or("\u{2013}".to_owned(), show), value, emphasis: Emphasis::Usual }
    }

    /// A number that says nothing, set back.
    pub(super) fn void(mut self) -> Self {
        self.emphasis = Emphasis::Void;
        self
    }

    fn html(&self, column: &Column) -> String {
        let text = escape(&self.text);
        let class = match (column.kind, self.emphasis) {
            (Kind::Words, _) => return format!("<td>{text}</td>"),
            (Kind::Number, Emphasis::Usual) => "n",
            (Kind::Number, Emphasis::Void) => "n void",
        };
        let value =
            self.value.map_or(String::new(), |value| format!(" data-v=\"{}\"", json_number(value)));
        format!("<td class=\"{class}\"{value}>{text}</td>")
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

/// A table; the first cell of a row is its heading. Nothing if there are no rows.
pub(super) fn table(
    label: &str,
    sorting: Sorting,
    columns: &[Column],
    rows: &[Vec<Cell>],
) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let head: String = columns
        .iter()
        .map(|column| {
            let class = if column.kind == Kind::Number { " class=\"n\"" } else { "" };
            format!("<th scope=\"col\"{class}>{}</th>", column.title)
        })
        .collect();
    let body: String = rows
        .iter()
        .map(|row| {
            let name = row.first().map_or("", |cell| &cell.text);
            let class = if name.chars().count() <= SHORT { " class=\"short\"" } else { "" };
            let name = escape(name);
            let cells: String =
                columns.iter().zip(row).skip(1).map(|(column, cell)| cell.html(column)).collect();
            format!("<tr><th scope=\"row\"{class}>{name}</th>{cells}</tr>\n")
        })
        .collect();
    let label = escape(label);
    let class = if sorting == Sorting::ByHeading { " class=\"sortable\"" } else { "" };
    // The region takes the focus, so that a table wider than a phone can be scrolled by keyboard.
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{label}\" tabindex=\"0\">\n<table{class}>\n\
         <caption>{label}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>\n"
    )
}

//! Tables of means with their spread, as Markdown for people and CSV for programs.

use evenkeel_report::study::StudyTable;
use serde::Serialize;

use super::Spread;

/// How a number is written for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum NumberStyle {
    /// A share as a percentage with one decimal.
    Percent,
    /// With so many decimals.
    Decimals(usize),
}

impl NumberStyle {
    fn write(self, value: f64) -> String {
        match self {
            Self::Percent => format!("{:.1}", 100.0 * value),
            Self::Decimals(decimals) => format!("{value:.decimals$}"),
        }
    }
}

/// What stands in a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// Words.
    Text(String),
    /// A number.
    Number(f64, NumberStyle),
    /// A mean and its standard deviation.
    Spread(Spread, NumberStyle),
    /// Nothing to say.
    Missing,
}

impl Entry {
    /// Words.
    pub fn text(words: impl Into<String>) -> Self {
        Self::Text(words.into())
    }

    /// Mean and deviation of some values.
    pub fn spread(values: impl IntoIterator<Item = f64>, style: NumberStyle) -> Self {
        Spread::of(values).map_or(Self::Missing, |spread| Self::Spread(spread, style))
    }

    /// A number that may be missing.
    pub fn number(value: Option<f64>, style: NumberStyle) -> Self {
        value.map_or(Self::Missing, |value| Self::Number(value, style))
    }

    /// As people read it.
    fn words(&self) -> String {
        match self {
            Self::Text(words) => words.clone(),
            Self::Number(value, style) => style.write(*value),
            Self::Spread(spread, style) => {
                format!("{} ± {}", style.write(spread.mean), style.write(spread.deviation))
            }
            Self::Missing => "–".to_owned(),
        }
    }
}

/// A table with a name fit for a file; the first column names the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Name of its files: `table-1`.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// How to read it.
    pub note: Option<String>,
    /// Headings of the columns.
    pub columns: Vec<String>,
    /// Rows of as many entries.
    pub rows: Vec<Vec<Entry>>,
}

impl Table {
    /// An empty table.
    pub fn new(name: &str, title: &str, columns: Vec<String>) -> Self {
        let (name, title) = (name.to_owned(), title.to_owned());
        Self { name, title, note: None, columns, rows: Vec::new() }
    }

    /// With a note on how to read it.
    pub fn with_note(mut self, note: &str) -> Self {
        self.note = Some(note.to_owned());
        self
    }

    /// As people read it in a text file.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        // A bar in a name would end its cell.
        let escaped = |text: &str| text.replace('|', "\\|");
        let mut out = format!("**{}**\n\n", self.title);
        if let Some(note) = &self.note {
            out.push_str(&format!("{note}\n\n"));
        }
        out.push_str(&line(self.columns.iter().map(|column| escaped(column)).collect()));
        let rule = |index: usize| if index == 0 { "---" } else { "---:" }.to_owned();
        out.push_str(&line((0..self.columns.len()).map(rule).collect()));
        for row in &self.rows {
            out.push_str(&line(row.iter().map(|entry| escaped(&entry.words())).collect()));
        }
        out
    }

    /// With every digit; a mean and its deviation are two columns.
    pub fn csv(&self) -> String {
        // By the column and not by the entry: a row with a missing value must keep its columns in
        // place.
        let is_spread = |column: usize| {
            self.rows.iter().any(|row| matches!(row.get(column), Some(Entry::Spread(..))))
        };
        let spreads: Vec<bool> = (0..self.columns.len()).map(is_spread).collect();
        let mut heading = Vec::new();
        for (column, is_spread) in self.columns.iter().zip(&spreads) {
            heading.push(quoted(column));
            if *is_spread {
                heading.push(quoted(&format!("{column} sd")));
            }
        }
        let mut out = heading.join(",") + "\n";
        for row in &self.rows {
            let mut cells = Vec::new();
            for (entry, is_spread) in row.iter().zip(&spreads) {
                let (value, deviation) = match entry {
                    Entry::Text(words) => (quoted(words), String::new()),
                    Entry::Number(value, _) => (value.to_string(), String::new()),
                    Entry::Spread(spread, _) => {
                        (spread.mean.to_string(), spread.deviation.to_string())
                    }
                    Entry::Missing => (String::new(), String::new()),
                };
                cells.push(value);
                if *is_spread {
                    cells.push(deviation);
                }
            }
            out.push_str(&(cells.join(",") + "\n"));
        }
        out
    }

    /// As it stands on the page.
    pub fn for_page(&self) -> StudyTable {
        StudyTable {
            title: self.title.clone(),
            note: self.note.clone(),
            columns: self.columns.clone(),
            rows: self.rows.iter().map(|row| row.iter().map(Entry::words).collect()).collect(),
        }
    }
}

/// A CSV field.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_rounded_numbers_and_programs_all_digits() {
        let mut table =
            Table::new("t", "A table", vec!["method".into(), "cov., %".into(), "gap".into()]);
        table.rows.push(vec![
            Entry::text("FF (f, U)"),
            Entry::spread([0.875, 0.925], NumberStyle::Percent),
            Entry::Number(0.123_456, NumberStyle::Decimals(3)),
        ]);
        table.rows.push(vec![Entry::text("a|b"), Entry::Missing, Entry::Missing]);
        assert_eq!(
            table.markdown(),
            "**A table**\n\n| method | cov., % | gap |\n| --- | ---: | ---: |\n\
             | FF (f, U) | 90.0 ± 3.5 | 0.123 |\n| a\\|b | – | – |\n"
        );
        let deviation = Spread::of([0.875, 0.925]).unwrap().deviation;
        assert_eq!(
            table.csv(),
            format!(
                "method,\"cov., %\",\"cov., % sd\",gap\n\"FF (f, U)\",0.9,{deviation},0.123456\na|b,,,\n"
            )
        );
    }
}

//! What a run shows in the end.

use evenkeel_report::study::{Drawing, Study};

use super::Table;

/// Tables, figures and words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outputs {
    /// Heading of the page.
    pub title: String,
    /// One line under it.
    pub subtitle: String,
    /// What to know before reading the tables.
    pub lead: Vec<String>,
    /// The tables in order.
    pub tables: Vec<Table>,
    /// Tables that are written as files only: too long for a page.
    pub data: Vec<Table>,
    /// The figures in order.
    pub figures: Vec<Drawing>,
}

impl Outputs {
    /// The page, with the configuration at its end.
    pub(super) fn page(&self, configuration: &serde_json::Value) -> String {
        let facts = match configuration {
            serde_json::Value::Object(fields) => fields
                .iter()
                // Checksums of every data file would fill the page; they stand in
                // configuration.json.
                .filter(|(_, value)| !value.is_object())
                .map(|(name, value)| (name.clone(), plain(value)))
                .collect(),
            other => vec![("configuration".to_owned(), plain(other))],
        };
        evenkeel_report::study::render_study(&Study {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            lead: self.lead.clone(),
            tables: self.tables.iter().map(Table::for_page).collect(),
            figures: self.figures.clone(),
            facts,
        })
    }
}

/// A value without the quotes of a text.
fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

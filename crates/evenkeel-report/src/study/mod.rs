//! `Study -> HTML`: a study of many runs as tables of means with their spread, densities, one page.

mod density;
mod lines;
mod page;

pub use density::{DensityAxis, DensityPlot, DensitySeries, density_plot};
pub use lines::{Joined, LineAxis, LinePlot, NamedPoints, Reference, line_plot};
pub use page::render_study;

use crate::figures::Figure;

/// A figure whose name the caller chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawing {
    /// A short name, fit for a file: `figure-3-coverage`.
    pub name: String,
    /// Heading above the figure.
    pub title: String,
    /// What it shows and how to read it, as plain text.
    pub caption: String,
    /// The drawing, an SVG document.
    pub svg: String,
}

impl From<Figure> for Drawing {
    fn from(figure: Figure) -> Self {
        let Figure { name, title, caption, svg } = figure;
        Self { name: name.to_owned(), title: title.to_owned(), caption, svg }
    }
}

/// A table of texts; the first column holds the rows' headings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyTable {
    /// Heading above the table.
    pub title: String,
    /// How to read it, shown below the table.
    pub note: Option<String>,
    /// Headings of the columns.
    pub columns: Vec<String>,
    /// The rows, each with as many texts as there are columns.
    pub rows: Vec<Vec<String>>,
}

/// Everything the page of a study shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Study {
    /// Heading of the page.
    pub title: String,
    /// One line under the heading: what was run, how often.
    pub subtitle: String,
    /// What to know before reading the tables, a paragraph each.
    pub lead: Vec<String>,
    /// The tables, in order.
    pub tables: Vec<StudyTable>,
    /// The figures, in order.
    pub figures: Vec<Drawing>,
    /// What is needed to repeat it: names and values.
    pub facts: Vec<(String, String)>,
}

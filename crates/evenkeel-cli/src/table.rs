//! Tables a tired person can read: aligned, and coloured only on a terminal.

pub(crate) use evenkeel_jobs::sentences::{percent, threshold};
use std::fmt::Write as _;
use std::io::IsTerminal;

/// Whether stdout takes colour: a terminal (or `CLICOLOR_FORCE` set), and `NO_COLOR` not set.
pub(crate) fn colour_on_stdout() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    // Any value but an empty one, as no-color.org asks; for the other variable 0 means no.
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !forbidden && (std::io::stdout().is_terminal() || set("CLICOLOR_FORCE"))
}

/// How a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table with a header.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    header: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[(&'static str, Align)]) -> Self {
        Self { header: header.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// The table, every line indented by two blanks.
    pub(crate) fn render(&self, coloured: bool) -> String {
        let widths: Vec<usize> = self
            .header
            .iter()
            .enumerate()
            .map(|(column, (name, _))| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                // Characters, not bytes: class names are in any language.
                cells.map(|cell| cell.chars().count()).fold(name.chars().count(), usize::max)
            })
            .collect();
        let mut text = String::new();
        let header: Vec<String> = self.header.iter().map(|(name, _)| (*name).to_owned()).collect();
        let heading = self.line(&header, &widths);
        // Writing to a String cannot fail.
        let _ = if coloured {
            writeln!(text, "\x1b[1m{heading}\x1b[0m")
        } else {
            writeln!(text, "{heading}")
        };
        for row in &self.rows {
            let _ = writeln!(text, "{}", self.line(row, &widths));
        }
        text
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let padded: Vec<String> = cells
            .iter()
            .zip(widths)
            .zip(&self.header)
            .map(|((cell, width), (_, align))| match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            })
            .collect();
        // Blanks at the end would differ between runs and clutter every comparison of outputs.
        format!("  {}", padded.join("  ")).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&[("name", Align::Left), ("value", Align::Right)]);
        table.push(vec!["a".into(), "1.5".into()]);
        table.push(vec!["longer".into(), "100.25".into()]);
        assert_eq!(table.render(false), "  name     value\n  a          1.5\n  longer  100.25\n");
    }
}
